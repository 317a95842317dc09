"""Records that come a second time, and records that nobody ever gets: when, to whom, and how many.

A redelivery begins when a member reads again from an offset below what was read before; the engine counts it when it
next looks at the positions, which is up to five seconds later, and counts it for the member that it looks at last. So
what was in the log when a reader began comes a second time at that moment, from the reader that began last; what was
written later can only come twice because two members read at the same time, and is told when both have been looked at.
A skip begins when a member reads on behind the last
record that anybody had: what lies between reaches no application.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rebalance_kit.analysis.intervals import strangers
from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.model.trace import Trace, TraceRow

TWICE, SKIPPED = "twice", "skipped"
COMMIT, START, OWN, BESIDE = "commit", "start", "own", "beside"
"""Why a member delivers again: it begins at the committed offset, at the start of the log, where it stood itself, or reads beside another."""


class Delivery(NamedTuple):
    """Records of one partition that ``member`` got a second time, or passed over, from ``at_ms`` on.

    ``committed`` is the offset that was committed then; None where there was none.
    """

    kind: str
    at_ms: int
    partition: str
    member: str
    first_offset: int
    records: int
    committed: int | None
    cause: str = COMMIT
    beside: str | None = None
    """The member that reads the same at the same time, where that is the cause."""


class _Flow(NamedTuple):
    """A reader that has begun on a partition."""

    at_ms: int
    member: str
    position: int
    log_end: int
    committed: int | None

    @property
    def cause(self) -> str:
        if self.committed is None:
            return OWN if self.position else START
        return COMMIT if self.position == self.committed else OWN


def deliveries(trace: Trace) -> tuple[Delivery, ...]:
    """Every redelivery and every skip of the trace's own group, in order of time."""
    return trace.derived(_deliveries)


def _deliveries(trace: Trace) -> tuple[Delivery, ...]:
    found = sorted([*_redeliveries(trace), *_skips(trace)], key=lambda each: each.at_ms)
    return tuple(found)


def _own_rows(trace: Trace, *kinds: str) -> Iterator[tuple[TraceRow, TopicPartition]]:
    others = strangers(trace)
    for row in trace.of(*kinds):
        if row.actor not in others:
            yield row, TopicPartition(row.topic or "", row.partition or 0)


def _redeliveries(trace: Trace) -> list[Delivery]:
    flows: dict[TopicPartition, list[_Flow]] = {}
    found: dict[tuple[str, int, str, str], Delivery] = {}
    for row, tp in _own_rows(trace, "fetch_resumed", "redelivered"):
        detail = row.detail
        if row.kind == "fetch_resumed":
            if detail.get("position") is not None:
                begins = _Flow(
                    row.at_ms, row.actor, detail["position"], detail["log_end"], detail.get("committed")
                )
                flows.setdefault(tp, []).append(begins)
            continue
        first = int(detail["first_offset"])
        for each in _split(row, str(tp), first, first + int(detail["count"]), flows.get(tp, [])):
            key = (each.partition, each.at_ms, each.member, each.cause)
            known = found.get(key)
            found[key] = (
                each
                if known is None
                else known._replace(
                    records=known.records + each.records,
                    first_offset=min(known.first_offset, each.first_offset),
                )
            )
    return list(found.values())


def _split(row: TraceRow, partition: str, first: int, end: int, flows: list[_Flow]) -> Iterator[Delivery]:
    """What a look has counted in ``[first, end)``, by the moment at which it came a second time."""
    own = next((place for place, flow in reversed(list(enumerate(flows))) if flow.member == row.actor), None)
    if own is None:
        yield Delivery(TWICE, row.at_ms, partition, row.actor, first, end - first, None, OWN)
        return
    for flow in flows[own:]:
        upto = min(end, flow.log_end)
        if flow.position <= first < upto:
            yield Delivery(
                TWICE, flow.at_ms, partition, flow.member, first, upto - first, flow.committed, flow.cause
            )
            first = upto
    if first < end:
        other = next((flow.member for flow in reversed(flows) if flow.member != row.actor), None)
        cause = BESIDE if other else OWN
        yield Delivery(TWICE, row.at_ms, partition, row.actor, first, end - first, None, cause, other)


def _skips(trace: Trace) -> Iterator[Delivery]:
    read_to: dict[TopicPartition, int] = {}
    for row, tp in _own_rows(trace, "fetch_resumed", "fetch_stopped", "progress", "topic_changed"):
        if row.kind == "topic_changed":
            if row.detail["partitions"] == 0:
                read_to = {other: offset for other, offset in read_to.items() if other.topic != tp.topic}
            continue
        if row.detail.get("position") is None:
            continue
        position = int(row.detail["position"])
        before = read_to.get(tp, position)
        if row.kind == "fetch_resumed" and position > before:
            yield Delivery(
                SKIPPED, row.at_ms, str(tp), row.actor, before, position - before, row.detail.get("committed")
            )
        read_to[tp] = max(before, position)
