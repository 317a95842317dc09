"""When records of a partition reached an application, and when they did not.

All of it follows from ``fetch_resumed`` and ``fetch_stopped``: a partition is available while its
records reach at least one living application. The spacing of polls is no gap.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.model.trace import Trace


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
