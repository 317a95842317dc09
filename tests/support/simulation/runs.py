"""Small scenarios and ways to read their traces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rebalance_kit.analysis.deliveries import gap_lengths
from rebalance_kit.analysis.ownership import owned_at
from rebalance_kit.model.trace import Trace, TraceRow
from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario, TopicSpec, carry_timeouts
from rebalance_kit.simulation.simulate import simulate

THREE = ("eager", "cooperative", "consumer")
QUICK = {"session.timeout.ms": 10_000, "heartbeat.interval.ms": 3_000, "max.poll.interval.ms": 60_000}
"""Sessions of 10 s as in the recorded runs; KIP-848 takes them from the broker."""


def scenario(
    *actions: Action,
    members: int | Sequence[MemberSpec] = 2,
    partitions: int | Mapping[str, int] = 4,
    end: int = 45_000,
    **given: Any,
) -> Scenario:
    """Members c1, c2, … on topic ``orders`` unless told otherwise."""
    topics = {"orders": partitions} if isinstance(partitions, int) else partitions
    if isinstance(members, int):
        members = [member(f"c{number}") for number in range(1, members + 1)]
    specs = tuple(TopicSpec(name, count) for name, count in topics.items())
    return Scenario("run", specs, tuple(members), actions=actions, end_ms=end, **given)


def member(
    name: str, *topics: str, instance: str | None = None, start: int | None = 0, **given: Any
) -> MemberSpec:
    """A member with quick sessions; further keywords are fields of ``MemberSpec``."""
    configs = {**QUICK, **given.pop("configs", {})}
    if instance is not None:
        configs["group.instance.id"] = instance
    return MemberSpec(name, topics or ("orders",), configs, start_ms=start, **given)


def act(at: int, do: str, member: str | None = None, **args: Any) -> Action:
    return Action(at, do, member, args)


def run(protocol: str, *actions: Action, seed: int = 1, **given: Any) -> Trace:
    """Simulate with every member switched to that protocol; a KIP-848 broker has the timeouts of ``QUICK``."""
    made = scenario(*actions, **given)
    return simulate(carry_timeouts(made) if protocol.startswith("consumer") else made, seed, protocol)


CLASSIC = ("eager", "cooperative")
ALL = ["orders-0", "orders-1", "orders-2", "orders-3"]
STATIC = (member("c1", instance="i1"), member("c2", instance="i2"))
THIRD = (member("c1"), member("c2"), member("c3", start=None))


# --- reading a trace ---------------------------------------------------------------------------------
def calls(trace: Trace, name: str, since: int = 0, until: int | None = None) -> list[tuple[str, list[str]]]:
    """Callbacks of a member that began in that span: kind and set."""
    return [
        (row.detail["callback"], row.detail["partitions"])
        for row in trace.of("callback_begin")
        if row.actor == name and since <= row.at_ms and (until is None or row.at_ms <= until)
    ]


def kinds(trace: Trace, name: str, since: int = 0) -> list[str]:
    """Kinds of callbacks of a member."""
    return [kind for kind, _ in calls(trace, name, since)]


def rows(trace: Trace, kind: str, since: int = 0, actor: str | None = None, **detail: Any) -> list[TraceRow]:
    """Rows of a kind, with that actor and those details."""
    return [
        row
        for row in trace.of(kind)
        if row.at_ms >= since
        and (actor is None or row.actor == actor)
        and all(row.detail.get(key) == value for key, value in detail.items())
    ]


def rounds(trace: Trace, since: int = 0) -> list[int | None]:
    """Generations of completed join phases, or group epochs, after that moment."""
    return [row.generation for row in trace.of("generation", "epoch_bump") if row.at_ms >= since]


def owners(trace: Trace, at: int | None = None) -> dict[str, list[str]]:
    """What each member owns at that moment (at the end by default), as it believes itself."""
    return owned_at(trace, at)


def gaps(trace: Trace, since: int = 0) -> dict[str, int]:
    """The longest time that each unread partition reached nobody after that moment, ms."""
    return {str(tp): max(lengths) for tp, lengths in gap_lengths(trace, since).items()}


def accounts(trace: Trace) -> dict[str, Mapping[str, Any]]:
    """The final account of each partition."""
    return {f"{row.topic}-{row.partition}": row.detail for row in trace.of("account")}
