"""Files are read and their lines classified in Python workers.

Classifies lines: Python workers read files (``read_packets``), or are handed lines in batches (``classify``).

Python matches a line against the tables of layouts and templates.  Spark expressions for the same tables take
several times as long.  Ignored lines leave one count per batch and block, so that no line is read twice and
the line counts still balance.

Reads files in Python workers: each task has ranges of bytes, reads them itself, and gives back what matters.

Nothing of an ignored line leaves the worker, and Java does not see the text at all.  A range begins with the first
line that begins in it and ends with the last such line; a compressed file is one range.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import lru_cache
from typing import IO, TYPE_CHECKING, Any, cast

from pyspark.sql import Window
from pyspark.sql import functions as F

from rebalance_kit.forensics.lines.file_reader import DAY_MS, FileRead, FileReader, sums
from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.model.collector import uncollected
from rebalance_kit.model.errors import DataError
from rebalance_kit.pipeline.lines.batch_reader import CLASSIFIED, BatchReader
from rebalance_kit.pipeline.lines.tables import PACKETS, Packet, Steps, packed, schema_of
from rebalance_kit.pipeline.output import arrow_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from rebalance_kit.forensics.lines.files import LogFile


#: A range has at most so many bytes, a task ends with the range that fills it, and a worker reads so many at once.
RANGE_BYTES, TASK_BYTES, CHUNK_BYTES = 32 << 20, 8 << 20, 4 << 20

#: What unpacking makes of a byte, usually.
_GZIP_RATIO = 12


@dataclass(frozen=True, slots=True)
class Range:
    """Some bytes of a file; ``end`` is None where the file is read whole, because it is compressed."""

    run: str
    name: str
    path: str
    start: int
    end: int | None
    size: int


def tasks_of(files: Sequence[LogFile]) -> list[list[Range]]:
    """The ranges of all files, dealt to tasks in order."""
    tasks: list[list[Range]] = [[]]
    filled = 0
    for piece in (piece for file in files for piece in ranges_of(file)):
        if filled >= TASK_BYTES:
            tasks.append([])
            filled = 0
        tasks[-1].append(piece)
        filled += piece.size
    return tasks


def ranges_of(file: LogFile) -> Iterator[Range]:
    """A file cut into ranges; none of an empty file."""
    path = file.readable.resolve()
    size = path.stat().st_size
    if path.suffix.lower() == ".gz":
        yield Range(file.run, file.name, str(path), 0, None, size * _GZIP_RATIO)
        return
    for start in range(0, size, RANGE_BYTES):
        end = min(size, start + RANGE_BYTES)
        yield Range(file.run, file.name, str(path), start, end, end - start)


class RangeReader:
    """Reads ranges one after the other into batches of packets."""

    def __init__(self, reading: Reading) -> None:
        self._reader = file_reader(reading)

    def read(self, piece: Range) -> Iterator[pa.RecordBatch]:
        """The packets of a range, a batch for each part of it that is read at once."""
        lines, steps = 0, Steps()
        with uncollected():
            for nth, data in enumerate(whole_lines(piece)):
                told = FileRead(piece.run, piece.name, lines=lines)
                self._reader.take(told, data)
                events = [event.__dict__ for event in told.events]
                steps.note(events)
                counts = {
                    "lines": told.lines - lines,
                    "parsed": told.parsed,
                    "ignored": told.lines - lines - told.parsed - len(told.rejected),
                    "last_ms": steps.last_ms,
                    **sums(events, told.rejected),
                }
                lines = told.lines
                yield packet_batch(
                    (piece.run, piece.name, piece.start, nth), packed(events, told.rejected, counts)
                )


@lru_cache(maxsize=1)
def file_reader(reading: Reading) -> FileReader:
    """One reader for all tasks of a worker: it remembers lines that occurred before."""
    return FileReader(reading)


def packet_batch(place: tuple[str, str, int, int], packets: Iterable[Packet]) -> pa.RecordBatch:
    """The packets of one place (path, file, block, number in the block) in the columns of ``PACKETS``."""
    import pyarrow as pa

    columns = [*zip(*((*place, *packet) for packet in packets), strict=True)]
    arrays = [
        pa.array(column, arrow_type(kind)) for column, kind in zip(columns, PACKETS.values(), strict=True)
    ]
    return pa.record_batch(arrays, names=list(PACKETS))


def whole_lines(piece: Range) -> Iterator[bytes]:
    """The lines that begin in a range, many at a time, without the end of the last of each; ``DataError`` on failure."""
    try:
        if piece.end is None:
            with gzip.open(piece.path) as packed:
                yield from _cut(cast("IO[bytes]", packed).read)
            return
        with open(piece.path, "rb") as stream:  # noqa: PTH123 - a path that a worker was told
            # The line that the range begins within belongs to the range before.
            stream.seek(max(0, piece.start - 1))
            if piece.start:
                stream.readline()
            yield from _cut(_bounded(stream, piece.end))
    except OSError as problem:
        raise DataError(
            f"{piece.path} cannot be read: {problem.strerror or problem}; expected a log file that every worker can read"
        ) from problem


def _bounded(stream: IO[bytes], end: int) -> Callable[[int], bytes]:
    """Reads on, to the end of the line that stands at the end of the range."""

    def read(most: int) -> bytes:
        here = stream.tell()
        if here >= end:
            return b""
        data = stream.read(min(most, end - here))
        return data + stream.readline() if here + len(data) >= end and not data.endswith(b"\n") else data

    return read


def _cut(read: Callable[[int], bytes]) -> Iterator[bytes]:
    rest: list[bytes] = []
    while data := read(CHUNK_BYTES):
        head, end, tail = data.rpartition(b"\n")
        if end:
            yield b"".join([*rest, head])
            rest = [tail] if tail else []
        else:  # a line longer than what is read at once
            rest.append(tail)
    if rest:
        yield b"".join(rest)


def read_packets(spark: SparkSession, files: Sequence[LogFile], reading: Reading | None = None) -> DataFrame:
    """The events, rejected lines and counts of files as packets (columns ``PACKETS``).

    Every task reads ranges of the files itself (see ``ranges``), so a worker of a cluster must see them under the
    same paths.
    """
    tasks, said = tasks_of(files), reading or Reading()

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        reader = RangeReader(said)
        for batch in batches:
            for number in batch.column("id").to_pylist():
                for piece in tasks[number]:
                    yield from reader.read(piece)

    return spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(read, schema_of(PACKETS))


def classify(
    lines: DataFrame, names: Mapping[str, tuple[str, str]], reading: Reading | None = None
) -> DataFrame:
    """Classify lines given as ``location``, ``block``, ``value`` and optionally ``row`` (see ``BatchReader``)."""
    said = reading or Reading()

    def classified(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return map(BatchReader(said, names).read, batches)

    return lines.withColumn("value", F.col("value").cast("binary")).mapInArrow(
        classified, schema_of(CLASSIFIED)
    )


def packets_of(classified: DataFrame) -> DataFrame:
    """Classified lines of whole files, in any order, as packets."""

    def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from _packed(batch)

    in_file = Window.partitionBy("path", "file").orderBy("row")
    upto = in_file.rowsBetween(Window.unboundedPreceding, -1)
    back_ms = F.last("at_ms", ignorenulls=True).over(upto) - F.col("at_ms")
    steps = classified.withColumn("back_ms", F.when((back_ms > 0) & (F.col("at_ms") >= DAY_MS), back_ms))
    return steps.mapInArrow(pack, schema_of(PACKETS))


#: What a classified row says beside its event.
_ABOUT = frozenset(("path", "file", "block", "nth", "n", "class", "why"))


def _packed(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    by_file: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for row in said_of(batch):
        by_file.setdefault((row["path"], row["file"], row["block"]), []).append(row)
    for key, rows in by_file.items():
        counts: dict[str, Any] = {
            name: sum(row["n"] for row in rows if row["class"] == name) for name in ("parsed", "ignored")
        }
        rejected = [(row["nth"], row["why"], row["text"]) for row in rows if row["class"] == "rejected"]
        counts |= {"lines": sum(row["n"] for row in rows), "last_ms": None}
        events = [
            {name: value for name, value in row.items() if name not in _ABOUT}
            for row in rows
            if row["class"] == "parsed"
        ]
        counts |= sums(events, rejected)
        yield packet_batch((*key, 0), packed(events, rejected, counts))


def said_of(batch: pa.RecordBatch | pa.Table) -> list[dict[str, Any]]:
    """The rows of a batch, with what is not null in them."""
    import pyarrow.compute as pc

    rows: list[dict[str, Any]] = [{} for _ in range(batch.num_rows)]
    for name in batch.schema.names:
        column = batch.column(name)
        if column.null_count == 0:
            for row, value in zip(rows, column.to_pylist(), strict=True):
                row[name] = value
        elif column.null_count < batch.num_rows:
            # Most columns are nearly empty.
            places = pc.indices_nonzero(pc.is_valid(column)).to_pylist()
            for place, value in zip(places, column.drop_null().to_pylist(), strict=True):
                rows[place][name] = value
    return rows
