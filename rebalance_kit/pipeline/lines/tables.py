"""The tables of lines: bronze as they stand in the files, silver as events, rejects and counts.

Bronze: the lines of all files, each with its run, its file and its place in the file.

The log job reads the lines raw and cleans them in its Python workers (``batch_reader``); ``read_lines`` does
the same with Spark expressions, for exercises and for a look at the text.

Only a line feed ends a line (a lone carriage return is part of it, as ``wc -l`` counts).  Invalid UTF-8 is
repaired with replacement characters, so that it can be shown.  A line longer than ``LONGEST_LINE`` keeps
only its beginning, and ``size`` holds its full length.

Silver: parsed events, rejected lines and line counts, as tables.

``packets`` are what the reading gave; here workers unpack them into the columns that people read, whenever a query
asks for them.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

from pyspark.sql import functions as F

from rebalance_kit.forensics.event import MESSAGES_A_LINE, only
from rebalance_kit.forensics.lines.file_reader import DAY_MS, shift
from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.forensics.lines.line_reader import KEPT_OF_A_LONG_LINE, LONGEST_LINE
from rebalance_kit.forensics.tables import EVENTS, LINES, REJECTED
from rebalance_kit.pipeline.output import arrow_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from pyspark.sql import DataFrame

    from rebalance_kit.forensics.lines.files import LogFile

    Piece: TypeAlias = tuple[str, str, int, int, dict[str, Any]]
    import pyarrow as pa
    from pyspark.sql import SparkSession


# Packets of events, and what is known of the files once all packets are there.
#
# Packets: the events of one group in one piece of a file, as one value.
#
# As rows of 44 columns, most of them empty, events cost Java more than their lines cost Python.  As a packet they are a
# row whose text only Python looks into; ``blocks`` knows the rest of their file, which unpacking adds.
#
# What is known of the files once all packets are there: line counts, clocks, whose file it is, groups of each run.


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
                elif before > at_ms >= DAY_MS:
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
    """The clients that the lines of clients name, and the groups that they name."""
    clients: set[str] = set()
    groups: set[str] = set()
    for (group, _), kinds in parts.items():
        for once, names, rows in kinds:
            if once["side"] != "broker":
                groups.update([] if group is None else [group])
                if "client" in names:
                    clients.update(map(itemgetter(names.index("client")), rows))
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
            sure = place.file_client is not None or "confidence" not in {*names, *once}
            if "group" not in once and place.file_group is not None and sure:
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
        if before_ms is not None and before_ms > fields["at_ms"] >= DAY_MS:
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
    client, group = (only(name for piece in pieces for name in piece[4][of]) for of in ("clients", "groups"))
    places: list[Place] = []
    before, before_ms = 0, None
    for (path, file, block), several in groupby(pieces, itemgetter(0, 1, 2)):
        places.append(Place(path, file, block, before, shift_ms, client, group, before_ms))
        for *_, counts in several:
            before += counts["lines"]
            before_ms = before_ms if counts["last_ms"] is None else counts["last_ms"]
    return places


#: The columns of bronze, in order.
BRONZE = ("path", "file", "block", "row", "size", "text")


def read_lines(spark: SparkSession, files: Sequence[LogFile]) -> DataFrame:
    """All lines of ``files`` as bronze.

    ``block`` and ``row`` order the lines of a file: Spark reads a large file in several blocks, whose ``row``
    numbers need not be consecutive.  ``with_line_numbers`` computes the line number from them.
    """
    placed, files_by_address = read_raw(spark, files)
    return named_lines(placed, spark, files_by_address)


def read_raw(spark: SparkSession, files: Sequence[LogFile]) -> tuple[DataFrame, dict[str, LogFile]]:
    """The unchanged lines (``location``, ``block``, ``row``, ``value``), and the files by location."""
    # Spark reads *?[]{} in a path as a pattern, so every name is escaped.
    read = spark.read.option("lineSep", "\n").text([_escaped(str(file.readable.resolve())) for file in files])
    known = {str(file.readable.resolve()): file for file in files}
    addresses = {_one_slash(uri): known[_local_path(uri)] for uri in read.inputFiles()}
    placed = read.select(
        F.col("_metadata.file_path").alias("location"),
        F.col("_metadata.file_block_start").alias("block"),
        F.monotonically_increasing_id().alias("row"),
        F.col("value"),
    )
    return placed, addresses


def named_lines(placed: DataFrame, spark: SparkSession, addresses: Mapping[str, LogFile]) -> DataFrame:
    """Raw lines as bronze."""
    # Spark reports a file by its URI; one join gives back the run and the file's own name.
    names = spark.createDataFrame(
        [(location, file.run, file.name) for location, file in addresses.items()],
        "location string, path string, file string",
    )
    return placed.join(F.broadcast(names), "location", "inner").transform(clean_text).select(*BRONZE)


def _one_slash(uri: str) -> str:
    """``file:///a`` as ``file:/a``, because Spark writes the one in some places and the other in others."""
    return re.sub("^file:/+", "file:/", uri)


def _local_path(uri: str) -> str:
    """The path inside a ``file:`` address."""
    return unquote(urlsplit(uri).path)


def clean_text(lines: DataFrame) -> DataFrame:
    """Replace ``value`` by ``text`` (valid UTF-8, no trailing carriage return, of bounded length) and ``size``."""
    size = F.octet_length("value")
    bounded = F.when(size > LONGEST_LINE, F.substring("value", 1, KEPT_OF_A_LONG_LINE)).otherwise(
        F.col("value")
    )
    valid = F.when(F.is_valid_utf8(bounded), bounded).otherwise(F.make_valid_utf8(bounded))
    return lines.withColumn("size", size).withColumn("text", F.rtrim(valid, F.lit("\r"))).drop("value")


def with_line_numbers(rows: DataFrame, blocks: DataFrame) -> DataFrame:
    """Add ``line``, counted from 1 in each file, from ``blocks`` (see ``measure_blocks``)."""
    keys = ["path", "file", "block"]
    numbered = rows.join(F.broadcast(blocks), keys, "inner")
    return numbered.withColumn("line", F.col("row") - F.col("first_row") + F.col("before") + 1).drop(
        "first_row", "before"
    )


def measure_blocks(lines: DataFrame) -> DataFrame:
    """One row per block of a file: its first ``row``, and how many lines of the file come ``before`` it."""
    from pyspark.sql import Window

    sizes = lines.groupBy("path", "file", "block").agg(
        F.min("row").alias("first_row"), F.count("*").alias("n")
    )
    earlier = Window.partitionBy("path", "file").orderBy("block").rowsBetween(Window.unboundedPreceding, -1)
    return sizes.withColumn("before", F.coalesce(F.sum("n").over(earlier), F.lit(0))).drop("n")


def _escaped(path: str) -> str:
    return "".join("\\" + letter if letter in "*?[]{}\\," else letter for letter in path)


#: The columns of ``Place``.
PLACES: dict[str, str] = {
    "path": "string",
    "file": "string",
    "block": "bigint",
    "before": "bigint",
    "shift_ms": "bigint",
    "file_client": "string",
    "file_group": "string",
    "before_ms": "bigint",
}


def events(packets: DataFrame, blocks: Blocks) -> DataFrame:
    """The parsed lines as typed events, one row per event, in the columns of ``tables.EVENTS``."""

    def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for data, place in _packets(batches):
            rows = unpacked(data, place)
            for fields in rows:
                fields["at"] = None if fields.get("at_ms") is None else fields["at_ms"] * 1000
            yield arrow_batch(rows, EVENTS)

    return with_places(packets.filter(F.col("kind") == EVENTS_OF_GROUP), blocks).mapInArrow(
        unpack, schema_of(EVENTS)
    )


def rejected(packets: DataFrame, blocks: Blocks) -> DataFrame:
    """The rejected lines: path, file, line, why, and the beginning of the text."""

    def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for data, place in _packets(batches):
            yield arrow_batch(
                [
                    {"path": place.path, "file": place.file, "line": line, "why": why, "text": text}
                    for line, why, text in rejected_lines(data, place)
                ],
                REJECTED,
            )

    return with_places(packets.filter(F.col("kind") == REJECTED_LINES), blocks).mapInArrow(
        unpack, schema_of(REJECTED)
    )


def line_counts(spark: SparkSession, files: Sequence[LogFile], blocks: Blocks) -> DataFrame:
    """One row per file: lines (counted separately, before Spark read them), parsed, ignored, rejected, note.

    Files without a line have a row too.
    """
    nothing = dict.fromkeys(SUMMED, 0)
    rows = [
        {
            "path": file.run,
            "file": file.name,
            "lines": file.lines,
            "note": file.note,
            **blocks.counts.get((file.run, file.name), nothing),
        }
        for file in files
    ]
    return small_table(spark, rows, LINES)


def with_places(packets: DataFrame, blocks: Blocks) -> DataFrame:
    """Packets with the columns of ``Place``."""
    places = small_table(packets.sparkSession, [place._asdict() for place in blocks.places], PLACES)
    return packets.join(F.broadcast(places), ["path", "file", "block"], "inner")


def places_of(batch: pa.RecordBatch | pa.Table) -> list[Place]:
    """The place of each row."""
    return [Place(*row) for row in zip(*(batch.column(name).to_pylist() for name in PLACES), strict=True)]


def _packets(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, Place]]:
    for batch in batches:
        yield from zip(batch.column("data").to_pylist(), places_of(batch), strict=True)


def schema_of(columns: Mapping[str, str]) -> str:
    """Columns as Spark writes a schema."""
    return ", ".join(f"`{name}` {kind}" for name, kind in columns.items())


def small_table(
    spark: SparkSession, rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]
) -> DataFrame:
    """A table of rows that the driver has; Spark needs no job for it."""
    import pyarrow as pa

    return spark.createDataFrame(pa.Table.from_batches([arrow_batch(rows, columns)]))


def arrow_batch(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> pa.RecordBatch:
    """Rows as Arrow; what a row lacks is null."""
    import pyarrow as pa

    present = set().union(*rows)
    arrays = [
        pa.array([row.get(name) for row in rows], arrow_type(kind))
        if name in present
        else pa.nulls(len(rows), arrow_type(kind))
        for name, kind in columns.items()
    ]
    return pa.record_batch(arrays, names=list(columns))
