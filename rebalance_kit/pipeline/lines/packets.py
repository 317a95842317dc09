"""Packets of events, and what is known of the files once all packets are there.

Packets: the events of one group in one piece of a file, as one value.

As rows of 44 columns, most of them empty, events cost Java more than their lines cost Python.  As a packet they are a
row whose text only Python looks into; ``blocks`` knows the rest of their file, which unpacking adds.

What is known of the files once all packets are there: line counts, clocks, whose file it is, groups of each run.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from rebalance_kit.forensics.event import MESSAGES_A_LINE
from rebalance_kit.forensics.lines.file_reader import shift
from rebalance_kit.forensics.lines.layouts import Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from pyspark.sql import DataFrame

    from rebalance_kit.forensics.lines.files import LogFile

    Piece: TypeAlias = tuple[str, str, int, int, dict[str, Any]]


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


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of all files, what became of the lines of each file, and the groups of each run."""

    places: tuple[Place, ...]
    counts: Mapping[tuple[str, str], Mapping[str, int | None]]
    groups: Mapping[str, frozenset[str]]
    events: int


def blocks_of(packets: DataFrame, files: Sequence[LogFile], reading: Reading | None) -> Blocks:
    """Collect the counts of all pieces; computed eagerly."""
    rows = packets.filter(packets["kind"] == COUNTS).select("path", "file", "block", "nth", "data").collect()
    return blocks_by_pieces([(*row[:4], json.loads(row[4])) for row in rows], files, reading)


def blocks_by_pieces(pieces: Iterable[Piece], files: Sequence[LogFile], reading: Reading | None) -> Blocks:
    """The same from the counts of all pieces, in any order."""
    pieces = sorted(pieces, key=itemgetter(0, 1, 2, 3))
    clocks = {(file.run, file.name): shift(file.run, file.name, reading or Reading()) for file in files}
    places: list[Place] = []
    counts: dict[tuple[str, str], Mapping[str, int | None]] = {}
    groups: dict[str, set[str]] = defaultdict(set)
    for key, several in groupby(pieces, itemgetter(0, 1)):
        of_file = list(several)
        here = places_in(of_file, clocks[key])
        places += here
        counts[key] = _counts([piece[4] for piece in of_file], clocks[key])
        groups[key[0]].update(*(piece[4]["named"] for piece in of_file))
    return Blocks(
        tuple(places),
        counts,
        {path: frozenset(names) for path, names in groups.items()},
        sum(piece[4]["events"] for piece in pieces),
    )


#: Counts of pieces that add up.
SUMMED = ("parsed", "ignored", "rejected", "unclear", "by_words")


def _counts(pieces: Sequence[dict[str, Any]], shift_ms: int) -> dict[str, int | None]:
    """What became of the lines of a file, and when they were written."""
    told: dict[str, int | None] = {name: sum(piece[name] for piece in pieces) for name in SUMMED}
    for name, choose in (("from_ms", min), ("to_ms", max)):
        moments = [piece[name] for piece in pieces if piece[name] is not None]
        told[name] = choose(moments) + shift_ms if moments else None
    return told


def places_in(pieces: Sequence[Piece], shift_ms: int) -> list[Place]:
    """The blocks of one file, in order."""
    client, group = (_only(name for piece in pieces for name in piece[4][of]) for of in ("clients", "groups"))
    places: list[Place] = []
    before, before_ms = 0, None
    for (path, file, block), several in groupby(pieces, itemgetter(0, 1, 2)):
        places.append(Place(path, file, block, before, shift_ms, client, group, before_ms))
        for *_, counts in several:
            before += counts["lines"]
            before_ms = before_ms if counts["last_ms"] is None else counts["last_ms"]
    return places


def _only(names: Iterable[str]) -> str | None:
    different = set(names)
    return next(iter(different)) if len(different) == 1 else None
