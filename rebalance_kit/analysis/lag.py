"""Lag over time, from the positions that a trace samples (fetches that begin and end, commits)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.model.trace import Trace

Sample = tuple[int, int, int]
"""(at_ms, position, log end)."""


def samples(trace: Trace) -> Mapping[TopicPartition, tuple[Sample, ...]]:
    """Where each partition stood at the moments that the trace names, in order."""
    samples_of: dict[TopicPartition, list[Sample]] = defaultdict(list)
    for row in trace.of("fetch_resumed", "fetch_stopped", "progress"):
        position, end = row.detail.get("position"), row.detail.get("log_end")
        if position is not None and end is not None:
            samples_of[TopicPartition(row.topic or "", row.partition or 0)].append(
                (row.at_ms, int(position), int(end))
            )
    return {tp: tuple(samples_of[tp]) for tp in sorted(samples_of)}


def lag_at(sampled: tuple[Sample, ...], at_ms: int) -> int:
    """Lag of one partition: what the last sample says, plus what was produced since if nobody reads it."""
    past = [sample for sample in sampled if sample[0] <= at_ms]
    if not past:
        return 0
    when, position, end = past[-1]
    following = next((sample for sample in sampled if sample[0] > at_ms), None)
    if following is None or following[1] > position:
        return end - position
    grown = (following[2] - end) * (at_ms - when) / max(following[0] - when, 1)
    return round(end + grown - position)


def lag_of(trace: Trace, since_ms: int) -> tuple[int | None, int | None]:
    """Greatest total lag from ``since_ms`` on, and how long after it until the lag was back (ms)."""
    by_partition = samples(trace)
    if not by_partition:
        return None, None
    moments = sorted(
        {sample[0] for sampled in by_partition.values() for sample in sampled if sample[0] >= since_ms}
    )
    before = sum(lag_at(sampled, since_ms) for sampled in by_partition.values())
    totals = [(at, sum(lag_at(sampled, at - 1) for sampled in by_partition.values())) for at in moments]
    if not totals:
        return before, None
    peak_at, peak = max(totals, key=lambda sample: sample[1])
    tolerated = before + 2 * len(by_partition)
    if peak <= tolerated:
        return max(peak, before), 0
    back = next(
        (
            at
            for at in moments
            if at > peak_at and sum(lag_at(sample, at) for sample in by_partition.values()) <= tolerated
        ),
        None,
    )
    return peak, None if back is None else back - since_ms
