"""Reads files in Python workers: each task has ranges of bytes, reads them itself, and gives back what matters.

Nothing of an ignored line leaves the worker, and Java does not see the text at all.  A range begins with the first
line that begins in it and ends with the last such line; a compressed file is one range.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import cache
from typing import IO, TYPE_CHECKING, Any, cast

from rebalance_kit.forensics.event import MESSAGES_A_LINE
from rebalance_kit.forensics.lines.file_reader import FileRead, FileReader
from rebalance_kit.model.collector import uncollected
from rebalance_kit.model.errors import DataError
from rebalance_kit.pipeline.arrow_types import arrow_type
from rebalance_kit.pipeline.lines.batch_reader import CLASSIFIED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from rebalance_kit.forensics.lines.files import LogFile
    from rebalance_kit.forensics.lines.layouts import Reading

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
    for piece in (piece for file in files for piece in _ranges(file)):
        if filled >= TASK_BYTES:
            tasks.append([])
            filled = 0
        tasks[-1].append(piece)
        filled += piece.size
    return tasks


def _ranges(file: LogFile) -> Iterator[Range]:
    path = file.readable.resolve()
    size = path.stat().st_size
    if path.suffix.lower() == ".gz":
        yield Range(file.run, file.name, str(path), 0, None, size * _GZIP_RATIO)
        return
    for start in range(0, size, RANGE_BYTES):
        end = min(size, start + RANGE_BYTES)
        yield Range(file.run, file.name, str(path), start, end, end - start)


class RangeReader:
    """Reads ranges one after the other into batches of classified lines (columns ``CLASSIFIED``)."""

    def __init__(self, reading: Reading) -> None:
        self._reader = FileReader(reading)

    def read(self, piece: Range) -> Iterator[pa.RecordBatch]:
        """The classified lines of a range; the last row of a batch counts its ignored lines."""
        lines = 0
        with uncollected():
            for data in whole_lines(piece):
                told = FileRead(piece.run, piece.name, lines=lines)
                self._reader.take(told, data)
                yield _batch(told, piece.start, told.lines - lines)
                lines = told.lines


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


def _batch(told: FileRead, block: int, lines: int) -> pa.RecordBatch:
    """Events, rejected lines, and a row for those of so many lines that were ignored."""
    import pyarrow as pa

    rows: list[dict[str, Any]] = [event.__dict__ for event in told.events]
    parsed, ignored = len(rows), lines - told.parsed - len(told.rejected)
    rows += [{"line": line, "why": why, "text": text} for line, why, text in told.rejected]
    rejected = len(rows) - parsed
    counts = [int(row["row"] % MESSAGES_A_LINE == 0) for row in rows[:parsed]] + [1] * rejected
    classes = ["parsed"] * parsed + ["rejected"] * rejected
    if ignored:
        rows.append({})
        counts.append(ignored)
        classes.append("ignored")
    given = {
        "path": pa.repeat(pa.scalar(told.run, pa.string()), len(rows)),
        "file": pa.repeat(pa.scalar(told.name, pa.string()), len(rows)),
        "block": pa.repeat(pa.scalar(block, pa.int64()), len(rows)),
        "nth": pa.array([row.get("line") for row in rows], pa.int64()),
        "n": pa.array(counts, pa.int64()),
        "class": pa.array(classes, pa.string()),
    }
    present = set().union(*rows)
    columns = [
        given[name]
        if name in given
        else pa.array([row.get(name) for row in rows], kind)
        if name in present
        else pa.nulls(len(rows), kind)
        for name, kind in _types().items()
    ]
    return pa.record_batch(columns, names=list(CLASSIFIED))


@cache
def _types() -> dict[str, pa.DataType]:
    return {name: arrow_type(kind.replace("long", "bigint")) for name, kind in CLASSIFIED.items()}
