"""One group's events in, the rows of all its tables out: what both engines call, once a group."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from rebalance_kit.forensics.event import Kind
from rebalance_kit.forensics.findings.cost import with_costs
from rebalance_kit.forensics.findings.table import Findings
from rebalance_kit.forensics.group_row import group_row
from rebalance_kit.forensics.history.history import Counts, History
from rebalance_kit.forensics.history.storms import storms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rebalance_kit.forensics.event import Event
    from rebalance_kit.forensics.history.rebalance import Rebalance

#: What is over for so long leaves the fold; what is written later does not explain it any more.
PAST_MS = 4 * 3_600_000


@dataclass(slots=True)
class GroupTables:
    """The rows of a group in each table, without ``path`` and ``group``."""

    rebalances: list[dict[str, object]] = field(default_factory=list)
    gaps: list[dict[str, object]] = field(default_factory=list)
    storms: list[dict[str, object]] = field(default_factory=list)
    members: list[dict[str, object]] = field(default_factory=list)
    findings: list[dict[str, object]] = field(default_factory=list)
    groups: list[dict[str, object]] = field(default_factory=list)


class Sink:
    """Where rows go that are complete."""

    def __init__(self) -> None:
        self.rebalances: list[Rebalance] = []
        self.gaps: list[dict[str, object]] = []
        self.members: list[dict[str, object]] = []
        self.counts = Counts()


class Fold:
    """Takes the events of one group in order of time, with those of no group; what is over goes to the sink.

    Its state is bounded by what is open and by what happened in the last eight hours of the log.
    """

    def __init__(self, group: str | None, sink: Sink, *, alone: bool) -> None:
        self._history, self._findings = History(group), Findings(group, alone=alone)
        self._group, self._sink = group, sink
        self._listeners: dict[tuple[Any, ...], tuple[Callable[[Event], object], ...]] = {}
        #: When, and after how many events at least (all that is open is gone through), what is over leaves next.
        self._due_ms: float = -inf
        self._events = self._least_events = 0

    def take(self, event: Event) -> None:
        """The next event."""
        said = event.__dict__
        at_ms = said.get("at_ms")
        self._events += 1
        if at_ms is not None and at_ms >= self._due_ms and self._events >= self._least_events:
            if self._due_ms > -inf:
                self._leave_behind(at_ms - PAST_MS)
            self._due_ms, self._events = at_ms + PAST_MS, 0
            self._least_events = 2 * self._history.members
        # A plain tuple, because one is made for every event.
        kind = (
            said["event"],
            said["side"],
            said.get("group"),
            at_ms is not None,
            "member" in said or "instance" in said or "reason" in said,
            "instance" in said,
            "back_ms" in said,
        )
        listeners = self._listeners.get(kind)
        if listeners is None:
            both = (*self._history.listeners(Kind(*kind)), *self._findings.listeners(Kind(*kind)))
            listeners = self._listeners[kind] = both
        for listener in listeners:
            listener(event)

    def _leave_behind(self, before_ms: int) -> None:
        before_ms = self._history.quiet_before(before_ms)
        over = self._give_away(before_ms)
        self._findings.settle(before_ms, self._history, over)
        self._findings.forget(self._history.gone(before_ms), self._history.names)
        self._history.forget(before_ms)

    def _give_away(self, before_ms: float = inf) -> list[Rebalance]:
        history, sink = self._history, self._sink
        over = history.finished(before_ms)
        sink.rebalances += over.rebalances
        sink.gaps += over.gaps
        sink.members += over.members
        sink.counts.add(over.counts)
        return over.rebalances

    def tables(self) -> GroupTables:
        """The tables, once all events are taken."""
        over = self._give_away()
        history, sink = self._history, self._sink
        spells = storms(sink.rebalances)
        gaps = [] if self._group is None else sink.gaps
        self._findings.settle(inf, history, over)
        rows = self._findings.rows(history, sink.rebalances, spells)
        said = with_costs(rows, sink.rebalances, spells, gaps)
        if self._group is None:
            return GroupTables(findings=said)
        return GroupTables(
            rebalances=[row.columns() for row in sink.rebalances],
            gaps=gaps,
            storms=spells,
            members=sink.members,
            findings=said,
            groups=[group_row(sink.counts, sink.rebalances, said, coordinated=history.coordinated)],
        )


def group_tables(group: str | None, events: Iterable[Event], *, alone: bool) -> GroupTables:
    """The tables of one group, from its events and those of no group, in any order.

    ``alone``: no other group is in the run.  For None, what lines of no group prove by themselves.
    """
    fold = Fold(group, Sink(), alone=alone)
    for event in in_order_of_time(events):
        fold.take(event)
    return fold.tables()


def in_order_of_time(events: Iterable[Event]) -> list[Event]:
    """The events in order of time (none comes first), then by their place in their file."""
    undated: list[Event] = []
    dated: list[Event] = []
    for event in events:
        (undated if event.at_ms is None else dated).append(event)
    undated.sort(key=attrgetter("file", "row"))
    dated.sort(key=attrgetter("at_ms", "file", "row"))
    return undated + dated
