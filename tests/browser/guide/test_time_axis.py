"""One axis of time: it holds through deeds, and runs that are compared share it."""

from __future__ import annotations

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.view.lab.widget import Lab
from tests.support.browser.lab_bridge import Bridge

REACH = "lab.strip.scale.to"
CURSOR = "lab.strip.cursor.getBoundingClientRect().x"
AXES = """() => [...document.querySelectorAll(".rk-miniaxis")].map((axis) =>
  [...axis.children].map((tick) => `${tick.textContent}@${tick.style.left}`).join())"""


@pytest.fixture
def bridge(page, tmp_path):
    return Bridge(page, Lab(), tmp_path / "lab.html")


def still(bridge):
    bridge.page.evaluate("lab.player.pause()")
    bridge.settle()


def test_the_axis_never_shrinks_and_seldom_grows(bridge):
    page = bridge.page
    bridge.press("c")
    still(bridge)
    reach = page.evaluate(REACH)
    assert reach % 30_000 == 0
    assert reach >= bridge.lab.trace.end_ms
    bridge.seek(20_000)
    at = page.evaluate(CURSOR)
    for key in ("u", "U", "t", "m", "u"):
        bridge.press(key)
        still(bridge)
        bridge.seek(20_000)
        assert page.evaluate(REACH) == reach
        assert page.evaluate(CURSOR) == at


def test_the_slider_ends_with_the_run_although_the_axis_reaches_further(bridge):
    bridge.press("c")
    still(bridge)
    bridge.press("u")
    slider = bridge.root.get_by_role("slider", name="Time")
    slider.press("End")
    assert bridge.page.evaluate("lab.player.at") == bridge.lab.trace.end_ms == 40_000
    x, width = bridge.page.evaluate("[lab.strip.scale.x(lab.player.at), lab.strip.scale.width]")
    assert x < width / 2


def test_another_lesson_has_an_axis_of_its_own(bridge):
    bridge.press("c")
    still(bridge)
    bridge.lab.load("leave")
    bridge.push(bridge._state())
    bridge.pump("lab.serial === lab.model.get('controls').serial")
    assert bridge.page.evaluate(REACH) == bridge.lab.trace.end_ms == 60_000


def test_branches_of_unlike_length_are_compared_on_one_axis(bridge):
    bridge.press("k", "c")
    still(bridge)
    ends = [branch.state.boards.end_ms for branch in bridge.lab.history.branches]
    assert ends[0] != ends[1]
    bridge.page.evaluate("() => { lab.comparison.toggle([0, 1]); }")
    bridge.pump("lab.comparison.view")
    first, second = bridge.page.evaluate(AXES)
    assert first == second
    assert first.startswith("0@0px")


def test_the_clock_at_the_cursor_covers_no_number_of_the_axis_in_part(bridge):
    page = bridge.page
    for at_ms in (0, 2_000, 9_000, 20_000, 34_400, 40_000):
        bridge.seek(at_ms)
        covered = page.evaluate("""() => {
          const clock = lab.strip.clock.getBoundingClientRect();
          return [...lab.strip.axis.children].filter((one) => one.checkVisibility({ visibilityProperty: true })).filter((one) => {
            const { left, right } = one.getBoundingClientRect();
            return left < clock.right && clock.left < right;
          }).map((one) => one.textContent);
        }""")
        assert covered == [], at_ms
    assert page.evaluate("[...lab.strip.axis.children].filter((one) => !one.style.visibility).length") >= 6
