"""Where the keys go after a click, and what is left by choosing something else."""

from __future__ import annotations

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.view.lab.widget import Lab
from tests.support.browser.lab_bridge import Bridge


@pytest.fixture
def bridge(page, tmp_path):
    page.emulate_media(reduced_motion="no-preference")
    return Bridge(page, Lab("two-consumers-crash"), tmp_path / "lab.html", width=1326)


@pytest.mark.parametrize("words", ["Eager", "Consumer"])
def test_choosing_a_protocol_leaves_the_comparison_and_shows_it(bridge, words):
    bridge.click("Compare the protocols")
    bridge.pump("lab.comparison.view")
    bridge.root.get_by_role("group", name="Protocol").get_by_role("button", name=words).click()
    bridge.settle()
    assert bridge.page.evaluate("lab.comparison.view === null && lab.screen.stage.root.isConnected")
    assert bridge.lab.protocol == words.lower()
    chosen = bridge.root.locator("[data-protocol][aria-pressed=true]")
    assert chosen.all_inner_texts() == [words]


@pytest.mark.parametrize("name", ["Present", "Compare the protocols", "Step forward", "Undo", "Flow"])
def test_after_a_click_on_a_button_space_plays(bridge, name):
    bridge.press("c")
    bridge.page.evaluate("lab.player.pause()")
    if name == "Flow":
        bridge.root.get_by_role("tab", name=name).click()
    else:
        bridge.click(name)
    bridge.pump("lab.comparison.view || lab.ui.compareButton !== document.activeElement")
    pressed = "[lab.comparison.view !== null, lab.presenter.on]"
    before = bridge.page.evaluate(pressed)
    bridge.page.wait_for_function("lab.ui.root.contains(document.activeElement)")
    bridge.page.keyboard.press("Space")
    assert bridge.page.evaluate("lab.player.playing")
    assert bridge.page.evaluate(pressed) == before
    bridge.page.evaluate("lab.player.pause()")


@pytest.mark.parametrize("name", ["Settings", "Predict", "Copy link", "Lessons"])
def test_after_a_dialog_that_was_opened_by_mouse_space_plays(bridge, name):
    bridge.click(name)
    bridge.pump("lab.popups.some((popup) => popup.open)")
    bridge.page.keyboard.press("Escape")
    bridge.page.keyboard.press("Space")
    assert bridge.page.evaluate("lab.player.playing && !lab.popups.some((popup) => popup.open)")
    bridge.page.evaluate("lab.player.pause()")


def test_a_button_that_was_reached_by_tab_is_pressed_by_space_and_gets_the_focus_back(bridge):
    bridge.page.evaluate("lab.ui.presetButton.focus()")
    bridge.page.keyboard.press("Tab")
    bridge.page.evaluate("lab.ui.settingsButton.focus()")
    bridge.page.keyboard.press("Space")
    bridge.pump("lab.drawer.open")
    bridge.page.keyboard.press("Escape")
    assert bridge.page.evaluate("document.activeElement === lab.ui.settingsButton && !lab.player.playing")


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_undo_stops_rests_at_the_deed_and_says_what_was_taken_back(bridge, by):
    bridge.seek(20_000)
    bridge.press("c")
    bridge.pump("lab.player.at > 20300")
    if by == "mouse":
        bridge.click("Undo")
    else:
        bridge.press("u")
    assert bridge.page.evaluate("[lab.player.playing, lab.player.at]") == [False, 20_000]
    assert bridge.lab.cursor_ms == 20_000
    assert bridge.text(".rk-notice") == "Taken back: consumer-1 crashes."
    bridge.press("U")
    assert bridge.text(".rk-notice") == "Done again: consumer-1 crashes."
