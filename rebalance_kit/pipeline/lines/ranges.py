"""Reads files in Python workers: each task has ranges of bytes, reads them itself, and gives back what matters.

Nothing of an ignored line leaves the worker, and Java does not see the text at all.  A range begins with the first
line that begins in it and ends with the last such line; a compressed file is one range.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import lru_cache
from typing import IO, TYPE_CHECKING, cast

from rebalance_kit.forensics.lines.file_reader import FileRead, FileReader, sums
from rebalance_kit.model.collector import uncollected
from rebalance_kit.model.errors import DataError
from rebalance_kit.pipeline.arrow_types import arrow_type
from rebalance_kit.pipeline.lines.packets import PACKETS, Packet, Steps, packed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

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
