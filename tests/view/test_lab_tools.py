"""The lab's further tools without a screen: links, branches, settings, prediction, cost, and a run kept ready."""

from __future__ import annotations

import json
import zlib

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.analysis.deliveries import gaps
from rebalance_kit.analysis.invariants import INVARIANTS
from rebalance_kit.model.errors import ConfigError, ScenarioError
from rebalance_kit.scenarios import load, names
from rebalance_kit.simulation.permalink import Link, write_link
from rebalance_kit.simulation.scenario.scenario import ACTIONS, Action
from rebalance_kit.simulation.simulate import Run, simulate
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.board.marks import action_words
from rebalance_kit.view.lab.costs import cost, preview
from rebalance_kit.view.lab.lessons import GROUPS as HEADINGS
from rebalance_kit.view.lab.lessons import lesson_rows, lessons, read_lesson
from rebalance_kit.view.lab.playing.playback import film_bytes
from rebalance_kit.view.lab.predictions import questions
from rebalance_kit.view.lab.requests import REQUESTS
from rebalance_kit.view.lab.settings import GROUPS, fields
from rebalance_kit.view.lab.tabs.contents import TABS, tab
from rebalance_kit.view.lab.tabs.why import why_entries
from rebalance_kit.view.lab.widget import Lab


def heard(lab, **message):
    """What the page is answered."""
    answers = []
    lab.send = lambda content, buffers=None: answers.append((content, buffers or []))
    lab.handle({"id": 1, **message})
    return answers[0]


# --- links ---------------------------------------------------------------------------------------
def test_a_link_gives_back_deeds_settings_seed_added_members_and_the_cursor():
    lab = Lab("crash", protocol="cooperative")
    lab.at(20_000)
    lab.add()
    lab.at(25_000)
    lab.do("stall", "consumer-1", for_ms=5_000)
    lab.set(session_timeout_ms="12000")
    lab.reseed(9)
    lab.at(41_234)
    again = Lab.from_link(lab.link)
    assert again.scenario == lab.scenario
    assert again.trace.rows == lab.trace.rows
    assert (again.cursor_ms, again.protocol, again.controls["done"]) == (
        41_234,
        "cooperative",
        lab.controls["done"],
    )
    again.undo()
    assert [words for _, words in again.controls["done"]] == [
        "consumer-4 is added",
        "consumer-1 stops polling",
    ]


@pytest.mark.parametrize(
    "deed",
    [
        {"do": "explode"},
        {"do": "crash"},
        {"do": "crash", "at": "soon", "member": "consumer-1"},
        {"do": "crash", "at": 5, "member": "nobody"},
        {"do": "set", "settings": {"x": "y"}},
        {},
    ],
)
def test_a_link_whose_deeds_mean_nothing_opens_the_first_preset_and_says_why(deed):
    lab = Lab.from_link(write_link(Link(load("crash"), 5, (deed,))))
    assert lab.scenario.name == lessons()[0].name
    assert "cannot be played" in lab.controls["notice"]


@pytest.mark.parametrize("deed", [None, {"do": "explode"}])
def test_a_link_that_cannot_be_opened_on_the_page_leaves_run_undo_and_cursor(deed):
    lab = Lab("crash")
    lab.at(25_000)
    lab.crash("consumer-1")
    before = (lab.film, lab.cursor_ms, lab.history, lab.controls)
    token = write_link(Link(load("crash"), 5, (deed,))) if deed else lab.link[:-4]
    answer = heard(lab, type="open", token=token)[0]
    assert answer["type"] == "refused"
    assert ("cannot be played" if deed else "is damaged") in answer["words"]
    assert (lab.film, lab.cursor_ms, lab.history, lab.controls) == before


@pytest.mark.parametrize("around", ["{}", "https://host/lab?rebalance-lab={}&x=1", "see\n<http://h/p#{}>."])
def test_a_link_is_found_in_the_address_that_holds_it(around):
    lab = Lab("crash")
    lab.at(12_345)
    assert Lab.from_link(around.format(lab.link)).cursor_ms == 12_345


def test_a_scenario_too_large_to_play_is_refused_in_words_and_the_lab_stays(make_group):
    huge = make_group(4_000, 40_000)
    with pytest.raises(
        ScenarioError, match=r"4,000 members with 40,000 partitions for .* are more than the lab plays"
    ):
        Lab(huge)
    lab = Lab.from_link(write_link(Link(huge)))
    assert lab.scenario.name == lessons()[0].name
    assert "more than the lab plays" in lab.controls["notice"]
    before = lab.film
    assert (
        heard(lab, type="act", do="scale_to", args={"members": 9_000}, at_ms=20_000)[0]["type"] == "refused"
    )
    assert lab.film == before


# --- branches ------------------------------------------------------------------------------------
def test_acting_before_what_was_done_keeps_it_in_its_own_branch():
    lab = Lab("crash")
    lab.at(40_000)
    lab.crash("consumer-1")
    first = lab.trace
    lab.at(20_000)
    lab.leave("consumer-3")
    assert [words for _, words in lab.controls["done"]] == ["consumer-3 leaves"]
    lab.take(lab.history.at_branch(0))
    assert lab.trace.rows == first.rows
    lab.undo()
    lab.at(30_000)
    lab.freeze("consumer-1")
    assert [name for name, *_ in lab.controls["branches"]] == [
        "main",
        "consumer-3 leaves",
        "consumer-1 freezes",
    ]


def test_deleting_and_renaming_keep_the_tree_whole():
    lab = Lab("crash")
    lab.fork()
    lab.fork()
    history = lab.history.renamed(2, "mine").without(1)
    assert [(one.name, one.parent) for one in history.branches] == [("main", None), ("mine", 0)]
    assert history.here == 1
    with pytest.raises(ScenarioError, match="only branch"):
        history.without(1).without(0)
    with pytest.raises(ScenarioError, match="expected 1 to 40"):
        history.renamed(0, " ")


# --- settings --------------------------------------------------------------------------------------
def test_every_setting_says_its_value_default_range_and_help():
    for group in fields(load("crash")):
        for one in group["fields"]:
            assert one["help"].endswith("."), one["name"]
            assert one["allowed"], one["name"]
    assert {one["name"] for group in fields(load("crash")) for one in group["fields"]} == {
        name for known in GROUPS.values() for name in known
    } | {"members", "partitions.orders"}


def changed(lab):
    """Who has changed which setting, as the page is told."""
    told = json.loads(zlib.decompress(heard(lab, type="fields")[1][0]))
    return {one["name"]: one["changed"] for group in told for one in group["fields"] if one["changed"]}


def test_settings_of_the_lesson_are_told_apart_from_those_that_were_changed_here():
    lab = Lab("crash")
    lesson = changed(lab)
    assert set(lesson.values()) == {"lesson"}
    lab.set(max_poll_records="7", members="4")
    assert changed(lab) == {**lesson, "max.poll.records": "here", "members": "here"}
    name = next(iter(lesson))
    lab.set(**{name: ""})
    assert changed(lab)[name] == "here"
    lab.load("crash")
    assert changed(lab) == lesson


@pytest.mark.parametrize("protocol", ["eager", "cooperative", "consumer"])
def test_a_protocol_that_reads_a_setting_elsewhere_does_not_make_it_changed_here(protocol):
    for name in ("two-consumers-crash", "freeze", "static-restart-too-late"):
        assert "here" not in changed(Lab(name, protocol=protocol)).values()


def test_settings_that_were_typed_are_answered_with_their_cost():
    lab = Lab("crash")
    lab.at(40_000)
    before = lab.history.state
    reply, _ = heard(lab, type="settings", values={"session.timeout.ms": "10000"})
    assert reply["dragged"] == cost(before, lab.history.state, 40_000)
    assert reply["dragged"]["cost"] != reply["dragged"]["without"]


def test_a_setting_changes_the_run_from_its_start_and_undo_takes_it_back():
    lab = Lab("crash")
    before = lab.film
    lab.set(**{"session.timeout.ms": "10000"})
    crashed = next(row.at_ms for row in lab.trace.of("action"))
    removed = next(row.at_ms for row in lab.trace.of("member_removed"))
    assert 7_000 <= removed - crashed <= 10_000
    lab.undo()
    assert lab.film == before


def test_static_members_by_one_setting_and_a_classic_config_refused_by_the_consumer_protocol():
    lab = Lab("crash")
    lab.set(**{"group.instance.id": "own name"})
    assert {spec.configs["group.instance.id"] for spec in lab.scenario.members} == {
        "consumer-1",
        "consumer-2",
        "consumer-3",
    }
    lab.protocol = "consumer"
    with pytest.raises(
        ConfigError, match=r"session\.timeout\.ms cannot be set when group\.protocol=CONSUMER"
    ):
        lab.set(**{"session.timeout.ms": "10000"})


def test_a_new_seed_changes_the_chances_and_reset_gives_the_old_ones_back():
    lab = Lab("crash")
    before = lab.film
    lab.reseed(99)
    assert lab.film != before
    lab.reseed(None)
    assert lab.film == before


# --- presets, tabs, why -------------------------------------------------------------------------------
def test_every_scenario_of_the_kit_is_a_lesson_in_an_order_of_groups():
    assert {one.name for one in lessons()} == set(names())
    assert [one.group for one in lessons()] == sorted((one.group for one in lessons()), key=HEADINGS.index)
    assert {one.group for one in lessons()} == set(HEADINGS)
    assert all(row["title"] and row["try"] and row["watch"] for row in lesson_rows())


LESSON = """scenario: forty
title: A lesson more
lesson:
  group: First steps
  order: 70
  try: Play.
  watch: what follows
  beats:
    - kind: action crash
      says: It is killed.
"""


def test_a_lesson_is_read_from_its_block_alone():
    lesson = read_lesson(LESSON, "forty")
    assert (lesson.order, lesson.beats[0].kind, lesson.beats[0].nth) == (70, "action crash", 1)
    assert dict(lesson.dies) == {"eager": (), "cooperative": (), "consumer": ()}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "kind: action crash",
            "kind: died",
            "forty.yaml:9: lesson.beats[0].kind: got 'died' … process_ended",
        ),
        (
            "First steps",
            "First step",
            "forty.yaml:4: lesson.group: got 'First step'; did you mean 'First steps' … Migration",
        ),
        ("  try: Play.\n", "", "forty.yaml:3: lesson: has no try; expected group, order, try, watch, beats"),
        (
            "  try:",
            "  tries:",
            "forty.yaml:6: lesson: unknown key 'tries' … expected one of group, order, try, watch",
        ),
        ("lesson:", "lessons:", "forty.yaml:1: has no lesson; expected lesson: with group"),
        ("      says: It is killed.\n", "", "forty.yaml:9: lesson.beats[0]: has no says"),
        (
            "says: It is killed.",
            "says: It is killed.\n      nth: 0",
            "forty.yaml:11: lesson.beats[0].nth: got 0",
        ),
        (
            "order: 70",
            "order: 70\n  finds: [thrice]",
            "forty.yaml:6: lesson.finds: got 'thrice' … twice, skipped",
        ),
        (
            "order: 70",
            "order: 70\n  dies: {eager: c, classic: c}",
            "lesson.dies: unknown key 'classic' … cooperative",
        ),
    ],
)
def test_a_lesson_that_says_something_unknown_is_refused_with_its_line_and_what_exists(old, new, said):
    assert old in LESSON
    with pytest.raises(ScenarioError) as refused:
        read_lesson(LESSON.replace(old, new), "forty")
    assert all(part in str(refused.value) for part in said.split(" … ")), refused.value


def test_other_words_lead_to_lessons():
    kubernetes = [row["name"] for row in lesson_rows() if "k8s" in row["finds"]]
    assert {"rolling-restart", "static-restart-in-time", "crash"} <= set(kubernetes)
    assert "two-bounces" not in kubernetes


def test_lights_are_as_many_as_invariants_and_a_broken_one_names_its_moment():
    boards = Boards(simulate(load("defect-sticky-stale-leader")))
    content = tab(boards, "invariants", 0)
    assert len(content["lights"]) == len(INVARIANTS)


@pytest.mark.parametrize("name", names())
def test_every_tab_of_every_scenario_is_plain_values_and_every_why_has_rule_and_source(name):
    boards = Boards(simulate(load(name)))
    for each in TABS:
        json.dumps(tab(boards, each, boards.end_ms // 2, boards.names[0]))
    entries = why_entries(boards)
    assert entries
    assert [one[0] for one in entries] == sorted(one[0] for one in entries)
    assert all(
        sentence.endswith(".") and rule.endswith(".") and source for _, sentence, rule, source in entries
    )
    told = {one[0] for one in entries}
    assert {row.at_ms for row in boards.trace.of("action")} <= {
        at for one in told for at in range(one, one + 61)
    }


# --- cost and prediction ------------------------------------------------------------------------------
def test_what_is_foreseen_is_what_then_happens():
    lab = Lab("crash")
    lab.at(20_000)
    told = preview(lab.history.state, lab.ahead("crash", "consumer-1", 20_000, {}), 20_000)
    before = lab.controls
    assert lab.controls == before
    lab.crash("consumer-1")
    then = preview(lab.history.state.undo(), lab.history.state, 20_000)
    assert told == then
    assert told["cost"] > told["without"]


def test_a_deed_at_the_end_of_a_run_is_not_charged_with_what_was_unread_anyway():
    lab = Lab("wrong-librdkafka-callback")
    end_ms = lab.boards.trace.end_ms
    unread = [gap for gap in gaps(lab.boards.trace) if gap.to_ms == end_ms]
    lab.at(end_ms)
    lab.add()
    costs = cost(lab.history.state.undo(), lab.history.state, end_ms)
    longer_s = (lab.boards.trace.end_ms - end_ms) / 1000
    assert unread and costs["without"] == pytest.approx(len(unread) * longer_s, abs=0.2)


def test_the_right_answers_score_full_marks_and_none_scores_nothing():
    lab = Lab("two-consumers-crash")
    lab.at(20_000)
    asked = questions(lab.history.state, lab.ahead("crash", "consumer-2", 20_000, {}), 20_000)
    assert [one.marked(one.truth)["score"] for one in asked] == [1.0] * len(asked)
    assert [one.marked(None)["score"] for one in asked if one.truth] == [0.0] * len(
        [one for one in asked if one.truth]
    )
    assert all("truth" not in one.asked() for one in asked)


def test_no_answer_of_the_kernel_gives_the_outcome_away_before_the_answers_are_in():
    lab = Lab("crash")
    content, buffers = heard(lab, type="predict", do="crash", member="consumer-1", at_ms=20_000)
    assert set(content) == {"type", "id", "serial", "questions", "kept"}
    assert buffers == []
    assert heard(lab, type="answers", answers=[1])[0]["type"] == "refused"
    assert heard(lab, type="answers", answers=[[], [], 1, "JoinGroup"])[0]["type"] == "done"
    assert heard(lab, type="answers", answers=[])[0]["words"].startswith("nothing was asked")


@pytest.mark.parametrize(
    "answers", [[7, [], 1, "x"], [[], [], [3], "x"], [[[]], [], 1, "x"], [[], [], "much", "x"]]
)
def test_answers_of_another_type_are_refused_and_the_questions_stay(answers):
    lab = Lab("crash")
    heard(lab, type="predict", do="crash", member="consumer-1", at_ms=20_000)
    assert heard(lab, type="answers", answers=answers)[0]["words"].startswith("the answers cannot be read")
    assert len(lab.asked) == 4
    assert lab.predictions == []


@pytest.mark.parametrize("number", [None, "1", 0.0, True, 7])
def test_a_branch_is_named_by_its_number(number):
    lab = Lab("crash")
    assert heard(lab, type="branch", number=number)[0]["words"].startswith(f"there is no branch {number!r}")


@pytest.mark.parametrize("kind", sorted(REQUESTS))
def test_a_request_full_of_nonsense_is_refused_in_words(kind):
    lab = Lab("crash")
    for nonsense in (None, 7, "x", [], {"a": {}}, float("nan"), -5):
        message = dict.fromkeys(
            (
                "name",
                "value",
                "values",
                "do",
                "member",
                "args",
                "at_ms",
                "tab",
                "token",
                "number",
                "branches",
                "answers",
                "what",
            ),
            nonsense,
        )
        content, _ = heard(lab, type=kind, **message)
        assert content["type"] in {"done", "refused"}


# --- a run kept ready ----------------------------------------------------------------------------------
@pytest.mark.parametrize("protocol", ["eager", "cooperative", "consumer"])
def test_a_click_on_a_large_group_is_shown_at_once_and_ends_in_the_same_run(make_group, protocol):
    lab = Lab(make_group(20, 100, 60_000), protocol=protocol)
    lab.at(20_000)
    lab.get_ready()
    films = []
    lab.observe(lambda change: films.append(change["new"]), names=["film"])
    assert heard(lab, type="act", do="crash", member="consumer-7", at_ms=24_000)[0]["type"] == "done"
    assert len(films) == 2
    first, last = (json.loads(zlib.decompress(one)) for one in films)
    assert (first["known"], first["end"]) == (25_000, last["end"])
    whole = simulate(lab.scenario)
    assert lab.trace == whole
    assert lab.film == film_bytes(Boards(whole))


def test_a_run_that_is_acted_in_goes_on_as_the_scenario_with_that_action_does():
    for name in ("crash", "static-restart-in-time", "storm"):
        for protocol in ("eager", "consumer"):
            base = Lab(name, protocol=protocol).scenario
            action = Action(20_500, "crash", base.members[0].name)
            then = base.with_action(action)
            run = Run(base)
            run.until(action.at_ms - 1)
            assert run.act(then, action)
            assert run.finish() == simulate(then)


def test_an_action_that_changes_what_was_planned_is_not_done_in_a_run_under_way():
    base = load("rolling-restart")
    action = Action(20_500, "close", base.members[0].name)
    run = Run(base)
    run.until(action.at_ms - 1)
    assert not run.act(base.with_action(action), action)
    assert run.finish() == simulate(base)


def test_every_action_of_a_scenario_has_words_of_its_own():
    for do in ACTIONS:
        words = action_words(do, "consumer-1", {"topic": "orders", "node": 2})
        assert "_" not in words, do
        assert ": " not in words, do


def test_a_prediction_says_what_made_each_member_stop():
    lab = Lab()
    lab.at(13_000)
    asked = questions(lab.history.state, lab.ahead("crash", "consumer-1", 13_000, {}), 13_000)
    why = next(each.why for each in asked if each.words.startswith("Which members"))
    assert "13.0 s: consumer-1 crashes." in why
    assert why.endswith("58.0 s: consumer-2 gives up everything before it joins.")


@pytest.mark.parametrize(("protocol", "told"), [("consumer", True), ("cooperative", False)])
def test_why_says_that_a_kip_848_member_commits_before_it_gives_up_and_acknowledges_after(protocol, told):
    entries = why_entries(Lab("scale-out", protocol=protocol).boards)
    rules = [rule for _, sentence, rule, _ in entries if "runs onPartitionsRevoked" in sentence]
    assert rules
    assert {"has committed first. Its heartbeat acknowledges only when" in rule for rule in rules} == {told}
