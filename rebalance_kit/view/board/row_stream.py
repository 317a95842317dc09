"""A trace folded in order: rows, and messages counted where they are.

A request is on its way until ``arrives_ms``, then it waits at the coordinator until it is answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from typing import NamedTuple

from rebalance_kit.model.trace import TraceRow
from rebalance_kit.view.board.client_rows import CLIENT_RULES
from rebalance_kit.view.board.coordinator_rows import GROUP_RULES
from rebalance_kit.view.board.group_records import PARKING, Fold

BEATS = frozenset({"JoinGroup", "SyncGroup", "Heartbeat", "ConsumerGroupHeartbeat", "OffsetCommit"})
OF_A_MEMBER = frozenset(
    {"joined", "synced", "reconciling", "owned", "rejoin_requested", "member_state", "callback_begin"}
)


class Folding:
    """Rows of one group fed in order, as far as they are known; more may follow later.

    ``fold`` is what the rows have said so far. Rows of other groups' members are left out.
    """

    def __init__(self, group: str) -> None:
        self.fold = Fold(group)
        self._group = group
        self._outside: set[str] = set()
        self._flying: list[_Arrival] = []

    def feed(self, rows: Iterable[TraceRow], until_ms: int) -> Iterator[int]:
        """Take rows up to ``until_ms`` and whatever arrives by then; yields after each millisecond that had any."""
        now: int | None = None
        fold = self.fold
        for at_ms, what in self._in_order(rows, until_ms):
            if now is not None and at_ms != now:
                yield now
                fold.changed_members.clear()
                fold.changed_partitions.clear()
            now = at_ms
            if isinstance(what, _Arrival):
                _arrive(fold, at_ms, what.row)
            else:
                _take(fold, what)
        if now is not None:
            yield now
            fold.changed_members.clear()
            fold.changed_partitions.clear()

    def _in_order(self, rows: Iterable[TraceRow], until_ms: int) -> Iterator[tuple[int, TraceRow | _Arrival]]:
        """Rows and arrivals by time; at one millisecond an arrival comes before what it causes."""
        flying, group = self._flying, self._group
        for row in rows:
            if row.detail.get("group", group) != group:
                if row.kind == "process_started":
                    self._outside.add(row.actor)
                continue
            if row.actor in self._outside:
                continue
            while flying and (flying[0].at_ms, flying[0].seq) < (row.at_ms, row.seq):
                one = heappop(flying)
                yield one.at_ms, one
            if _arrives(row):
                heappush(flying, _Arrival(row.detail["arrives_ms"], row.seq, row))
            yield row.at_ms, row
        while flying and flying[0].at_ms <= until_ms:
            one = heappop(flying)
            yield one.at_ms, one


def _take(fold: Fold, row: TraceRow) -> None:
    rule = CLIENT_RULES.get(row.kind) or GROUP_RULES.get(row.kind)
    if rule is not None:
        rule(fold, row)
    if row.kind == "action":
        fold.note_topic(row)
    if row.kind in OF_A_MEMBER and row.generation is not None and row.actor in fold.members:
        fold.member(row.actor).generation = row.generation if row.generation >= 0 else None


def _arrive(fold: Fold, at_ms: int, row: TraceRow) -> None:
    """A message reaches its end: a request the coordinator, an answer its member."""
    if row.kind == "response":
        one = fold.members.get(row.detail["to"])
        if one is not None and one.generation != row.generation and one.life == "alive":
            fold.member(one.name).generation = row.generation
        return
    one, api = fold.members.get(row.actor), row.detail["api"]
    if one is None:
        return
    if api in BEATS:
        fold.beats.setdefault(one.name, []).append(at_ms)
    if one.sending == api and api in PARKING:
        fold.member(one.name).sending = None
    if api in PARKING and one.life != "absent" and fold.group.up:
        fold.member(one.name).parked = api


class _Arrival(NamedTuple):
    at_ms: int
    seq: int
    row: TraceRow


def _arrives(row: TraceRow) -> bool:
    if row.kind == "request":
        return row.detail.get("arrives_ms") is not None
    return (
        row.kind == "response"
        and row.detail.get("api") == "ConsumerGroupHeartbeat"
        and row.detail.get("arrives_ms") is not None
        and row.generation is not None
    )
