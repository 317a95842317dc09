"""Who has which partition over time: as the members' assignments say, and as records reach them.

An assignment follows from ``owned`` rows: what a living process believes that it owns. Two processes may
believe so of one partition (one of them was removed and has not noticed); then the latest to get it counts.
A reader follows from the flows of records (``analysis.intervals``). Where several groups read the same
topics, ``owners_at``, ``last_owners`` and everything about readers look at the trace's own group alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from rebalance_kit.analysis.intervals import flows, strangers
from rebalance_kit.model.topology import TopicPartition, parse_partition
from rebalance_kit.model.trace import Trace

Owners = Mapping[TopicPartition, str]
GIVEN_UP = "revoke"
"""The reason of a flow that ends because the reader gave the partition up in a rebalance."""


class HandOvers(NamedTuple):
    """How often partitions changed hands: to another reader, and away from a reader and back to it."""

    to_others: int
    given_back: int


def assignments_at(trace: Trace, at_ms: int | None = None) -> Mapping[str, Mapping[TopicPartition, int]]:
    """Each living process with the partitions it owns and since when (ms); ``at_ms`` None means the end."""
    owned: dict[str, dict[TopicPartition, int]] = {}
    for row in trace.of("owned", "process_ended"):
        if at_ms is not None and row.at_ms > at_ms:
            break
        before = owned.pop(row.actor, {})
        if row.kind == "owned":
            now = [parse_partition(name) for name in row.detail["partitions"]]
            owned[row.actor] = {tp: before.get(tp, row.at_ms) for tp in now}
    return owned


def owned_at(trace: Trace, at_ms: int | None = None) -> dict[str, list[str]]:
    """Each living process with the names of its partitions, in order of the names."""
    assignments = assignments_at(trace, at_ms)
    return {member: sorted(map(str, assignments[member])) for member in sorted(assignments)}


def owners_at(trace: Trace, at_ms: int | None = None) -> Owners:
    """The owner of each partition that has one."""
    others = strangers(trace)
    latest: dict[TopicPartition, tuple[int, str]] = {}
    for member, partitions in assignments_at(trace, at_ms).items():
        if member not in others:
            for tp, since_ms in partitions.items():
                latest[tp] = max(latest.get(tp, (-1, "")), (since_ms, member))
    return {tp: latest[tp][1] for tp in sorted(latest)}


def last_owners(trace: Trace, at_ms: int | None = None) -> Owners:
    """Whoever got each partition last, whether it still has it or not."""
    others = strangers(trace)
    owned: dict[str, frozenset[TopicPartition]] = {}
    last: dict[TopicPartition, str] = {}
    for row in trace.of("owned", "process_ended"):
        if at_ms is not None and row.at_ms > at_ms:
            break
        if row.actor in others:
            continue
        before = owned.pop(row.actor, frozenset())
        if row.kind == "owned":
            now = frozenset(parse_partition(name) for name in row.detail["partitions"])
            last.update(dict.fromkeys(now - before, row.actor))
            owned[row.actor] = now
    return last


def readers_at(trace: Trace, at_ms: int) -> Owners:
    """Whose application received each partition last, at or before that moment."""
    readers: dict[TopicPartition, str] = {}
    for tp, stretches in flows(trace).items():
        begun = [flow for flow in stretches if flow.from_ms <= at_ms]
        if begun:
            readers[tp] = max(begun, key=lambda flow: (min(flow.to_ms, at_ms), flow.from_ms)).member
    return readers


def moves(
    trace: Trace, since_ms: int, until_ms: int | None = None
) -> Mapping[TopicPartition, tuple[str, str]]:
    """Partitions that one member read when a window began and another one at its end, with both."""
    before = readers_at(trace, since_ms)
    after = readers_at(trace, trace.end_ms if until_ms is None else until_ms)
    return {tp: (before[tp], after[tp]) for tp in before if tp in after and before[tp] != after[tp]}


def hand_overs(trace: Trace, since_ms: int) -> HandOvers:
    """Count changes of reader from a moment on, and partitions revoked and given to the same reader again.

    A change is counted when the new reader receives its first record, whatever ended the former one's reading.
    """
    to_others = given_back = 0
    for stretches in flows(trace).values():
        for before, after in pairwise(stretches):
            if after.from_ms < since_ms:
                continue
            to_others += after.member != before.member
            given_back += after.member == before.member and before.reason == GIVEN_UP
    return HandOvers(to_others, given_back)
