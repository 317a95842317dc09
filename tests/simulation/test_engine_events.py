"""Whole runs: static members, coordinator and metadata, what applications do, assignors that do not fit."""

from __future__ import annotations

import pytest

from rebalance_kit.simulation.simulate import simulate
from tests.support.simulation.runs import (
    ALL,
    CLASSIC,
    STATIC,
    THIRD,
    THREE,
    act,
    calls,
    gaps,
    member,
    owners,
    rounds,
    rows,
    run,
    scenario,
)


# --- static members ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("protocol", THREE)
def test_a_static_member_back_in_time_costs_no_rebalance(protocol):
    trace = run(protocol, act(20_000, "close", "c1"), act(24_000, "start", "c1"), members=STATIC)
    mine = owners(trace, 19_000)["c1"]
    assert rounds(trace, since=20_000) == [] and calls(trace, "c2", since=20_000) == []
    assert calls(trace, "c1", since=20_000) == [("revoked", mine), ("assigned", mine)]
    assert not [row for row in rows(trace, "request", since=20_000) if row.detail["api"] == "LeaveGroup"]


@pytest.mark.parametrize("protocol", THREE)
def test_a_static_member_away_too_long_is_expired_and_its_return_costs_another(protocol):
    trace = run(protocol, act(20_000, "close", "c1"), act(36_000, "start", "c1"), members=STATIC, end=55_000)
    (gone,) = rows(trace, "member_removed", since=20_000)
    assert gone.detail["how"] == "session"
    # The commit in close() re-armed a classic session; under KIP-848 the last heartbeat counts.
    assert (30_000 <= gone.at_ms <= 30_050) if protocol != "consumer" else (27_000 <= gone.at_ms < 30_000)
    assert len(rounds(trace, since=20_000)) == (3 if protocol == "cooperative" else 2)


@pytest.mark.parametrize("protocol", CLASSIC)
def test_a_duplicate_instance_id_kills_the_old_process_in_the_classic_protocol(protocol):
    trace = run(
        protocol, act(20_000, "start", "c3"), members=[*STATIC, member("c3", instance="i1", start=None)]
    )
    mine = owners(trace, 19_000)["c1"]
    assert calls(trace, "c1", since=20_000) == [("lost", mine)]
    (died,) = rows(trace, "died")
    assert (died.actor, died.detail["error"]) == ("c1", "FENCED_INSTANCE_ID")
    assert calls(trace, "c3") == [("assigned", mine)] and rounds(trace, since=20_000) == []
    (added,) = rows(trace, "callback_begin", actor="c3")
    assert added.at_ms < died.at_ms, "for a moment both own the same partitions"


def test_a_duplicate_instance_id_kills_the_new_process_under_kip_848():
    trace = run(
        "consumer", act(20_000, "start", "c3"), members=[*STATIC, member("c3", instance="i1", start=None)]
    )
    (died,) = rows(trace, "died")
    assert (died.actor, died.detail["error"]) == ("c3", "UNRELEASED_INSTANCE_ID")
    assert calls(trace, "c1", since=20_000) == [] and rounds(trace, since=20_000) == []


@pytest.mark.parametrize("protocol", THREE)
def test_an_administrator_removes_a_member_that_comes_back_by_itself(protocol):
    trace = run(protocol, act(20_000, "remove", "c1"), members=STATIC)
    mine = owners(trace, 19_000)["c1"]
    (gone,) = rows(trace, "member_removed", since=20_000)
    assert (gone.detail["how"], gone.detail["reason"]) == ("admin", "member was removed by an admin")
    assert calls(trace, "c1", since=20_000)[0] == ("lost", mine)
    if protocol != "consumer":
        (begun,) = rows(trace, "group_state", since=20_000, to="PreparingRebalance")
        assert begun.detail["reason"] == "explicit `LeaveGroup` request for () members."
    assert sorted(owners(trace)) == ["c1", "c2"]


# --- coordinator, metadata, subscription ----------------------------------------------------------------------
@pytest.mark.parametrize("protocol", THREE)
def test_a_coordinator_failover_rebalances_nothing(protocol):
    trace = run(protocol, act(20_000, "coordinator_failover", for_ms=5_000))
    assert {row.actor for row in rows(trace, "coordinator_lost")} == {"c1", "c2"}
    assert rounds(trace, since=20_000) == [] and gaps(trace, 20_000) == {}
    assert calls(trace, "c1", since=20_000) == calls(trace, "c2", since=20_000) == []
    (loaded,) = rows(trace, "group_loaded")
    assert loaded.generation == (3 if protocol == "consumer" else 1)


@pytest.mark.parametrize("protocol", THREE)
def test_sessions_start_anew_when_the_coordinator_is_back(protocol):
    trace = run(protocol, act(20_000, "broker_down"), act(20_500, "crash", "c1"), act(25_000, "broker_up"))
    (gone,) = rows(trace, "member_removed", since=20_000)
    assert gone.at_ms == 35_000 and gone.detail["name"] == "c1"


@pytest.mark.parametrize("protocol", THREE)
def test_added_partitions_are_noticed_by_the_leader_or_by_the_broker(protocol):
    slow, quick = {"metadata.max.age.ms": 300_000}, {"metadata.max.age.ms": 4_000}
    leader = (
        rows(run(protocol, end=8_000), "leader_elected")[-1].detail["name"]
        if protocol != "consumer"
        else "c1"
    )
    follower = "c1" if leader == "c2" else "c2"
    for eager_eyes, expected in ((leader, True), (follower, protocol == "consumer")):
        members = [member(name, configs=quick if name == eager_eyes else slow) for name in ("c1", "c2")]
        trace = run(protocol, act(20_000, "add_partitions", topic="orders", partitions=6), members=members)
        noticed = rounds(trace, since=20_000)
        assert bool(noticed) is expected, (eager_eyes, noticed)
        if expected:
            assert len(noticed) == 1 and sorted(tp for held in owners(trace).values() for tp in held) == [
                *ALL,
                "orders-4",
                "orders-5",
            ]


@pytest.mark.parametrize("protocol", ["cooperative", "consumer"])
def test_added_partitions_pause_nobody_without_eager(protocol):
    members = [member(name, configs={"metadata.max.age.ms": 4_000}) for name in ("c1", "c2")]
    trace = run(protocol, act(20_000, "add_partitions", topic="orders", partitions=6), members=members)
    assert not set(gaps(trace, 20_000)) & set(ALL)
    for name in ("c1", "c2"):
        (call,) = calls(trace, name, since=20_000)
        assert call[0] == "assigned" and len(call[1]) == 1


@pytest.mark.parametrize("protocol", CLASSIC)
def test_a_changed_subscription_is_acted_on_at_the_next_poll(protocol):
    trace = run(
        protocol,
        act(20_000, "subscribe", "c1", topics=["orders", "bills"]),
        partitions={"orders": 2, "bills": 2},
    )
    (begun, *_) = rows(trace, "group_state", since=20_000, to="PreparingRebalance")
    assert begun.at_ms < 20_200 and begun.detail["reason"].endswith("subscription has changed")
    assert {"bills-0", "bills-1"} <= set(owners(trace)["c1"])


def test_a_changed_subscription_travels_with_the_next_heartbeat_under_kip_848():
    trace = run(
        "consumer",
        act(20_000, "subscribe", "c1", topics=["orders", "bills"]),
        partitions={"orders": 2, "bills": 2},
    )
    (bump,) = rows(trace, "epoch_bump", since=20_000)
    beats = [
        row
        for row in rows(trace, "request", since=20_000, actor="c1")
        if row.detail.get("topics") == ["bills", "orders"]
    ]
    assert len(beats) == 1 and beats[0].at_ms - 20_000 > 500 and 0 < bump.at_ms - beats[0].at_ms < 20


def test_records_of_a_dropped_topic_stop_at_the_call_and_are_revoked_later():
    trace = run(
        "consumer",
        act(20_000, "subscribe", "c1", topics=["orders"]),
        members=[member("c1", "orders", "bills")],
        partitions={"orders": 1, "bills": 1},
    )
    (stopped,) = rows(trace, "fetch_stopped", since=20_000)
    assert (stopped.topic, stopped.at_ms) == ("bills", 20_000)
    assert calls(trace, "c1", since=20_000) == [("revoked", ["bills-0"]), ("assigned", [])]
    assert rows(trace, "callback_begin", since=20_000)[0].at_ms > 20_500


# --- what applications do ------------------------------------------------------------------------------------
@pytest.mark.parametrize("protocol", CLASSIC)
def test_enforce_rebalance_makes_one_generation_with_the_same_assignment(protocol):
    trace = run(protocol, act(20_000, "enforce_rebalance", "c1"))
    assert rounds(trace, since=20_000) == [2] and owners(trace) == owners(trace, 19_000)
    (begun,) = rows(trace, "group_state", since=20_000, to="PreparingRebalance")
    assert begun.detail["reason"].endswith("client reason: rebalance enforced by user")


def test_enforce_rebalance_does_nothing_in_librdkafka():
    # Recorded on 4.3.1: the order came, and no generation followed.
    native = tuple(member(name, client="librdkafka", start=0) for name in ("c1", "c2"))
    trace = run("eager", act(20_000, "enforce_rebalance", "c1"), members=native)
    assert not rows(trace, "generation", since=20_000)


def test_enforce_rebalance_does_nothing_under_kip_848():
    trace = run("consumer", act(20_000, "enforce_rebalance", "c1"))
    assert rounds(trace, since=20_000) == [] and calls(trace, "c1", since=20_000) == []


def slow_callback(protocol):
    return run(
        protocol,
        act(15_000, "slow_callback", "c1", callback_ms=6_000),
        act(20_000, "start", "c3"),
        members=THIRD,
        partitions=6,
        end=60_000,
    )


def test_in_eager_a_slow_callback_stops_everybody():
    trace = slow_callback("eager")
    (round_,) = rows(trace, "generation", since=20_000)
    begun = rows(trace, "callback_begin", since=20_000, actor="c1")[0].at_ms
    assert round_.at_ms - begun >= 6_000
    assert all(gap > 5_500 for gap in gaps(trace, 20_000).values()) and len(gaps(trace, 20_000)) == 6


def test_in_cooperative_a_slow_callback_holds_the_second_generation_for_both_calls():
    trace = slow_callback("cooperative")
    first, second = rows(trace, "generation", since=20_000)
    assert second.at_ms - first.at_ms >= 12_000
    fast = [tp for tp in owners(trace)["c3"] if tp not in owners(trace, 19_000)["c1"]]
    assert fast and all(gaps(trace, 20_000)[tp] > 11_000 for tp in fast), (
        "also what the fast member gave up waits"
    )


def test_under_kip_848_a_slow_callback_holds_only_its_own_partition():
    trace = slow_callback("consumer")
    mine = set(owners(trace, 19_000)["c1"]) & set(owners(trace)["c3"])
    others = set(owners(trace)["c3"]) - mine
    assert mine and others
    dark = gaps(trace, 20_000)
    assert all(dark[tp] > 11_000 for tp in mine) and all(dark[tp] < 3_500 for tp in others)


# --- assignors that do not fit ----------------------------------------------------------------------------------
PACKAGE = "org.apache.kafka.clients.consumer."


def assigned_by(*names: str) -> dict[str, str]:
    return {"partition.assignment.strategy": ",".join(PACKAGE + name for name in names)}


def test_a_member_without_a_common_assignor_dies_and_the_group_does_not_move():
    members = [
        member("c1", configs=assigned_by("RangeAssignor")),
        member("c2", configs=assigned_by("RangeAssignor")),
        member("c3", start=None, configs=assigned_by("CooperativeStickyAssignor")),
    ]
    trace = simulate(scenario(act(20_000, "start", "c3"), members=members))
    (died,) = rows(trace, "died")
    assert (died.actor, died.detail["error"]) == ("c3", "INCONSISTENT_GROUP_PROTOCOL")
    assert died.detail["message"].startswith(
        "The group member's supported protocols are incompatible with those of existing members"
    )
    assert rounds(trace, since=20_000) == [] and calls(trace, "c1", since=20_000) == []


def test_the_default_list_runs_eager_and_range_is_chosen():
    trace = simulate(scenario(act(20_000, "crash", "c1")))
    assert {row.detail["assignor"] for row in trace.of("generation")} == {"range"}
    assert [kind for kind, _ in calls(trace, "c2", since=20_000)] == ["revoked", "assigned"]


# --- being cut off -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("protocol", CLASSIC)
def test_a_member_that_is_cut_off_for_less_than_its_session_keeps_its_place(protocol):
    trace = run(protocol, act(20_000, "cut_network", "c1"), act(24_000, "heal_network", "c1"), end=60_000)
    assert rounds(trace, since=20_000) == [] and owners(trace) == owners(trace, 19_000)


@pytest.mark.parametrize("protocol", THREE)
def test_a_java_consumer_that_is_cut_off_reads_on_while_others_have_its_partitions(protocol):
    trace = run(protocol, act(20_000, "cut_network", "c1"), act(40_000, "heal_network", "c1"), end=90_000)
    mine = owners(trace, 19_000)["c1"]
    lost = rows(trace, "callback_begin", since=20_000, actor="c1")[0]
    assert lost.detail == {"callback": "lost", "partitions": mine} and lost.at_ms > 40_000
    taken = [
        row
        for row in rows(trace, "fetch_resumed", since=20_000, actor="c2")
        if f"{row.topic}-{row.partition}" in mine
    ]
    assert len(taken) >= len(mine) and max(row.at_ms for row in taken[: len(mine)]) < 40_000
    assert not [
        row
        for row in rows(trace, "fetch_stopped", since=20_000, actor="c1")
        if row.at_ms < lost.at_ms - 1_000
    ]
