"""Owners and readers of small traces written by hand, and of the kit's scenarios."""

from __future__ import annotations

import pytest

from rebalance_kit import scenarios
from rebalance_kit.analysis import ownership
from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.simulation.scenario.scenario import THREE_PROTOCOLS
from rebalance_kit.simulation.simulate import simulate
from tests.support.analysis.made_traces import Row, flows, trace

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def owned(at: int, actor: str, *partitions: str) -> Row:
    return (at, actor, "owned", None, {"partitions": list(partitions)})


def started(actor: str, group: str) -> Row:
    return (0, actor, "process_started", None, {"group": group})


def ended(at: int, actor: str) -> Row:
    return (at, actor, "process_ended", None, {"how": "crash", "error": None, "life": 1})


def test_of_two_members_that_believe_to_own_a_partition_the_later_one_does():
    made = trace(owned(10, "a", "t-0", "t-1"), owned(20, "b", "t-0"), owned(30, "a", "t-0", "t-1"))
    assert ownership.owned_at(made) == {"a": ["t-0", "t-1"], "b": ["t-0"]}
    assert ownership.owners_at(made) == {T0: "b", T1: "a"}
    assert ownership.assignments_at(made)["a"] == {T0: 10, T1: 10}


def test_a_process_that_ended_owns_nothing_but_had_its_partitions_last():
    made = trace(owned(10, "a", "t-0"), ended(20, "a"), owned(30, "b"))
    assert ownership.owned_at(made, 19) == {"a": ["t-0"]}
    assert ownership.owned_at(made) == {"b": []} and ownership.owners_at(made) == {}
    assert ownership.last_owners(made) == {T0: "a"}


def test_a_partition_that_its_owner_gave_up_has_no_owner_until_somebody_gets_it():
    made = trace(owned(10, "a", "t-0"), owned(20, "a"), owned(30, "b", "t-0"))
    assert ownership.owners_at(made, 25) == {} and ownership.last_owners(made, 25) == {T0: "a"}
    assert ownership.owners_at(made, 30) == ownership.last_owners(made, 30) == {T0: "b"}


def test_members_of_other_groups_own_and_read_nothing_here():
    rows = [started("a", "g"), started("x", "other"), owned(1, "a", "t-0"), owned(2, "x", "t-0")]
    made = trace(*rows, *flows(("t-0", "a", 5, None), ("t-0", "x", 6, None)), group="g")
    assert ownership.owners_at(made) == ownership.last_owners(made) == {T0: "a"}
    assert ownership.readers_at(made, 10) == {T0: "a"}
    assert ownership.owned_at(made)["x"] == ["t-0"]


def test_a_reader_is_whoever_received_a_partition_last():
    made = trace(*flows(("t-0", "a", 100, 300), ("t-0", "b", 400, None), ("t-1", "a", 500, None)), end=1_000)
    assert ownership.readers_at(made, 99) == {}
    assert ownership.readers_at(made, 350) == {T0: "a"}
    assert ownership.readers_at(made, 500) == {T0: "b", T1: "a"}


def test_a_removed_member_that_reads_on_for_a_while_does_not_become_the_reader():
    made = trace(*flows(("t-0", "a", 100, 300), ("t-0", "b", 400, None), ("t-0", "a", 500, 600)), end=1_000)
    assert ownership.readers_at(made, 1_000) == {T0: "b"}
    assert ownership.moves(made, 300) == {T0: ("a", "b")} and ownership.moves(made, 300, 350) == {}


@pytest.mark.parametrize("protocol", THREE_PROTOCOLS)
@pytest.mark.parametrize("name", ["crash", "freeze", "join", "poll-timeout", "leave", "scale-out"])
def test_at_the_end_of_a_quiet_run_owners_readers_and_last_owners_are_the_same(name, protocol):
    made = simulate(scenarios.load(name), protocol=protocol)
    owners = ownership.owners_at(made)
    assert owners and owners == ownership.readers_at(made, made.end_ms) == ownership.last_owners(made)
