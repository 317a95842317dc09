"""Packets: the events of one group in one piece of a file, as one value.

As rows of 44 columns, most of them empty, events cost Java more than their lines cost Python.  As a packet they are a
row whose text only Python looks into; ``blocks`` knows the rest of their file, which unpacking adds.
"""

from __future__ import annotations

import json
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from rebalance_kit.forensics.event import MESSAGES_A_LINE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

#: The columns of packets.  ``kind`` is one of ``KINDS``; ``theirs`` marks client events whose lines name no group.
PACKETS: dict[str, str] = {
    "path": "string",
    "file": "string",
    "block": "bigint",
    "nth": "bigint",
    "kind": "string",
    "group": "string",
    "theirs": "boolean",
    "data": "string",
}

#: What a packet holds: the counts of a piece, its rejected lines, events.
COUNTS, REJECTED_LINES, EVENTS_OF_GROUP = KINDS = ("counts", "rejected", "events")

#: Fields that are written once for all events of a kind, and those that the packet's row says.
_ONCE = ("event", "side", "level", "group")
_ELSEWHERE = frozenset((*_ONCE, "path", "file", "line"))

#: Marks the first event with a time in its block, which may be earlier than the last of the block before.
_BEGINS = "begins"


class Place(NamedTuple):
    """What is known of a block of a file once all of the file is read."""

    path: str
    file: str
    block: int
    #: Lines of the file before it.
    before: int
    #: What to add to its clock.
    shift_ms: int
    #: The client and the group of the file, where there is only one.
    file_client: str | None
    file_group: str | None
    #: The last moment that the file tells before it.
    before_ms: int | None


class Packet(NamedTuple):
    """A packet without its place."""

    kind: str
    group: str | None
    theirs: bool
    data: str


class Steps:
    """Notes by how much each event is earlier than the one before, along a block."""

    def __init__(self) -> None:
        self.last_ms: int | None = None

    def note(self, events: Iterable[dict[str, Any]]) -> None:
        """The next events of the block, in the order of its lines."""
        before = self.last_ms
        for fields in events:
            at_ms = fields.get("at_ms")
            if at_ms is not None:
                if before is None:
                    fields[_BEGINS] = 1
                elif before > at_ms:
                    fields["back_ms"] = before - at_ms
                before = at_ms
        self.last_ms = before


def packed(
    events: Sequence[dict[str, Any]], rejected: Sequence[tuple[int, str, str]], counts: dict[str, Any]
) -> Iterator[Packet]:
    """A piece of a file as packets: its events by group, its rejected lines, and its counts."""
    parts = _parts(events)
    clients, groups = _of_clients(parts)
    counts |= {
        "events": len(events),
        "rejected": len(rejected),
        "clients": clients,
        "groups": groups,
        "named": list({group for group, _ in parts} - {None}),
    }
    yield Packet(COUNTS, None, False, json.dumps(counts))
    if rejected:
        yield Packet(REJECTED_LINES, None, False, json.dumps(rejected))
    for (group, theirs), kinds in parts.items():
        yield Packet(EVENTS_OF_GROUP, group, theirs, json.dumps(kinds))


_Rows = list[tuple[Any, ...]]
_Parts = dict[tuple[str | None, bool], list[tuple[dict[str, Any], list[str], _Rows]]]


def _parts(events: Iterable[dict[str, Any]]) -> _Parts:
    """Events by group and kind: fields that all of a kind have in common, names of the others, and their values."""
    kinds: dict[tuple[Any, ...], tuple[Callable[[dict[str, Any]], tuple[Any, ...]], _Rows]] = {}
    parts: _Parts = {}
    for fields in events:
        kind = (fields["event"], fields["side"], fields.get("level"), fields.get("group"), *fields)
        known = kinds.get(kind)
        if known is None:
            names = [name for name in fields if name not in _ELSEWHERE]
            known = kinds[kind] = itemgetter(*names), []
            group, theirs = fields.get("group"), fields["side"] != "broker"
            once = {name: fields[name] for name in _ONCE if name in fields}
            parts.setdefault((group, theirs and group is None), []).append((once, names, known[1]))
        known[1].append(known[0](fields))
    return parts


def _of_clients(parts: _Parts) -> tuple[list[str], list[str]]:
    """The clients that the lines of clients name, and the groups that they name beside one."""
    clients: set[str] = set()
    groups: set[str] = set()
    for (group, _), kinds in parts.items():
        for once, names, rows in kinds:
            if once["side"] != "broker" and "client" in names:
                clients.update(map(itemgetter(names.index("client")), rows))
                groups.update([] if group is None else [group])
    return sorted(clients), sorted(groups)


def unpacked(data: str, place: Place) -> list[dict[str, Any]]:
    """The fields of the events in a packet."""
    events: list[dict[str, Any]] = []
    offset, shift_ms = place.before * MESSAGES_A_LINE, place.shift_ms
    for once, names, rows in json.loads(data):
        same = once | {"path": place.path, "file": place.file}
        if once["side"] != "broker":
            if "client" not in names and place.file_client is not None:
                same["client"] = place.file_client
            if "group" not in once and place.file_group is not None:
                same["group"] = place.file_group
        begin = len(events)
        events += [dict(zip(names, row), **same) for row in rows]  # noqa: B905 - as many as were packed
        here = events if not begin else events[begin:]
        for fields in here:
            fields["row"] = row = fields["row"] + offset
            fields["line"] = row // MESSAGES_A_LINE
        if _BEGINS in names:
            _begin(here, place.before_ms)
        if shift_ms and "at_ms" in names:
            for fields in here:
                if fields["at_ms"] is not None:
                    fields["at_ms"] += shift_ms
    return events


def _begin(events: Iterable[dict[str, Any]], before_ms: int | None) -> None:
    for fields in events:
        del fields[_BEGINS]
        if before_ms is not None and before_ms > fields["at_ms"]:
            fields["back_ms"] = before_ms - fields["at_ms"]


def rejected_lines(data: str, place: Place) -> list[tuple[int, str, str]]:
    """Line, reason and text of the rejected lines in a packet."""
    return [(line + place.before, why, text) for line, why, text in json.loads(data)]
