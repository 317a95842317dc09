"""Two ends of the scale: presented to a room nothing is small and nothing is cut; on a phone the strip stays in sight."""

from __future__ import annotations

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.view.lab.widget import Lab
from tests.support.browser.lab_bridge import Bridge
from tests.support.browser.places import NO_FULL_SCREEN, PLACES

LEAST_PX = 18
SMALL = """() => {
  const found = [], words = document.createTreeWalker(document.querySelector(".rk-lab"), NodeFilter.SHOW_TEXT);
  while (words.nextNode()) {
    const text = words.currentNode, parent = text.parentElement, range = document.createRange();
    range.selectNodeContents(text);
    const { width, height } = range.getBoundingClientRect();
    if (!text.data.trim() || width < 2 || height < 2 || parent.closest(".rk-status, option, .rk-minismall")) continue;
    if (!parent.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const px = parseFloat(getComputedStyle(parent).fontSize) * parent.currentCSSZoom;
    if (px < 17.9) found.push(`${px.toFixed(1)} ${text.data}`);
  }
  return found;
}"""
"""Every visible text below 18 px of the screen."""


def placed(page, target, place, width, height):
    """The lab in a window, at one of the thirteen places."""
    scenario, protocol, at_ms, lead = PLACES[place]
    page.set_viewport_size({"width": width, "height": height})
    bridge = Bridge(page, Lab(scenario, protocol=protocol, theme="light"), target, width - 10)
    page.evaluate(NO_FULL_SCREEN)
    page.evaluate("lab.player.pause()")
    if at_ms is not None:
        bridge.seek(at_ms)
    lead(bridge)
    bridge.settle()
    return bridge


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (1024, 768)])
def test_nothing_that_is_presented_is_small_or_cut_and_no_band_is_empty(page, tmp_path, shot, width, height):
    for place in ("unread", "compare", "guided", "fifty", "messages"):
        bridge = placed(page, tmp_path / f"{place}.html", place, width, height)
        bridge.press("f")
        page.wait_for_function("lab.presenter.on && lab.ui.root.style.zoom")
        if place == "compare":
            bridge.pump("document.querySelector('.rk-answer span').textContent", 60)
        bridge.settle()
        shot(page, f"present-{place}-{width}")
        assert page.evaluate(SMALL) == []
        used = page.evaluate("""() => {
          const last = lab.comparison.view ? lab.ui.transport : lab.strip.root;
          return last.getBoundingClientRect().bottom / innerHeight;
        }""")
        assert 0.94 < used <= 1, place
        bridge.press("f")
        page = _fresh(page)


def _fresh(page):
    """Another page of the same window: a bridge is bound to its page."""
    other = page.context.new_page()
    page.close()
    return other


@pytest.mark.parametrize(("width", "height"), [(360, 740), (661, 768)])
def test_a_narrow_lab_has_its_rail_below_its_lanes_and_its_strip_in_sight(
    page, tmp_path, shot, width, height
):
    bridge = placed(page, tmp_path / "lab.html", "unread", width, height)
    shot(page, f"narrow-{width}")
    page.evaluate("scrollTo(0, 16)")
    boxes = page.evaluate("""() => Object.fromEntries(Object.entries({
        lane: ".rk-lane:last-of-type", rail: ".rk-rail", strip: ".rk-strip", root: ".rk-lab",
      }).map(([name, part]) => [name, document.querySelector(part).getBoundingClientRect().toJSON()]))""")
    assert boxes["rail"]["top"] >= boxes["lane"]["bottom"]
    assert boxes["strip"]["bottom"] <= height
    for part in ("rail", "lane", "strip"):
        assert boxes[part]["right"] <= boxes["root"]["right"]
    assert not bridge.root.get_by_role("button", name="Settings").is_visible()
    bridge.click("More: files, theme, history")
    bridge.root.locator(".rk-menu").get_by_role("button", name="Settings").click()
    bridge.pump("lab.drawer.open")
