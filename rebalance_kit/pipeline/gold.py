"""Gold: the tables of all groups, from one grouped pass over the events.

The groups of a run are dealt to bundles; the packets of a bundle go to one Python worker, which folds one group after the
other as the local engine does (``tables_of_groups``), so that many groups use many cores.  Events of no group (a broker's
start, a change of topics, a client's settings) go to every bundle of their run.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from rebalance_kit.forensics.event import Event
from rebalance_kit.forensics.group_tables import GroupTables, tables_of_groups
from rebalance_kit.forensics.lines.file_reader import FileRead, sums
from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.forensics.look import by_group
from rebalance_kit.forensics.tables import GOLD
from rebalance_kit.model.collector import uncollected
from rebalance_kit.pipeline.lines.classify import TASK_BYTES, file_reader, ranges_of, whole_lines
from rebalance_kit.pipeline.lines.tables import (
    COUNTS,
    EVENTS_OF_GROUP,
    PLACES,
    places_of,
    schema_of,
    small_table,
    unpacked,
    with_places,
)
from rebalance_kit.pipeline.output import arrow_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from rebalance_kit.forensics.lines.files import LogFile
    from rebalance_kit.pipeline.lines.classify import Range
    from rebalance_kit.pipeline.lines.tables import Blocks, Piece

    #: The files of a run, each as its ranges, and the bytes in them.
    Run: TypeAlias = tuple[list[list[Range]], int]


#: A run has at most so many bundles, and Spark so many partitions of them.
BUNDLES, PARTITIONS = 16, 16

#: What a row of the grouped pass is grouped by: a run, a bundle of its groups, and how many groups the run has.
_KEYS = ("key_path", "bundle", "groups")

#: What a worker gets of a packet.
_NEEDED = (*PLACES, "of_group", "data")


def gold_tables(packets: DataFrame, blocks: Blocks) -> dict[str, DataFrame]:
    """The tables of ``tables.GOLD`` by name."""
    runs = {place.path: len(blocks.groups.get(place.path, ())) for place in blocks.places}
    keys = sum(_bundles(groups) for groups in runs.values())
    folded = (
        _by_bundle(packets, blocks, runs)
        .repartition(max(1, min(keys, PARTITIONS)), *_KEYS)
        .groupBy(*_KEYS)
        .applyInArrow(_fold, f"`table` string, {FOLDED}")
        .localCheckpoint()
    )
    return tables_in(folded)


def tables_in(folded: DataFrame) -> dict[str, DataFrame]:
    """The tables by name, out of rows that hold each its own in the column of its table."""
    return {name: folded.filter(F.col("table") == name).select(f"{name}.*") for name in GOLD}


def _bundles(groups: int) -> int:
    return max(1, min(groups, BUNDLES))


def struct_of(table: str) -> str:
    """The rows of a table as a type in Spark's words."""
    return "struct<" + ",".join(f"`{name}`:{kind}" for name, kind in GOLD[table].items()) + ">"


#: The columns of folded rows, after the name of each row's table.
FOLDED = ", ".join(f"`{name}` {struct_of(name)}" for name in GOLD)


def _by_bundle(packets: DataFrame, blocks: Blocks, runs: dict[str, int]) -> DataFrame:
    """Every packet under the key of its bundle; one of no group under those of all bundles of its run."""
    rows = [
        {"key_path": path, "groups": groups, "bundles": _bundles(groups)} for path, groups in runs.items()
    ]
    counted = small_table(
        packets.sparkSession, rows, {"key_path": "string", "groups": "bigint", "bundles": "bigint"}
    )
    of_group = F.coalesce("group", F.when(F.col("theirs"), F.col("file_group")))
    everywhere = F.sequence(F.lit(0).cast("bigint"), F.col("bundles") - 1)
    own = F.array(F.pmod(F.xxhash64("of_group"), F.col("bundles")))
    return (
        with_places(packets.filter(F.col("kind") == EVENTS_OF_GROUP), blocks)
        .withColumn("key_path", F.col("path"))
        .join(F.broadcast(counted), "key_path", "inner")
        .withColumn("of_group", of_group)
        .withColumn("bundle", F.explode(F.when(F.col("of_group").isNull(), everywhere).otherwise(own)))
        .select(*_KEYS, *_NEEDED)
    )


def _fold(key: tuple[pa.Scalar, ...], table: pa.Table) -> pa.Table:
    """The rows of all tables of the groups of a bundle, each in the column of its table."""
    import pyarrow as pa

    path, bundle, groups = (part.as_py() for part in key)
    with uncollected():
        own, shared = _groups(table)
        told = tables_of_groups(own, shared, alone=groups == 1, unnamed=bundle == 0)
        names, columns = folded_columns(path, told)
    return pa.table({"table": pa.array(names, pa.string()), **columns})


def folded_columns(
    path: str, tables: Iterable[tuple[str | None, GroupTables]]
) -> tuple[list[str], dict[str, pa.Array]]:
    """The rows of all tables of some groups: the name of each row's table, and a column for each table."""
    import pyarrow as pa

    names: list[str] = []
    columns: dict[str, list[Any]] = {name: [] for name in GOLD}
    for group, told in tables:
        for name in GOLD:
            rows = [{"path": path, "group": group, **row} for row in getattr(told, name)]
            names += [name] * len(rows)
            for other in GOLD:
                columns[other] += rows if other == name else [None] * len(rows)
    return names, {name: pa.array(column, arrow_type(struct_of(name))) for name, column in columns.items()}


def _groups(table: pa.Table) -> tuple[Iterator[tuple[str, list[Event]]], list[Event]]:
    """The events of each group in a bundle, unpacked one group after the other, and those of no group."""
    parts: dict[str | None, list[Any]] = defaultdict(list)
    columns = table.column("of_group").to_pylist(), table.column("data").to_pylist(), places_of(table)
    for group, *packet in zip(*columns, strict=True):
        parts[group].append(packet)
    shared = _unpacked(parts.pop(None, ()))
    names = sorted(name for name in parts if name is not None)
    return ((group, _unpacked(parts.pop(group))) for group in names), shared


def _unpacked(packets: Iterable[Any]) -> list[Event]:
    return [Event(fields) for packet in packets for fields in unpacked(*packet)]


# Runs that one task reads and folds, as the local engine does: neither lines nor events leave the Python worker.
#
# Where every run of the logs is small enough for one task, this is the quickest way to the tables of all groups.  Larger runs
# are read in ranges by many tasks, and their events are sent to the workers that fold them (``gold``).


#: A run of more bytes is too large for one task: its events are in the memory of one worker.
RUN_BYTES = 512 << 20

#: Events that travel cost so many times as much as those that are folded where they are read.
_TIMES = 2

#: Columns of what a task gives: the counts of pieces of files, as packets have them, and rows of gold tables.
_PIECES = {"path": "string", "file": "string", "block": "bigint", "nth": "bigint", "data": "string"}
_COLUMNS = {"table": "string"} | _PIECES


def one_task_each(spark: SparkSession, files: Sequence[LogFile]) -> bool:
    """Whether each run is small enough for one task, and no core waits long for the largest."""
    # A Spark Connect session does not tell its cores.
    context = getattr(spark, "_sc", None)
    cores = None if context is None else int(context.defaultParallelism)
    return fit([size for _, size in _runs(files)], cores)


def fit(sizes: Sequence[int], cores: int | None) -> bool:
    """Whether runs of so many bytes are best folded by one task each, on so many cores."""
    largest = max(sizes, default=0)
    return largest <= TASK_BYTES or (
        cores is not None and largest <= RUN_BYTES and largest * cores <= _TIMES * sum(sizes)
    )


def fold_runs(spark: SparkSession, files: Sequence[LogFile], reading: Reading | None) -> DataFrame:
    """The rows of all gold tables, each in the column of its table, and the counts of all pieces; computed eagerly."""
    tasks, said = _tasks(files), reading or Reading()

    def fold(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column("id").to_pylist():
                for run in tasks[number]:
                    yield from _folded(run, said)

    schema = f"{schema_of(_COLUMNS)}, {FOLDED}"
    return spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(fold, schema).localCheckpoint()


def pieces_of(folded: DataFrame) -> list[Piece]:
    """The counts of all pieces."""
    rows = folded.filter(F.col("table") == COUNTS).select(*_PIECES).collect()
    return [(*row[:4], json.loads(row[4])) for row in rows]


def _runs(files: Sequence[LogFile]) -> list[Run]:
    runs: dict[str, list[list[Range]]] = defaultdict(list)
    for file in files:
        runs[file.run].append(list(ranges_of(file)))
    return [(of_run, sum(piece.size for pieces in of_run for piece in pieces)) for of_run in runs.values()]


def _tasks(files: Sequence[LogFile]) -> list[list[list[list[Range]]]]:
    """The runs dealt to tasks, the largest first."""
    tasks: list[list[list[list[Range]]]] = [[]]
    filled = 0
    for of_run, size in sorted(_runs(files), key=lambda run: -run[1]):
        if filled + size > TASK_BYTES and tasks[-1]:
            tasks.append([])
            filled = 0
        tasks[-1].append(of_run)
        filled += size
    return tasks


def _folded(run: Sequence[Sequence[Range]], reading: Reading) -> Iterator[pa.RecordBatch]:
    """The counts and the rows of one run."""
    events: list[Event] = []
    pieces: list[Piece] = []
    path = ""
    with uncollected():
        for ranges in sorted(filter(None, run), key=lambda ranges: ranges[0].name):
            path = ranges[0].run
            events += _read(ranges, reading, pieces)
        if pieces:
            columns = zip(*((COUNTS, *piece[:4], json.dumps(piece[4])) for piece in pieces), strict=True)
            yield _batch(dict(zip(_COLUMNS, columns, strict=False)))
        names, rows = folded_columns(path, by_group(events, placed=True))
        if names:
            yield _batch({"table": names}, rows)


def _batch(told: Mapping[str, Sequence[Any]], gold: Mapping[str, pa.Array] | None = None) -> pa.RecordBatch:
    """A batch in the columns of a task; what is not there is null."""
    import pyarrow as pa

    size = len(told["table"])
    arrays = [pa.array(told.get(name, [None] * size), arrow_type(kind)) for name, kind in _COLUMNS.items()]
    arrays += [gold[name] if gold else pa.nulls(size, arrow_type(struct_of(name))) for name in GOLD]
    return pa.record_batch(arrays, names=[*_COLUMNS, *GOLD])


def _read(ranges: Sequence[Range], reading: Reading, pieces: list[Piece]) -> list[Event]:
    """The events of a file; adds the counts of its pieces, as those who read its ranges would count them."""
    reader, first = file_reader(reading), len(pieces)
    one = FileRead(ranges[0].run, ranges[0].name)
    for piece in ranges:
        for nth, data in enumerate(whole_lines(piece)):
            lines, parsed = one.lines, one.parsed
            events, rejected = len(one.events), len(one.rejected)
            reader.take(one, data)
            moments = (event.at_ms for event in reversed(one.events[events:]))
            counts: dict[str, Any] = {
                "lines": one.lines - lines,
                "parsed": one.parsed - parsed,
                "ignored": one.lines - lines - (one.parsed - parsed) - (len(one.rejected) - rejected),
                "rejected": len(one.rejected) - rejected,
                "events": len(one.events) - events,
                "last_ms": next((at_ms for at_ms in moments if at_ms is not None), None),
                **sums((event.__dict__ for event in one.events[events:]), one.rejected[rejected:]),
                "clients": [],
                "groups": [],
                "named": [],
            }
            pieces.append((one.run, one.name, piece.start, nth, counts))
    named = {event.group for event in one.events}
    reader.end(one)
    for name, told in (("clients", one.clients), ("groups", one.groups), ("named", named)):
        for *_, counts in pieces[first : first + 1]:
            counts[name] = sorted(told - {None})
    return one.events
