"""Records that come twice or never: the moment at which it happens, and sums that are those of the engine's books."""

from __future__ import annotations

import pytest

from rebalance_kit.analysis.deliveries import SKIPPED, TWICE, deliveries
from rebalance_kit.analysis.metrics import metrics
from rebalance_kit.scenarios import load
from rebalance_kit.simulation.scenario.scenario import (
    THREE_PROTOCOLS,
    Action,
    MemberSpec,
    Scenario,
    TopicSpec,
)
from rebalance_kit.simulation.simulate import simulate


def crash_at(at_ms, **configs):
    members = tuple(MemberSpec(f"consumer-{number}", ("orders",), configs=configs) for number in (1, 2))
    actions = (Action(at_ms, "crash", "consumer-1", {}),)
    return simulate(Scenario("crash", (TopicSpec("orders", 4),), members, actions, 90_000), protocol="eager")


def test_what_was_not_committed_comes_twice_when_its_new_reader_begins():
    trace = crash_at(20_000)
    resumed = next(
        row
        for row in trace.of("fetch_resumed")
        if row.at_ms > 20_000 and (row.topic, row.partition) == ("orders", 0)
    )
    first = next(each for each in deliveries(trace) if each.partition == "orders-0")
    assert (first.kind, first.at_ms, first.member) == (TWICE, resumed.at_ms, "consumer-2")
    assert first.first_offset == first.committed == resumed.detail["position"]
    assert {each.kind for each in deliveries(trace)} == {TWICE}


def test_one_redelivery_is_told_once_however_often_the_engine_looked():
    found = deliveries(crash_at(20_000))
    assert len({each.partition for each in found}) == len(found) == 2


def test_without_a_committed_offset_latest_skips_what_came_meanwhile_and_earliest_nothing():
    skipped = deliveries(crash_at(9_000))
    assert {(each.kind, each.committed) for each in skipped} == {(SKIPPED, None)}
    assert sum(each.records for each in skipped) == metrics(crash_at(9_000)).records_lost > 0
    assert {each.kind for each in deliveries(crash_at(9_000, **{"auto.offset.reset": "earliest"}))} == {TWICE}


@pytest.mark.parametrize("name", ["two-consumers-crash", "storm", "freeze", "slow-consumer", "network-cut"])
@pytest.mark.parametrize("protocol", THREE_PROTOCOLS)
def test_all_redeliveries_together_are_those_of_the_books(name, protocol):
    trace = simulate(load(name), protocol=protocol)
    twice = sum(each.records for each in deliveries(trace) if each.kind == TWICE)
    assert twice == sum(row.detail["redelivered"] for row in trace.of("account"))
