"""Dead ends of the lab, from the kernel's side: what can be undone, compared, asked, and how refusals are said."""

from __future__ import annotations

import json
import zlib

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.analysis.metrics import MEASURES
from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.view.lab.predictions import questions
from rebalance_kit.view.lab.requests import answer
from rebalance_kit.view.lab.widget import Lab
from rebalance_kit.view.words.moment import sentence
from rebalance_kit.view.words.phrases import plainly


def heard(lab, **message):
    answers = []
    lab.send = lambda content, buffers=None: answers.append(content)
    lab.handle(message)
    return answers[0]


def test_a_protocol_that_was_chosen_is_undone_and_chosen_again():
    lab = Lab()
    lab.protocol = "consumer"
    lab.protocol = "eager"
    assert lab.controls["undo"] == "Eager"
    lab.undo()
    assert lab.protocol == "consumer"
    lab.undo()
    assert (lab.protocol, lab.controls["undo"]) == ("eager", "")
    lab.redo()
    assert lab.protocol == "consumer"


def test_deeds_after_a_choice_are_undone_before_it():
    lab = Lab()
    lab.protocol = "consumer"
    lab.crash("consumer-1")
    lab.undo()
    assert (lab.protocol, lab.history.state.done) == ("consumer", ())
    lab.undo()
    assert lab.protocol == "eager"


def test_a_lesson_with_its_own_protocol_gets_it_back():
    lab = Lab("two-bounces")
    lab.protocol = "eager"
    lab.undo()
    assert lab.protocol is None


def test_a_deleted_branch_comes_back():
    lab = Lab()
    lab.crash("consumer-1")
    lab.fork()
    names = [branch.name for branch in lab.history.branches]
    lab.delete_branch(1)
    assert len(lab.history.branches) == 1
    lab.undo()
    assert [branch.name for branch in lab.history.branches] == names


def test_a_branch_is_named_after_its_deed_only_while_the_deed_is_done():
    lab = Lab()
    lab.at(20_000)
    lab.crash("consumer-1")
    lab.at(15_000)
    lab.crash("consumer-2")
    names = [lab.history.branches[1].name]
    for how in ("undo", "redo"):
        heard(lab, type=how)
        names.append(lab.history.branches[1].name)
    assert names == ["consumer-2 crashes", "from 15.0 s", "consumer-2 crashes"]


@pytest.mark.parametrize("how", ["undo", "redo"])
def test_undo_and_redo_of_nothing_say_so(how):
    assert heard(Lab(), type=how)["told"].startswith("There is nothing to ")


@pytest.mark.parametrize("name", ["migration", "two-bounces", "bounce-gone-wrong"])
def test_a_lesson_that_mixes_protocols_is_compared_with_what_it_is(name):
    reply, _ = answer(Lab(name), {"type": "compare"})
    assert reply["labels"][0] == "As the lesson says"
    assert len(reply["labels"]) >= 2


def unpacked(answered):
    return json.loads(zlib.decompress(answered[1][0]))


def test_a_comparison_comes_run_by_run_and_the_present_run_is_not_simulated_again():
    lab = Lab()
    for column, protocol in enumerate(("eager", "cooperative", "consumer")):
        assert unpacked(answer(lab, {"type": "compare", "column": column}))["label"] == protocol
    assert lab.comparing[1].states[0] is lab.history.state
    table = unpacked(answer(lab, {"type": "compare"}))
    assert {row["least"] for row in table["table"]} == {None}
    assert [line.split(":")[0] for line in table["differs"]][-3:] == ["Eager", "Cooperative", "Consumer"]


def test_fewer_unread_partitions_that_cost_more_are_explained_by_how_long_each_is_unread():
    lab = Lab("join")
    told = unpacked(answer(lab, {"type": "compare"}))
    rows = {row["name"]: [float(cell) for cell in row["cells"]] for row in told["table"][:2]}
    partitions, unread = rows["partitions unread"], rows["unread partition-seconds"]
    assert partitions[1] < partitions[0]
    assert unread[1] > unread[0]
    (words,) = (line for line in told["differs"] if "fewer unread partitions" in line)
    assert words.startswith("Cooperative has fewer unread partitions than Eager")
    assert f"{unread[1] / partitions[1]:.1f} s on average" in words
    assert "given up in one rebalance and handed out in the next" in words


@pytest.mark.parametrize(
    "name", ["two-consumers-crash", "leave", "freeze", "fifty-by-five-hundred", "scale-out"]
)
def test_fewer_partitions_are_explained_only_where_they_cost_clearly_more_and_hand_overs_only_where_there_are_no_others(
    name,
):
    told = unpacked(answer(Lab(name), {"type": "compare"}))
    words = " ".join(told["differs"])
    partitions, unread = ([float(cell) for cell in row["cells"]] for row in told["table"][:2])
    pairs = list(zip(partitions, unread, strict=True))
    clearly = any(few < many and 0.95 * cost > 1.2 * other for few, cost in pairs for many, other in pairs)
    somehow = any(few < many and cost > 1.15 * other for few, cost in pairs for many, other in pairs)
    assert clearly <= ("fewer unread partitions" in words) <= somehow
    assert ("nobody reads it between the two" in words) == (name == "scale-out")


def test_only_draws_of_the_same_deeds_say_what_is_least():
    lab = Lab()
    lab.at(20_000)
    lab.crash("consumer-1")
    answer(lab, {"type": "compare"})
    drawn = {"done": False}
    while not drawn["done"]:
        drawn = unpacked(answer(lab, {"type": "draws"}))
    rows = {each.words: row for each, row in zip(MEASURES, drawn["rows"], strict=True)}
    assert drawn["count"] >= 20
    assert rows["generations"]["least"] is None
    for words in (
        "unread partition-seconds",
        "longest gap of a partition, s",
        "records redelivered",
        "fault detected after, s",
    ):
        assert rows[words]["least"] is None, "the phase of a heartbeat is sold as a protocol"
        assert (
            "where the crash falls between two heartbeats and two commits changes it by more"
            in rows[words]["why"]
        )
    assert drawn["window_ms"] == 10_000
    assert drawn["same"]
    assert drawn["answer"] == [
        "No difference in unread partition-seconds and longest gap of a partition over the draws: where the crash falls between "
        "two heartbeats and two commits decides more than the protocol."
    ]
    for row in rows.values():
        for spread in filter(None, row["cells"]):
            assert spread[:5] == sorted(spread[:5])
            assert 0 <= spread[6] <= 100


def test_a_clear_difference_is_called_one_with_its_pairs():
    lab = Lab("scale-out")
    told = unpacked(answer(lab, {"type": "compare"}))
    assert 1 <= len(told["answer"]) <= 3
    drawn = {"done": False}
    while not drawn["done"]:
        drawn = unpacked(answer(lab, {"type": "draws"}))
    verdicts = [row for row in drawn["rows"] if row["least"] is not None]
    assert verdicts
    for row in verdicts:
        best = row["least"]
        assert f"{lab.comparing[1].labels[best]} has less in " in row["why"]
        assert all(
            row["cells"][best][2] < each[2] for place, each in enumerate(row["cells"]) if place != best
        )


def test_runs_in_which_other_things_are_done_are_not_called_the_same_actions():
    lab = Lab()
    lab.at(13_000)
    lab.fork()
    lab.crash("consumer-1")
    assert not unpacked(answer(lab, {"type": "compare", "branches": [0, 1]}))["same"]
    assert unpacked(answer(lab, {"type": "compare"}))["same"]


def test_a_lesson_is_compared_with_another_one():
    lab = Lab("static-restart-too-late", "cooperative")
    told = unpacked(answer(lab, {"type": "compare", "lesson": "static-restart-in-time"}))
    assert told["labels"] == ["A static member restarts too late", "A static member restarts in time"]
    assert not told["same"]
    late, in_time = (state.boards.trace for state in lab.comparing[1].states)
    assert [trace.label for trace in (late, in_time)] == ["cooperative", "cooperative"]
    with pytest.raises(ScenarioError, match="shown already"):
        answer(lab, {"type": "compare", "lesson": "static-restart-too-late"})


def test_a_protocol_that_is_chosen_says_what_differs():
    told = answer(Lab("join"), {"type": "set", "name": "protocol", "value": "cooperative"})[0]["told"]
    assert told.startswith(
        "Under Cooperative 3 of 12 partitions are unread for a time and the other 9 are read throughout; under Eager all 12"
    )
    assert answer(Lab("join"), {"type": "set", "name": "protocol", "value": "eager"})[0]["told"] == ""


def test_a_deletion_is_no_saving():
    lab = Lab()
    lab.at(20_000)
    lab.crash("consumer-1")
    reply = answer(lab, {"type": "act", "do": "delete_topic", "args": {"topic": "orders"}, "at_ms": 30_000})[
        0
    ]
    assert reply["deleted"] == [f"orders-{number}" for number in range(4)]
    assert reply["cost"] == reply["without"] == 0.0


def test_settings_are_told_from_the_moment_that_the_page_shows():
    lab = Lab("two-consumers-crash")
    lab.at(lab.boards.end_ms)
    values = {"max.poll.interval.ms": "5"}
    reply = answer(lab, {"type": "settings", "values": values, "at_ms": 37_579})[0]
    fresh = Lab("two-consumers-crash")
    fresh.at(37_579)
    assert reply["dragged"] == answer(fresh, {"type": "settings", "values": values})[0]["dragged"]
    assert reply["dragged"]["cost"] > 0


def test_branches_that_are_compared_last_equally_long():
    lab = Lab()
    lab.at(13_000)
    lab.fork()
    lab.crash("consumer-1")
    short, long = (branch.state for branch in lab.history.branches)
    assert short.boards.end_ms < long.boards.end_ms
    answer(lab, {"type": "compare", "branches": [0, 1]})
    first, second = (state.boards for state in lab.comparing[1].states)
    assert first.end_ms == second.end_ms == long.boards.end_ms
    known = short.boards.trace.rows
    assert first.trace.rows[: len(known) - 5] == known[:-5]
    assert lab.boards.end_ms == long.boards.end_ms


def test_what_cannot_be_compared_or_drawn_is_refused():
    with pytest.raises(ScenarioError, match="expected a comparison"):
        answer(Lab(), {"type": "draws"})
    with pytest.raises(ScenarioError, match="got column 7; expected 0 to 2"):
        answer(Lab(), {"type": "compare", "column": 7})


def test_a_group_whose_members_died_of_a_setting_is_not_told_to_add_a_member():
    lab = Lab()
    lab.set(session_timeout_ms="5000", heartbeat_interval_ms="1000")
    words = sentence(lab.boards.at(lab.boards.end_ms))
    assert words.cause == "Nobody is in the group: consumer-1 and consumer-2 died of INVALID_SESSION_TIMEOUT."
    assert "Add a member" not in words.effect


@pytest.mark.parametrize(
    ("do", "member"), [("broker_up", None), ("duplicate", "consumer-2"), ("heal_network", "consumer-1")]
)
def test_refusals_are_said_without_numbers_of_actions(do, member):
    lab = Lab()
    args = {"as": "twin"} if do == "duplicate" else {}
    reply = heard(lab, type="act", do=do, member=member, args=args, at_ms=13_000, id=1)
    assert reply["type"] == "refused"
    assert reply["words"].startswith("Not at 13.0 s: ")
    assert "action " not in reply["words"]


def test_words_that_are_no_refusal_of_an_action_stay():
    assert plainly("consumer-1 has crashed. Restart it first.") == "consumer-1 has crashed. Restart it first."


def asked(lab, do, member):
    return questions(lab.history.state, lab.ahead(do, member, lab.cursor_ms, {}), lab.cursor_ms)


def test_a_partition_that_loses_its_last_reader_is_asked_for_and_said_to_have_no_owner():
    lab = Lab()
    heard(lab, type="act", do="leave", member="consumer-1", args={}, at_ms=13_000, id=1)
    heard(lab, type="seek", t_ms=35_000, id=2)
    moves, *_ = asked(lab, "leave", "consumer-2")
    assert "another owner, or none, when the run ends" in moves.words
    assert moves.truth == ["orders-0", "orders-1", "orders-2", "orders-3"]
    assert moves.why.endswith("; 4 of them will have none.")


def test_one_partition_that_moves_is_told_in_the_singular():
    lab = Lab()
    heard(lab, type="seek", t_ms=13_000, id=1)
    moves, *_ = asked(lab, "add", None)
    assert moves.truth == ["orders-3"]
    assert moves.why.startswith("1 of 4 partitions does not keep its owner of 13.0 s")


@pytest.mark.parametrize("protocol", ["eager", "cooperative", "consumer"])
@pytest.mark.parametrize("do", ["crash", "leave"])
def test_no_question_offers_what_it_excludes_and_the_length_is_explained(protocol, do):
    lab = Lab(protocol=protocol)
    *_, longest, request = asked(lab, do, "consumer-1")
    if "other than heartbeats" in request.words:
        assert not {"Heartbeat", "ConsumerGroupHeartbeat", "OffsetCommit"} & set(request.options)
    assert "is unread for" in longest.why
    assert "read it at" in longest.why


def test_members_of_a_large_group_are_asked_for_by_number():
    lab = Lab("fifty-by-five-hundred")
    assert {question.kind for question in asked(lab, "crash", "consumer-17")[:2]} == {"number"}


@pytest.mark.parametrize(
    ("lesson", "do", "left_out"),
    [
        ("freeze", "thaw", "thaw"),
        ("freeze", "crash", "thaw"),
        ("network-cut", "heal_network", "heal_network"),
    ],
)
def test_what_a_deed_has_mended_the_lesson_mends_no_more(lesson, do, left_out):
    lab = Lab(lesson)
    written = lab.scenario.actions
    lab.at(written[0].at_ms + 20_000)
    lab.do(do, "consumer-2")
    assert [(action.at_ms, action.do) for action in lab.scenario.actions] == [
        (written[0].at_ms, written[0].do),
        (lab.cursor_ms, do),
    ]
    lab.undo()
    assert lab.scenario.actions == written
    assert written[1].do == left_out
