"""Follows growing log files: lands each complete line once, in immutable chunks that Spark can stream.

Spark's file source reads whole new files, never the growth of one.  Therefore each scan of the folder writes
the new complete lines of all files into one chunk, each line with the number of its file and its own number.
The chunk's last line is the state of the tail after it.  One rename creates a chunk, so lines and state appear
together or not at all, whenever the process is killed.

A file is identified by its inode and by the beginning and end of what was read from it, not by its name:
a renamed file (rotation) continues under its new name, and a truncated one starts again.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rebalance_kit.forensics.lines.files import PassedOver, collect, read_through
from rebalance_kit.model.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: The state line of a chunk begins with this; line numbers are hexadecimal and decimal digits.
STATE = "state "

#: Digits of a file's number and of a line's, and the length of the prefix before a line's text.
SOURCE_DIGITS, LINE_DIGITS = 6, 12
PREFIX = SOURCE_DIGITS + LINE_DIGITS + 2

#: A chunk ends at the first file that brings it beyond this many bytes.
CHUNK_BYTES = 32 << 20

_BLOCK = 1 << 20
_HEAD, _TAIL = 4096, 256
_GZIP, _UTF16 = b"\x1f\x8b", (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Source:
    """One file as far as it was read: its run and name, its inode, its position, and a digest of that part.

    ``size`` counts bytes of (decompressed) text and ``lines`` complete lines; ``marks`` is a digest of the
    first and last bytes of what was read.
    """

    number: int
    run: str
    name: str
    inode: tuple[int, int]
    size: int = 0
    lines: int = 0
    marks: str = ""

    @property
    def label(self) -> str:
        """The number as chunks write it."""
        return f"{self.number:0{SOURCE_DIGITS}x}"


class Tail:
    """Follows the files under ``paths``; its whole state is in ``folder``.

    A second ``Tail`` on the same folder resumes where the first one was killed.
    """

    def __init__(
        self, paths: Sequence[str | os.PathLike[str]], folder: Path, chunk_bytes: int = CHUNK_BYTES
    ) -> None:
        self.folder = folder
        self._paths = [os.fspath(path) for path in paths]
        self._chunk_bytes = chunk_bytes
        folder.mkdir(parents=True, exist_ok=True)
        for draft in folder.glob(".draft*"):
            draft.unlink()
        self.chunks, self._sources = _last_state(folder)
        self.places: dict[int, Path] = {}
        self.pending: dict[int, bytes] = {}
        self.passed_over: tuple[PassedOver, ...] = ()
        self._seen: dict[Path, tuple[int, ...]] = {}
        self._replaced: dict[int, int] = {}

    @property
    def lines(self) -> int:
        """Complete lines landed so far."""
        return sum(source.lines for source in self._sources.values())

    def scan(self) -> bool:
        """Look at every file once and land its new lines; True when there were any.

        Raises ``DataError`` when a watched path is gone.
        """
        found, self.passed_over = collect(self._paths)
        self._forget({path for _, _, path in found})
        draft = self.folder / ".draft"
        with draft.open("wb") as raw:
            with gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=1, mtime=0) as chunk:
                landed = self._land(found, chunk)
                chunk.write(f"{STATE}{self._state()}\n".encode())
            raw.flush()
            os.fsync(raw.fileno())
        if landed:
            os.replace(draft, self.folder / f"{self.chunks + 1:010d}.txt.gz")
            self.chunks += 1
        else:
            draft.unlink()
        return landed > 0

    def sources(self) -> tuple[tuple[Source, Path | None], ...]:
        """Every file read, with its path (None: deleted or truncated), except those whose text is in another file.

        The latter remain from a rotation that copied or compressed a file.
        """
        gone = [source for number, source in self._sources.items() if number not in self.places]
        for source in gone:
            if source.number not in self._replaced:
                for copy in self._copies(source):
                    self._replaced[source.number] = copy
        return tuple(
            (source, self.places.get(number))
            for number, source in sorted(self._sources.items())
            if number in self.places or (source.lines and number not in self._replaced)
        )

    def _forget(self, present: set[Path]) -> None:
        self._seen = {path: seen for path, seen in self._seen.items() if path in present}
        self.places = {number: path for number, path in self.places.items() if path in present}

    def _land(self, found: Iterable[tuple[str, str, Path]], chunk: gzip.GzipFile) -> int:
        """Write the files' new lines into the chunk, as far as there is room; returns their number."""
        room, landed = self._chunk_bytes, 0
        for run, name, path in found:
            try:
                signature = _signature(path)
                if self._seen.get(path) == signature or room <= 0:
                    continue
                with _open_text(path) as text:
                    source = self._identify(run, name, signature[:2], path, text)
                    read, whole = _complete_lines(text, source.size, room)
                    lines = read.split(b"\n")
                    self.pending[source.number] = lines.pop()
                    for line, content in enumerate(lines, start=source.lines + 1):
                        chunk.write(b"%06x %012d %b\n" % (source.number, line, content))
                    size = source.size + sum(len(line) + 1 for line in lines)
                    now = replace(
                        source, size=size, lines=source.lines + len(lines), marks=_marks(text, size)
                    )
            except FileNotFoundError:
                continue  # rotated since the listing: the next scan finds it
            except OSError as problem:
                raise DataError(
                    f"{path} cannot be read: {problem.strerror}; expected a readable log file"
                ) from problem
            self._sources[now.number] = now
            if whole:
                self._seen[path] = signature
            room, landed = room - len(read), landed + len(lines)
        return landed

    def _identify(self, run: str, name: str, inode: tuple[int, ...], path: Path, text: IO[bytes]) -> Source:
        """The source that this file continues, under its present name; a new one if there is none."""
        same = [old for old in self._sources.values() if old.inode == inode and _continues(old, text)]
        number = max(self._sources, default=0) + 1
        known = same[-1] if same else Source(number, run, name, (inode[0], inode[1]))
        self.places = {number: place for number, place in self.places.items() if place != path}
        self.places[known.number] = path
        return replace(known, run=run, name=name)

    def _copies(self, gone: Source) -> Iterator[int]:
        """The present sources that begin with all that was read from the missing one."""
        for number, path in sorted(self.places.items()):
            if number in self._sources and self._sources[number].size >= gone.size > 0:
                try:
                    with _open_text(path) as text:
                        if _continues(gone, text):
                            yield number
                except FileNotFoundError:
                    continue

    def _state(self) -> str:
        return json.dumps([asdict(source) for _, source in sorted(self._sources.items())])


def _last_state(folder: Path) -> tuple[int, dict[int, Source]]:
    """The number of the last chunk, and the state in its last line."""
    chunks = sorted(folder.glob("*.txt.gz"))
    if not chunks:
        return 0, {}
    last = b""
    try:
        with gzip.open(chunks[-1]) as lines:
            for line in lines:
                last = line
        rows: list[dict[str, Any]] = json.loads(last.decode("utf-8").removeprefix(STATE))
        sources = [Source(**{**row, "inode": tuple(row["inode"])}) for row in rows]
    except (OSError, ValueError, TypeError, EOFError) as problem:
        raise DataError(
            f"{chunks[-1]} does not end with the state of the reading ({problem}); expected a chunk that "
            "`rebalance-kit watch` has written: give another --checkpoint folder to start again"
        ) from problem
    return int(chunks[-1].name.split(".")[0]), {source.number: source for source in sources}


def _signature(path: Path) -> tuple[int, ...]:
    stat = path.stat()
    return (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)


def _open_text(path: Path) -> IO[bytes]:
    """The text of a file as seekable UTF-8 bytes; compressed files go to a temporary file."""
    stream = path.open("rb")
    head = stream.read(2)
    if head not in {_GZIP, *_UTF16}:
        stream.seek(0)
        return stream
    with stream:
        stream.seek(0)
        if head in _UTF16:
            return io.BytesIO(stream.read().decode("utf-16", errors="replace").encode("utf-8"))
    text: IO[bytes] = tempfile.TemporaryFile(prefix="rebalance-kit-")  # noqa: SIM115 - the caller closes it
    read_through(path, zipped=True, sink=text.write)
    return text


def _complete_lines(text: IO[bytes], start: int, room: int) -> tuple[bytes, bool]:
    """About ``room`` bytes from ``start`` to the end of a line, or the whole rest; and whether it is the whole."""
    text.seek(start)
    read = bytearray(text.read(room))
    while len(read) >= room:
        more = text.read(_BLOCK)
        if not more:
            break
        end = more.find(b"\n") + 1
        read += more[:end] if end else more
        if end:
            return bytes(read), False
    return bytes(read), True


def _continues(source: Source, text: IO[bytes]) -> bool:
    """Whether the text begins with what was read from ``source``, judged by its length and marks."""
    return text.seek(0, os.SEEK_END) >= source.size and _marks(text, source.size) == source.marks


def _marks(text: IO[bytes], size: int) -> str:
    """A digest of the first and last bytes before ``size``; empty for a size of 0."""
    if not size:
        return ""
    text.seek(0)
    digest = hashlib.sha256(text.read(min(size, _HEAD)))
    text.seek(max(0, size - _TAIL))
    digest.update(text.read(min(size, _TAIL)))
    return digest.hexdigest()
