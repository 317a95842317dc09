"""Lag over time, from the positions that a trace samples (fetches that begin and end, commits, the end of the run)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

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
    for row in trace.of("account"):  # what is unread at the end of the run has no later fetch
        tp = TopicPartition(row.topic or "", row.partition or 0)
        read, end = row.detail.get("read"), row.detail.get("produced")
        own = row.detail.get("group") == trace.meta.get("group")
        if own and tp in samples_of and read is not None and end is not None:
            samples_of[tp].append((row.at_ms, int(read), int(end)))
    return {tp: tuple(samples_of[tp]) for tp in sorted(samples_of)}


def lag_at(sampled: tuple[Sample, ...], at_ms: int) -> int:
    """Lag of one partition: what the last sample says, plus what was produced since if nobody reads it."""
    return _lag(sampled, sum(sample[0] <= at_ms for sample in sampled), at_ms)


def _lag(sampled: tuple[Sample, ...], past: int, at_ms: int) -> int:
    """The same, where the first ``past`` samples lie at or before ``at_ms``."""
    if not past:
        return 0
    when, position, end = sampled[past - 1]
    if past == len(sampled) or sampled[past][1] > position:
        return end - position
    following = sampled[past]
    grown = (following[2] - end) * (at_ms - when) / max(following[0] - when, 1)
    return round(end + grown - position)


def _totals(by_partition: Mapping[TopicPartition, tuple[Sample, ...]], moments: Sequence[int]) -> list[int]:
    """Lag of all partitions together at moments that rise."""
    totals = [0] * len(moments)
    for sampled in by_partition.values():
        past, count = 0, len(sampled)
        for place, at_ms in enumerate(moments):
            while past < count and sampled[past][0] <= at_ms:
                past += 1
            totals[place] += _lag(sampled, past, at_ms)
    return totals


def lag_of(trace: Trace, since_ms: int) -> tuple[int | None, int | None]:
    """Greatest total lag from ``since_ms`` on, and how long after it until the lag was back (ms)."""
    by_partition = samples(trace)
    if not by_partition:
        return None, None
    moments = sorted(
        {sample[0] for sampled in by_partition.values() for sample in sampled if sample[0] >= since_ms}
    )
    before = _totals(by_partition, [since_ms])[0]
    if not moments:
        return before, None
    totals = _totals(by_partition, [at - 1 for at in moments])
    peak = max(totals)
    peak_at = moments[totals.index(peak)]
    tolerated = before + 2 * len(by_partition)
    if peak <= tolerated:
        return max(peak, before), 0
    later = [at for at in moments if at > peak_at]
    back = next(
        (at for at, total in zip(later, _totals(by_partition, later), strict=True) if total <= tolerated),
        None,
    )
    return peak, None if back is None else back - since_ms
