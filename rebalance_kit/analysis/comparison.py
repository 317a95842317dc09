"""The same events under several protocols, side by side, with the difference in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rebalance_kit.analysis.metrics import Metrics, aligned, cells, metrics, study_from
from rebalance_kit.model.errors import require_kind
from rebalance_kit.model.html import html_table
from rebalance_kit.model.trace import Trace, require_traces


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """Metrics of several runs of one scenario, by label, all studied from the same moment."""

    scenario: str
    title: str
    labels: tuple[str, ...]
    metrics: Mapping[str, Metrics]
    under_way_ms: Mapping[str, int] = field(default_factory=dict)
    """By label, when a rebalance began that was under way as the counting began: it is not counted."""

    def __repr__(self) -> str:
        """The table as text."""
        return table(self)

    def _repr_html_(self) -> str:
        """The table, as a notebook shows it."""
        return html_table(cells(self.labels, list(self.metrics.values())), head=True)


def measure(traces: Sequence[Trace]) -> tuple[Metrics, ...]:
    """Metrics of runs of one scenario, all studied from the earliest of their moments."""
    require_traces(traces)
    since = min(study_from(trace) for trace in traces)
    return tuple(metrics(trace, since) for trace in traces)


def compare(traces: Mapping[str, Trace]) -> Comparison:
    """Compare runs of one scenario; ``traces`` maps a label (eager, cooperative, consumer) to a run.

    Raises ``ValueError`` without any.
    """
    require_kind(traces, Mapping, "what is compared", "traces by label, as {'eager': trace}")
    if not traces:
        raise ValueError("nothing to compare: expected at least one trace")
    measured = dict(zip(traces, measure(list(traces.values())), strict=True))
    first = next(iter(traces.values()))
    return Comparison(
        str(first.meta.get("scenario", first.run_id)),
        str(first.meta.get("title", "")),
        tuple(traces),
        measured,
        {
            label: began
            for label, trace in traces.items()
            if (began := under_way(trace, measured[label].since_ms)) is not None
        },
    )


def under_way(trace: Trace, since_ms: int) -> int | None:
    """When the rebalance began that was under way at ``since_ms``; None where the group was stable or empty."""
    began = None
    for row in trace.of("group_state"):
        if row.at_ms >= since_ms:
            break
        if row.detail["to"] in {"Stable", "Empty", "Dead"}:
            began = None
        elif began is None:
            began = row.at_ms
    return began


def table(comparison: Comparison) -> str:
    """The comparison as plain text."""
    return aligned(cells(comparison.labels, list(comparison.metrics.values())))


def sentences(comparison: Comparison) -> tuple[str, ...]:
    """What the numbers of these runs say, in words; every figure is taken from the runs.

    Which protocol is better is not said here: that takes many draws (``analysis.draws``).
    """
    require_kind(comparison, Comparison, "the comparison", "what rebalance_kit.compare(traces) returns")
    lines = [_unread(label, figures) for label, figures in comparison.metrics.items()]
    more = (_detection(comparison), _moves(comparison), _follow_up(comparison), _under_way(comparison))
    return tuple(lines + [text for text in more if text])


def _unread(label: str, figures: Metrics) -> str:
    if not figures.partitions:
        return f"{label}: no partition was read at any time."
    if not figures.partitions_unread:
        return f"{label}: every partition was read all the time."
    longest = f"The longest gap of one partition was {figures.longest_gap_s:.1f} s."
    if figures.unread_at_end:
        still = f"{figures.unread_at_end} {'was' if figures.unread_at_end == 1 else 'were'} still unread when the run ended"
        longest = f"{longest[:-1]}, and {still}."
    if figures.partitions_unread == figures.partitions:
        together = f"; for {figures.group_gap_s:.2f} s none of them was read" if figures.group_gap_s else ""
        return f"{label}: all {figures.partitions} partitions were unread for a time{together}. {longest}"
    reading = figures.partitions - figures.partitions_unread
    return f"{label}: {figures.partitions_unread} of {figures.partitions} partitions were unread for a time, the other {reading} were read throughout. {longest}"


def _detection(comparison: Comparison) -> str:
    noticed = {
        label: figures.detect_s
        for label, figures in comparison.metrics.items()
        if figures.detect_s is not None
    }
    if len(noticed) != len(comparison.labels) or not noticed:
        return ""
    listed = ", ".join(f"{label} {seconds:.1f} s" for label, seconds in noticed.items())
    return (
        f"Until the coordinator noticed: {listed}. A silent member is noticed after the session timeout less the age of its "
        "last heartbeat, one that does not poll after max.poll.interval.ms; no protocol shortens either, and most of the longest gap "
        "is this wait."
    )


def _moves(comparison: Comparison) -> str:
    extra = {
        label: figures.moves_beyond_minimum
        for label, figures in comparison.metrics.items()
        if figures.moves_beyond_minimum > 0
    }
    if not extra:
        return ""
    listed = ", ".join(f"{label} {count}" for label, count in extra.items())
    return f"Partitions with another reader at the end that need not have had one: {listed}."


def _under_way(comparison: Comparison) -> str:
    if not comparison.under_way_ms:
        return ""
    since = min(figures.since_ms for figures in comparison.metrics.values()) / 1000
    began = ", ".join(f"{label} at second {at / 1000:.1f}" for label, at in comparison.under_way_ms.items())
    return (
        f"Counts begin at second {since:.1f}, with what the scenario does first. A rebalance that had begun before is not "
        f"counted: {began}."
    )


def _follow_up(comparison: Comparison) -> str:
    cooperative = comparison.metrics.get("cooperative")
    if cooperative is None or cooperative.generations < 2 or not cooperative.partitions_moved:
        return ""
    return (
        f"cooperative took {cooperative.generations} generations: one to revoke what must move, and a follow-up rebalance to assign it; "
        "the second starts about one heartbeat interval after the first."
    )
