"""What becomes of records: when they reached an application, which come twice or never, and how far behind a group is.

Flows and gaps follow from ``fetch_resumed`` and ``fetch_stopped``: a partition is available while its
records reach at least one living application. The spacing of polls is no gap. Lag follows from the positions
that a trace samples (fetches that begin and end, commits, the end of the run).

A redelivery begins when a member reads again from an offset below what was read before; the engine counts it when it
next looks at the positions, which is up to five seconds later, and counts it for the member that it looks at last. So
what was in the log when a reader began comes a second time at that moment, from the reader that began last; what was
written later can only come twice because two members read at the same time, and is told when both have been looked at.
A skip begins when a member reads on behind the last record that anybody had: what lies between reaches no application.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.model.trace import Trace, TraceRow


@dataclass(frozen=True, slots=True)
class Flow:
    """Records of one partition reached ``member`` from ``from_ms`` to ``to_ms``; ``reason`` is why they stopped (None: the run ended)."""

    member: str
    from_ms: int
    to_ms: int
    reason: str | None


@dataclass(frozen=True, slots=True)
class Gap:
    """Nobody received records of ``partition``; ``after`` and an end are missing when the run ends first."""

    partition: TopicPartition
    from_ms: int
    to_ms: int
    before: str | None
    after: str | None
    cause: str | None

    @property
    def length_ms(self) -> int:
        """How long it lasted, up to the end of the run."""
        return self.to_ms - self.from_ms

    def within(self, since_ms: int, until_ms: int | None = None) -> int:
        """How much of it lies in a window (ms); 0 when none does."""
        to_ms = self.to_ms if until_ms is None else min(self.to_ms, until_ms)
        return max(0, to_ms - max(self.from_ms, since_ms))


def flows(trace: Trace) -> Mapping[TopicPartition, tuple[Flow, ...]]:
    """Every stretch in which records reached somebody, per partition, in order of their beginnings.

    Where several groups read the same topics, only the trace's own group counts (``meta["group"]``).
    """
    return trace.derived(_flows)


def _flows(trace: Trace) -> Mapping[TopicPartition, tuple[Flow, ...]]:
    others = strangers(trace)
    open_since: dict[tuple[TopicPartition, str], int] = {}
    stretches: dict[TopicPartition, list[Flow]] = defaultdict(list)
    for row in trace.of("fetch_resumed", "fetch_stopped"):
        if row.actor in others:
            continue
        tp = TopicPartition(row.topic or "", row.partition or 0)
        if row.kind == "fetch_resumed":
            open_since.setdefault((tp, row.actor), row.at_ms)
            continue
        since = open_since.pop((tp, row.actor), None)
        if since is not None:
            stretches[tp].append(Flow(row.actor, since, row.at_ms, row.detail["reason"]))
    for (tp, member), since in open_since.items():
        stretches[tp].append(Flow(member, since, trace.end_ms, None))
    return {
        tp: tuple(sorted(stretches[tp], key=lambda flow: (flow.from_ms, flow.to_ms)))
        for tp in sorted(stretches)
    }


def strangers(trace: Trace) -> frozenset[str]:
    """Processes of other groups than the trace's own."""
    groups = {row.actor: str(row.detail["group"]) for row in trace.of("process_started")}
    own = trace.meta.get("group")
    if own not in groups.values():
        return frozenset()
    return frozenset(actor for actor, group in groups.items() if group != own)


def gap_lengths(
    trace: Trace, since_ms: int = 0, until_ms: int | None = None
) -> Mapping[TopicPartition, tuple[int, ...]]:
    """Of each partition that was unread in a window, how long each of its gaps lasted there (ms)."""
    lengths_of: dict[TopicPartition, list[int]] = {}
    for gap in gaps(trace, since_ms):
        length_ms = gap.within(since_ms, until_ms)
        if length_ms > 0:
            lengths_of.setdefault(gap.partition, []).append(length_ms)
    return {tp: tuple(lengths) for tp, lengths in lengths_of.items()}


def gaps(trace: Trace, since_ms: int = 0) -> tuple[Gap, ...]:
    """Every stretch after a partition's first record in which nobody received it, ending after ``since_ms``."""
    return tuple(gap for gap in trace.derived(_gaps) if gap.to_ms > since_ms)


def _gaps(trace: Trace) -> tuple[Gap, ...]:
    every_gap = []
    gone = _gone(trace)
    for tp, stretches in flows(trace).items():
        reached, owner, cause = stretches[0].to_ms, stretches[0].member, stretches[0].reason
        for flow in stretches[1:]:
            if flow.from_ms > reached:
                every_gap.append(Gap(tp, reached, flow.from_ms, owner, flow.member, cause))
            if flow.to_ms >= reached:
                reached, owner, cause = flow.to_ms, flow.member, flow.reason
        if reached < trace.end_ms:
            every_gap.append(Gap(tp, reached, trace.end_ms, owner, None, cause))
    there = (_while_it_exists(gap, gone.get(gap.partition.topic, ())) for gap in every_gap)
    return tuple(gap for gap in there if gap.length_ms)


def _gone(trace: Trace) -> Mapping[str, Sequence[tuple[int, int]]]:
    """From when to when each topic did not exist, after it had."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for row in trace.of("topic_changed"):
        known = spans.setdefault(row.topic or "", [])
        if row.detail["partitions"] == 0:
            known.append((row.at_ms, trace.end_ms))
        elif known:
            known[-1] = (known[-1][0], row.at_ms)
    return spans


def _while_it_exists(gap: Gap, gone: Sequence[tuple[int, int]]) -> Gap:
    """The gap up to the deletion of its topic: nobody misses a partition that is not there."""
    for begin_ms, end_ms in gone:
        if gap.from_ms < end_ms and gap.to_ms > begin_ms:
            return replace(gap, to_ms=max(gap.from_ms, begin_ms), after=None)
    return gap


def group_gaps(trace: Trace, since_ms: int = 0) -> tuple[tuple[int, int], ...]:
    """Stretches after ``since_ms`` in which no partition at all reached anybody."""
    edges: list[tuple[int, int]] = []
    for stretches in flows(trace).values():
        for flow in stretches:
            edges.append((flow.from_ms, 1))
            edges.append((flow.to_ms, -1))
    if not edges:
        return ()
    stretches_unread, running, stopped = [], 0, None
    for at_ms, step in sorted(edges, key=lambda edge: (edge[0], -edge[1])):
        running += step
        if running == 0:
            stopped = at_ms
        elif stopped is not None:
            if at_ms > stopped:
                stretches_unread.append((stopped, at_ms))
            stopped = None
    if stopped is not None and stopped < trace.end_ms:
        stretches_unread.append((stopped, trace.end_ms))
    return tuple((max(begin, since_ms), end) for begin, end in stretches_unread if end > since_ms)


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
