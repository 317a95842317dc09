"""Guided playing on the page: by mouse, by keyboard, with less motion, without a kernel, and read aloud."""

from __future__ import annotations

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.view.lab.guide import beats
from rebalance_kit.view.lab.requests import exported
from rebalance_kit.view.lab.widget import Lab
from tests.support.browser.lab_bridge import Bridge

LESSON = "two-consumers-crash"
ARRIVED = "!lab.player.playing && lab.guide.index === {index}"
BOTH = pytest.mark.parametrize("by", ["mouse", "keyboard"])


@pytest.fixture
def bridge(page, tmp_path):
    page.emulate_media(reduced_motion="no-preference")
    return Bridge(page, Lab(LESSON), tmp_path / "lab.html")


def told(lab):
    return beats(lab.boards, lab.scenario)


def begin(bridge, by="mouse"):
    if by == "mouse":
        bridge.click("Guide me")
    else:
        bridge.press("y")
    bridge.pump("lab.guide.on")


def go_on(bridge, by):
    """Next, and what is played on the way is passed over."""
    index = bridge.page.evaluate("lab.guide.index") + 1
    if by == "mouse":
        bridge.click("Next beat")
    else:
        bridge.press("Enter")
    bridge.page.evaluate("lab.player.playing && lab.guide.next()")
    bridge.pump(ARRIVED.format(index=index))


@BOTH
def test_the_guide_stops_at_each_beat_with_its_sentence_and_its_rule(bridge, by):
    expected = told(bridge.lab)
    begin(bridge, by)
    for index, beat in enumerate(expected):
        assert bridge.page.evaluate("Math.round(lab.player.at)") == beat.at_ms
        assert bridge.text(".rk-progress") == f"{index + 1} of {len(expected)}"
        assert beat.words in bridge.text(".rk-beat .rk-cause")
        assert len(bridge.text(".rk-beatrule")) > 20
        if index + 1 < len(expected):
            go_on(bridge, by)
    if by == "mouse":
        bridge.click("End of the guide")
    else:
        bridge.press("n")
    assert not bridge.page.evaluate("lab.guide.on")
    assert bridge.root.locator(".rk-beat").is_hidden()


@BOTH
def test_the_guide_is_left_at_any_beat_and_the_keys_belong_to_the_board(bridge, by):
    begin(bridge, by)
    go_on(bridge, by)
    if by == "mouse":
        bridge.click("Leave the guide")
    else:
        bridge.press("Escape")
    assert bridge.page.evaluate("!lab.guide.on && document.activeElement === lab.ui.playButton")
    assert bridge.root.locator(".rk-moment").is_visible()


def test_it_plays_to_the_next_beat_and_rests_there(bridge):
    begin(bridge)
    bridge.page.evaluate("lab.guide.go(3)")
    bridge.press("Space")
    bridge.pump(ARRIVED.format(index=4))
    assert bridge.page.evaluate("Math.round(lab.player.at)") == told(bridge.lab)[4].at_ms


@BOTH
def test_a_long_wait_is_skipped_by_asking_again(bridge, by):
    begin(bridge, by)
    for name in ("Next beat", "Skip to the beat"):
        if by == "mouse":
            bridge.click(name)
        else:
            bridge.press("n")
    assert bridge.page.evaluate("Math.round(lab.player.at)") == told(bridge.lab)[1].at_ms
    assert bridge.page.evaluate(ARRIVED.format(index=1))


def test_while_a_beat_is_played_to_the_button_and_the_notice_say_that_a_press_goes_there(bridge):
    begin(bridge)
    bridge.press("n")
    assert bridge.page.evaluate("lab.player.playing")
    bridge.page.wait_for_function("lab.ui.nextButton.getAttribute('aria-label') === 'Skip to the beat'")
    assert "goes there at once" in bridge.text(".rk-notice")
    bridge.press("Enter")
    assert bridge.page.evaluate(ARRIVED.format(index=1))
    assert bridge.text(".rk-notice") == ""
    assert bridge.page.evaluate("lab.ui.nextButton.getAttribute('aria-label')") == "Next beat"


def test_an_enter_too_many_after_the_last_beat_opens_no_menu_of_a_member(bridge):
    begin(bridge)
    bridge.page.evaluate("lab.guide.go(lab.guide.beats.length - 1)")
    before = bridge.lab.history
    bridge.press("Enter", "Enter", "Enter")
    assert bridge.page.evaluate("!lab.guide.on && !lab.popup.open")
    assert bridge.lab.history == before


def test_with_less_motion_the_guide_jumps_from_beat_to_beat(bridge):
    bridge.page.emulate_media(reduced_motion="reduce")
    begin(bridge)
    bridge.press("n")
    assert bridge.page.evaluate("lab.guide.index === 1 && !lab.player.playing")
    bridge.press("Shift+N")
    assert bridge.page.evaluate("lab.guide.index") == 0


def test_moving_the_cursor_moves_the_guide_and_another_protocol_has_other_beats(bridge):
    begin(bridge)
    last = told(bridge.lab)[-1]
    bridge.seek(last.at_ms + 1_000)
    assert bridge.text(".rk-progress") == "9 of 9"
    bridge.click("Consumer", exact=True)
    bridge.pump("lab.guide.serial === lab.serial")
    assert bridge.text(".rk-progress").endswith(f"of {len(told(bridge.lab))}")
    assert len(told(bridge.lab)) == 7


def test_a_deed_while_guided_is_followed_by_its_own_beats(bridge):
    begin(bridge)
    bridge.seek(50_000)
    bridge.page.evaluate("lab.select(1)")
    bridge.press("c")
    bridge.pump("lab.guide.serial === lab.serial")
    bridge.page.evaluate("lab.player.pause()")
    words = bridge.page.evaluate("lab.guide.beats.map((beat) => beat[1])")
    assert "consumer-2 crashes." in words


def test_the_beat_is_a_polite_live_region_and_the_moment_is_not_read_beside_it(bridge):
    begin(bridge)
    go_on(bridge, "keyboard")
    region = bridge.root.locator(".rk-beat")
    assert region.get_attribute("role") == "status"
    assert region.get_attribute("aria-live") == "polite"
    assert "2 of 9" in region.inner_text()
    assert bridge.page.evaluate("document.activeElement.getAttribute('aria-describedby')") == (
        region.get_attribute("id")
    )
    bridge.page.wait_for_timeout(50)
    assert "Only now" not in (bridge.root.locator(".rk-status").last.text_content() or "")


def test_nothing_below_moves_from_beat_to_beat(bridge):
    begin(bridge)
    tops = set()
    for index in range(9):
        bridge.page.evaluate(f"lab.guide.go({index})")
        tops.add(bridge.page.evaluate("lab.ui.transport.getBoundingClientRect().top"))
    assert len(tops) == 1


def test_predicting_ends_the_guide_and_hides_what_would_tell_the_future(page, tmp_path):
    page.set_viewport_size({"width": 1366, "height": 768})
    bridge = Bridge(page, Lab(LESSON), tmp_path / "lab.html", width=1334)
    begin(bridge)
    bridge.press("g")
    assert not bridge.page.evaluate("lab.guide.on")
    assert bridge.page.evaluate("getComputedStyle(lab.pane.root).visibility") == "hidden"
    bridge.press("y")
    assert not bridge.page.evaluate("lab.guide.on")
    bridge.press("Escape")
    assert bridge.page.evaluate("getComputedStyle(lab.pane.root).visibility") == "visible"


def test_a_page_without_a_kernel_guides_too(page, tmp_path):
    lab = Lab(LESSON)
    target = tmp_path / "alone.html"
    target.write_bytes(exported(lab, "animation")[1])
    page.goto(target.as_uri())
    page.locator(".rk-stage").wait_for()
    page.get_by_role("button", name="Guide me").click()
    page.keyboard.press("n")
    page.keyboard.press("n")
    page.wait_for_function("document.querySelector('.rk-progress').textContent === '2 of 9'")
    assert told(lab)[1].words in page.locator(".rk-beat").inner_text()
