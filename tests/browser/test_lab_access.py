"""The lab for everybody: no violation in an audit, small and large windows, less motion, the keyboard alone."""

from __future__ import annotations

import importlib.resources

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.view.lab.widget import Lab
from rebalance_kit.view.style.theme import THEMES
from tests.support.browser.lab_bridge import Bridge
from tests.support.thinning import LONG

TABS = ("timeline", "messages", "logs", "cli", "metrics", "members", "why", "invariants")
POPUPS = (
    "Lessons",
    "Settings",
    "Copy link",
    "More actions",
    "More: files, theme, history",
    "History",
    "Keyboard and legend",
)
WIDTHS = ((512, 384), (720, 700), (992, 768), (1334, 768), (1888, 1080))


@pytest.fixture
def audit(page):
    axe = pytest.importorskip(
        "axe_playwright_python", reason="axe-playwright-python is not installed: no audit"
    )
    script = (importlib.resources.files(axe) / "axe.min.js").read_text(encoding="utf-8")

    def run(where):
        page.evaluate(f"() => {{ if (!window.axe) {{ {script} }} }}")
        found = page.evaluate("() => axe.run('.rk-lab')")["violations"]
        assert [(where, one["id"], one["nodes"][0]["html"][:200]) for one in found] == []

    return run


@pytest.mark.parametrize(
    "theme", [pytest.param(theme, marks=LONG if theme != "light" else ()) for theme in THEMES]
)
def test_an_audit_finds_nothing_in_any_tab_drawer_or_menu(page, tmp_path, audit, theme, shot):
    bridge = Bridge(page, Lab("crash", theme=theme), tmp_path / "lab.html")
    bridge.seek(40_000)
    audit("flow")
    shot(bridge.root, f"flow-{theme}")
    for name in TABS:
        bridge.open_tab(name)
        audit(name)
    bridge.open_tab("flow")
    for name in POPUPS:
        bridge.click(name)
        audit(name)
        bridge.press("Escape")
    bridge.press("v")
    bridge.pump("lab.comparison.view")
    audit("compare")
    shot(bridge.root, f"compare-{theme}")
    bridge.press("v", "g", "c")
    audit("predict")
    bridge.click("Lock in")
    audit("predicted")


@pytest.mark.parametrize("theme", [theme for theme in THEMES if theme != "light"])
def test_an_audit_of_another_theme_finds_nothing(page, tmp_path, audit, theme):
    bridge = Bridge(page, Lab("crash", theme=theme), tmp_path / "lab.html")
    bridge.seek(40_000)
    audit("flow")
    bridge.open_tab("why")
    audit("why")


@pytest.mark.parametrize(("width", "height"), WIDTHS)
def test_nothing_is_lost_or_overlaps_in_small_windows_at_200_per_cent_and_on_large_screens(
    page, tmp_path, shot, width, height
):
    page.set_viewport_size({"width": width + 32, "height": height})
    bridge = Bridge(page, Lab("crash", protocol="cooperative"), tmp_path / "lab.html", width)
    bridge.seek(40_000)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for node in bridge.root.locator(
        ".rk-head button, .rk-actions button, .rk-transport button, .rk-tabs button"
    ).all():
        box = node.bounding_box()
        assert box is None or box["width"] >= 24
    boxes = bridge.root.locator(
        ".rk-head > *, .rk-head button, .rk-actions > button, .rk-transport button"
    ).evaluate_all(
        "all => all.filter((one) => one.tagName === 'BUTTON').map((one) => { const b = one.getBoundingClientRect(); return [one.textContent, b.left, b.top, b.right, b.bottom]; })"
    )
    right = bridge.root.bounding_box()["x"] + width
    for place, (name, left, top, end, bottom) in enumerate(boxes):
        assert end <= right + 1, name
        for other, *box in boxes[:place]:
            assert end <= box[0] + 1.5 or box[2] <= left + 1.5 or bottom <= box[1] + 1 or box[3] <= top + 1, (
                name,
                other,
            )
    shot(bridge.root, f"width-{width}")


def test_the_height_stays_the_same_while_time_goes_by_and_in_every_tab(page, tmp_path):
    bridge = Bridge(page, Lab("crash"), tmp_path / "lab.html")
    heights = set()
    for at_ms in (0, 5_000, 40_000, 79_150, 110_000):
        bridge.seek(at_ms)
        heights.add(bridge.root.bounding_box()["height"])
    for name in TABS:
        bridge.open_tab(name)
        heights.add(bridge.root.bounding_box()["height"])
    assert len(heights) == 1


def test_with_less_motion_play_rests_at_each_event_and_nothing_flies(page, tmp_path):
    page.emulate_media(reduced_motion="reduce")
    bridge = Bridge(page, Lab("two-consumers-crash"), tmp_path / "lab.html")
    events = bridge.page.evaluate("lab.film.events")
    bridge.page.evaluate("lab.play()")
    bridge.pump(
        "lab.player.at !== lab.model.get('cursor_ms') && document.getAnimations().every((one) => !one.effect.target.classList.contains('rk-token'))"
    )
    seen = bridge.page.evaluate("lab.player.at")
    bridge.page.evaluate("lab.player.pause()")
    assert seen in events
    assert (
        bridge.page.evaluate("getComputedStyle(document.querySelector('.rk-token')).transitionDuration")
        == "0s"
    )


def test_every_button_has_a_name_and_every_key_of_the_table_does_something(page, tmp_path):
    bridge = Bridge(page, Lab("crash"), tmp_path / "lab.html")
    nameless = bridge.root.locator("button").evaluate_all(
        "all => all.filter((one) => !(one.getAttribute('aria-label') || one.textContent.trim())).length"
    )
    assert nameless == 0
    dead = bridge.page.evaluate(
        """() => { const keys = ['.', ',', '>', '<', 'n', 'N', 'Home', 'End', ']', '[', 'ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', '1', 'Enter', 'c', 'l', 'z', 'r', 'w', 'd', 'x', 'e', 'Delete', 'm', 'p', 'b', 'o',
          'u', 'U', 'k', 'h', 'v', 'g', 't', 'a', 's', '=', '-', '/', 'f', 'q', 'i', 'I', '?', '0'];
          return keys.filter((key) => !lab.runOf({ key, target: lab.screen.focusTarget() })); }"""
    )
    assert dead == []


def test_single_letters_can_be_switched_off(page, tmp_path):
    bridge = Bridge(page, Lab("crash"), tmp_path / "lab.html")
    bridge.click("More: files, theme, history")
    bridge.root.get_by_label("single letters are keys").uncheck()
    bridge.press("Escape", "c")
    assert bridge.lab.controls["done"] == []
    assert bridge.text(".rk-notice").startswith("Single letters are no keys now.")


def test_what_is_said_aloud_follows_the_crash(page, tmp_path):
    bridge = Bridge(page, Lab("crash"), tmp_path / "lab.html")
    bridge.press("n")
    bridge.pump("document.querySelector('.rk-status').textContent.includes(' s consumer-2 crashed.')")
    bridge.root.locator(".rk-lane").first.focus()
    bridge.press("ArrowRight")
    assert (
        bridge.root.locator(".rk-lab > .rk-status, .rk-status[role=status]")
        .last.inner_text()
        .startswith("orders-")
    )
