"""The cost of a deed before it is done, and after it.

The unit is unread partition-seconds. All numbers come from traces, by ``analysis``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from rebalance_kit.analysis.deliveries import SKIPPED, TWICE, gaps
from rebalance_kit.model.trace import Trace
from rebalance_kit.view.board.marks import records_words
from rebalance_kit.view.board.states import ABSENT
from rebalance_kit.view.lab.playing.playback import deflated
from rebalance_kit.view.lab.state import LabState
from rebalance_kit.view.words.phrases import partitions_in_words


def stopped_s(trace: Trace, since_ms: int, until_ms: int, but: Collection[str] = ()) -> float:
    """Partition-seconds without a reader between two moments; partitions of ``but`` are left out."""
    found = (gap for gap in gaps(trace, since_ms) if str(gap.partition) not in but)
    return sum(gap.within(since_ms, until_ms) for gap in found) / 1000


def deleted(now: LabState, then: LabState) -> list[str]:
    """Partitions that a deed deletes: there at the end without it, and not with it."""
    return [
        name
        for name, track in now.boards.partitions.items()
        if name in then.boards.partitions
        and track.states[-1].word != ABSENT.word == then.boards.partitions[name].states[-1].word
    ]


def preview(now: LabState, then: LabState, at_ms: int) -> dict[str, object]:
    """Foresee the effect of a deed at ``at_ms``: partition-seconds with and without it, and one sentence."""
    before, after = now.boards.trace, then.boards.trace
    until = min(before.end_ms, after.end_ms) if before.end_ms > at_ms else after.end_ms
    costs = cost(now, then, at_ms)
    goes = f" {gone_words(costs['deleted'])}" if costs["deleted"] else ""
    stops = sorted({str(gap.partition) for gap in gaps(after, at_ms) if gap.to_ms > at_ms})
    moved = [
        name
        for name, track in then.boards.partitions.items()
        if name in now.boards.partitions
        and name not in costs["deleted"]
        and track.at(after.end_ms).owner != now.boards.partitions[name].at(until).owner
    ]
    flow = f"Will stop: {partitions_in_words(stops)}" if stops else "Nothing will stop"
    moves = f"{len(moved)} move" if len(moved) != 1 else f"{moved[0]} moves"
    words = f"{flow}. {costs['cost']:,.1f} partition-seconds in all, {_more(costs)} without it ({costs['without']:,.1f}). {moves}.{goes}"
    return {"words": " ".join([words, *_records(costs)]), **costs}


def gone_words(names: Collection[str]) -> str:
    """That partitions are deleted, which is no saving.

    >>> gone_words(["orders-0", "orders-1"])
    'Deleted with all records: orders-0 and 1; nothing of them is counted, with or without the deed.'
    """
    return f"Deleted with all records: {partitions_in_words(names)}; nothing of them is counted, with or without the deed."


def _more(costs: Mapping[str, Any]) -> str:
    """How much more or less than without a deed.

    >>> _more({"cost": 68.1, "without": 2.1})
    '66.0 more than'
    """
    more = round(costs["cost"] - costs["without"], 1)
    return f"{abs(more):,.1f} {'more' if more > 0 else 'less'} than" if more else "as many as"


def at_a_glance(now: LabState, member: str | None, at_ms: int) -> str:
    """What is known of a deed without simulating it: which partitions of the member it concerns."""
    if member is None or member not in now.boards.members:
        return "A group of this size is simulated when it is done, not before."
    read = [name for name, track in now.boards.partitions.items() if track.at(at_ms).owner == member]
    whose = f"{member} reads {partitions_in_words(read)}" if read else f"{member} reads nothing"
    return f"{whose}. What follows in a group of this size is simulated when it is done."


def _records(costs: Mapping[str, Any]) -> list[str]:
    """How many records come twice or are skipped, where any do."""
    counts = [(int(costs[kind]), kind) for kind in (TWICE, SKIPPED)]
    return [f"{records_words(count, kind)}." for count, kind in counts if count]


def cost(now: LabState, then: LabState, at_ms: int) -> dict[str, Any]:
    """From ``at_ms`` to the end of the changed run: partition-seconds with the deed and without it.

    And with it the records that come twice, and those that are skipped. Of partitions that the deed deletes nothing is
    counted, and ``deleted`` names them.
    """
    end = then.boards.trace.end_ms
    without = _as_long(now, end)
    gone = deleted(now, then)
    seconds = [round(stopped_s(state.boards.trace, at_ms, end, gone), 1) for state in (then, without)]
    records = {
        kind: sum(
            each.records for each in then.boards.deliveries if each.kind == kind and each.at_ms >= at_ms
        )
        for kind in (TWICE, SKIPPED)
    }
    return {"cost": seconds[0], "without": seconds[1], "deleted": gone, **records}


def _as_long(state: LabState, end_ms: int) -> LabState:
    """The run as long as another one: what would go unread beyond its end is counted, too."""
    return state if state.boards.trace.end_ms >= end_ms else state.lasting(end_ms)


def packed(content: object) -> bytes:
    """Values as the page inflates them: compact JSON, deflated."""
    return deflated(content, 6)
