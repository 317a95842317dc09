"""The first screen of a reader who has not used the lab: a sentence, a board, one button; the rest comes with use."""

from __future__ import annotations

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.view.lab.widget import Lab
from tests.support.browser.lab_bridge import Bridge

MOST_BUTTONS = 18


def shown(bridge, *names):
    return [name for name in names if bridge.root.get_by_role("button", name=name).first.is_visible()]


def test_the_rest_of_the_lab_comes_with_use(page, tmp_path, shot):
    page.add_init_script("localStorage.getItem('rebalance-kit-seen') === '2' && localStorage.clear()")
    bridge = Bridge(page, Lab(), tmp_path / "lab.html", 934)
    root = bridge.root
    shot(root, "first-screen")
    assert root.locator("button:visible").count() <= MOST_BUTTONS
    assert shown(bridge, "Settings", "Predict", "History:", "Fork here", "Undo", "Copy link") == []
    assert not root.locator(".rk-tabs").is_visible()
    assert root.locator(".rk-signs").is_visible()
    bridge.click("More: files, theme, history")
    assert root.locator(".rk-menu").get_by_role("button", name="Settings").is_visible()
    page.keyboard.press("Escape")
    bridge.press("c")
    page.evaluate("lab.player.pause()")
    assert root.locator(".rk-tabs").is_visible()
    assert shown(bridge, "Settings", "Predict", "Undo", "Fork here") == ["Settings", "Predict", "Undo"]
    assert not root.locator(".rk-signs").is_visible()
    bridge.press("k")
    assert shown(bridge, "History:", "Fork here") == ["History:", "Fork here"]
    bridge.begin()
    assert shown(bridge, "Settings", "Fork here") == ["Settings", "Fork here"]


def test_every_view_is_reached_by_its_key_before_its_tab_is_shown(page, tmp_path):
    page.add_init_script("localStorage.clear()")
    bridge = Bridge(page, Lab(), tmp_path / "lab.html", 934)
    bridge.press("s")
    assert bridge.root.locator(".rk-drawer").is_visible()
    bridge.press("Escape", "Alt+2")
    assert page.evaluate("lab.panels.name") == "timeline"
    assert bridge.root.locator(".rk-tabs").is_visible()


def test_a_beat_is_chosen_from_the_list_of_the_guide_and_a_missing_heartbeat_is_seen(page, tmp_path):
    bridge = Bridge(page, Lab("crash-in-hand-over", protocol="eager"), tmp_path / "lab.html")
    bridge.click("Guide me")
    bridge.pump("lab.guide.on")
    bridge.click("Beat 1 of")
    bridge.root.locator(".rk-menu .rk-item").nth(4).click()
    bridge.settle()
    assert page.evaluate("[lab.guide.index, lab.player.at === lab.guide.beats[4][0]]") == [4, True]
    bridge.press("Escape")
    bridge.seek(50_000)
    assert bridge.root.locator(".rk-bus [data-silent]").count() == 1
