"""Logs as tools hand them out: archives, exports, copies of a terminal that wrapped its lines."""

from __future__ import annotations

import lzma
import re
import struct
import tarfile
import zipfile
import zlib
from collections import Counter
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from rebalance_kit.forensics.lines.anchors import ANCHOR
from rebalance_kit.forensics.lines.pipes import scratch
from rebalance_kit.forensics.lines.times_in_text import time_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: Files that may be exports of logs (Kibana, kubectl, CloudWatch): they are read when a line of Kafka is in them.
EXPORTS = frozenset({".json", ".jsonl", ".csv"})

#: An archive with more than this is not unpacked.
_MOST_FILES, _MOST_BYTES = 2_000, 4 << 30

#: So many damages of an archive are named.
_MOST_DAMAGES = 3

_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2")
_ZIP = b"PK\x03\x04"
#: The record that ends a zip lies this near its end; of more files than it can count, it says so.
_ZIP_END, _ZIP_END_WITHIN, _UNCOUNTED = b"PK\x05\x06", 66_000, 0xFFFF
_OTHER_FORMS = {
    b"\xfd7zXZ\0": "xz", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd", b"\x04\x22\x4d\x18": "lz4", b"7z\xbc\xaf\x27\x1c": "7z", b"Rar!": "rar",
}  # fmt: skip

#: What the modules that unpack raise over damaged data.
_DAMAGES = (
    OSError, EOFError, RuntimeError, ValueError, OverflowError, KeyError, IndexError, AttributeError, struct.error, zlib.error, lzma.LZMAError, zipfile.BadZipFile,
    tarfile.TarError,
)  # fmt: skip

_CHUNK = 1 << 20

#: Only small files are copies of a terminal.
TERMINAL_BYTES = 1 << 20
_WRAPPED_SHARE = 0.2

#: Lines that begin alike are lines of their own.
_ALIKE = 6
_BEGINS = re.compile(r"\W{0,3}(?:\d{4}-\d\d-\d\d|%\d\||\{\"|\d\d:\d\d:\d\d|[A-Z]{4,5} )")


def holds_a_log(path: Path) -> bool:
    """Whether a line of Kafka is near the beginning of a file."""
    try:
        with path.open("rb") as stream:
            head = stream.read(_CHUNK).decode("utf-8", "replace")
    except OSError:
        return False
    return ANCHOR.search(head) is not None


class Unpacked(NamedTuple):
    """The files of an archive with their names, as far as it can be read, and what is wrong with the rest."""

    files: tuple[tuple[str, Path], ...] = ()
    damage: str | None = None


def is_archive(path: Path) -> bool:
    """Whether a file is an archive by its name, or begins as a zip does."""
    return path.name.lower().endswith(_ARCHIVES) or _head(path).startswith(_ZIP)


def packed_as(path: Path) -> str | None:
    """How a file is packed that cannot be unpacked here; None for any other file."""
    head = _head(path)
    return next((form for begins, form in _OTHER_FORMS.items() if head.startswith(begins)), None)


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(8)
    except OSError:
        return b""


def unpacked(path: Path) -> Unpacked:
    """The files in an archive, unpacked to a folder that lives as long as the process.

    An archive that has not changed is unpacked once.
    """
    try:
        status = path.stat()
    except OSError as problem:
        return Unpacked(damage=_how(problem))
    return _unpacked(path.resolve(), (status.st_ino, status.st_size, status.st_mtime_ns))


@cache
def _unpacked(path: Path, _state: tuple[int, int, int]) -> Unpacked:
    files: list[tuple[str, Path]] = []
    damage: list[str] = []
    room = _MOST_BYTES
    try:
        for name, opened in _members(path):
            target = _new_file(path, name)
            try:
                with opened() as stream, target.open("wb") as out:
                    while chunk := stream.read(min(_CHUNK, room + 1)):
                        room -= len(chunk)
                        out.write(chunk)
                        if room < 0:
                            return Unpacked(damage=f"it holds more than {_MOST_BYTES:,} bytes")
            except _DAMAGES as problem:
                damage.append(f"{name}: {_how(problem)}")
            if target.exists() and (target.stat().st_size or not damage):
                files.append((name, target))
            if len(files) > _MOST_FILES:
                return Unpacked(damage=f"it holds more than {_MOST_FILES:,} files")
    except _DAMAGES as problem:
        damage.append(_how(problem))
    return Unpacked(tuple(files), _listed(damage) if damage else None)


def _listed(damage: Sequence[str]) -> str:
    more = f" and {len(damage) - _MOST_DAMAGES} more" if len(damage) > _MOST_DAMAGES else ""
    return "; ".join(damage[:_MOST_DAMAGES]) + more


def _new_file(path: Path, name: str) -> Path:
    unlike = sum(1 for _ in scratch().iterdir())
    return scratch() / f"{path.name[:100]}.{unlike}{'.gz' if name.endswith('.gz') else '.log'}"


def _members(path: Path) -> Iterator[tuple[str, Callable[[], IO[bytes]]]]:
    """The files of an archive by name, each with what opens it."""
    if _head(path).startswith(_ZIP) or path.name.lower().endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if not info.is_dir():
                    yield info.filename, partial(archive.open, info)
            _require_all(path, len(archive.infolist()))
        return
    with tarfile.open(path) as archive_of_files:
        for member in archive_of_files:
            if member.isfile() and (stream := archive_of_files.extractfile(member)) is not None:
                yield member.name, partial(_itself, stream)
        _require_end(archive_of_files)


def _require_all(path: Path, listed: int) -> None:
    """Raise ``BadZipFile`` where the list of a zip names fewer files than the zip holds by its own count."""
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - _ZIP_END_WITHIN))
        tail = stream.read()
    place = tail.rfind(_ZIP_END)
    (held,) = struct.unpack_from("<H", tail, place + 10) if place >= 0 else (listed,)
    if held not in {listed, _UNCOUNTED}:
        raise zipfile.BadZipFile(f"its list is damaged: {listed} of {held} files are in it")


def _itself(stream: IO[bytes]) -> IO[bytes]:
    return stream


def _require_end(archive: tarfile.TarFile) -> None:
    """Raise ``TarError`` where an archive goes on with something that is no file: ``tarfile`` stops there in silence."""
    stream = archive.fileobj
    assert stream is not None
    stream.seek(archive.offset)
    block = stream.read(tarfile.BLOCKSIZE)
    stream.read(_CHUNK)  # to its end, where a gzip stream is checked
    if block.strip(b"\0"):
        raise tarfile.ReadError(f"what stands at byte {archive.offset:,} is no file of an archive")


def _how(problem: Exception) -> str:
    """What is wrong with an archive, in a few words."""
    text = str(problem).split("\n", 1)[0].rstrip(":")
    if isinstance(problem, EOFError) or text == "unexpected end of data":
        return "it ends early"
    if isinstance(problem, zlib.error | lzma.LZMAError | struct.error):
        return "its packed data is damaged"
    if isinstance(problem, tarfile.ReadError) and "could not be opened" in text:
        return "it is no archive"
    if isinstance(problem, OSError):
        return problem.strerror or text
    return text[:200] or type(problem).__name__


def unwrapped(data: bytes) -> bytes | None:
    """The lines of a terminal's copy, put together again; None for a file that is none."""
    if len(data) > TERMINAL_BYTES or b"\n" not in data:
        return None
    lines = data.decode("utf-8", "replace").split("\n")
    bordered = sum(line.startswith(("│", "|")) and line.rstrip().endswith(("│", "|")) for line in lines)
    if bordered >= 0.8 * len([line for line in lines if line.strip()]) > 0:
        lines = [line.strip().strip("│|").removeprefix(" ").removesuffix(" ") for line in lines]
        width = max(map(len, lines))
    else:
        lengths = Counter(len(line) for line in lines if len(line) > 60)
        width = max(lengths, default=0)
        wrapped = sum(_goes_on(one, after, width) for one, after in pairwise(lines))
        if lengths[width] < 3 or wrapped < _WRAPPED_SHARE * len(lines):
            return None
    joined: list[str] = []
    last = ""
    for line in lines:
        if joined and _goes_on(last, line, width):
            # The blank at which a line was cut may have got lost.
            joined[-1] = (
                joined[-1] + last[len(last.rstrip()) :].ljust(width - len(last.rstrip())) + line.rstrip()
            )
        else:
            joined.append(line.rstrip())
        last = line
    return "\n".join(joined).encode()


def _goes_on(line: str, after: str, width: int) -> bool:
    """Whether the line is as wide as the terminal and the next one does not begin as lines of logs do."""
    wide = len(line.rstrip()) >= width - 1 and after.strip() != ""
    return wide and _BEGINS.match(after) is None and line[:_ALIKE] != after[:_ALIKE]


#: java.util.logging writes two lines: time, class and method; then level and message.
_JUL_HEAD = rb"[A-Z][a-z]{2} \d{1,2}, \d{4},? \d{1,2}:\d\d:\d\d(?: |\xe2\x80\xaf)[AP]M [\w.$]+(?: \S+)?\r?"
_JUL_BODY = rb"[A-Z]{4,10}: "
_is_jul_head, _is_jul_body = re.compile(_JUL_HEAD).fullmatch, re.compile(_JUL_BODY).match
_holds_jul = re.compile(rb"(?m)^%b\n%b" % (_JUL_HEAD, _JUL_BODY)).search


class TimesAbove:
    """Gives each line of java.util.logging the time of the line above it, which is left empty: line numbers stay.

    A file whose beginning holds no such pair of lines passes through as it is.
    """

    def __init__(self) -> None:
        #: Whether the file is written so; known after its first piece.
        self.applies: bool | None = None
        self._above, self._rest = b"", b""

    def take(self, piece: bytes) -> bytes:
        """The piece with its times moved, up to its last whole line."""
        if self.applies is None:
            self.applies = _holds_jul(piece) is not None
        if not self.applies:
            return piece
        *lines, self._rest = (self._rest + piece).split(b"\n")
        return b"".join(self._timed(line) + b"\n" for line in lines)

    def rest(self) -> bytes:
        """What is left after the last piece."""
        return self._timed(self._rest) if self._rest else b""

    def _timed(self, line: bytes) -> bytes:
        above, self._above = self._above, b""
        if _is_jul_head(line):
            self._above = line
            return b""
        if not above or not _is_jul_body(line):
            return line
        at, _ = time_in(above.decode("utf-8", "replace"))
        return f"{at} ".encode() + line
