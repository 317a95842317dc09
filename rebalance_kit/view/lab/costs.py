"""The cost of a deed before it is done, and the differences between runs afterwards.

Stopped means that no record of a partition can be processed; the unit is partition-seconds. All numbers
come from traces, by ``analysis``.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence

from rebalance_kit.analysis.comparison import cells, compare, sentences
from rebalance_kit.analysis.deliveries import SKIPPED, TWICE
from rebalance_kit.analysis.intervals import gaps
from rebalance_kit.model.trace import Trace
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.board.marks import records_words
from rebalance_kit.view.figures.comparison import least
from rebalance_kit.view.lab.playback import film_bytes
from rebalance_kit.view.lab.state import LabState
from rebalance_kit.view.words.phrases import partitions_in_words

MOST_COLUMNS = 3
DIFFERENCES = 3


def stopped_s(trace: Trace, since_ms: int, until_ms: int) -> float:
    """Partition-seconds without a reader between two moments."""
    return sum(gap.within(since_ms, until_ms) for gap in gaps(trace, since_ms)) / 1000


def preview(now: LabState, then: LabState, at_ms: int) -> dict[str, object]:
    """Foresee the effect of a deed at ``at_ms``: partition-seconds with and without it, and one sentence."""
    before, after = now.boards.trace, then.boards.trace
    until = min(before.end_ms, after.end_ms) if before.end_ms > at_ms else after.end_ms
    costs = cost(now, then, at_ms)
    stops = sorted({str(gap.partition) for gap in gaps(after, at_ms) if gap.to_ms > at_ms})
    moved = [
        name
        for name, track in then.boards.partitions.items()
        if name in now.boards.partitions
        and track.at(after.end_ms).owner != now.boards.partitions[name].at(until).owner
    ]
    flow = f"Will stop: {partitions_in_words(stops)}" if stops else "Nothing will stop"
    moves = f"{len(moved)} move" if len(moved) != 1 else f"{moved[0]} moves"
    words = f"{flow}. {costs['cost']:,.1f} partition-seconds in all (without it {costs['without']:,.1f}). {moves}."
    return {"words": " ".join([words, *_records(costs)]), **costs}


def _records(costs: Mapping[str, float]) -> list[str]:
    """How many records come twice or are skipped, where any do."""
    counts = [(int(costs[kind]), kind) for kind in (TWICE, SKIPPED)]
    return [f"{records_words(count, kind)}." for count, kind in counts if count]


def cost(now: LabState, then: LabState, at_ms: int) -> dict[str, float]:
    """From ``at_ms`` to the end of the changed run: partition-seconds with the deed and without it.

    And with it the records that come twice, and those that are skipped.
    """
    end = then.boards.trace.end_ms
    seconds = [round(stopped_s(state.boards.trace, at_ms, end), 1) for state in (then, now)]
    records = {
        kind: sum(
            each.records for each in then.boards.deliveries if each.kind == kind and each.at_ms >= at_ms
        )
        for kind in (TWICE, SKIPPED)
    }
    return {"cost": seconds[0], "without": seconds[1], **records}


def compared(states: Sequence[tuple[str, LabState]]) -> tuple[dict[str, object], list[bytes]]:
    """Runs side by side: labels, the cost table, at most three sentences; and a film each."""
    films = [film_bytes(state.boards) for _, state in states]
    labels = _distinct([label for label, _ in states])
    comparison = compare(dict(zip(labels, (state.boards.trace for _, state in states), strict=True)))
    _, *rows = cells(comparison.labels, list(comparison.metrics.values()))
    table = [{"name": name, "cells": list(shown), "least": least(list(shown))} for name, *shown in rows]
    differs = _differences(states, labels) + list(sentences(comparison))
    return {"labels": labels, "table": table, "differs": differs[:DIFFERENCES]}, films


def _distinct(labels: list[str]) -> list[str]:
    return [
        label if labels.index(label) == index else f"{label} ({index + 1})"
        for index, label in enumerate(labels)
    ]


def _differences(states: Sequence[tuple[str, LabState]], labels: list[str]) -> list[str]:
    """Where the starts differ, said before anything is compared."""
    starts = [_owners(state.boards) for _, state in states]
    if all(start == starts[0] for start in starts):
        return []
    others = [label for label, start in zip(labels, starts, strict=True) if start != starts[0]]
    return [
        f"The starts differ: {', '.join(others)} {'begins' if len(others) == 1 else 'begin'} with another assignment than {labels[0]}, each from its own assignor."
    ]


def _owners(boards: Boards) -> dict[str, str | None]:
    at_ms = max(0, boards.watched_from_ms - 1)
    return {name: track.at(at_ms).owner for name, track in boards.partitions.items()}


def packed(content: object) -> bytes:
    """Values as the page inflates them: compact JSON, deflated."""
    return zlib.compress(json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8"), 6)
