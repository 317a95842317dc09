"""First sight: one prominent button in every state, and Why as a second pane where there is room."""

from __future__ import annotations

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.view.lab.widget import Lab
from tests.support.browser.lab_bridge import Bridge

FILLED = """() => [...document.querySelectorAll(".rk-lab button")].filter((node) => {
  const { backgroundColor, visibility } = getComputedStyle(node);
  const ink = getComputedStyle(node.closest(".rk-lab")).color;
  return node.offsetParent && visibility === "visible" && backgroundColor === ink;
}).map((node) => node.getAttribute("aria-label") ?? node.textContent)"""


def filled(bridge):
    bridge.page.mouse.move(1, 1)
    return bridge.page.evaluate(FILLED)


@pytest.mark.parametrize("theme", ["light", "dark", "projector"])
def test_one_button_is_prominent_in_every_state(page, tmp_path, theme):
    bridge = Bridge(page, Lab(theme=theme), tmp_path / "lab.html")
    assert filled(bridge) == ["Crash consumer-1"]
    bridge.press("c")
    bridge.page.evaluate("lab.player.pause()")
    assert filled(bridge) == ["Guide me"]
    bridge.click("Guide me")
    bridge.pump("lab.guide.on")
    assert filled(bridge) == ["Next beat"]
    bridge.press("Escape")
    bridge.press("v")
    bridge.pump("lab.comparison.view")
    assert filled(bridge) == ["Play"]
    bridge.press("v")
    bridge.press("f")
    assert filled(bridge) == ["Guide me"]
    bridge.press("f")
    bridge.press("Space")
    assert filled(bridge) == ["Guide me"]
    bridge.press("Space")
    bridge.press("End")
    assert filled(bridge) == ["Guide me"]


def test_a_lesson_opens_with_one_prominent_button(page, tmp_path):
    bridge = Bridge(page, Lab("join"), tmp_path / "lab.html")
    assert filled(bridge) == ["Guide me"]


@pytest.mark.parametrize(("window", "width"), [((1366, 768), 1334), ((1920, 1080), 1888)])
def test_why_stands_beside_the_board_and_is_lit_at_the_cursor(page, tmp_path, window, width):
    page.set_viewport_size({"width": window[0], "height": window[1]})
    bridge = Bridge(page, Lab("two-consumers-crash"), tmp_path / "lab.html", width=width)
    bridge.pump("lab.guide.content && document.querySelector('.rk-pane li[aria-current]')")
    bridge.seek(60_000)
    here = bridge.root.locator(".rk-pane li[aria-current]")
    assert "consumer-1 crashes." in here.inner_text()
    assert "session.timeout.ms" in here.inner_text()
    assert "45.0 s" in here.inner_text()
    pane, board = (bridge.root.locator(part).bounding_box() for part in (".rk-pane", ".rk-board"))
    assert pane["x"] >= board["x"] + board["width"]
    bridge.click("Guide me")
    bridge.pump("lab.guide.on")
    bridge.page.evaluate("lab.guide.go(1)")
    assert "removed: its session ended" in here.inner_text()
    bridge.page.evaluate("lab.guide.go(2)")
    assert "A rebalance begins" in here.inner_text()  # at the same moment, another rule
    assert bridge.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_number_in_the_pane_is_stepped_and_keeps_the_focus(page, tmp_path):
    page.set_viewport_size({"width": 1366, "height": 768})
    bridge = Bridge(page, Lab("two-consumers-crash"), tmp_path / "lab.html", width=1334)
    bridge.seek(60_000)
    bridge.pump("document.querySelector('.rk-pane li[aria-current] [role=spinbutton]')")
    bridge.root.locator(".rk-pane li[aria-current] [role=spinbutton]").focus()
    before = bridge.lab.trace.end_ms, bridge.lab.boards.session_ms("consumer-1")
    bridge.page.keyboard.press("ArrowUp")
    bridge.settle()
    bridge.page.wait_for_timeout(400)
    bridge.settle()
    assert bridge.lab.boards.session_ms("consumer-1") > before[1]
    assert bridge.page.evaluate("document.activeElement.closest('.rk-pane') !== null")


def test_a_click_is_never_answered_after_the_account_of_the_pane(page, tmp_path):
    page.set_viewport_size({"width": 1366, "height": 768})
    bridge = Bridge(page, Lab("two-consumers-crash"), tmp_path / "lab.html", width=1334)
    bridge.pump("lab.guide.content")
    bridge.asked.clear()
    bridge.press("t")
    bridge.pump("lab.guide.serial === lab.serial")
    assert bridge.asked == ["set", "guide"]


def test_below_1200_pixels_there_is_no_pane_and_nothing_is_asked_for_it(page, tmp_path):
    bridge = Bridge(page, Lab("two-consumers-crash"), tmp_path / "lab.html", width=1100)
    bridge.page.wait_for_timeout(400)
    bridge.settle()
    assert bridge.root.locator(".rk-pane").is_hidden()
    assert "guide" not in bridge.asked
