"""What a learner and an instructor with a projector stumbled over, each as a case."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.view.lab.widget import Lab
from tests.support.browser.lab_bridge import Bridge

COMPARED = "lab.comparison.view && !lab.talk.open.size"


@pytest.fixture
def opened(page, tmp_path):
    """A lesson on the page."""
    return lambda name=None, width=1326: Bridge(page, Lab(name), tmp_path / "lab.html", width=width)


def test_no_key_acts_behind_the_open_legend(opened):
    bridge = opened()
    at = bridge.page.evaluate("lab.player.at")
    bridge.press("?", "c", ".", "m", "u", " ")
    assert bridge.root.locator(".rk-keys").is_visible()
    assert not bridge.lab.history.state.done
    assert bridge.page.evaluate("[lab.player.at, lab.player.playing]") == [at, False]
    bridge.press("Escape", "c")
    assert not bridge.root.locator(".rk-keys").is_visible()
    assert [step.words for step in bridge.lab.history.state.done] == ["consumer-1 crashes"]


def test_compare_shows_the_least_and_the_most_of_the_draws_in_figures(opened, shot):
    bridge = opened()
    bridge.press("c", "v")
    bridge.pump(f"{COMPARED} && document.querySelector('.rk-range')", seconds=60)
    row = bridge.root.locator(".rk-compare tbody tr", has=bridge.page.locator(".rk-range")).first
    said = row.locator(".rk-spread").first.get_attribute("aria-label")
    least, most = re.search(r"draws: ([\d.]+) to ([\d.]+),", said).groups()
    shown = row.locator(".rk-range").first.inner_text().replace(",", "")
    expected = [round(float(least), 2), round(float(most), 2)]
    assert [float(value) for value in re.findall(r"[\d.]+", shown)] == (
        expected if least != most else expected[:1]
    )
    shot(bridge.root, "compare-range")


def test_the_head_of_a_comparison_covers_the_labels_that_scroll_beneath_it(opened):
    bridge = opened()
    bridge.press("v")
    bridge.pump(COMPARED, seconds=60)
    covered = bridge.page.evaluate(
        "() => { const view = document.querySelector('.rk-compare'); view.scrollTop = 400;"
        " const { left, top } = view.getBoundingClientRect();"
        " return [view.scrollTop > 0, !!document.elementFromPoint(left + 30, top + 12).closest('thead')]; }"
    )
    assert covered == [True, True]


def test_a_lesson_chosen_in_compare_opens_on_its_board_with_its_guide(opened):
    bridge = opened()
    bridge.press("v")
    bridge.pump(COMPARED, seconds=60)
    bridge.click("Lessons: ")
    bridge.root.locator("[data-preset=crash]").click()
    bridge.settle()
    assert not bridge.page.evaluate("!!lab.comparison.view")
    assert bridge.root.get_by_role("button", name="Guide me").is_visible()


def test_log_lines_under_a_filter_are_whole(opened):
    bridge = opened("wrong-librdkafka-callback")
    bridge.seek(bridge.lab.boards.end_ms)
    bridge.open_tab("logs")
    bridge.root.get_by_label("Filter lines").fill("incremental_assign")
    bridge.settle()
    line = bridge.root.locator(".rk-line").first
    assert "incremental_assign" in line.inner_text()
    assert line.evaluate("one => one.offsetWidth <= one.parentElement.clientWidth")


def test_the_lessons_are_legible_while_presenting(opened, shot):
    bridge = opened()
    bridge.press("f")
    bridge.click("Lessons: ")
    spilled = bridge.root.locator(".rk-preset").evaluate_all(
        "all => all.filter((one) => one.scrollHeight > one.clientHeight + 1).length"
    )
    assert spilled == 0
    shot(bridge.root, "present-lessons")


def test_a_click_on_nothing_leaves_the_keys_with_the_lab(opened):
    bridge = opened()
    bridge.root.locator(".rk-meter").click()
    assert bridge.page.evaluate("lab.ui.root.contains(document.activeElement)")
    bridge.page.keyboard.press("c")
    bridge.settle()
    assert [step.words for step in bridge.lab.history.state.done] == ["consumer-1 crashes"]


def test_the_last_question_of_a_prediction_is_not_behind_its_button(page, tmp_path):
    page.set_viewport_size({"width": 1280, "height": 720})
    bridge = Bridge(page, Lab(), tmp_path / "lab.html", width=1240)
    bridge.press("f", "g", "m")
    fields = bridge.root.locator(".rk-drawer .rk-question input")
    assert fields.count() > 4
    for place in range(fields.count()):
        fields.nth(place).focus()
        reached = fields.nth(place).evaluate(
            "one => { const { left, top, width, height } = one.getBoundingClientRect();"
            " return !document.elementFromPoint(left + width / 2, top + height / 2).closest('.rk-foot'); }"
        )
        assert reached, place


def test_the_covered_strip_says_after_lock_in_what_uncovers_it(opened):
    bridge = opened()
    said = "getComputedStyle(document.querySelector('.rk-strip'), '::after').content"
    bridge.press("g", "c")
    assert bridge.page.evaluate(said) == '"hidden until you have said what will follow"'
    bridge.click("Lock in")
    assert bridge.page.evaluate(said) == '"Do it and watch shows what follows"'
    bridge.click("Do it and watch")
    assert bridge.page.evaluate(said) == "none"
    bridge.press("g", "m")
    assert "until you have said" in bridge.page.evaluate(said)


def test_the_words_of_the_legend_are_whole_while_presenting(opened, shot):
    bridge = opened()
    bridge.press("f", "?")
    cut = bridge.root.locator(".rk-legend .rk-token .rk-word").evaluate_all(
        "all => all.filter((one) => { const { left, right } = one.getBoundingClientRect();"
        " const token = one.closest('.rk-token').getBoundingClientRect();"
        " return one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0 || left < token.left || right > token.right;"
        " }).map((one) => one.textContent)"
    )
    assert cut == []
    shot(bridge.root, "present-legend")
