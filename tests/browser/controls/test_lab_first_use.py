"""What somebody stumbled over who used the lab for the first time, each as a case."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.view.lab.widget import Lab
from tests.support.browser.lab_bridge import Bridge

SESSION = "session.timeout.ms"


@pytest.fixture
def opened(page, tmp_path):
    """A lesson on the page."""
    return lambda name=None, width=1326: Bridge(page, Lab(name), tmp_path / "lab.html", width=width)


def test_the_badge_of_records_that_come_twice_says_their_offsets_to_whoever_points_at_it(opened, shot):
    bridge = opened("two-consumers-crash")
    twice = [each for each in bridge.lab.boards.deliveries if each.kind == "twice"]
    bridge.seek(twice[-1].at_ms + 5_000)
    for each in twice:
        badge = bridge.root.locator(f".rk-token[data-partition='{each.partition}'] .rk-twice")
        last = each.first_offset + each.records - 1
        assert badge.get_attribute("title") == (
            f"{each.records} came twice: offsets {each.first_offset} to {last}"
        )
        reached = "one => { const { x, y, width, height } = one.getBoundingClientRect(); return document.elementFromPoint(x + width / 2, y + height / 2) === one; }"
        assert badge.evaluate(reached)
    badge.click()
    assert bridge.text(".rk-selected") == f"{twice[-1].member} selected"
    assert f"came twice: offsets {twice[-1].first_offset} to " in bridge.page.evaluate(
        "lab.ui.status.textContent"
    )
    shot(bridge.root, "twice-offsets")


def test_a_setting_that_is_typed_says_the_same_of_its_cost_as_one_that_is_dragged(opened):
    bridge = opened("two-consumers-crash")
    bridge.seek(50_000)
    bridge.press("s")
    field = bridge.root.locator(f"[data-field='{SESSION}']")
    field.focus()
    bridge.page.keyboard.press("PageDown")
    bridge.settle()
    bridge.page.keyboard.press("Enter")
    bridge.settle()
    dragged = bridge.text(".rk-cost")
    bridge.page.keyboard.press("Escape")
    bridge.press("u", "s")
    bridge.root.locator(f"[data-field='{SESSION}']").fill("35000")
    bridge.page.keyboard.press("Enter")
    bridge.settle()
    assert re.match(r"session.timeout.ms 45.0 s → 35.0 s: unread from here on: [\d.]+ partition", dragged)
    assert bridge.text(".rk-cost") == dragged
    assert bridge.text(".rk-drawer .rk-foot [role=status]") == dragged


def test_settings_tell_what_the_lesson_has_changed_from_what_was_changed_here(opened):
    bridge = opened("two-consumers-crash")
    bridge.press("s")
    note = ".rk-drawer .rk-foot [role=status]"
    assert bridge.text(note) == "Changed by the lesson: auto.offset.reset."
    bridge.root.locator("[data-field='max.poll.records']").fill("7")
    bridge.page.keyboard.press("Enter")
    bridge.settle()
    bridge.page.keyboard.press("Escape")
    bridge.press("s")
    assert bridge.text(note) == "Changed here: max.poll.records. Changed by the lesson: auto.offset.reset."
    marks = bridge.root.locator(".rk-drawer label small").all_inner_texts()
    assert [mark.strip() for mark in marks] == ["changed by the lesson", "changed"]


def test_the_row_of_why_that_is_clicked_is_the_one_that_opens(opened):
    bridge = opened("two-consumers-crash", 1040)
    bridge.open_tab("why")
    places = bridge.page.evaluate(
        "lab.panels.views.why.times.flatMap((at, place, all) => at === all[place + 1] ? [place] : [])"
    )
    assert places
    rows = bridge.root.locator(".rk-panel .rk-why > li")
    for place in places[:3]:
        rows.nth(place).locator("button").click()
        bridge.settle()
        assert rows.nth(place).get_attribute("aria-current") == "step", place
    bridge.seek(bridge.page.evaluate("lab.player.at") + 20_000)
    assert rows.nth(place).get_attribute("aria-current") is None


@pytest.mark.parametrize(
    ("name", "marked", "words"),
    [
        ("wrong-librdkafka-callback", ["Cooperative"], ""),
        ("migration", [], "Mixed"),
        ("two-consumers-crash", ["Eager"], ""),
    ],
)
def test_the_switch_of_protocols_marks_what_the_lesson_speaks_or_says_that_it_is_mixed(
    opened, name, marked, words
):
    bridge = opened(name)
    pressed = bridge.root.locator(".rk-seg button[aria-pressed=true]")
    assert pressed.all_inner_texts() == marked
    mixed = bridge.root.locator(".rk-mixed")
    assert (mixed.inner_text() if mixed.is_visible() else "") == words


def test_the_switch_of_protocols_says_which_one_is_kip_848(opened):
    titles = [one.get_attribute("title") for one in opened().root.locator(".rk-seg button").all()]
    assert ["KIP-848" in title for title in titles] == [False, False, True]
    assert "KIP-429" in titles[1]


def test_compare_says_why_fewer_unread_partitions_can_cost_more(opened):
    bridge = opened("join")
    bridge.click("Compare the protocols")
    bridge.pump("document.querySelector('.rk-differs')")
    told = bridge.text(".rk-differs")
    assert "has fewer unread partitions than Eager and still more unread partition-seconds" in told


@pytest.mark.parametrize("how", ["link", "lesson"])
def test_another_scenario_ends_a_prediction(opened, how):
    bridge = opened("two-consumers-crash")
    bridge.press("g")
    assert bridge.page.evaluate("lab.predict.on")
    if how == "link":
        bridge.click("Copy link")
        field = bridge.root.get_by_label("Link to open")
        field.fill(Lab("join").link)
        field.press("Enter")
    else:
        bridge.click("Lessons")
        bridge.root.locator("[data-preset=join]").click()
    bridge.settle()
    assert bridge.lab.scenario.name == "join"
    assert not bridge.page.evaluate("lab.predict.on || lab.drawer.open || lab.popup.open")
    assert bridge.root.get_attribute("class").find("rk-fogged") < 0


def test_the_lessons_open_below_their_button(opened, shot):
    bridge = opened()
    bridge.click("Lessons")
    button, menu = bridge.root.locator(".rk-presetbutton"), bridge.root.locator(".rk-menu")
    assert abs(button.bounding_box()["x"] - menu.bounding_box()["x"]) < 25
    shot(bridge.root, "lessons-menu")


def test_logs_say_how_all_of_a_line_is_seen(opened):
    bridge = opened()
    bridge.open_tab("logs")
    assert bridge.text(".rk-logs .rk-bar").endswith("Click a line to see all of it.")


def test_the_lesson_about_what_is_searched_for_comes_first(opened):
    bridge = opened()
    bridge.click("Lessons")
    bridge.root.get_by_label("Search lessons").fill("lost")
    found = bridge.root.locator("[data-preset]").evaluate_all("(all) => all.map((one) => one.dataset.preset)")
    assert found[0] == "lost-records"
    assert "network-cut" in found


def test_a_setting_is_found_by_typing_and_set_by_typing(opened):
    bridge = opened()
    bridge.press("s")
    bridge.pump("lab.drawer.open")
    bridge.page.keyboard.type("max.poll int")
    assert bridge.root.locator(".rk-drawer .rk-field:visible label").all_inner_texts() == [
        "max.poll.interval.ms"
    ]
    for keys in ("Enter", "Control+a", "5", "0", "0", "0", "Enter"):
        bridge.page.keyboard.press(keys)
    bridge.settle()
    assert bridge.lab.history.state.done[-1].words == "max.poll.interval.ms = 5000"


def test_a_run_is_compared_with_another_lesson(opened, shot):
    bridge = opened("static-restart-too-late")
    bridge.click("Lessons")
    bridge.root.get_by_label("Compare with the run that is shown").check()
    bridge.root.locator("[data-preset=static-restart-in-time]").click()
    bridge.pump("lab.comparison.view")
    assert bridge.root.locator(".rk-compare thead th b").all_inner_texts() == [
        "A static member restarts too late",
        "A static member restarts in time",
    ]
    assert bridge.lab.history.state.base.name == "static-restart-too-late"
    shot(bridge.root, "compare-lessons")
