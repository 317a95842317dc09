"""A librdkafka callback that calls assign() where the assignment is incremental: each part of the lab says that the call was refused."""

from __future__ import annotations

import pytest

from rebalance_kit.scenarios import load
from rebalance_kit.simulation.scenario.scenario import with_protocol
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.lab.tabs.why import steps
from rebalance_kit.view.words.moment import sentence

NAME = "wrong-librdkafka-callback"


@pytest.fixture(scope="module")
def run() -> Boards:
    return Boards(simulate(load(NAME)))


@pytest.fixture(scope="module")
def owning() -> Boards:
    """Under KIP-848, where no rebalance waits for the member."""
    return Boards(simulate(with_protocol(load(NAME), "consumer")))


def refused(run: Boards) -> int:
    return max(row.at_ms for row in run.trace.of("wrong_call"))


def test_the_sentence_says_who_reads_nothing_and_which_call_was_refused(owning):
    cause, effect = sentence(owning.at(refused(owning) + 10_000))
    assert cause == (
        "orders-2 and 5: consumer-3 reads nothing, because its assign() was refused: "
        "here it has to call incremental_assign()."
    )
    assert effect == "orders-2 and 5 are unread. orders-0, 1, 3 and 4 flow on."


def test_the_member_and_its_partitions_show_it(owning):
    board = owning.at(owning.end_ms)
    assert board.member("consumer-3").state.doing == "had its assign() refused"
    assert {each.state.word for each in board.owned_by("consumer-3")} == {"stopped"}


def test_the_strip_has_a_mark_and_why_a_step_at_the_moment(run):
    at_ms = refused(run)
    assert [mark.words for mark in run.marks if mark.at_ms == at_ms] == ["assign() of consumer-3 is refused"]
    told = next(step for step in steps(run) if step.kind == "wrong_call")
    assert told.at_ms == at_ms
    assert told.words == "consumer-3 called assign() and is refused: it reads none of its partitions."


def test_the_join_phase_of_the_hand_over_names_the_member_that_does_not_join(run):
    # Recorded on 4.3.1: PreparingRebalance to the end, and consumer-3 owns nothing.
    cause, effect = sentence(run.at(refused(run) + 10_000))
    assert effect.endswith("orders-0 and 3 are unread. orders-1, 2, 4 and 5 flow on.")
    assert cause == (
        "The join phase waits for consumer-3, which does not join, because its assign() was refused: "
        "here it has to call incremental_assign()."
    )
