"""Common claims about rebalancing, each checked against what the engine does: the claim is the test's id."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rebalance_kit.assignors.contract import Cluster, MemberSubscription
from rebalance_kit.assignors.registry import assign
from rebalance_kit.model.config import ClientConfig
from rebalance_kit.model.topology import TopicId, TopicPartition
from rebalance_kit.model.trace import Trace
from rebalance_kit.simulation.scenario.scenario import MemberSpec, ReplayPins
from rebalance_kit.simulation.simulate import simulate
from tests.support.simulation.runs import THREE, act, calls, gaps, member, owners, rounds, rows, run, scenario

CLAIMS: dict[str, Callable[[], None]] = {}
NOT_MODELLED = {
    "ConsumerRebalanceListener has two methods": "the two-argument variants of trunk, which no release has"
}
"""Parts of rows that this engine has no place for; the rest of each of these rows is checked below."""


def claim(text: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    def enter(check: Callable[[], None]) -> Callable[[], None]:
        assert text not in CLAIMS
        CLAIMS[text] = check
        return check

    return enter


PACKAGE = "org.apache.kafka.clients.consumer."
MODERN = MemberSpec("c3", ("orders",), {"group.protocol": "consumer"}, start_ms=None)
THIRD = (member("c1"), member("c2"), member("c3", start=None))
JOIN = act(20_000, "start", "c3")
RACKS = {1: "rack-c1", 2: "rack-c2", 3: "rack-c3"}


def strategy(*names: str) -> dict[str, str]:
    return {"partition.assignment.strategy": ",".join(PACKAGE + name for name in names)}


def as_configured(*actions, **given) -> Trace:
    """Simulate with every member's own configuration."""
    return simulate(scenario(*actions, **given))


def joined(protocol: str, partitions: int = 6, **given) -> Trace:
    """A third member joins two settled ones at 20 s."""
    return run(protocol, JOIN, members=THIRD, partitions=partitions, **given)


def kept(trace: Trace, name: str) -> set[str]:
    return set(owners(trace, 19_000)[name]) & set(owners(trace)[name])


def moved(trace: Trace) -> set[str]:
    before = {tp: name for name, held in owners(trace, 19_000).items() for tp in held}
    after = {tp: name for name, held in owners(trace).items() for tp in held}
    return {tp for tp in before if after[tp] != before[tp]}


# --- which protocol, which assignor ----------------------------------------------------------------------
@claim("CooperativeSticky is the default since 2.4/3.0")
def _() -> None:
    for version, names in (
        ("2.8.0", ("range",)),
        ("3.9.1", ("range", "cooperative-sticky")),
        ("4.3.1", ("range", "cooperative-sticky")),
    ):
        config = ClientConfig.of({"client.id": "c", "group.id": "g"}, version, "c")
        assert (config.assignors, config.mode) == (names, "EAGER"), version
    trace = as_configured(act(20_000, "crash", "c1"))
    assert {row.detail["assignor"] for row in trace.of("generation")} == {"range"}
    assert [kind for kind, _ in calls(trace, "c2", 20_000)] == ["revoked", "assigned"]


@claim("the coordinator computes/redistributes the assignment")
def _() -> None:
    for protocol in ("eager", "cooperative"):
        trace = run(protocol)
        (computed,) = trace.of("assignment_computed")
        (stored,) = trace.of("assignment")
        names = computed.detail["senders"]
        assert computed.actor == stored.detail["leader"] in {"c1", "c2"}
        assert {names[who]: sorted(held) for who, held in computed.detail["assignment"].items()} == {
            who: sorted(held) for who, held in stored.detail["assignment"].items()
        }
        assert not list(trace.of("target"))
    modern = run("consumer")
    assert list(modern.of("target")) and not list(modern.of("assignment_computed"))


@claim("effective assignor = head of the intersection / leader's first")
def _() -> None:
    lists = {
        "c1": ("RangeAssignor", "RoundRobinAssignor"),
        "c2": ("RoundRobinAssignor", "RangeAssignor"),
        "c3": ("RoundRobinAssignor", "RangeAssignor"),
    }
    members = [
        member(
            name,
            configs=strategy(*names),
            lives=(ReplayPins(first_request_ms=500 + 100 * at, second_request_ms=550 + 100 * at),),
        )
        for at, (name, names) in enumerate(lists.items())
    ]
    (made,) = as_configured(members=members, end=15_000).of("generation")
    assert (made.detail["leader"], made.detail["assignor"]) == ("c1", "roundrobin")


@claim("leader is the first to join")
def _() -> None:
    members = [
        member("c1", lives=(ReplayPins(first_request_ms=500, second_request_ms=1_500),)),
        member("c2", lives=(ReplayPins(first_request_ms=800, second_request_ms=900),)),
        member("c3", start=None),
    ]
    trace = run("eager", JOIN, act(30_000, "close", "c2"), members=members)
    first = next(row.actor for row in trace.of("request") if row.detail["api"] == "JoinGroup")
    leaders = [row.detail["leader"] for row in trace.of("generation")]
    assert first == "c1" and leaders[:2] == ["c2", "c2"], (
        "the first one added leads, and keeps leading when somebody joins"
    )
    assert leaders[2] in {"c1", "c3"}


@claim("mixed assignors make the group fall back to eager")
def _() -> None:
    members = [
        member("c1", configs=strategy("CooperativeStickyAssignor", "RangeAssignor")),
        member("c2", configs=strategy("CooperativeStickyAssignor")),
    ]
    trace = as_configured(act(20_000, "enforce_rebalance", "c1"), members=members)
    assert {row.detail["assignor"] for row in trace.of("generation")} == {"cooperative-sticky"}
    assert [kind for kind, _ in calls(trace, "c1", 20_000)] == ["revoked", "assigned"], (
        "its own list makes c1 EAGER"
    )
    assert all(kind == "assigned" for kind, _ in calls(trace, "c2", 20_000)), "c2 stays COOPERATIVE"
    stranger = as_configured(
        JOIN,
        members=[
            *(member(name, configs=strategy("RangeAssignor")) for name in ("c1", "c2")),
            member("c3", start=None, configs=strategy("CooperativeStickyAssignor")),
        ],
    )
    (died,) = stranger.of("died")
    assert died.detail["error"] == "INCONSISTENT_GROUP_PROTOCOL" and rounds(stranger, 20_000) == []


@claim("range assigns contiguous ranges over all topics")
def _() -> None:
    trace = run(
        "eager", members=[member("c1", "a", "b"), member("c2", "a", "b")], partitions={"a": 3, "b": 3}
    )
    shares = sorted(owners(trace).values(), key=len)
    assert shares == [["a-2", "b-2"], ["a-0", "a-1", "b-0", "b-1"]]


# --- who pauses, and for how long --------------------------------------------------------------------------
@claim("stop the world: everyone pauses in any rebalance")
def _() -> None:
    eager, cooperative = joined("eager"), joined("cooperative")
    assert len(gaps(eager, 20_000)) == 6
    assert set(gaps(cooperative, 20_000)) == moved(cooperative) and len(moved(cooperative)) == 2
    first, second = rows(cooperative, "generation", 20_000)
    assert min(gaps(cooperative, 20_000).values()) > 2_500 and second.at_ms - first.at_ms > 2_500, (
        "the moving ones rest a whole generation"
    )


@claim("no partition ever pauses in cooperative / KIP-848")
def _() -> None:
    for protocol in ("cooperative", "consumer"):
        trace = joined(protocol)
        assert set(gaps(trace, 20_000)) == moved(trace) != set()
    slow = run(
        "consumer",
        act(15_000, "slow_callback", "c2", callback_ms=4_000),
        act(20_000, "crash", "c1"),
        end=60_000,
    )
    begun = rows(slow, "callback_begin", 20_000, "c2", callback="assigned")[0].at_ms
    added = [
        row.at_ms
        for row in rows(slow, "fetch_resumed", begun, "c2")
        if f"{row.topic}-{row.partition}" in owners(slow, 19_000)["c1"]
    ]
    assert min(added) >= begun + 4_000, "added partitions wait until onPartitionsAssigned has returned"
    wrong = run(
        "cooperative",
        act(20_000, "start", "c3"),
        end=60_000,
        members=[member("c1", client="librdkafka", callback="wrong"), member("c2"), member("c3", start=None)],
    )
    held = owners(wrong, 19_000)["c1"]
    assert held and not rows(wrong, "fetch_resumed", 0, "c1")


@claim("eager pauses longest")
def _() -> None:
    longest = {protocol: max(gaps(joined(protocol), 20_000).values()) for protocol in THREE}
    assert longest["eager"] < longest["consumer"] and longest["eager"] < longest["cooperative"], longest
    touched = {protocol: len(gaps(joined(protocol), 20_000)) for protocol in THREE}
    assert touched == {"eager": 6, "cooperative": 2, "consumer": 2}


@claim("a stalled consumer only hurts its own partitions")
def _() -> None:
    def stalled(protocol: str) -> tuple[Trace, set[str]]:
        trace = run(
            protocol, act(19_500, "stall", "c1", for_ms=15_000), JOIN, members=THIRD, partitions=6, end=60_000
        )
        return trace, kept(trace, "c2") - moved(trace)

    eager, healthy = stalled("eager")
    assert healthy and min(gaps(eager, 20_000)[tp] for tp in healthy) > 8_000
    for protocol in ("cooperative", "consumer"):
        trace, healthy = stalled(protocol)
        assert healthy and not healthy & set(gaps(trace, 20_000)), protocol


@claim("deleting a topic just removes its partitions")
def _() -> None:
    def after(protocol: str) -> Trace:
        members = [member("c1", "orders", "bills", configs={"metadata.max.age.ms": 4_000})]
        return run(
            protocol,
            act(20_000, "delete_topic", topic="bills"),
            members=members,
            partitions={"orders": 2, "bills": 2},
            end=50_000,
        )

    eager = after("eager")
    assert gaps(eager, 20_000)["orders-0"] > 25_000 and calls(eager, "c1", 20_000) == [], (
        "it sits in the commit before its revoke"
    )
    assert rounds(eager, 20_000) == []
    for protocol in ("cooperative", "consumer"):
        assert "orders-0" not in gaps(after(protocol), 20_000), "what it keeps goes on"


@claim("'Stabilized group' means consumption has resumed")
def _() -> None:
    trace = run("eager", act(20_000, "crash", "c1"))
    stabilized, stored = rows(trace, "generation", 20_000)[0], rows(trace, "assignment", 20_000)[0]
    resumed = rows(trace, "fetch_resumed", 20_000)[0]
    assert stabilized.at_ms < stored.at_ms < resumed.at_ms
    assert rows(trace, "group_state", stabilized.at_ms, to="Stable")[0].at_ms == stored.at_ms


# --- how many rebalances ---------------------------------------------------------------------------------------
@claim("cooperative takes two rebalances")
def _() -> None:
    assert len(rounds(run("cooperative", act(20_000, "crash", "c1")), 20_000)) == 1
    assert len(rounds(joined("cooperative"), 20_000)) == 2


@claim("group.initial.rebalance.delay applies to each rebalance")
def _() -> None:
    trace = run("eager", JOIN, members=THIRD, partitions=6)
    assert [(row.detail["timer"], row.detail["after_ms"]) for row in trace.of("timer_set")] == [
        ("initial", 3_000),
        ("initial", 3_000),
        ("rebalance", 60_000),
    ]
    begun, made = (
        rows(trace, "group_state", 20_000, to="PreparingRebalance")[0],
        rows(trace, "generation", 20_000)[0],
    )
    assert made.at_ms - begun.at_ms < 3_000


@claim("broker failure triggers a rebalance")
def _() -> None:
    for protocol in THREE:
        trace = run(protocol, act(20_000, "broker_down"), act(26_000, "broker_up"))
        assert rounds(trace, 20_000) == [] and list(trace.of("group_loaded")), protocol
    told_too_little = run("cooperative", act(20_000, "see_metadata", leader_of("cooperative"), topics={}))
    assert len(rounds(told_too_little, 20_000)) >= 1, "a leader whose refresh misses the topic does rebalance"
    for version, racked, expected in (("4.3.1", True, 1), ("4.3.1", False, 0), ("4.4.0", True, 0)):
        members = [
            member(
                name,
                configs={"metadata.max.age.ms": 4_000, **({"client.rack": f"rack-{name}"} if racked else {})},
            )
            for name in ("c1", "c2")
        ]
        lost = run(
            "eager", act(20_000, "node_down", node=2), members=members, nodes=RACKS, kafka_version=version
        )
        assert len(rounds(lost, 20_000)) == expected, (version, racked)


@claim("onPartitionsRevoked is called when a partition goes offline / leader moves")
def _() -> None:
    for protocol in THREE:
        trace = run(protocol, act(20_000, "broker_down"), act(26_000, "broker_up"))
        assert calls(trace, "c1", 20_000) == calls(trace, "c2", 20_000) == [], protocol
        for crash in (False, True):
            away = run(protocol, act(20_000, "node_down", node=2, crash=crash), nodes=RACKS)
            assert {row.detail["to"] for row in away.of("leader_changed")} == {3}, "leaders did move"
            assert calls(away, "c1", 20_000) == calls(away, "c2", 20_000) == [], (protocol, crash)


def leader_of(protocol: str) -> str:
    return next(row.detail["leader"] for row in run(protocol, end=10_000).of("generation"))


@claim("any consumer's metadata refresh triggers a rebalance on new partitions")
def _() -> None:
    leader = leader_of("eager")
    follower = {"c1": "c2", "c2": "c1"}[leader]
    for eyes, expected in ((leader, 1), (follower, 0)):
        members = [
            member(name, configs={"metadata.max.age.ms": 4_000 if name == eyes else 300_000})
            for name in ("c1", "c2")
        ]
        trace = run("eager", act(20_000, "add_partitions", topic="orders", partitions=6), members=members)
        assert len(rounds(trace, 20_000)) == expected, eyes


@claim("static membership avoids rebalances on restart")
def _() -> None:
    members = [
        member("c1", instance="i1"),
        member("c2", instance="i2"),
        member("c3", instance="i3", start=None),
    ]
    back = run("eager", act(20_000, "close", "c1"), act(24_000, "start", "c1"), members=members)
    assert rounds(back, 20_000) == []
    other_topics = run(
        "eager",
        act(20_000, "close", "c1"),
        act(24_000, "start", "c1", topics=["orders", "bills"]),
        members=members,
        partitions={"orders": 4, "bills": 2},
    )
    assert rounds(other_topics, 20_000) == [] and not [
        tp for held in owners(other_topics).values() for tp in held if tp.startswith("bills")
    ]
    late = run("eager", act(20_000, "close", "c1"), act(36_000, "start", "c1"), members=members, end=60_000)
    assert len(rounds(late, 20_000)) == 2
    # Back while the leader's SyncGroup is still on its way: CompletingRebalance, and the group begins again.
    leader = next(row.detail["leader"] for row in run("eager", members=members, end=10_000).of("generation"))
    returning = {"c1": "c2", "c2": "c1"}[leader]
    completing = run(
        "eager",
        act(19_000, "delay_next", leader, api="SyncGroup", by_ms=6_000),
        act(19_500, "enforce_rebalance", leader),
        act(22_600, "crash", returning),
        act(22_700, "start", returning),
        members=members,
        end=60_000,
    )
    (replaced,) = completing.of("member_replaced")
    assert (replaced.detail["state"], replaced.detail["rebalance"]) == ("CompletingRebalance", True)


@claim("a duplicate group.instance.id kills the new consumer")
def _() -> None:
    members = [
        member("c1", instance="i1"),
        member("c2", instance="i2"),
        member("c3", instance="i1", start=None),
    ]
    for protocol, victim in (("eager", "c1"), ("cooperative", "c1"), ("consumer", "c3")):
        (died,) = run(protocol, JOIN, members=members).of("died")
        assert died.actor == victim, protocol


@claim("LeaveGroup is always sent on close")
def _() -> None:
    def leaves(**given) -> list[str]:
        trace = run("eager", act(20_000, "close", "c1"), **given)
        return [row.actor for row in trace.of("request") if row.detail["api"] == "LeaveGroup"]

    assert leaves() == ["c1"]
    assert leaves(members=[member("c1", instance="i1"), member("c2", instance="i2")]) == []
    unreachable = run("eager", act(19_000, "broker_down"), act(23_000, "close", "c1"), end=60_000)
    assert not [row for row in unreachable.of("request") if row.detail["api"] == "LeaveGroup"], "best effort"


# --- heartbeats and timeouts ---------------------------------------------------------------------------------------
@claim("heartbeats prove progress")
def _() -> None:
    trace = run("eager", act(20_000, "stall", "c1", for_ms=25_000), end=50_000)
    beats = [
        row
        for row in trace.of("response")
        if row.detail["api"] == "Heartbeat" and row.detail["to"] == "c1" and 20_000 < row.at_ms < 45_000
    ]
    assert len(beats) >= 7 and {row.detail["error"] for row in beats} == {"NONE"}
    assert gaps(trace, 20_000)[owners(trace)["c1"][0]] > 24_000
    limited = run(
        "eager",
        act(20_000, "stall", "c1", for_ms=25_000),
        members=[member(name, configs={"max.poll.interval.ms": 12_000}) for name in ("c1", "c2")],
        end=50_000,
    )
    assert [row.actor for row in limited.of("poll_timeout")] == ["c1"]


@claim("missing heartbeats make the (Java) consumer stop consuming")
def _() -> None:
    for protocol in THREE:
        trace = run(protocol, act(20_000, "cut_network", "c1"), end=45_000)
        assert [row.detail["name"] for row in rows(trace, "member_removed", 20_000)] == ["c1"], protocol
        assert calls(trace, "c1", 20_000) == [] and not rows(trace, "fetch_stopped", 20_000, "c1"), protocol
        assert not rows(trace, "commit", 24_000, "c1", error="NONE"), protocol
    native = run(
        "eager",
        act(20_000, "cut_network", "c1"),
        end=45_000,
        members=[member("c1", client="librdkafka"), member("c2")],
    )
    assert calls(native, "c1", 20_000) == [("lost", owners(native, 19_000)["c1"])]
    assert 25_000 < rows(native, "callback_begin", 20_000, "c1")[0].at_ms < 32_000


@claim("session timeout default is 10 s")
def _() -> None:
    values = {
        version: ClientConfig.of({"client.id": "c", "group.id": "g"}, version, "c").session_timeout_ms
        for version in ("2.8.0", "3.0.0", "4.3.1")
    }
    assert values == {"2.8.0": 10_000, "3.0.0": 45_000, "4.3.1": 45_000}


@claim("heartbeat returns REBALANCE_IN_PROGRESS in CompletingRebalance")
def _() -> None:
    # A parked SyncGroup would hold the heartbeats behind it on its connection; the leader's own is still under way.
    leader = leader_of("eager")
    trace = run("eager", act(0, "delay_next", leader, api="SyncGroup", by_ms=5_000))
    completing = rows(trace, "group_state", to="CompletingRebalance")[0].at_ms
    stable = rows(trace, "group_state", to="Stable")[0].at_ms
    beats = [
        row.detail["error"]
        for row in trace.of("response")
        if row.detail["api"] == "Heartbeat" and row.detail["to"] == leader and completing < row.at_ms < stable
    ]
    assert stable - completing > 5_000 and beats == ["NONE"]


@claim("max.poll.interval.ms is client only")
def _() -> None:
    members = [member(name, configs={"max.poll.interval.ms": 20_000}) for name in ("c1", "c2")]
    trace = run("eager", act(20_000, "stall", "c1", for_ms=200), act(20_100, "crash", "c1"), members=members)
    (waits,) = rows(trace, "timer_set", 20_000)
    assert (waits.detail["timer"], waits.detail["after_ms"]) == ("rebalance", 20_000)
    # Under KIP-848 it is the deadline of a revocation: a callback that outlasts it costs the membership.
    members = [member(name, configs={"max.poll.interval.ms": 20_000}) for name in ("c1", "c2")] + [
        member("c3", start=None)
    ]
    stuck = run(
        "consumer",
        act(15_000, "slow_callback", "c1", callback_ms=60_000),
        JOIN,
        members=members,
        partitions=6,
        end=70_000,
    )
    (gone,) = [row for row in stuck.of("member_removed") if row.detail["name"] == "c1"]
    assert gone.detail["how"] in {"rebalance_timeout", "leave"}


# --- callbacks --------------------------------------------------------------------------------------------------------
@claim("ConsumerRebalanceListener has two methods")
def _() -> None:
    trace = run(
        "eager", JOIN, act(30_000, "freeze", "c1"), act(45_000, "thaw", "c1"), members=THIRD, end=60_000
    )
    assert {row.detail["callback"] for row in trace.of("callback_begin")} == {"assigned", "revoked", "lost"}


@claim("onPartitionsAssigned receives the full assignment")
def _() -> None:
    eager = joined("eager")
    for name in ("c1", "c2", "c3"):
        assert calls(eager, name, 20_000)[-1] == ("assigned", owners(eager)[name])
    for protocol in ("cooperative", "consumer"):
        trace = joined(protocol)
        told = [
            held for name in ("c1", "c2") for kind, held in calls(trace, name, 20_000) if kind == "assigned"
        ]
        assert told and all(held == [] for held in told), "those who keep theirs are told of nothing"


@claim("onPartitionsRevoked fires only if something is revoked")
def _() -> None:
    members = [member("c1"), member("c2")]
    for protocol, expected in (("eager", 1), ("cooperative", 0), ("consumer", 0)):
        trace = run(
            protocol, act(20_000, "start", "c3"), members=[*members, member("c3", start=None)], partitions=1
        )
        idle = next(name for name in ("c1", "c2") if owners(trace, 19_000)[name] == [])
        assert calls(trace, idle, 20_000).count(("revoked", [])) == expected, protocol


# --- KIP-848 ---------------------------------------------------------------------------------------------------------------
@claim("KIP-848 server range is sticky")
def _() -> None:
    members = (member("c1"), member("c2"), member("c3"), member("c4", start=None))
    for protocol in ("consumer-range", "consumer"):
        trace = run(protocol, act(30_000, "start", "c4"), members=members, partitions=8, end=60_000)
        before = {tp: name for name, held in owners(trace, 29_000).items() for tp in held}
        changed = [tp for name, held in owners(trace).items() for tp in held if before[tp] != name]
        assert (len(changed) > 2) if protocol == "consumer-range" else (len(changed) == 2), (
            protocol,
            changed,
        )
    moved = {version: _moved_by_a_join(version) for version in ("3.8.0", "3.9.0")}
    assert moved["3.8.0"] < moved["3.9.0"], "it was sticky in 3.7 and 3.8"


def _moved_by_a_join(version: str) -> int:
    """How many partitions change hands when a member joins a group with the server's range assignor."""
    trace = run(
        "consumer-range",
        act(30_000, "start", "c4"),
        members=(member("c1"), member("c2"), member("c3"), member("c4", start=None)),
        partitions=8,
        end=60_000,
        kafka_version=version,
        broker={"group.coordinator.rebalance.protocols": "classic,consumer"},
    )
    before = {tp: name for name, held in owners(trace, 29_000).items() for tp in held}
    return sum(before[tp] != name for name, held in owners(trace).items() for tp in held)


@claim("KIP-848 uniform is rack aware")
def _() -> None:
    racks = {"t": tuple((f"r{number % 2}",) for number in range(6))}
    ids = {"t": TopicId(0, 1)}
    shares = []
    for first, second in ((None, None), ("r0", "r1"), ("r1", "r0")):
        listed = [MemberSubscription("a", ("t",), rack=first), MemberSubscription("b", ("t",), rack=second)]
        shares.append(assign("server.uniform", Cluster({"t": 6}, ids, racks), listed))
    assert shares[0] == shares[1] == shares[2] and set(shares[0]["a"]) | set(shares[0]["b"]) == {
        TopicPartition("t", at) for at in range(6)
    }


@claim("mixed old/new clients make the broker fall back to classic")
def _() -> None:
    members = [member("c1"), member("c2"), MODERN]
    trace = as_configured(JOIN, act(40_000, "close", "c3"), members=members, partitions=6, end=70_000)
    assert [(row.detail["to"], row.at_ms > 39_000) for row in trace.of("group_converted")] == [
        ("consumer", False),
        ("classic", True),
    ]
    assert rows(trace, "target", 20_000) and sorted(owners(trace, 39_000)) == ["c1", "c2", "c3"]
    assert sorted(tp for held in owners(trace).values() for tp in held) == [
        f"orders-{number}" for number in range(6)
    ]


@claim("KIP-848 is the default in 4.0")
def _() -> None:
    for version in ("4.0.0", "4.3.1"):
        assert ClientConfig.of({"client.id": "c", "group.id": "g"}, version, "c").protocol == "classic"
    trace = simulate(
        scenario(
            members=[MemberSpec("c1", ("orders",), {"group.protocol": "consumer"})],
            kafka_version="4.0.0",
            end=15_000,
        )
    )
    answers = [row.detail for row in trace.of("response") if row.detail["api"] == "ConsumerGroupHeartbeat"]
    assert answers and answers[0]["error"] == "NONE"


@claim("under KIP-848 the group stays Stable")
def _() -> None:
    states = [
        row.detail["to"]
        for row in run(
            "consumer", JOIN, act(35_000, "crash", "c1"), members=THIRD, partitions=6, end=60_000
        ).of("group_state")
    ]
    assert {"Assigning", "Reconciling", "Stable"} <= set(states)


@claim("KIP-848 assigns immediately on join")
def _() -> None:
    members = [
        member("c1", lives=(ReplayPins(first_request_ms=500),)),
        member("c2", lives=(ReplayPins(first_request_ms=900),)),
    ]
    for version, together in (("4.0.0", True), ("4.3.1", False)):
        trace = run("consumer", members=members, kafka_version=version)
        bumps, targets = list(trace.of("epoch_bump")), list(trace.of("target"))
        assert len(bumps) == len(targets) == 2
        assert (bumps[1].at_ms == targets[1].at_ms) is together, version
        if not together:
            assert targets[1].at_ms >= targets[0].at_ms + 1_000 and targets[1].at_ms in {
                row.detail["arrives_ms"] for row in trace.of("request")
            }


# --- the table ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("text", CLAIMS)
def test_claim(text):
    CLAIMS[text]()


def test_what_still_waits_belongs_to_rows_of_the_table():
    assert set(NOT_MODELLED) <= set(CLAIMS) and len(CLAIMS) == 34
