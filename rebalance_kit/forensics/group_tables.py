"""The events of groups in, the rows of all their tables out: what both engines call."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from rebalance_kit.forensics.event import Kind
from rebalance_kit.forensics.findings.cost import with_costs
from rebalance_kit.forensics.findings.subscribed import Remade
from rebalance_kit.forensics.findings.table import MADE_AND_GONE, Findings
from rebalance_kit.forensics.group_row import group_row
from rebalance_kit.forensics.history.history import Common, Counts, History
from rebalance_kit.forensics.history.speakers import of_other_clients, told_apart
from rebalance_kit.forensics.history.storms import storms
from rebalance_kit.forensics.lines.line_reader import SHOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from rebalance_kit.forensics.event import Event
    from rebalance_kit.forensics.history.rebalance import Rebalance

#: What is over for so long leaves the fold; what is written later does not explain it any more.
PAST_MS = 4 * 3_600_000

#: A loop is shorter than this; a copy of the file's lines begins later.
_LOOPS_LINES = 20


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
    """Takes the events of one group in order of time, with those of no group (or ``shared``); what is over goes to the sink.

    Its state is bounded by what is open and by what happened in the last eight hours of the log.
    """

    def __init__(
        self, group: str | None, sink: Sink, *, alone: bool, shared: SharedLines | None = None
    ) -> None:
        self._history = History(group, shared.common if shared else None)
        self._findings = Findings(group, alone=alone, remade=shared.remade if shared else None)
        self._group, self._sink = group, sink
        self._listeners: dict[tuple[Any, ...], tuple[Callable[[Event], object], ...]] = {}
        #: When, and after how many events at least (all that is open is gone through), what is over leaves next.
        self._due_ms: float = -inf
        self._events = self._least_events = 0
        #: The lines of the moment that is being taken, and where each stands first.
        self._now_ms: int | None = None
        self._now: dict[tuple[object, ...], tuple[str, int]] = {}

    def take(self, event: Event) -> None:
        """The next event."""
        said = event.__dict__
        at_ms = said.get("at_ms")
        if at_ms is not None and self._is_double(event, at_ms):
            return
        self._events += 1
        if at_ms is not None and at_ms >= self._due_ms and self._events >= self._least_events:
            if self._due_ms > -inf:
                self._leave_behind(at_ms)
            self._due_ms, self._events = at_ms + PAST_MS, 0
            self._least_events = 2 * self._history.members
        kind = _kind(said)
        listeners = self._listeners.get(kind)
        if listeners is None:
            both = (*self._history.listeners(Kind(*kind)), *self._findings.listeners(Kind(*kind)))
            listeners = self._listeners[kind] = both
        for listener in listeners:
            listener(event)

    def _is_double(self, event: Event, at_ms: int) -> bool:
        """Whether the same line of the same moment was taken before: from a second appender, or a second copy of a file."""
        if at_ms != self._now_ms:
            self._now_ms, self._now = at_ms, {}
        place = event.file, event.line
        key: tuple[object, ...] = event.event, event.text
        if len(event.text) >= SHOWN:  # it may go on otherwise
            key += event.member, event.reason, event.detail, tuple(event.partitions or ())
        first = self._now.setdefault(key, place)
        if first == place:
            return False
        # Where times are whole seconds, a loop writes the same line again within one.
        if at_ms % 1_000 == 0 and first[0] == event.file and 1 < event.line - first[1] <= _LOOPS_LINES:
            return False
        if first[0] != event.file:
            self._findings.copied(event)
        return True

    def _leave_behind(self, now_ms: int) -> None:
        before_ms = self._history.quiet_before(now_ms - PAST_MS)
        over = self._give_away(before_ms, now_ms)
        self._findings.settle(before_ms, self._history, over)
        self._findings.forget(self._history.gone(before_ms), self._history.names)
        self._history.forget(before_ms)

    def _give_away(self, before_ms: float = inf, now_ms: float = inf) -> list[Rebalance]:
        history, sink = self._history, self._sink
        over = history.finished(before_ms, now_ms)
        sink.rebalances += over.rebalances
        sink.gaps += over.gaps
        sink.members += over.members
        sink.counts.add(over.counts)
        return over.rebalances

    def _begins_late(self, gap: Mapping[str, Any]) -> bool:
        """Whether a gap was open before the expiry that tells of it, for a session whose length these logs do not tell."""
        return gap["known_by"] == "expired" and not self._history.session_known(gap["owner_before"])

    def tables(self) -> GroupTables:
        """The tables, once all events are taken."""
        over = self._give_away()
        history, sink = self._history, self._sink
        spells = storms(sink.rebalances)
        gaps = [] if self._group is None else sink.gaps
        self._findings.settle(inf, history, over)
        rows = self._findings.rows(history, sink.rebalances, spells)
        least = history.someone_is_silent(sink.members)
        said, gaps = with_costs(
            rows, sink.rebalances, [{**gap, "at_least": least or self._begins_late(gap)} for gap in gaps]
        )
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


class SharedLines:
    """What the lines of no group tell all groups of a run that has several: they are taken once, in order of time."""

    def __init__(self, events: Iterable[Event]) -> None:
        self.common, self.remade = Common(), Remade()
        listeners: dict[tuple[Any, ...], tuple[Callable[[Event], object], ...]] = {}
        for event in events:
            key = _kind(event.__dict__)
            hearing = listeners.get(key)
            if hearing is None:
                hearing = listeners[key] = tuple(self._listeners(Kind(*key)))
            for listener in hearing:
                listener(event)

    def _listeners(self, kind: Kind) -> Iterator[Callable[[Event], object]]:
        if kind.names:
            yield self.common.names.take
        if kind.event in MADE_AND_GONE:
            yield self.remade.change
        yield from self.common.listeners(kind)


def tables_of_groups(
    groups: Iterable[tuple[str, list[Event]]],
    shared: Sequence[Event],
    *,
    alone: bool,
    unnamed: bool = True,
    placed: bool = False,
) -> Iterator[tuple[str | None, GroupTables]]:
    """The tables of each group of a run; ``shared`` are its events of no group; ``placed`` as in ``in_order_of_time``.

    ``alone``: there is one group.  Otherwise ``unnamed`` asks for what lines of no group prove by themselves, too.
    """
    if alone:
        for group, own in groups:
            yield group, group_tables(group, [*own, *shared], alone=True)
        return
    in_order = in_order_of_time(shared, placed=placed)
    lines = SharedLines(in_order)
    for group, own in groups:
        yield group, group_tables(group, own, alone=False, shared=lines, placed=placed)
    if in_order and unnamed:
        yield None, group_tables(None, in_order, alone=False)


def group_tables(
    group: str | None,
    events: Iterable[Event],
    *,
    alone: bool,
    shared: SharedLines | None = None,
    placed: bool = False,
) -> GroupTables:
    """The tables of one group, from its events and those of no group (or ``shared``), in any order.

    ``alone``: no other group is in the run; ``placed`` as in ``in_order_of_time``.  For None, what lines of no group
    prove by themselves.
    """
    fold = Fold(group, Sink(), alone=alone, shared=shared)
    by_file = events if placed else sorted(events, key=attrgetter("file", "row"))
    in_order = in_order_of_time(of_other_clients(list(by_file)) if alone else by_file, placed=True)
    # What the lines of no group say of a client would not be found under another name beside groups.
    for event in told_apart(in_order) if alone or group is None else in_order:
        fold.take(event)
    return fold.tables()


def _kind(said: dict[str, Any]) -> tuple[Any, ...]:
    """The kind of an event by its fields."""
    return (
        said["event"],
        said["side"],
        said.get("group"),
        said.get("at_ms") is not None,
        "member" in said or "instance" in said or "reason" in said,
        "instance" in said,
        "back_ms" in said,
    )


def in_order_of_time(events: Iterable[Event], *, placed: bool = False) -> list[Event]:
    """The events in order of time (none comes first), then by their place in their file.

    ``placed``: they come file by file, in the order of names and lines.
    """
    undated: list[Event] = []
    dated: list[Event] = []
    for event in events if placed else sorted(events, key=attrgetter("file", "row")):
        (undated if event.at_ms is None else dated).append(event)
    # One number as the key, and equal ones stay in order: quicker than to compare places.
    dated.sort(key=attrgetter("at_ms"))
    return undated + dated
