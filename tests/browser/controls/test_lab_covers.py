"""Nothing covers or cuts what has to be read: cards, the text below them, the panel of More, what a deed costs, Present."""

from __future__ import annotations

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.view.lab.widget import Lab
from tests.support.browser.lab_bridge import Bridge
from tests.support.thinning import thinned

COVERED = """(selector) => {
  const all = [...document.querySelectorAll(selector)].filter((one) => one.offsetParent);
  const boxes = all.map((one) => one.getBoundingClientRect());
  return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1).map(() => all[i].textContent));
}"""
OUTSIDE = """(selector) => {
  const view = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  return [...document.querySelectorAll(selector)].filter((one) => one.offsetParent).filter((one) => {
    const { left, top, right, bottom } = one.getBoundingClientRect();
    return left < view.left - 1 || top < view.top - 1 || right > view.right + 1 || bottom > view.bottom + 1;
  }).map((one) => one.className);
}"""
SCREENS = {1024: 768, 1366: 768, 1920: 1080}


def opened(page, tmp_path, name, width, **choices):
    page.set_viewport_size({"width": width, "height": SCREENS[width]})
    bridge = Bridge(page, Lab(name, **choices), tmp_path / "lab.html", width - 24)
    bridge.page.evaluate("lab.player.pause()")
    return bridge


@pytest.mark.parametrize("width", [1024, 1366])
def test_no_card_of_the_comparison_lies_on_another(page, tmp_path, shot, width):
    bridge = opened(page, tmp_path, "crash", width, protocol="eager")
    bridge.click("Compare")
    bridge.pump("lab.comparison.view")
    bridge.page.evaluate(
        "document.querySelectorAll('.rk-lab').forEach((one) => one.classList.add('rk-calm'))"
    )
    for at_ms in (5_000, 40_000, 73_900, 75_000):
        bridge.seek(at_ms)
        bridge.settle()
        for board in range(3):
            within = f"td:nth-child({board + 2}) .rk-minitoken"
            assert page.evaluate(COVERED, within) == [], (at_ms, board)
            assert bridge.root.locator(f"{within}:visible").count() == 12
    shot(bridge.root, f"compare-cards-{width}")


@pytest.mark.parametrize(("name", "width"), thinned(["two-consumers-crash", "crash"], [1024, 1366]))
def test_the_cards_without_owner_leave_the_text_below_them_clear_and_their_numbers_whole(
    page, tmp_path, shot, name, width
):
    bridge = opened(page, tmp_path, name, width, protocol="eager")
    bridge.seek(3_000)
    bridge.settle()
    assert bridge.root.locator(".rk-token[data-word='no owner']").count() in {4, 12}
    assert page.evaluate(COVERED, ".rk-token[data-word='no owner'], .rk-railnote") == []
    cut = """() => [...document.querySelectorAll(".rk-token[data-word='no owner'] .rk-part *")].filter(
      (one) => one.offsetParent && one.scrollWidth > one.clientWidth + 1 && one.clientWidth).map((one) => one.textContent)"""
    assert page.evaluate(cut) == []
    shot(bridge.root, f"no-owner-{name}-{width}")


@pytest.mark.parametrize("width", [1024, 1366, 1920])
def test_the_panel_of_more_keeps_its_title_and_its_close_in_sight(page, tmp_path, shot, width):
    bridge = opened(page, tmp_path, "crash", width)
    bridge.click("More actions")
    assert page.evaluate(OUTSIDE, ".rk-menu h2, .rk-menu .rk-close, .rk-menu") == []
    lab, panel = bridge.root.bounding_box(), bridge.root.locator(".rk-menu").bounding_box()
    assert panel["y"] >= lab["y"]
    shot(bridge.root, f"more-{width}")


@pytest.mark.parametrize("width", [1024, 1366])
def test_what_a_deed_costs_is_never_cut(page, tmp_path, shot, width):
    bridge = opened(page, tmp_path, "crash", width)
    bridge.seek(30_000)
    long = "Will stop: orders-0 and 11 more partitions. 232.1 partition-seconds in all, 229.2 more than without it (2.9). 12 move. 1,204 records come twice."
    page.evaluate("(words) => { lab.ui.cost.textContent = words; }", long)
    cut = """() => { const box = document.querySelector('.rk-words'), inner = document.querySelector('.rk-cost');
      return inner.getBoundingClientRect().bottom <= box.getBoundingClientRect().bottom + 1
        && box.scrollWidth <= box.clientWidth + 1 && inner.scrollWidth <= inner.clientWidth + 1; }"""
    assert page.evaluate(cut)
    assert page.evaluate(COVERED, ".rk-actions > *") == []
    shot(bridge.root, f"cost-{width}")


@pytest.mark.parametrize(("width", "theme"), thinned([1024, 1366, 1920], ["light", "dark"]))
def test_presenting_shows_the_strip_with_its_axis_in_the_chosen_darkness(page, tmp_path, shot, width, theme):
    bridge = opened(page, tmp_path, "crash", width, theme=theme)
    page.evaluate("document.documentElement.requestFullscreen = null; lab.ui.root.requestFullscreen = null")
    bridge.click("Present")
    bridge.settle()
    page.wait_for_function("lab.presenter.on && lab.ui.root.scrollHeight <= lab.ui.root.clientHeight")
    assert page.evaluate(OUTSIDE, ".rk-strip, .rk-axis, .rk-help, .rk-head button") == []
    tops = {
        round(one.bounding_box()["y"]) // 12 for one in bridge.root.locator(".rk-head > button:visible").all()
    }
    assert len(tops) == 1
    red = page.evaluate("Number(getComputedStyle(lab.ui.root).backgroundColor.match(/\\d+/)[0])")
    assert (red < 80) == (theme == "dark")
    shot(page, f"present-{theme}-{width}")


@pytest.mark.parametrize(("width", "button"), thinned([1024, 1366], ["Settings", "Predict"]))
def test_a_drawer_leaves_the_strip_and_its_buttons_free(page, tmp_path, width, button):
    bridge = opened(page, tmp_path, "crash", width)
    bridge.click(button)
    drawer = bridge.root.locator(".rk-drawer")
    drawer.wait_for()
    box, transport = drawer.bounding_box(), bridge.root.locator(".rk-transport").bounding_box()
    assert box["y"] + box["height"] <= transport["y"] + 1
    assert box["height"] > 300


BEYOND = """(edge) => [...document.querySelectorAll('.rk-stage, .rk-stage *, .rk-tabs button, .rk-meter, .rk-say *')]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }) && one.getBoundingClientRect().right > edge + 1)
  .map((one) => one.className.baseVal ?? one.className)"""


@pytest.mark.parametrize(
    ("name", "width", "button"),
    thinned(["crash", "fifty-by-five-hundred"], [1366, 1920], ["Settings", "Predict"]),
)
def test_the_board_makes_room_for_a_drawer_and_takes_it_back(page, tmp_path, shot, name, width, button):
    bridge = opened(page, tmp_path, name, width)
    bridge.seek(30_000)
    stage, height = bridge.root.locator(".rk-stage"), bridge.root.bounding_box()["height"]
    before = stage.bounding_box()
    bridge.click(button)
    drawer = bridge.root.locator(".rk-drawer")
    drawer.wait_for()
    assert page.evaluate(BEYOND, drawer.bounding_box()["x"]) == []
    assert bridge.root.bounding_box()["height"] == height
    assert not bridge.root.locator(".rk-pane").is_visible()
    shot(bridge.root, f"drawer-{button.lower()}-{name}-{width}")
    drawer.get_by_role("button", name="Close").click()
    assert stage.bounding_box() == before


def test_a_drawer_ends_above_the_deeds(page, tmp_path):
    bridge = opened(page, tmp_path, "crash", 1366)
    bridge.click("Predict")
    drawer = bridge.root.locator(".rk-drawer")
    drawer.wait_for()
    page.evaluate("(words) => { lab.ui.cost.textContent = words; }", "two lines of what it costs " * 12)
    box, deeds = drawer.bounding_box(), bridge.root.locator(".rk-actions").bounding_box()
    assert box["y"] + box["height"] <= deeds["y"] + 1


@pytest.mark.parametrize("width", [1024, 1366, 1920])
def test_a_comparison_leaves_the_strip_on_the_screen(page, tmp_path, width):
    bridge = opened(page, tmp_path, "crash-in-hand-over", width)
    bridge.click("Compare")
    bridge.pump("lab.comparison.view")
    assert bridge.root.bounding_box()["height"] <= SCREENS[width] - 60
    boards = bridge.root.locator(".rk-mini-board").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect().bottom)"
    )
    ends = bridge.root.locator(".rk-actions").bounding_box()["y"]
    assert len(boards) == 3
    assert max(boards) <= ends
