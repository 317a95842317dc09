"""Dead ends of the lab's controls, each by mouse and by keyboard."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.view.lab.widget import Lab
from tests.support.browser.lab_bridge import Bridge

FOCUSED_ON_BOARD = "document.activeElement.closest('.rk-board') !== null"
AS_A_CELL = """
import sys
from IPython.core.interactiveshell import InteractiveShell
done = InteractiveShell.instance().run_cell(sys.argv[1])
done.raise_error()
print(done.result.cursor_ms)
"""
"""Runs a cell literally, as a notebook does, and says which moment is shown."""
BOTH = pytest.mark.parametrize("by", ["mouse", "keyboard"])


@pytest.fixture
def bridge(page, tmp_path):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.emulate_media(reduced_motion="no-preference")
    return Bridge(page, Lab(), tmp_path / "lab.html")


def do(bridge, by, name, key):
    """Press a button by its name, or its key."""
    if by == "mouse":
        bridge.click(name)
    else:
        bridge.press(key)


def still(bridge):
    bridge.page.evaluate("lab.player.pause()")


@BOTH
def test_presenting_leaves_the_keys_with_the_board(bridge, by):
    do(bridge, by, "Present", "f")
    bridge.page.wait_for_function(FOCUSED_ON_BOARD)
    bridge.page.keyboard.press("Space")
    assert bridge.page.evaluate("lab.player.playing")
    still(bridge)
    bridge.page.keyboard.press("f")


@BOTH
def test_closing_the_keys_gives_the_focus_back(bridge, by):
    do(bridge, by, "Keyboard and legend", "?")
    bridge.page.keyboard.press("Escape")
    assert bridge.page.evaluate("lab.ui.help.hidden && lab.ui.root.contains(document.activeElement)")
    bridge.page.keyboard.press("n")
    assert bridge.page.evaluate("lab.player.at") != Lab().cursor_ms


def test_the_open_legend_keeps_the_keys_where_the_focus_is_lost(bridge):
    bridge.press("?")
    bridge.page.evaluate("document.activeElement.blur()")
    bridge.page.keyboard.press("Escape")
    assert bridge.page.evaluate("lab.ui.help.hidden && lab.ui.root.contains(document.activeElement)")


@BOTH
def test_a_renamed_branch_does_not_open_the_history_again_and_a_deleted_one_comes_back(bridge, by):
    bridge.press("k")
    do(bridge, by, "History: 2 branches, from 13.0 s is shown", "h")
    bridge.root.get_by_role("button", name="Rename from 13.0 s").click()
    field = bridge.root.get_by_label("Name of the branch")
    field.fill("second try")
    field.press("Enter")
    bridge.settle()
    assert bridge.root.locator(".rk-menu").is_hidden()
    assert [branch.name for branch in bridge.lab.history.branches] == ["main", "second try"]
    bridge.press("h")
    bridge.root.get_by_role("button", name="Delete second try").click()
    bridge.settle()
    assert len(bridge.lab.history.branches) == 1
    do(bridge, by, "Undo", "u")
    assert [branch.name for branch in bridge.lab.history.branches] == ["main", "second try"]


@BOTH
def test_after_adding_a_member_space_plays_and_adds_no_other(bridge, by):
    do(bridge, by, "Add member", "m")
    still(bridge)
    bridge.page.keyboard.press("Space")
    bridge.settle()
    assert len(bridge.lab.scenario.members) == 3
    assert bridge.page.evaluate("lab.player.playing")
    still(bridge)


@BOTH
def test_the_cost_of_a_deed_goes_when_the_deed_is_taken_back(bridge, by):
    do(bridge, by, "Crash consumer-1", "c")
    still(bridge)
    assert "partition-seconds" in bridge.text(".rk-cost")
    do(bridge, by, "Undo", "u")
    assert bridge.root.locator(".rk-cost").text_content() == ""


@BOTH
def test_an_act_while_comparing_is_compared_and_one_segment_is_pressed(bridge, by):
    do(bridge, by, "Compare the protocols", "v")
    bridge.pump("lab.comparison.view")
    first = bridge.page.evaluate("lab.comparison.view.end")
    do(bridge, by, "Crash consumer-1", "c")
    bridge.pump(f"lab.comparison.view && lab.comparison.view.end !== {first}")
    still(bridge)
    pressed = bridge.root.locator(".rk-segs [aria-pressed=true]").all_inner_texts()
    assert pressed == ["Compare"]
    do(bridge, by, "Compare the protocols", "v")
    assert bridge.root.locator(".rk-segs [aria-pressed=true]").all_inner_texts() == ["Eager"]


@BOTH
def test_a_protocol_that_was_chosen_is_undone(bridge, by):
    do(bridge, by, "Cooperative", "t")
    assert bridge.lab.protocol == "cooperative"
    do(bridge, by, "Undo", "u")
    assert bridge.lab.protocol == "eager"


@BOTH
def test_the_notice_of_the_end_goes_when_time_moves_on(bridge, by):
    bridge.press("End", "n")
    assert bridge.text(".rk-notice") == "The run ends here."
    do(bridge, by, "Step back", ",")
    assert bridge.text(".rk-notice") == ""


@BOTH
def test_apply_is_in_sight_and_the_drawer_stays_where_it_was(bridge, by):
    do(bridge, by, "Settings", "s")
    field = bridge.root.locator("[data-field='session.timeout.ms']")
    field.fill("10000")
    if by == "mouse":
        bridge.click("Apply from the start of the run")
    else:
        field.press("Enter")
    bridge.settle()
    bridge.pump("document.querySelector('.rk-drawer [role=status]').innerText.includes('session.timeout.ms')")
    apply = bridge.root.get_by_role("button", name="Apply from the start of the run").bounding_box()
    drawer = bridge.root.locator(".rk-drawer").bounding_box()
    assert apply["y"] + apply["height"] <= drawer["y"] + drawer["height"] + 1
    if by == "keyboard":
        assert bridge.page.evaluate("document.activeElement.dataset.field") == "session.timeout.ms"


@BOTH
def test_the_lessons_open_the_first_hit_and_close_on_a_click_outside(bridge, by):
    do(bridge, by, "Lessons: Two consumers, four partitions", "/")
    bridge.page.keyboard.type("come twice")
    if by == "mouse":
        bridge.root.locator(".rk-meter").click()
        assert bridge.root.locator(".rk-menu").is_hidden()
        return
    bridge.page.keyboard.press("ArrowDown")
    assert bridge.page.evaluate("document.activeElement.dataset.preset") == "two-consumers-crash"
    bridge.press("Escape", "/")
    bridge.page.keyboard.type("data loss")
    bridge.page.keyboard.press("Enter")
    bridge.settle()
    assert bridge.lab.scenario.name == "lost-records"


@BOTH
def test_a_refusal_has_no_number_of_an_action(bridge, by):
    if by == "mouse":
        bridge.click("More actions")
        bridge.root.locator("[data-do=duplicate]").click()
    else:
        bridge.press("d")
    bridge.settle()
    assert bridge.text(".rk-notice").startswith("Not at 13.0 s: consumer-1 has no group.instance.id.")


@BOTH
def test_what_is_copied_is_a_whole_cell(bridge, by):
    do(bridge, by, "Copy link", "q")
    bridge.page.wait_for_function(
        "document.querySelector('.rk-menu .rk-told').textContent.includes('cell is copied')"
    )
    copied = bridge.page.evaluate("navigator.clipboard.readText()")
    done = subprocess.run(
        [sys.executable, "-c", AS_A_CELL, copied], capture_output=True, text=True, check=True
    )
    assert int(done.stdout.split()[-1]) == bridge.lab.cursor_ms


@BOTH
def test_a_tab_that_was_never_opened_says_that_the_kernel_is_gone(bridge, by):
    bridge.listening = False
    if by == "mouse":
        bridge.root.locator("[data-tab=logs]").click()
    else:
        bridge.page.evaluate("lab.screen.focusTarget().focus()")
        bridge.page.keyboard.press("Alt+4")
    bridge.page.evaluate("lab.dead(true)")
    assert "Only the kernel can fill this tab" in bridge.root.locator(".rk-panel").inner_text()


@BOTH
def test_a_prediction_that_is_marked_says_only_its_own_score(bridge, by):
    do(bridge, by, "Predict", "g")
    bridge.press("c")
    bridge.pump("document.querySelector('.rk-drawer .rk-question')")
    lock = bridge.root.get_by_role("button", name="Lock in")
    if by == "mouse":
        lock.click()
    else:
        lock.press("Enter")
    bridge.pump("document.querySelector('.rk-drawer .rk-foot b')")
    words = bridge.root.locator(".rk-drawer").inner_text()
    assert "Nothing was predicted yet." not in words
    assert "is unread for" in words


def test_a_prediction_that_was_left_is_not_opened_by_a_late_answer(bridge):
    bridge.press("g")
    bridge.listening = False
    bridge.page.keyboard.press("c")
    bridge.page.keyboard.press("Escape")
    bridge.listening = True
    bridge.settle()
    assert bridge.page.evaluate("!lab.predict.on && !lab.drawer.open")


@BOTH
def test_partitions_are_ticked_on_the_board_and_marked_there(bridge, by):
    do(bridge, by, "Predict", "g")
    bridge.press("c")
    bridge.pump("document.querySelector('.rk-drawer .rk-question')")
    token = bridge.root.locator("[data-partition='orders-0']")
    if by == "mouse":
        box = token.bounding_box()
        bridge.page.mouse.click(box["x"] + 20, box["y"] + 20)
    else:
        bridge.page.evaluate("lab.screen.focusTarget().focus()")
        for key in ("ArrowRight", "Enter"):
            bridge.page.keyboard.press(key)
    assert token.get_attribute("data-guess") == "ticked"
    bridge.root.get_by_role("button", name="Lock in").click()
    bridge.pump("document.querySelector('.rk-drawer .rk-foot b')")
    assert token.get_attribute("data-guess") == "right"
    assert bridge.root.locator("[data-partition='orders-1']").get_attribute("data-guess") == "missed"


def test_records_that_come_twice_stand_on_their_tokens_and_on_the_strip(bridge):
    bridge.seek(20_000)
    bridge.press("c")
    still(bridge)
    at_ms = bridge.lab.boards.deliveries[0].at_ms
    bridge.seek(at_ms)
    token = bridge.root.locator("[data-partition='orders-0']")
    assert token.get_attribute("data-delivered") == "twice"
    assert token.locator(".rk-twice").inner_text() == "◎31"
    assert "62 records come twice" in bridge.text(".rk-cause")
    assert "62 records come twice" in bridge.root.locator(".rk-mark.rk-twice").get_attribute("title")


def test_the_crash_stands_in_the_message_diagram_and_ends_the_life_line(bridge):
    bridge.seek(20_000)
    bridge.press("c")
    still(bridge)
    bridge.open_tab("messages")
    assert "consumer-1 crashes" in bridge.root.locator(".rk-sequence").inner_text()
    assert bridge.root.locator(".rk-life.rk-off").count() == 1


def test_the_member_that_crashed_is_among_the_rows_of_a_large_timeline(page, tmp_path):
    bridge = Bridge(page, Lab("fifty-by-five-hundred"), tmp_path / "large.html")
    bridge.page.evaluate("lab.select(39)")
    bridge.press("c")
    still(bridge)
    bridge.open_tab("timeline")
    names = bridge.root.locator(".rk-rowname.rk-of-member").all_inner_texts()
    assert bridge.page.evaluate("lab.film.members[39].name") in names


WALK = [
    *"vtykgsh?fci.,<>[]=-/",
    "Alt+1",
    "Alt+2",
    "Alt+3",
    "Escape",
    "Tab",
    "Shift+Tab",
    "Enter",
    "ArrowDown",
    "ArrowRight",
    " ",
]


@pytest.mark.parametrize(
    "seed", [1, pytest.param(2, marks=pytest.mark.long), pytest.param(3, marks=pytest.mark.long)]
)
def test_keys_are_never_lost_while_presenting(bridge, seed):
    """A walk of keys, and after every stretch of it Esc, T and V do what they say."""
    chance = random.Random(seed)
    page = bridge.page
    page.evaluate("lab.comparison.draw = async () => {}")  # sixty runs behind each V would only be waited for
    for _ in range(4):
        for key in chance.choices(WALK, k=25):
            page.keyboard.press(key)
        bridge.settle()
        for _ in range(8):
            if page.evaluate(
                "!lab.presenter.on && !lab.comparison.view && !lab.predict.on && !lab.guide.on && lab.ui.help.hidden && lab.popups.every((one) => !one.open) && !/INPUT|SELECT/.test(document.activeElement.tagName)"
            ):
                break
            page.keyboard.press("Escape")
            bridge.settle()
        bridge.press("f")
        assert page.evaluate("lab.presenter.on")
        page.wait_for_function("document.activeElement !== document.body")
        for key in ("Alt+2", "Alt+3", "Alt+1"):
            page.keyboard.press(key)
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("v")
        bridge.pump("lab.comparison.view")
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("v")
        bridge.pump("!lab.comparison.view")
        before = page.evaluate("lab.model.get('controls').protocol")
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("t")
        bridge.pump(f"lab.model.get('controls').protocol !== '{before}'")
        page.keyboard.press("Escape")
        bridge.pump("!lab.presenter.on")
