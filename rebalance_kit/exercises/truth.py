"""The truth about a simulated run, from its trace: answers are compared with it."""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_kit.analysis.ownership import last_owners
from rebalance_kit.exercises.case_runs import BEGIN_MS, CaseRun, trace_of
from rebalance_kit.model.trace import TraceRow

SETTLED_MS = BEGIN_MS + 25_000
"""09:00:25: by then every group of the exercises has settled, and its incident is still to come."""

_JUST_BEFORE_MS = 1_000
"""A member that leaves this soon after its poll timeout leaves because of it."""


@dataclass(frozen=True, slots=True)
class Begin:
    """One rebalance as it begins: when (ms since 1970), the generation or epoch before, why, and whose doing."""

    at_ms: int
    before: int | None
    trigger: str
    culprit: str | None


def wall(at_ms: int) -> int:
    """A moment of a run as ms since 1970."""
    return BEGIN_MS + at_ms


def begins(run: CaseRun) -> tuple[Begin, ...]:
    """Every rebalance of a run: the group entered PreparingRebalance, or bumped its epoch."""
    beginnings = []
    stalls = {(row.actor, row.at_ms) for row in trace_of(run).of("poll_timeout")}
    for row in trace_of(run).of("group_state", "epoch_bump"):
        if row.kind == "group_state" and row.detail["to"] != "PreparingRebalance":
            continue
        trigger, culprit = row.detail["trigger"], row.detail["culprit"]
        if any(name == culprit and 0 <= row.at_ms - at < _JUST_BEFORE_MS for name, at in stalls):
            trigger = "poll_timeout"
        beginnings.append(Begin(wall(row.at_ms), row.generation, trigger, culprit))
    return tuple(beginnings)


def calls(run: CaseRun) -> tuple[TraceRow, ...]:
    """Every rebalance callback, as it begins."""
    return tuple(trace_of(run).of("callback_begin"))


def assigned_at(run: CaseRun, since_ms: int, until_ms: int) -> int | None:
    """When the leader's assignment was stored, first after one moment and before another (ms since 1970)."""
    times = (wall(row.at_ms) for row in trace_of(run).of("assignment"))
    return next((at for at in times if since_ms <= at < until_ms), None)


def owners(run: CaseRun, until_ms: int | None = None) -> dict[str, str]:
    """Who was last given each partition, up to a moment (ms since 1970; None: the end)."""
    at_ms = None if until_ms is None else until_ms - BEGIN_MS
    return {str(tp): member for tp, member in last_owners(trace_of(run), at_ms).items()}


def gaps(run: CaseRun, since_ms: int) -> dict[str, list[int]]:
    """How long each partition went unread (ms), gap by gap: from revoked or lost to the next assigned."""
    last: dict[str, tuple[str, int]] = {}
    spans: dict[str, list[int]] = {}
    for row in calls(run):
        kind = row.detail["callback"]
        for partition in row.detail["partitions"]:
            before = last.get(partition)
            if (
                kind == "assigned"
                and before is not None
                and before[0] != "assigned"
                and wall(before[1]) >= since_ms
            ):
                spans.setdefault(partition, []).append(row.at_ms - before[1])
            last[partition] = (kind, row.at_ms)
    return spans
