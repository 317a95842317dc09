"""Records that come a second time, and records that nobody ever gets: when, to whom, and how many.

A redelivery begins when a member reads again from an offset below what was read before; the engine counts it when it
next looks at the positions, which is up to five seconds later. A skip begins when a member reads on behind the last
record that anybody had: what lies between reaches no application.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rebalance_kit.analysis.intervals import strangers
from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.model.trace import Trace, TraceRow

TWICE, SKIPPED = "twice", "skipped"


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


def deliveries(trace: Trace) -> tuple[Delivery, ...]:
    """Every redelivery and every skip of the trace's own group, in order of time."""
    found = sorted([*_redeliveries(trace), *_skips(trace)], key=lambda each: each.at_ms)
    return tuple(found)


def _own_rows(trace: Trace, *kinds: str) -> Iterator[tuple[TraceRow, TopicPartition]]:
    others = strangers(trace)
    for row in trace.of(*kinds):
        if row.actor not in others:
            yield row, TopicPartition(row.topic or "", row.partition or 0)


def _redeliveries(trace: Trace) -> list[Delivery]:
    begun: dict[tuple[str, TopicPartition], TraceRow] = {}
    found: dict[tuple[str, TopicPartition, int], Delivery] = {}
    for row, tp in _own_rows(trace, "fetch_resumed", "redelivered"):
        if row.kind == "fetch_resumed":
            begun[row.actor, tp] = row
            continue
        start = begun.get((row.actor, tp), row)
        first, count = int(row.detail["first_offset"]), int(row.detail["count"])
        key = (row.actor, tp, start.seq)
        known = found.get(key)
        found[key] = (
            Delivery(TWICE, start.at_ms, str(tp), row.actor, first, count, start.detail.get("committed"))
            if known is None
            else known._replace(records=known.records + count, first_offset=min(known.first_offset, first))
        )
    return list(found.values())


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
