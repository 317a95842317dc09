"""The same events under several protocols, side by side, with the difference in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rebalance_kit.analysis.metrics import Metrics, metrics, study_from
from rebalance_kit.model.trace import Trace

ABSENT = "–"


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _tenths(value: float) -> str:
    return f"{value:,.1f}"


def _hundredths(value: float) -> str:
    return f"{value:,.2f}"


class Measure(NamedTuple):
    """One row of the table: its words, its value of a run (None: it did not occur), how it is printed."""

    words: str
    of: Callable[[Metrics], float | None]
    shown: Callable[[float], str]


MEASURES: tuple[Measure, ...] = (
    Measure("partitions paused", lambda one: one.partitions_unread, _whole),
    Measure("stopped, partition-seconds", lambda one: one.unread_partition_s, _tenths),
    Measure("longest pause of a partition, s", lambda one: one.longest_gap_s, _hundredths),
    Measure("longest pause of the whole group, s", lambda one: one.group_gap_s, _hundredths),
    Measure("partitions moved", lambda one: one.partitions_moved, _whole),
    Measure("moves beyond the least possible", lambda one: one.moves_beyond_minimum, _whole),
    Measure("rebalances (or group epochs)", lambda one: one.rebalances, _whole),
    Measure("generations", lambda one: one.generations, _whole),
    Measure("requests", lambda one: one.requests_total, _whole),
    Measure("records redelivered", lambda one: one.records_redelivered, _whole),
    Measure("records lost", lambda one: one.records_lost, _whole),
    Measure("greatest lag, records", lambda one: one.lag_peak_records, _whole),
    Measure("noticed after, s", lambda one: one.detect_s, _tenths),
    Measure("at rest again after, s", lambda one: one.converge_s, _tenths),
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Metrics of several runs of one scenario, by label, all studied from the same moment."""

    scenario: str
    title: str
    labels: tuple[str, ...]
    metrics: Mapping[str, Metrics]


def measure(traces: Sequence[Trace]) -> tuple[Metrics, ...]:
    """Metrics of runs of one scenario, all studied from the earliest of their moments."""
    since = min(study_from(trace) for trace in traces)
    return tuple(metrics(trace, since) for trace in traces)


def compare(traces: Mapping[str, Trace]) -> Comparison:
    """Compare runs of one scenario; ``traces`` maps a label (eager, cooperative, consumer) to a run.

    Raises ``ValueError`` without any.
    """
    if not traces:
        raise ValueError("nothing to compare: expected at least one trace")
    measured = dict(zip(traces, measure(list(traces.values())), strict=True))
    first = next(iter(traces.values()))
    return Comparison(
        str(first.meta.get("scenario", first.run_id)),
        str(first.meta.get("title", "")),
        tuple(traces),
        measured,
    )


def cells(labels: Sequence[str], measured: Sequence[Metrics]) -> list[list[str]]:
    """The table as cells: a head of labels, then a row a measure; – where nothing occurred."""
    rows = [["", *labels]]
    for each in MEASURES:
        values = [each.of(one) for one in measured]
        rows.append([each.words, *(ABSENT if value is None else each.shown(value) for value in values)])
    return rows


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Cells as plain text: names to the left, numbers to the right.

    >>> print(aligned([["", "a"], ["partitions", "12"]]))
                 a
    partitions  12
    """
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = []
    for row in rows:
        padded = [
            cell.ljust(width) if not place else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def table(comparison: Comparison) -> str:
    """The comparison as plain text."""
    return aligned(cells(comparison.labels, list(comparison.metrics.values())))


def sentences(comparison: Comparison) -> tuple[str, ...]:
    """What the numbers say, in words; every figure is taken from the runs."""
    found = [_paused(label, one) for label, one in comparison.metrics.items()]
    found += [
        text
        for text in (_detection(comparison), _longest(comparison), _moves(comparison), _twice(comparison))
        if text
    ]
    return tuple(found)


def _paused(label: str, one: Metrics) -> str:
    if not one.partitions_unread:
        return f"{label}: no partition paused."
    if one.partitions_unread == one.partitions:
        how = f"all {one.partitions} partitions paused"
        both = f"; for {one.group_gap_s:.2f} s nothing at all was read" if one.group_gap_s else ""
        return f"{label}: {how}{both}. The longest single pause was {one.longest_gap_s:.1f} s."
    flowing = one.partitions - one.partitions_unread
    return f"{label}: {one.partitions_unread} of {one.partitions} partitions paused, the other {flowing} went on. The longest single pause was {one.longest_gap_s:.1f} s."


def _detection(comparison: Comparison) -> str:
    noticed = {label: one.detect_s for label, one in comparison.metrics.items() if one.detect_s is not None}
    if len(noticed) != len(comparison.labels) or not noticed:
        return ""
    listed = ", ".join(f"{label} {seconds:.1f} s" for label, seconds in noticed.items())
    return (
        f"Until the coordinator noticed: {listed}. No protocol shortens that: it is the session timeout less the age of the last "
        "heartbeat, and the longest pause is mostly this wait."
    )


def _longest(comparison: Comparison) -> str:
    gaps = {label: one.longest_gap_s for label, one in comparison.metrics.items()}
    eager = gaps.get("eager")
    others = {label: gap for label, gap in gaps.items() if label != "eager" and gap}
    if (
        eager is None
        or not eager
        or not others
        or any(one.detect_s is not None for one in comparison.metrics.values())
    ):
        return ""
    if eager < min(others.values()):
        return (
            "The longest pause of a single partition was shortest under eager, since its members give up and get back at one common "
            "heartbeat; its price is that every partition pauses, and that the slowest member decides how long."
        )
    return ""


def _moves(comparison: Comparison) -> str:
    extra = {
        label: one.moves_beyond_minimum
        for label, one in comparison.metrics.items()
        if one.moves_beyond_minimum > 0
    }
    if not extra:
        return ""
    listed = ", ".join(f"{label} {count}" for label, count in extra.items())
    return f"Partitions that moved without need: {listed}."


def _twice(comparison: Comparison) -> str:
    cooperative = comparison.metrics.get("cooperative")
    if cooperative is None or cooperative.generations < 2 or not cooperative.partitions_moved:
        return ""
    return (
        f"cooperative took {cooperative.generations} generations: one to find out what must be given up, another to hand it out; "
        "the second starts about one heartbeat interval after the first."
    )
