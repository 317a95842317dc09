"""Numbers that are dragged: which there are, sizes of the group, and a drag as one deed."""

from __future__ import annotations

import gc
import json
import zlib
from dataclasses import replace

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario, TopicSpec
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.lab.playing.playback import glance_bytes
from rebalance_kit.view.lab.playing.prefetch import Ahead
from rebalance_kit.view.lab.requests import answer
from rebalance_kit.view.lab.widget import Lab

SESSION = "session.timeout.ms"
BROKERS_SESSION = "group.consumer.session.timeout.ms"


def drag(lab, how, value, name=SESSION, number=1):
    return answer(lab, {"type": "drag", "number": number, "how": how, "name": name, "value": str(value)})[0]


def test_a_drag_of_many_steps_is_one_deed_and_undo_takes_it_back():
    lab = Lab()
    lab.at(20_000)
    lab.crash("consumer-1")
    before = lab.trace
    for value in (44_000, 30_000, 20_000):
        drag(lab, "step", value)
    told = drag(lab, "keep", 20_000)["dragged"]
    assert told["cost"] < told["without"]
    assert [step.words for step in lab.history.state.done] == [
        "consumer-1 crashes",
        "session.timeout.ms = 20000",
    ]
    lab.undo()
    assert lab.trace.rows == before.rows


def test_a_drag_that_is_given_back_leaves_nothing_behind():
    lab = Lab()
    lab.crash("consumer-1")
    lab.undo()
    before = lab.history
    drag(lab, "step", 30_000)
    drag(lab, "back", 0)
    assert lab.history == before
    assert lab.controls["redo"] == "consumer-1 crashes"


def test_a_drag_that_is_corrected_is_one_deed_and_another_setting_is_another():
    lab = Lab()
    for number, value in enumerate((30_000, 20_000), 1):
        drag(lab, "step", value, number=number)
        drag(lab, "keep", value, number=number)
    assert [step.words for step in lab.history.state.done] == ["session.timeout.ms = 20000"]
    lab.set(heartbeat_interval_ms="2000")
    lab.set(session_timeout_ms="25000")
    assert len(lab.history.state.done) == 3


def test_a_refused_step_keeps_the_run_of_the_step_before():
    lab = Lab()
    drag(lab, "step", 30_000)
    kept = lab.film
    with pytest.raises(RebalanceKitError, match="session timeout"):
        drag(lab, "step", 2_000)
    assert lab.film == kept


def test_the_first_second_of_a_large_group_is_that_of_the_whole_run():
    lab = Lab("fifty-by-five-hundred")
    reply = drag(lab, "step", 30_000)
    assert reply["stepping"] is True
    glance, at_ms = lab.boards, lab.cursor_ms
    assert glance.end_ms == at_ms + 1_000
    drag(lab, "keep", 30_000)
    assert lab.trace.rows == simulate(lab.scenario, lab.history.state.seed).rows
    for moment in (at_ms, at_ms + 500, at_ms + 999):
        assert seen(glance.at(moment)) == seen(lab.boards.at(moment))


def seen(board):
    """What a board of so many partitions shows; positions between two looks are not among it."""
    partitions = [(view.name, view.state, view.stopped_since_ms) for view in board.partitions]
    return board.group, board.members, partitions


@pytest.mark.parametrize(
    ("protocol", "name", "at_ms"),
    [("eager", SESSION, 14_000), ("eager", SESSION, 40_000), ("consumer", BROKERS_SESSION, 14_000)],
)
def test_a_step_of_a_session_shows_the_film_that_is_simulated_from_the_start(protocol, name, at_ms):
    scenario = with_session(crash_of_a_large_group(), name, 50_000)
    shown, fresh = Lab(scenario, protocol), Lab(scenario, protocol)
    for lab in (shown, fresh):
        lab.at(at_ms)
    for value in (51_000, 46_000, 47_000):
        drag(shown, "step", value, name)
        then = fresh.history.state.with_settings({name: str(value)})
        boards = Ahead(then).second_after(at_ms)
        assert read(shown.film) == read(glance_bytes(boards, at_ms, then.scenario.end_ms))
        assert shown.trace == boards.trace


def crash_of_a_large_group():
    members = tuple(MemberSpec(f"consumer-{number}", ("orders",)) for number in range(1, 9))
    group = Scenario("large", (TopicSpec("orders", 70),), members, end_ms=70_000)
    return group.with_action(Action(12_000, "crash", "consumer-2"))


def with_session(scenario, name, value):
    if name == BROKERS_SESSION:
        return replace(scenario, broker={name: value})
    members = (replace(spec, configs={name: value}) for spec in scenario.members)
    return replace(scenario, members=tuple(members))


def read(film):
    return json.loads(zlib.decompress(film))


def test_members_and_partitions_hold_from_the_start_and_deeds_keep_their_members():
    lab = Lab()
    drag(lab, "keep", 4, "members")
    drag(lab, "keep", 6, "partitions.orders", 2)
    assert [spec.name for spec in lab.scenario.members] == [f"consumer-{number}" for number in range(1, 5)]
    assert len(lab.boards.partitions) == 6
    lab.crash("consumer-4")
    with pytest.raises(RebalanceKitError, match="consumer-4 is needed, because consumer-4 crashes"):
        drag(lab, "step", 3, "members", 3)


def test_a_member_that_is_added_stands_beside_those_of_the_setting():
    lab = Lab()
    lab.add()
    drag(lab, "keep", 3, "members")
    assert sorted(spec.name for spec in lab.scenario.members) == [
        "consumer-1",
        "consumer-2",
        "consumer-3",
        "consumer-4",
    ]


@pytest.mark.parametrize("value", ["0", "101", "many", "-1"])
def test_a_size_that_cannot_be_is_refused_with_what_was_expected(value):
    with pytest.raises(RebalanceKitError, match="expected a whole number from 1 to 100"):
        drag(Lab(), "step", value, "members")


@pytest.mark.parametrize(
    "message",
    [
        {"number": "1", "how": "step", "name": SESSION, "value": "1"},
        {"number": 1, "how": "push", "name": SESSION, "value": "1"},
        {"number": 1, "how": "step", "name": SESSION, "value": 1},
        {"number": 1, "how": "step", "name": None, "value": "1"},
    ],
)
def test_a_drag_that_means_nothing_is_refused(message):
    with pytest.raises(RebalanceKitError, match="expected"):
        answer(Lab(), {"type": "drag", **message})


def test_a_number_that_members_do_not_share_is_none_to_drag():
    lab = Lab()
    assert lab.controls["numbers"][SESSION] == [45_000, 0, 2_147_483_647]
    assert lab.controls["numbers"]["members"] == [2, 1, 100]
    assert "kafka_version" not in lab.controls["numbers"]
    lab.load("poll-timeout")
    assert all(isinstance(value, int | float) for value, _, _ in lab.controls["numbers"].values())


def test_the_collector_rests_until_the_page_has_its_answer_and_works_again_after_a_refusal():
    lab = Lab()
    answers = []
    lab.send = lambda content, _buffers=None: answers.append((content["type"], gc.isenabled()))
    for value in ("30000", "2000"):
        lab.handle({"id": 1, "type": "drag", "number": 1, "how": "step", "name": SESSION, "value": value})
        assert gc.isenabled()
    assert answers == [("done", False), ("refused", False)]
