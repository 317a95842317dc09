"""The same events under several protocols, side by side, with the difference in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rebalance_kit.analysis.metrics import Metrics, metrics, study_from
from rebalance_kit.model.trace import Trace

Value = int | float | None


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the table: ``values`` by label, in the order of ``Comparison.labels``."""

    key: str
    label: str
    unit: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Metrics of several runs of one scenario."""

    scenario: str
    title: str
    labels: tuple[str, ...]
    metrics: Mapping[str, Metrics]
    lines: tuple[Line, ...]


_LINES: tuple[tuple[str, str, str, Callable[[Metrics], Value]], ...] = (
    ("partitions_paused", "partitions that paused", "partitions", lambda m: m.partitions_paused),
    (
        "unavailable_partition_s",
        "time without records, all partitions together",
        "s",
        lambda m: m.unavailable_partition_s,
    ),
    ("longest_gap_s", "longest pause of one partition", "s", lambda m: m.longest_gap_s),
    ("group_pause_s", "longest time in which nothing at all was read", "s", lambda m: m.group_pause_s),
    ("partitions_moved", "partitions that changed hands", "partitions", lambda m: m.partitions_moved),
    ("moves_beyond_minimum", "of these, more than necessary", "partitions", lambda m: m.moves_beyond_minimum),
    ("rebalances", "rebalances (or group epochs)", "", lambda m: m.rebalances),
    ("generations", "generations", "", lambda m: m.generations),
    ("requests_total", "requests to the coordinator", "", lambda m: m.requests_total),
    ("records_redelivered", "records delivered again", "records", lambda m: m.records_redelivered),
    ("records_lost", "records lost", "records", lambda m: m.records_lost),
    ("lag_peak_records", "greatest lag", "records", lambda m: m.lag_peak_records),
    ("detect_s", "until the coordinator noticed", "s", lambda m: m.detect_s),
    ("converge_s", "until everything ran again", "s", lambda m: m.converge_s),
)


def compare(traces: Mapping[str, Trace]) -> Comparison:
    """Compare runs of one scenario, all studied from the same moment: the earliest of theirs.

    ``traces`` maps a label (eager, cooperative, consumer) to a run; raises ``ValueError`` without any.
    """
    if not traces:
        raise ValueError("nothing to compare: expected at least one trace")
    since = min(study_from(trace) for trace in traces.values())
    measured = {label: metrics(trace, since) for label, trace in traces.items()}
    lines = tuple(
        Line(key, text, unit, tuple(read(one) for one in measured.values()))
        for key, text, unit, read in _LINES
    )
    first = next(iter(traces.values()))
    return Comparison(
        str(first.meta.get("scenario", first.run_id)),
        str(first.meta.get("title", "")),
        tuple(traces),
        measured,
        lines,
    )


def show_value(value: Value) -> str:
    """A number as the table prints it.

    >>> show_value(45.205), show_value(4), show_value(None)
    ('45.2', '4', '-')
    """
    if value is None:
        return "-"
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"


def table(comparison: Comparison) -> str:
    """The comparison as plain text."""
    width = max(len(f"{line.label} ({line.unit})" if line.unit else line.label) for line in comparison.lines)
    columns = [max(len(label), 11) for label in comparison.labels]
    head = " " * width + "".join(
        f"  {label:>{size}}" for label, size in zip(comparison.labels, columns, strict=True)
    )
    rows = [head]
    for line in comparison.lines:
        name = f"{line.label} ({line.unit})" if line.unit else line.label
        cells = "".join(
            f"  {show_value(value):>{size}}" for value, size in zip(line.values, columns, strict=True)
        )
        rows.append(f"{name:<{width}}{cells}")
    return "\n".join(rows)


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
    if not one.partitions_paused:
        return f"{label}: no partition paused."
    if one.partitions_paused == one.partitions:
        how = f"all {one.partitions} partitions paused"
        both = f"; for {one.group_pause_s:.2f} s nothing at all was read" if one.group_pause_s else ""
        return f"{label}: {how}{both}. The longest single pause was {one.longest_gap_s:.1f} s."
    flowing = one.partitions - one.partitions_paused
    return f"{label}: {one.partitions_paused} of {one.partitions} partitions paused, the other {flowing} went on. The longest single pause was {one.longest_gap_s:.1f} s."


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
