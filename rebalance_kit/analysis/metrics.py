"""Costs of one run, as numbers that can all be recomputed from its trace, and the rows of their table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rebalance_kit.analysis.deliveries import flows, gap_lengths, gaps, group_gaps, lag_of
from rebalance_kit.analysis.ownership import hand_overs, moves, readers_at
from rebalance_kit.model.errors import require_kind
from rebalance_kit.model.html import html_table
from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.model.trace import Trace, require_trace, require_traces

FAULTS = frozenset({"crash", "freeze", "cut_network", "stall", "close", "remove"})
STARTING_MS = 6_500
"""Processes that start this soon after the first one belong to the group's beginning."""
UNPLANNED = frozenset({"crash", "freeze", "cut_network", "stall"})


@dataclass(frozen=True, slots=True, repr=False)
class Metrics:
    """The cost of what happened from ``since_ms`` on. Names carry their units; None means that it did not occur."""

    label: str
    since_ms: int
    partitions: int
    partitions_unread: int
    unread_at_end: int
    """Partitions that nobody reads when the run ends: their gaps go on beyond what is counted."""
    unread_partition_s: float
    """Sum over partitions of the time without an owner that receives them."""
    unavailable_most_s: float
    """The same of the partition that suffered most."""
    longest_gap_s: float
    group_gap_s: float
    """Longest time in which no partition at all was received."""
    handovers: int
    """Changes of reader: each time that another member than before receives a partition."""
    given_back: int
    """Times that a partition was revoked and then received by the same member again."""
    partitions_moved: int
    """Partitions that another member receives at the end than at ``since_ms``, however often they changed hands between."""
    moves_beyond_minimum: int
    """Of ``partitions_moved``, those beyond what any assignment of the same sizes has to move."""
    rebalances: int
    """Times the group entered PreparingRebalance, or bumped its epoch."""
    generations: int
    epochs: int
    targets: int
    requests: Mapping[str, int]
    records_redelivered: int
    records_lost: int
    lag_peak_records: int | None
    drain_s: float | None
    """From the fault until the lag is back where it was, as far as it is sampled (commits every 5 s)."""
    detect_s: float | None
    """From the fault until the coordinator took the member out."""
    converge_s: float | None
    """From ``since_ms`` until the group was stable and every partition received, None when that was never reached."""

    @property
    def requests_total(self) -> int:
        """All requests of the group's protocols together."""
        return sum(self.requests.values())

    def __repr__(self) -> str:
        """The table as text."""
        return aligned(cells((self.label,), (self,)))

    def _repr_html_(self) -> str:
        """The table, as a notebook shows it."""
        return html_table(cells((self.label,), (self,)), head=True)


ABSENT = "–"


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _tenths(value: float) -> str:
    return f"{value:,.1f}"


def _hundredths(value: float) -> str:
    return f"{value:,.2f}"


class Measure(NamedTuple):
    """One row of the table: its words, its value of a run (None: it did not occur), how it is printed.

    ``kind`` tells for which runs it means the same: no run is said to have less of it than one of another kind.
    """

    words: str
    of: Callable[[Metrics], float | None]
    shown: Callable[[float], str]
    kind: Callable[[Metrics], str] | None = None


def _counts(figures: Metrics) -> str:
    return "epochs" if figures.epochs and not figures.generations else "generations"


def generations(figures: Metrics) -> float | None:
    """Generations of a classic group; None for a KIP-848 group, which has epochs instead."""
    return None if figures.epochs and not figures.generations else figures.generations


MEASURES: tuple[Measure, ...] = (
    Measure("partitions unread", lambda figures: figures.partitions_unread, _whole),
    Measure("unread partition-seconds", lambda figures: figures.unread_partition_s, _tenths),
    Measure("longest gap of a partition, s", lambda figures: figures.longest_gap_s, _hundredths),
    Measure("longest gap of the whole group, s", lambda figures: figures.group_gap_s, _hundredths),
    Measure("hand-overs", lambda figures: figures.handovers, _whole),
    Measure("given back", lambda figures: figures.given_back, _whole),
    Measure("elsewhere at the end", lambda figures: figures.partitions_moved, _whole),
    Measure("elsewhere without need", lambda figures: figures.moves_beyond_minimum, _whole),
    Measure("rebalances (or group epochs)", lambda figures: figures.rebalances, _whole, _counts),
    Measure("generations", generations, _whole),
    Measure("requests", lambda figures: figures.requests_total, _whole),
    Measure("records redelivered", lambda figures: figures.records_redelivered, _whole),
    Measure("records lost", lambda figures: figures.records_lost, _whole),
    Measure("greatest lag, records", lambda figures: figures.lag_peak_records, _whole),
    Measure("fault detected after, s", lambda figures: figures.detect_s, _tenths),
    Measure("settled after, s", lambda figures: figures.converge_s, _tenths),
)


def cells(labels: Sequence[str], measured: Sequence[Metrics]) -> list[list[str]]:
    """The table as cells: a head of labels, then a row per measure; – where nothing occurred."""
    rows = [["", *labels]]
    for each in MEASURES:
        values = [each.of(figures) for figures in measured]
        rows.append([each.words, *(ABSENT if value is None else each.shown(value) for value in values)])
    return rows


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Cells as plain text: names to the left, numbers to the right.

    >>> print(aligned([["", "a"], ["partitions", "12"]]))
                 a
    partitions  12
    """
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        padded = [
            cell.ljust(width) if not column else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def study_from(trace: Trace) -> int:
    """The moment from which a run is studied: what first happens to the group once records flow.

    That is the first action, without any the first process that starts late, without that the moment at
    which the most partitions flow for the first time.
    """
    edges = sorted(
        edge
        for stretches in flows(trace).values()
        for flow in stretches
        for edge in ((flow.from_ms, 1), (flow.to_ms, -1))
    )
    if not edges:
        return 0
    flowing = edges[0][0]
    begun = min((row.at_ms for row in trace.of("process_started")), default=0)
    late = [row.at_ms for row in trace.of("process_started") if row.at_ms >= begun + STARTING_MS]
    for times in ([row.at_ms for row in trace.of("action")], late):
        first = next((at for at in times if at >= flowing), None)
        if first is not None:
            return first
    running = most = reached = 0
    for at_ms, step in edges:
        running += step
        if running > most:
            most, reached = running, at_ms
    return reached


def metrics(trace: Trace, since_ms: int | None = None) -> Metrics:
    """Compute every metric of a trace from ``since_ms`` on (default: ``study_from``)."""
    require_trace(trace)
    since = study_from(trace) if since_ms is None else since_ms
    unread = gap_lengths(trace, since)
    nobody_reads = group_gaps(trace, since)
    moved, hands = len(moves(trace, since)), hand_overs(trace, since)
    rows = [row for row in trace.rows if row.at_ms >= since]
    kinds = Counter(row.kind for row in rows)
    preparing = sum(
        1 for row in rows if row.kind == "group_state" and row.detail["to"] == "PreparingRebalance"
    )
    peak, drain = lag_of(trace, since)
    return Metrics(
        label=trace.label,
        since_ms=since,
        partitions=len(flows(trace)),
        partitions_unread=len(unread),
        unread_at_end=sum(gap.after is None and gap.to_ms == trace.end_ms for gap in gaps(trace, since)),
        unread_partition_s=sum(map(sum, unread.values())) / 1000,
        unavailable_most_s=max(map(sum, unread.values()), default=0) / 1000,
        longest_gap_s=max(map(max, unread.values()), default=0) / 1000,
        group_gap_s=max((end - begin for begin, end in nobody_reads), default=0) / 1000,
        handovers=hands.to_others,
        given_back=hands.given_back,
        partitions_moved=moved,
        moves_beyond_minimum=moved - _least_moves(readers_at(trace, since), readers_at(trace, trace.end_ms)),
        rebalances=preparing + kinds["epoch_bump"],
        generations=kinds["generation"],
        epochs=kinds["epoch_bump"],
        targets=kinds["target"],
        requests=dict(sorted(Counter(row.detail["api"] for row in rows if row.kind == "request").items())),
        records_redelivered=sum(int(row.detail["count"]) for row in rows if row.kind == "redelivered"),
        records_lost=sum(int(row.detail["lost"]) for row in trace.of("account")),
        lag_peak_records=peak,
        drain_s=None if drain is None else drain / 1000,
        detect_s=_detect(trace, since),
        converge_s=_converge(trace, since),
    )


def _least_moves(before: Mapping[TopicPartition, str], after: Mapping[TopicPartition, str]) -> int:
    """What any assignment with the sizes of ``after`` has to move: partitions are interchangeable here."""
    shared = [tp for tp in before if tp in after]
    sizes, wanted = Counter(before[tp] for tp in shared), Counter(after[tp] for tp in shared)
    return len(shared) - sum(min(sizes[member], wanted[member]) for member in sizes)


def _detect(trace: Trace, since_ms: int) -> float | None:
    faults = [row for row in trace.of("action") if row.at_ms >= since_ms and row.detail["do"] in UNPLANNED]
    for fault in faults:
        for row in trace.of("member_removed"):
            if row.at_ms >= fault.at_ms and row.detail["name"] == fault.detail["member"]:
                return (row.at_ms - fault.at_ms) / 1000
    return None


def _converge(trace: Trace, since_ms: int) -> float | None:
    unread = [gap for gap in gaps(trace, since_ms) if gap.within(since_ms)]
    if any(gap.after is None for gap in unread):
        return None
    states = [(row.at_ms, row.detail["to"]) for row in trace.of("group_state")]
    if not states or states[-1][1] not in {"Stable", "Empty"}:
        return None
    settled = [states[-1][0], *(gap.to_ms for gap in unread)]
    return max(0, max(settled) - since_ms) / 1000


# The same events under several protocols, side by side, with the difference in words.


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
