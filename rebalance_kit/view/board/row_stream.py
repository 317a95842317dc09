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
from rebalance_kit.view.board.group_records import PARKING, GroupRecords

RULES = {**GROUP_RULES, **CLIENT_RULES}
TRAVELLING = frozenset({"request", "response"})
OF_A_MEMBER = frozenset(
    {"joined", "synced", "reconciling", "owned", "rejoin_requested", "member_state", "callback_begin"}
)


class TraceFolder:
    """Rows of one group fed in order, as far as they are known; more may follow later.

    ``records`` is what the rows have said so far. Rows of other groups' members are left out.
    """

    def __init__(self, group: str) -> None:
        self.records = GroupRecords(group)
        self._group = group
        self._outside: set[str] = set()
        self._flying: list[_Arrival] = []

    def feed(self, rows: Iterable[TraceRow], until_ms: int) -> Iterator[int]:
        """Take rows up to ``until_ms`` and whatever arrives by then; yields after each millisecond that had any."""
        now: int | None = None
        records = self.records
        for at_ms, event in self._in_order(rows, until_ms):
            if now is not None and at_ms != now:
                yield now
                records.changed_members.clear()
                records.changed_partitions.clear()
            now = at_ms
            if isinstance(event, _Arrival):
                _arrive(records, at_ms, event.row)
            else:
                _take(records, event)
        if now is not None:
            yield now
            records.changed_members.clear()
            records.changed_partitions.clear()

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
                arrival = heappop(flying)
                yield arrival.at_ms, arrival
            if row.kind in TRAVELLING and _arrives(row):
                heappush(flying, _Arrival(row.detail["arrives_ms"], row.seq, row))
            yield row.at_ms, row
        while flying and flying[0].at_ms <= until_ms:
            arrival = heappop(flying)
            yield arrival.at_ms, arrival


def _take(records: GroupRecords, row: TraceRow) -> None:
    kind = row.kind
    rule = RULES.get(kind)
    if rule is not None:
        rule(records, row)
    if kind == "action":
        _do(records, row)
    if kind in OF_A_MEMBER and row.generation is not None and row.actor in records.members:
        records.member(row.actor).generation = row.generation if row.generation >= 0 else None


def _do(records: GroupRecords, row: TraceRow) -> None:
    """What somebody outside the group does to topics, to the network and to subscriptions."""
    records.note_topic(row)
    do, member = row.detail["do"], row.detail.get("member")
    if do in {"cut_network", "heal_network"} and member in records.members:
        records.member(member).cut_off = do == "cut_network"
    if do == "subscribe" and member in records.members:
        records.note_subscription(row.detail.get("topics", ()), None)


def _arrive(records: GroupRecords, at_ms: int, row: TraceRow) -> None:
    """A message reaches its end: a request the coordinator, an answer its member."""
    if row.kind == "response":
        member = records.members.get(row.detail["to"])
        if member is not None and member.generation != row.generation and member.life == "alive":
            records.member(member.name).generation = row.generation
        return
    member, api = records.members.get(row.actor), row.detail["api"]
    if member is None:
        return
    if member.sending == api and api in PARKING:
        records.member(member.name).sending = None
    answered_at_once = api == "SyncGroup" and records.group.state == "Stable"
    if api in PARKING and member.life != "absent" and records.group.up and not answered_at_once:
        records.member(member.name).parked = api


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
