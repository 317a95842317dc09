"""When a client reads its metadata, in which order a connection carries messages, and when a periodic commit is due."""

from __future__ import annotations

from itertools import pairwise

import pytest

from rebalance_kit.assignors.java_order import hash_map_order, scala_map_order
from rebalance_kit.logs.broker import broker_lines
from rebalance_kit.simulation.simulate import simulate
from tests.support.simulation.runs import QUICK, THREE, act, calls, member, rounds, rows, run, scenario

SLOW_AGE = {**QUICK, "metadata.max.age.ms": 60_000}


def both(name, **given):
    return member(name, "orders", "bills", configs=SLOW_AGE, **given)


def leader_of(trace):
    return rows(trace, "generation")[0].detail["leader"]


def metadata_seen(trace, since, actor):
    return [row.at_ms for row in rows(trace, "metadata_changed", since, actor)]


# --- metadata -------------------------------------------------------------------------------------------
def test_only_who_reads_from_a_deleted_topic_hears_of_it_at_once():
    trace = run(
        "eager",
        act(20_000, "delete_topic", topic="bills"),
        members=[both("c1"), both("c2"), both("c3")],
        partitions={"orders": 3, "bills": 1},
    )
    owner = next(row.actor for row in rows(trace, "owned") if "bills-0" in row.detail["partitions"])
    heard = {name: metadata_seen(trace, 20_000, name) for name in ("c1", "c2", "c3")}
    assert 20_000 < heard[owner][0] < 20_300
    assert not any(heard[name] for name in heard if name != owner), "their metadata is a minute young"


@pytest.mark.parametrize("topics", [("bills",), ("bills", "orders")])
def test_a_commit_of_deleted_topics_alone_reaches_no_coordinator_and_renews_no_session(topics):
    """``KafkaApis`` takes unknown topics out first; what is left, if anything, goes to the coordinator."""
    trace = run(
        "eager",
        *(act(20_000 + number, "drop_next", "c1", api="Heartbeat") for number in range(6)),
        act(20_100, "delete_topic", topic="bills"),
        members=[member("c1", *topics, configs=SLOW_AGE)],
        partitions=dict.fromkeys(topics, 1),
    )
    refused = [row for row in rows(trace, "commit", 20_000, "c1") if row.detail["error"] != "NONE"]
    assert len(refused) > 10 and {row.detail["error"] for row in refused} == {"UNKNOWN_TOPIC_OR_PARTITION"}
    removed = [row.at_ms for row in rows(trace, "member_removed", 20_000)]
    assert bool(removed) == (topics == ("bills",))


def test_a_subscribed_topic_that_does_not_exist_is_asked_for_again_and_again():
    trace = run(
        "eager",
        act(22_400, "create_topic", topic="bills", partitions=2),
        members=[both("c1"), both("c2")],
        partitions={"orders": 2},
    )
    noticed = metadata_seen(trace, 20_000, leader_of(trace))
    assert 22_400 < noticed[0] <= 23_700, "retry.backoff.max.ms, a fifth more, and the round trip"
    assert "bills-0" in {
        tp for name in ("c1", "c2") for _, given in calls(trace, name, 22_400) for tp in given
    }


def test_before_kip_580_it_is_asked_for_every_retry_backoff():
    made = scenario(
        act(22_400, "create_topic", topic="bills", partitions=2),
        members=[both("c1"), both("c2")],
        partitions={"orders": 2},
        kafka_version="3.6.0",
    )
    trace = simulate(made, protocol="eager")
    assert metadata_seen(trace, 20_000, leader_of(trace))[0] <= 22_400 + 250


def test_a_leader_reads_its_metadata_anew_for_topics_of_others_before_it_assigns():
    """ConsumerCoordinator.updateGroupSubscription: a topic grew, and the leader that does not read it knows when it assigns."""
    reader = member("c2", "bills", configs=SLOW_AGE)
    trace = run(
        "eager",
        act(15_000, "add_partitions", topic="bills", partitions=5),
        act(20_000, "start", "c3"),
        members=[
            member("c1", "orders", configs=SLOW_AGE),
            reader,
            member("c3", "bills", configs=SLOW_AGE, start=None),
        ],
        partitions={"orders": 2, "bills": 2},
        seed=next(seed for seed in range(1, 30) if leads(seed) == "c1"),
    )
    plan = rows(trace, "assignment", 20_000)[0].detail["assignment"]
    assert sorted(tp for given in plan.values() for tp in given if tp.startswith("bills")) == [
        f"bills-{number}" for number in range(5)
    ]


def leads(seed):
    members = [member("c1", "orders", configs=SLOW_AGE), member("c2", "bills", configs=SLOW_AGE)]
    return leader_of(
        run("eager", members=members, partitions={"orders": 2, "bills": 2}, end=10_000, seed=seed)
    )


# --- order ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("protocol", THREE)
def test_a_connection_carries_requests_and_answers_in_the_order_in_which_they_were_sent(protocol):
    trace = run(
        protocol,
        act(20_000, "freeze", "c1"),
        act(36_000, "thaw", "c1"),
        act(40_000, "close", "c2"),
        members=3,
        end=60_000,
    )
    for name in ("c1", "c2", "c3"):
        sent = [row.detail["arrives_ms"] for row in rows(trace, "request", actor=name)]
        heard = [row.detail["arrives_ms"] for row in rows(trace, "response", to=name)]
        assert len(sent) > 10 and all(one <= other for one, other in pairwise(sent))
        assert all(one < other for one, other in pairwise(heard))


def test_the_coordinator_of_3_9_keeps_a_bucket_in_the_order_of_hashes():
    """Ids of one bucket: Java's map says who was put first, Scala 2.13's who has the smaller hash."""
    collide = ["Q", "a"]  # hashes 81 and 97: bucket 1 of 16
    assert (hash_map_order(collide[::-1]), scala_map_order(collide[::-1])) == (["a", "Q"], ["Q", "a"])
    twelve = list("ABCDEFGHIJKP")  # P has hash 80: bucket 0 of 16, and 16 of 32
    assert hash_map_order(twelve)[0] == scala_map_order(twelve)[-1] == "P", (
        "with the twelfth key Scala's table is doubled"
    )


# --- commits ----------------------------------------------------------------------------------------------
def test_under_kip_848_every_reconciliation_puts_the_periodic_commit_off():
    """ConsumerMembershipManager.signalReconciliationCompleting resets the timer."""
    trace = run(
        "consumer",
        act(20_000, "start", "c3"),
        members=[member("c1"), member("c2"), member("c3", start=None)],
        partitions=6,
        end=60_000,
    )
    for name in ("c1", "c2"):
        done = [row.at_ms for row in rows(trace, "callback_end", 20_000, name, callback="assigned")][-1]
        commits = [row.at_ms for row in rows(trace, "commit", done, name, how="auto")]
        assert 5_000 <= commits[0] - done < 5_200


# --- versions ---------------------------------------------------------------------------------------------
def restarted_leader(version):
    """Static members; the leader goes and is back in time, then a topic grows."""
    specs = [
        member("c1", instance="i1", configs={"metadata.max.age.ms": 3_000}),
        member("c2", instance="i2", start=2_000, configs={"metadata.max.age.ms": 3_000}),
    ]
    made = scenario(
        act(20_000, "close", "c1"),
        act(23_000, "start", "c1"),
        act(30_000, "add_partitions", topic="orders", partitions=6),
        members=specs,
        partitions=4,
        end=45_000,
        kafka_version=version,
    )
    trace = simulate(made, protocol="eager")
    assert leader_of(trace) == "c1"
    return trace


def test_until_3_1_a_static_leader_that_returned_takes_itself_for_a_follower_and_watches_no_metadata():
    """KIP-814: since 3.2 it is told that it leads, and to skip the assignment."""
    assert rounds(restarted_leader("3.1.0"), since=20_000) == []
    assert rounds(restarted_leader("3.2.0"), since=20_000) == [2]


@pytest.mark.parametrize(("version", "reason"), [("3.1.0", False), ("3.2.0", True), ("4.3.1", True)])
def test_requests_carry_reasons_since_3_2(version, reason):
    trace = simulate(scenario(act(20_000, "close", "c2"), kafka_version=version), protocol="eager")
    joins = [row.detail["reason"] for row in rows(trace, "request", api="JoinGroup") if row.detail["reason"]]
    said = "\n".join(line.message for line in broker_lines(trace))
    assert bool(joins) == reason == ("client reason: the consumer is being closed" in said)
    assert reason or "client reason" not in said
    assert "has left group" in said and "reason: " in said
