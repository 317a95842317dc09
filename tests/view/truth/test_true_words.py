"""What the board says is true: over all lessons and protocols, at every change of state, against the rows."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

import pytest

from rebalance_kit.model.trace import Trace
from rebalance_kit.scenarios import load
from rebalance_kit.simulation.scenario.scenario import THREE_PROTOCOLS
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.lab.lessons import lessons
from rebalance_kit.view.words.causes import unread_causes
from rebalance_kit.view.words.descriptions import describe_board
from rebalance_kit.view.words.moment import sentence
from rebalance_kit.view.words.phrases import LISTED

LARGE = "fifty-by-five-hundred"
LESSONS = [preset.name for preset in lessons() if preset.name != LARGE]


@lru_cache(maxsize=1)
def runs(name: str) -> tuple[Boards, ...]:
    """The lesson under each protocol that it can run."""
    scenario = load(name)
    protocols = (None,) if scenario.chooses_protocol() else THREE_PROTOCOLS
    return tuple(Boards(simulate(scenario, protocol=protocol)) for protocol in protocols)


def static_members(trace: Trace) -> set[str]:
    """Names whose place in the group does not depend on a member id."""
    started = trace.of("process_started")
    return {row.actor for row in started if row.detail["configs"].get("group.instance.id")}


@pytest.mark.parametrize("name", LESSONS)
def test_a_member_is_in_the_group_as_often_as_the_coordinator_has_ids_of_it(name):
    for boards in runs(name):
        rows = [
            row for row in boards.trace.of("member_added", "member_removed") if not row.detail.get("pending")
        ]
        held: Counter[str] = Counter()
        taken = 0
        for at_ms in boards.change_times:
            while taken < len(rows) and rows[taken].at_ms <= at_ms:
                held[rows[taken].detail["name"]] += 1 if rows[taken].kind == "member_added" else -1
                taken += 1
            former = Counter(each.name for each in boards.group.at(at_ms).former)
            for member in set(boards.names) - static_members(boards.trace):
                state = boards.members[member].at(at_ms)
                shown = int(state.standing == "member") + former[member]
                assert shown == held[member], (boards.trace.label, at_ms, member)
                assert state.doing != "removed, still works" or not held[member]


@pytest.mark.parametrize("name", LESSONS)
def test_every_unread_partition_has_its_cause_in_the_sentence(name):
    for boards in runs(name):
        for board in boards.walk(boards.change_times):
            said = " ".join(sentence(board))
            unread = [partition for partition in board.partitions if not partition.state.flows]
            causes = unread_causes(board)
            assert sorted(partition.name for partition in unread) == sorted(
                name for names in causes.values() for name in names
            )
            where = (boards.trace.label, board.at_ms, said)
            assert not unread or not sentence(board).cause.endswith("partitions flow."), where
            assert all(cause.subject in said for cause in causes), where
            owners = {partition.state.owner for partition in unread if partition.state.owner}
            assert len(owners) > LISTED or all(owner in said for owner in owners), where


@pytest.mark.parametrize("name", LESSONS)
def test_nothing_waits_is_said_only_when_nothing_does(name):
    for boards in runs(name):
        for board in boards.walk(boards.change_times):
            if "Nothing waits" not in " ".join(sentence(board)):
                continue
            where = (boards.trace.label, board.at_ms)
            assert all(partition.state.flows for partition in board.partitions), where
            assert (board.group.state, board.group.former) == ("Stable", ()), where
            lives = {member.state.life for member in board.members}
            assert not lives & {"crashed", "died", "frozen"}, where
            assert {member.state.doing for member in board.members if member.state.life == "alive"} == {
                "polls"
            }, where


@pytest.mark.parametrize("protocol", ["eager", "cooperative"])
def test_a_join_phase_waits_for_the_old_member_id_of_a_restarted_member(protocol):
    boards = Boards(simulate(load("recovered-member"), protocol=protocol))
    expires = next(row.at_ms for row in boards.trace.of("member_removed"))
    words = sentence(boards.at(expires - 1_000))
    assert words.cause == "The join phase waits for the old member id of consumer-2, whose process is gone."
    assert f"{{left:{expires}}}" in words.effect
    assert "joined 3 of 4." in describe_board(boards.at(expires - 1_000))
    end = boards.at(boards.end_ms)
    assert end.member("consumer-2").state.doing == "polls"
    assert sentence(end).effect == "Nothing waits."


def test_a_partition_kept_for_an_old_member_id_has_that_cause_until_its_session_ends():
    boards = Boards(simulate(load("recovered-member"), protocol="consumer"))
    expires = next(row.at_ms for row in boards.trace.of("member_removed"))
    words = sentence(boards.at(expires - 1_000))
    assert words.cause.startswith("consumer-2 runs again under a new member id.")
    assert sentence(boards.at(expires)).cause == "The coordinator computes a new target assignment."


def test_a_member_that_left_by_its_poll_timeout_and_joined_again_leaves_no_more():
    boards = Boards(simulate(load("storm"), 23, "consumer"))
    assert boards.at(88_000).member("consumer-1").state.doing == "polls"
