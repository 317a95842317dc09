"""Archives of logs, unpacked within one budget per call: bytes, members, ratio and seconds, also through what is packed twice."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import re
import shutil
import struct
import tarfile
import time
import zipfile
import zlib
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

from rebalance_kit.forensics.lines.pipes import Filling, scratch
from rebalance_kit.model.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: So many damages of an archive are named.
_MOST_DAMAGES = 3

_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2")
_ZIP = b"PK\x03\x04"
#: The record that ends a zip lies this near its end; of more files than it can count, it says so.
_ZIP_END, _ZIP_END_WITHIN, _UNCOUNTED = b"PK\x05\x06", 66_000, 0xFFFF
_GZIP, _BZIP2, _XZ = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0"
_OPENERS: dict[bytes, Callable[[Path], Any]] = {_GZIP: gzip.open, _BZIP2: bz2.open, _XZ: lzma.open}
_OTHER_FORMS = {
    _XZ: "xz", _BZIP2: "bzip2", b"\x28\xb5\x2f\xfd": "zstd", b"\x04\x22\x4d\x18": "lz4", b"7z\xbc\xaf\x27\x1c": "7z", b"Rar!": "rar",
}  # fmt: skip

#: What the modules that unpack raise over damaged data.
_DAMAGES = (
    OSError, EOFError, RuntimeError, ValueError, OverflowError, KeyError, IndexError, AttributeError, struct.error, zlib.error, lzma.LZMAError, zipfile.BadZipFile,
    tarfile.TarError,
)  # fmt: skip

#: What raises the budget of a call.
LIMITS_OPTION = "--limits"

_CHUNK = 1 << 20
#: What unpacks to less than this is no bomb, however small it was.
_FREE = 64 << 20
#: No header of an archive is longer.
_LONGEST_HEADER = 16 << 20
_UNITS = {"": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


@dataclass(frozen=True, slots=True)
class Limits:
    """What one call may unpack: bytes together, files in archives, bytes per packed byte, seconds of unpacking."""

    bytes: int = 16 * 10**9
    members: int = 10_000
    ratio: int = 200
    seconds: int = 60

    @classmethod
    def of(cls, text: str) -> Limits:
        """The limits in words, such as ``bytes=40GB,ratio=1000``; what is not named stays. ``ConfigError`` for other words."""
        names, found = [one.name for one in fields(cls)], cls()
        for word in filter(None, text.split(",")):
            match = re.fullmatch(r"(\w+)=(\d{1,15})([kMGT]B)?", word.strip(), re.ASCII)
            if match is None or match[1] not in names or (match[3] and match[1] != "bytes"):
                raise ConfigError(
                    f"{LIMITS_OPTION} {text!r}; expected {', '.join(f'{name}=NUMBER' for name in names)}, for instance "
                    f"bytes=40GB,ratio=1000 (now {', '.join(f'{name}={getattr(found, name)}' for name in names)})"
                )
            found = replace(found, **{match[1]: int(match[2]) * _UNITS[match[3] or ""]})
        return found


class OverBudget(Exception):
    """What a call may unpack is used up; the text says which limit, and what raises it."""


class Budget:
    """What is left of the limits of one call. What a second pass reads again is free, and ends where the first one did."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._bytes = self._members = 0
        self._seconds = 0.0
        self._of_origin: dict[Path, int] = {}
        self._furthest: dict[Path, int] = {}
        self._ended: dict[Path, str] = {}

    def member(self) -> None:
        """One more file of an archive, read or not."""
        self._members += 1
        self._require("members", self._members, f"more than {self.limits.members:,} files in archives")

    def took(self, path: Path, upto: int, seconds: float) -> None:
        """A pass through a packed file has come so far, and the last step took so long; ``OverBudget`` when that is too much."""
        before = self._furthest.get(path, 0)
        if path in self._ended and upto > before:
            raise OverBudget(self._ended[path])
        self._seconds += seconds
        more = upto - before
        if more <= 0:
            return
        origin = _ORIGINS.get(path, path)
        whole = self._of_origin.get(origin, 0) + more
        limits = self.limits
        try:
            self._require("bytes", self._bytes + more, f"more than {limits.bytes / 1e9:,.3g} GB unpacked")
            if whole > _FREE:
                times = whole // max(1, origin.stat().st_size)
                self._require("ratio", times, f"it unpacks to more than {limits.ratio:,} times its size")
            self._require("seconds", self._seconds, f"unpacking took more than {limits.seconds:,} s")
        except OverBudget as problem:
            self._ended[path] = str(problem)
            raise
        self._bytes += more
        self._of_origin[origin], self._furthest[path] = whole, upto

    def _require(self, name: str, used: float, why: str) -> None:
        if used > getattr(self.limits, name):
            raise OverBudget(f"{why} (`{LIMITS_OPTION} {name}=NUMBER` allows more)")


_current: ContextVar[Budget | None] = ContextVar("budget", default=None)
#: Files that came out of an archive, and the archive.
_ORIGINS: dict[Path, Path] = {}


@contextlib.contextmanager
def budget(limits: Limits | None = None) -> Iterator[Budget]:
    """One budget for all that is read within; an outer one goes on, unless ``limits`` are given."""
    outer = _current.get()
    held = outer if outer is not None and limits is None else Budget(limits or Limits())
    token = _current.set(held)
    try:
        yield held
    finally:
        _current.reset(token)


def current_budget() -> Budget:
    """The budget of this call; one of its own for a file that is read alone."""
    return _current.get() or Budget(Limits())


class Metered:
    """A stream of unpacked bytes that charges a budget for how far it has come; skipped bytes count."""

    def __init__(self, stream: Any, path: Path, held: Budget, before: int = 0) -> None:
        self._stream, self._path, self._held, self._before = stream, path, held, before
        #: The greatest offset that was read.
        self.furthest = 0

    def read(self, size: int = -1) -> bytes:
        """As of a file; a read that no header and no chunk has need of is damage."""
        if not 0 <= size <= _LONGEST_HEADER:
            raise tarfile.ReadError(f"a header of {size:,} bytes")
        begun_s = time.monotonic()
        data: bytes = self._stream.read(size)
        self.furthest = max(self.furthest, self._stream.tell())
        self._held.took(self._path, self._before + self.furthest, time.monotonic() - begun_s)
        return data

    def seek(self, offset: int, _whence: int = 0) -> int:
        """Go to an offset; forward by reading."""
        if offset <= self.furthest:
            return int(self._stream.seek(offset))
        self._stream.seek(self.furthest)
        while self.furthest < offset and self.read(min(_CHUNK, offset - self.furthest)):
            pass
        return self.tell()

    def tell(self) -> int:
        """The offset."""
        return int(self._stream.tell())


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
    state = (status.st_ino, status.st_size, status.st_mtime_ns)
    held = current_budget()
    known = _UNPACKED.get(key := (path.resolve(), state, held.limits))
    if known is None:
        known = _UNPACKED[key] = _unpacked(path.resolve(), held)
    return known


_UNPACKED: dict[tuple[Path, tuple[int, int, int], Limits], Unpacked] = {}


def _unpacked(path: Path, held: Budget) -> Unpacked:
    files: list[tuple[str, Path]] = []
    damage: list[str] = []
    room, written = shutil.disk_usage(scratch()).free // 2, 0
    with Filling(f"unpacking {path.name}") as filling:
        try:
            for name, opened in _members(path, held):
                target = _new_file(path, name)
                _ORIGINS[target] = path
                before = written
                try:
                    with opened() as stream, target.open("wb") as out:
                        while chunk := stream.read(_CHUNK):
                            written += len(chunk)
                            _require_room(written, room)
                            out.write(chunk)
                            filling.come_to(written, held.limits.bytes)
                except _DAMAGES as problem:
                    damage.append(f"{name}: {_how(problem)}")
                except OverBudget:
                    target.unlink(missing_ok=True)
                    raise
                if target.exists() and (written > before or not damage):
                    files.append((name, target))
        except (*_DAMAGES, OverBudget) as problem:
            damage.insert(0, _how(problem))  # why there is no more, before what is wrong with what there is
    return Unpacked(tuple(files), _listed(damage) if damage else None)


def _require_room(written: int, room: int) -> None:
    if written > room:
        raise OverBudget(
            f"more than half of what is free in {scratch().parent} (TMPDIR names another folder)"
        )


def _listed(damage: Sequence[str]) -> str:
    more = f" and {len(damage) - _MOST_DAMAGES} more" if len(damage) > _MOST_DAMAGES else ""
    return "; ".join(damage[:_MOST_DAMAGES]) + more


def _new_file(path: Path, name: str) -> Path:
    return scratch() / f"{path.name[:100]}.{len(_ORIGINS)}{'.gz' if name.endswith('.gz') else '.log'}"


def _members(path: Path, held: Budget) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The files of an archive by name, each with what opens it; every entry of its list counts."""
    head = _head(path)
    if head.startswith(_ZIP) or path.name.lower().endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            came: list[int] = []
            for info in archive.infolist():
                held.member()
                if not info.is_dir():
                    yield info.filename, partial(_zip_member, archive, info, path, held, came)
            _require_all(path, len(archive.infolist()))
        return
    opener = next((opener for begins, opener in _OPENERS.items() if head.startswith(begins)), None)
    with (
        path.open("rb") if opener is None else opener(path) as raw,
        _tar(Metered(raw, path, held)) as archive_of_files,
    ):
        for member in archive_of_files:
            held.member()
            if member.isfile():
                yield member.name, partial(_tar_member, archive_of_files, member)
        _require_end(archive_of_files)


@contextlib.contextmanager
def _zip_member(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path, held: Budget, came: list[int]
) -> Iterator[Metered]:
    """A file of a zip; ``came``: bytes that came out of those before."""
    with archive.open(info) as stream:
        metered = Metered(stream, path, held, sum(came))
        try:
            yield metered
        finally:
            came.append(metered.furthest)


def _tar(stream: Metered) -> tarfile.TarFile:
    try:
        return tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r:")
    except (tarfile.ReadError, OSError) as problem:
        raise tarfile.ReadError("it is no archive") from problem


def _tar_member(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    """A file of a tar; the holes of a sparse one are in no budget."""
    stream = None if member.issparse() else archive.extractfile(member)
    if stream is None:
        raise tarfile.ReadError("is stored with holes (sparse), which is not read")
    return stream


def _require_all(path: Path, listed: int) -> None:
    """Raise ``BadZipFile`` where the list of a zip names fewer files than the zip holds by its own count."""
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - _ZIP_END_WITHIN))
        tail = stream.read()
    place = tail.rfind(_ZIP_END)
    (held,) = struct.unpack_from("<H", tail, place + 10) if place >= 0 else (listed,)
    if held not in {listed, _UNCOUNTED}:
        raise zipfile.BadZipFile(f"its list is damaged: {listed} of {held} files are in it")


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
    if isinstance(problem, OSError):
        return problem.strerror or text
    return text[:200] or type(problem).__name__
