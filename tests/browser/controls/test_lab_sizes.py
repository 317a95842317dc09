"""Two ends of the scale: presented to a room nothing is small and nothing is cut; on a phone the strip stays in sight."""

from __future__ import annotations

import itertools

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.view.lab.widget import Lab
from tests.support.browser.lab_bridge import Bridge
from tests.support.browser.places import COVERED, CUT, NO_FULL_SCREEN, OUTSIDE, PLACES

LEAST_PX = 18
SMALL = """() => {
  const found = [];
  for (const one of document.querySelectorAll(".rk-lab *")) for (const part of ["::before", "::after"]) {
    const looks = getComputedStyle(one, part), text = looks.content.replaceAll('"', "").trim(), px = parseFloat(looks.fontSize) * one.currentCSSZoom;
    if (text && !["none", "normal"].includes(text) && looks.display !== "none" && one.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && px < 17.9) found.push(`${px.toFixed(1)} ${text}`);
  }
  const words = document.createTreeWalker(document.querySelector(".rk-lab"), NodeFilter.SHOW_TEXT);
  while (words.nextNode()) {
    const text = words.currentNode, parent = text.parentElement, range = document.createRange();
    range.selectNodeContents(text);
    const { width, height } = range.getBoundingClientRect();
    if (!text.data.trim() || width < 2 || height < 2 || parent.closest(".rk-status, option")) continue;
    if (!parent.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const px = parseFloat(getComputedStyle(parent).fontSize) * parent.currentCSSZoom;
    if (px < 17.9) found.push(`${px.toFixed(1)} ${text.data}`);
  }
  return found;
}"""
"""Every visible text below 18 px of the screen."""


def placed(page, target, place, width, height, presented=False):
    """The lab in a window, at one of the thirteen places; ``presented`` before what leads there is done."""
    scenario, protocol, at_ms, lead = PLACES[place]
    page.set_viewport_size({"width": width, "height": height})
    bridge = Bridge(page, Lab(scenario, protocol=protocol, theme="light"), target, width - 10)
    page.evaluate(NO_FULL_SCREEN)
    page.evaluate("lab.player.pause()")
    if at_ms is not None:
        bridge.seek(at_ms)
    if presented:
        bridge.press("f")
        page.wait_for_function("lab.presenter.on && lab.ui.root.style.zoom")
    lead(bridge)
    bridge.settle()
    return bridge


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (1024, 768)])
def test_nothing_that_is_presented_is_small_or_cut_and_no_band_is_empty(page, tmp_path, shot, width, height):
    for place in ("unread", "compare", "guided", "fifty", "messages", "predict"):
        bridge = placed(page, tmp_path / f"{place}.html", place, width, height, presented=True)
        if place == "compare":
            bridge.pump("document.querySelector('.rk-answer span').textContent", 60)
        bridge.settle()
        shot(page, f"present-{place}-{width}")
        assert page.evaluate(SMALL) == []
        assert page.evaluate(COVERED) == page.evaluate(CUT) == page.evaluate(OUTSIDE) == [], place
        used = page.evaluate("""() => {
          const last = lab.comparison.view ? lab.ui.transport : lab.strip.root;
          return last.getBoundingClientRect().bottom / innerHeight;
        }""")
        assert 0.94 < used <= 1, place
        page = _fresh(page)


@pytest.mark.parametrize(
    ("width", "height"), [(1024, 768), (1093, 614)], ids=["1024", "125 per cent of 1366"]
)
def test_what_is_asked_of_a_prediction_stands_beside_the_board(page, tmp_path, shot, width, height):
    placed(page, tmp_path / "lab.html", "predict", width, height, presented=True)
    shot(page, f"beside-{width}")
    boxes = page.evaluate("""() => Object.fromEntries([".rk-stage", ".rk-drawer", ".rk-actions > .rk-words", ".rk-strip"].map((part) =>
        [part, document.querySelector(part).getBoundingClientRect().toJSON()]))""")
    assert boxes[".rk-stage"]["right"] <= boxes[".rk-drawer"]["left"]
    assert boxes[".rk-strip"]["bottom"] <= height
    cover = page.evaluate("""() => {
      const strip = document.querySelector(".rk-strip"), looks = getComputedStyle(strip, "::after"), zoom = strip.currentCSSZoom;
      return strip.getBoundingClientRect().top + zoom * (parseFloat(looks.top) + parseFloat(looks.paddingTop) + 1.15 * parseFloat(looks.fontSize));
    }""")
    assert boxes[".rk-actions > .rk-words"]["top"] >= cover - 1  # neither lies on the other's words
    assert page.evaluate(CUT) == page.evaluate(COVERED) == []


def test_a_page_that_is_zoomed_presents_a_comparison_whole(page, tmp_path, shot):
    bridge = placed(page, tmp_path / "lab.html", "compare", 1093, 614, presented=True)
    bridge.pump("document.querySelector('.rk-answer span').textContent", 60)
    bridge.settle()
    shot(page, "zoomed-compare")
    assert page.evaluate("lab.ui.transport.getBoundingClientRect().bottom") <= 614
    assert page.evaluate("lab.ui.root.scrollTop") == 0
    assert page.evaluate(CUT) == page.evaluate(COVERED) == []


def test_a_group_whose_topic_is_gone_has_no_partition_to_own(page, tmp_path):
    lab = Lab("two-consumers-crash", protocol="eager")
    lab.handle({"id": 1, "type": "act", "do": "delete_topic", "args": {"topic": "orders"}, "at_ms": 20_000})
    bridge = Bridge(page, lab, tmp_path / "lab.html")
    bridge.seek(60_000)
    assert bridge.text(".rk-railnote") == "There is no partition."


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


@pytest.mark.parametrize("width", [360, 578, 934])
def test_no_title_no_sentence_and_no_name_of_a_line_is_cut(page, tmp_path, width):
    bridge = placed(page, tmp_path / "fifty.html", "fifty", width, 768)
    assert page.evaluate(CUT) == []
    page = _fresh(page)
    bridge = placed(page, tmp_path / "messages.html", "messages", width + 10, 768)
    heads = bridge.root.locator(".rk-heads text").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect()).map(({ left, right }) => [left, right])"
    )
    assert len(heads) == 5
    assert all(right + 4 < left for (_, right), (left, _) in itertools.pairwise(heads)), heads
    edge = bridge.root.locator(".rk-sequence").bounding_box()
    said = bridge.root.locator(".rk-said").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect().right)"
    )
    assert max(said) <= edge["x"] + edge["width"] + 1


def test_every_mark_of_the_strip_stands_on_one_line(page, tmp_path):
    bridge = Bridge(page, Lab("lost-records"), tmp_path / "lab.html")
    tops = bridge.root.locator(".rk-mark").evaluate_all("all => all.map((one) => one.offsetTop)")
    assert bridge.root.locator(".rk-mark.rk-skipped").count()
    assert len(set(tops)) == 1


def test_a_prediction_that_is_left_takes_along_what_it_asked_for(page, tmp_path):
    bridge = placed(page, tmp_path / "lab.html", "predict", 1366, 768)
    assert bridge.text(".rk-notice").startswith("Answer beside the board")
    bridge.press("Escape", "g")
    bridge.pump("!lab.predict.on")
    assert bridge.text(".rk-notice") == ""
