"""Inspects the files before Spark does: which there are, which are damaged, how many lines each has.

Spark either fails on a damaged file or skips it silently.  Therefore each file is read once here and its
lines are counted, because the pipeline must account for exactly that many.  The readable part of a damaged
file is copied to where Spark can read it.

A directory stands for the runs in it: every folder that holds log files itself is one run.  Files
named individually form one run together.
"""

from __future__ import annotations

import gzip
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rebalance_kit.forensics.lines.exports import (
    EXPORTS,
    TERMINAL_BYTES,
    holds_a_log,
    is_archive,
    unpacked,
    unwrapped,
)
from rebalance_kit.forensics.lines.pipes import (
    STANDARD_INPUT,
    STANDARD_INPUT_NAME,
    named_pipe,
    standard_input,
)
from rebalance_kit.model.errors import DataError

if TYPE_CHECKING:
    import io
    from collections.abc import Callable, Iterable, Iterator, Sequence

_CHUNK = 1 << 20
_GZIP_MAGIC = b"\x1f\x8b"

#: Endings of files that are not logs: skipped in a folder, and reported.
NOT_LOGS = frozenset(
    ".md .json .jsonl .yaml .yml .toml .properties .py .ipynb .html .css .js .csv .parquet .crc .png .svg .pdf "
    ".jar .class .zip .tar .xz .bz2 .zst .7z .hprof .pid .lock .sh .conf .cfg .ini".split()
)


@dataclass(frozen=True, slots=True)
class LogFile:
    """One file of a run: the run, its name, the copy that Spark reads, its lines, and any defect."""

    run: str
    name: str
    readable: Path
    lines: int
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Survey:
    """The log files, and the files that were passed over with the reason."""

    files: tuple[LogFile, ...]
    passed_over: tuple[tuple[str, str], ...]


def survey(paths: Sequence[str | os.PathLike[str]], salvage: Path) -> Survey:
    """List and read through the log files under ``paths``; copy damaged ones into ``salvage``.

    Raises ``DataError`` for the first path that does not exist or cannot be read, or when no log is found.
    """
    if not paths:
        raise DataError("no path given; expected at least one log file or folder of logs")
    found, passed_over = collect(paths)
    if not found:
        asked = ", ".join(os.fspath(path) for path in paths)
        raise DataError(f"no log file under {asked}; expected files such as server.log or client.log.gz")
    files = tuple(look(run, name, path, salvage, place) for place, (run, name, path) in enumerate(found))
    return Survey(files, passed_over)


def collect(
    paths: Iterable[str | os.PathLike[str]],
) -> tuple[list[tuple[str, str, Path]], tuple[tuple[str, str], ...]]:
    """The log files under ``paths`` as (run, name, path), and the files passed over with the reason."""
    found: list[tuple[str, str, Path]] = []
    passed_over: list[tuple[str, str]] = []
    single: list[Path] = []
    for given in paths:
        path = Path(given)
        if path.is_dir():
            for folder, names in _folders(path):
                for name in names:
                    inside = _files_of(folder / name, names)
                    if isinstance(inside, str):
                        passed_over.append((str(folder / name), inside))
                    else:
                        found += [(str(folder), inner, place) for inner, place in inside]
        elif os.fspath(given) == STANDARD_INPUT:
            found.append((STANDARD_INPUT_NAME, STANDARD_INPUT_NAME, standard_input()))
        elif path.is_fifo():
            found.append((str(path), str(path), named_pipe(path)))
        elif path.exists() and not path.is_file():
            raise DataError(
                f"{path} is a socket or a device; expected files, folders, pipes, or - for what is piped in (`... | rebalance-kit logs -`)"
            )
        elif path.exists() and is_archive(path.name):
            inside = _files_of(path, ())
            if isinstance(inside, str):
                raise DataError(f"{path} {inside}; expected an archive of logs, or logs")
            found += [(str(path), inner, place) for inner, place in inside]
        elif path.exists():
            single.append(path)
        else:
            raise DataError(
                f"no such file or folder: {os.fspath(given)}; expected logs of Kafka brokers or clients"
            )
    if single:
        run = str(single[0]) if len(single) == 1 else _common_folder(single)
        found += [(run, str(path), path) for path in single]
    return _once(found), tuple(passed_over)


def _common_folder(files: Sequence[Path]) -> str:
    if len({file.is_absolute() for file in files}) > 1:
        files = [file.resolve() for file in files]
    return os.path.commonpath([file.parent for file in files]) or "."


def _once(found: list[tuple[str, str, Path]]) -> list[tuple[str, str, Path]]:
    """Each file once, however often it was named, under its first name."""
    first: dict[Path, tuple[str, str, Path]] = {}
    for row in found:
        first.setdefault(row[2].resolve(), row)
    return list(first.values())


def _folders(top: Path) -> Iterator[tuple[Path, list[str]]]:
    for folder, inner, names in os.walk(top):
        inner[:] = sorted(name for name in inner if not name.startswith((".", "_")))
        yield Path(folder), sorted(name for name in names if not name.startswith((".", "_")))


def _files_of(path: Path, beside: Sequence[str]) -> list[tuple[str, Path]] | str:
    """The logs that a file is, or holds as an archive, with their names; or why it is none."""
    if not path.is_file():
        return "a pipe, a device or a link to nothing, not a file"
    if "run.json" not in beside and is_archive(path.name):
        members = unpacked(path)
        if isinstance(members, str):
            return members
        return [
            (f"{path.name}: {name}", place)
            for name, place in members
            if _is_log(name.rsplit("/", 1)[-1], (), place)
        ]
    return [(path.name, path)] if _is_log(path.name, beside, path) else "not a log by its name"


def _is_log(name: str, beside: Sequence[str], path: Path) -> bool:
    bare = name.lower().removesuffix(".gz")
    if "run.json" in beside:  # a recorded run: beside its logs lie the truth and what a tool printed
        return ".log" in name
    suffix = Path(bare).suffix
    return holds_a_log(path) if suffix in EXPORTS else suffix not in NOT_LOGS


def look(run: str, name: str, path: Path, salvage: Path, place: int) -> LogFile:
    """Read a file once, and copy it into ``salvage`` when Spark could not read it as it is."""
    try:
        with path.open("rb") as stream:
            head = stream.read(4096)
    except OSError as problem:
        raise DataError(
            f"{path} cannot be read: {problem.strerror}; expected a readable log file"
        ) from problem
    zipped, named_gz = head.startswith(_GZIP_MAGIC), path.suffix.lower() == ".gz"
    if not head:
        # Spark fails on an empty file whose name ends in .gz.
        return LogFile(run, name, _empty(salvage, place) if named_gz else path, 0, "empty file")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _recoded(run, name, path, salvage / f"{place}.log")
    if not zipped and not named_gz and (whole := _unwrapped(path)) is not None:
        target = salvage / f"{place}.log"
        target.write_bytes(whole)
        return LogFile(run, name, target, _count(target, zipped=False)[0], _WRAPPED)
    lines, complete = _count(path, zipped)
    note = None if complete else f"gzip stream ends early: readable up to line {lines}, the rest is lost"
    if complete and zipped == named_gz:
        return LogFile(run, name, path, lines, note)
    target = salvage / f"{place}.log"
    with target.open("wb") as out:
        read_through(path, zipped, out.write)
    if complete:
        note = "gzip under another name" if zipped else "named .gz but not compressed"
    return LogFile(run, name, target, lines, note)


#: What is said of a file whose lines were put together.
_WRAPPED = "lines that a terminal had wrapped were joined; line numbers are those of the whole lines"


def _unwrapped(path: Path) -> bytes | None:
    return unwrapped(path.read_bytes()) if path.stat().st_size <= TERMINAL_BYTES else None


def _empty(salvage: Path, place: int) -> Path:
    target = salvage / f"{place}.log"
    target.touch()
    return target


def _recoded(run: str, name: str, path: Path, target: Path) -> LogFile:
    """A UTF-16 file (as some Windows shells write) as UTF-8."""
    text = path.read_bytes().decode("utf-16", errors="replace")
    target.write_bytes(text.encode("utf-8"))
    return LogFile(run, name, target, _count(target, zipped=False)[0], "UTF-16, read as UTF-8")


def _count(path: Path, zipped: bool) -> tuple[int, bool]:
    """The lines of a file, including an unterminated last one, and whether it is readable to the end."""
    lines, last = 0, b"\n"

    def count(chunk: bytes) -> None:
        nonlocal lines, last
        lines += chunk.count(b"\n")
        last = chunk[-1:]

    complete = read_through(path, zipped, count)
    return lines + (last != b"\n"), complete


class Text:
    """The text of a file, piece by piece; what is odd about it is known once all pieces are taken."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.lines_lost = False
        self._note: str | None = None

    def pieces(self) -> Iterator[bytes]:
        """The bytes of the file, unpacked and as UTF-8; ``DataError`` when it cannot be read."""
        try:
            with self._path.open("rb") as raw:
                head = raw.read(4)
                raw.seek(0)
                yield from self._pieces(raw, head)
        except OSError as problem:
            raise DataError(
                f"{self._path} cannot be read: {problem.strerror}; expected a readable log file"
            ) from problem

    def _pieces(self, raw: io.BufferedReader, head: bytes) -> Iterator[bytes]:
        zipped, named_gz = head.startswith(_GZIP_MAGIC), self._path.suffix.lower() == ".gz"
        if not head:
            self._note = "empty file"
        elif head.startswith((b"\xff\xfe", b"\xfe\xff")):
            self._note = "UTF-16, read as UTF-8"
            yield raw.read().decode("utf-16", errors="replace").encode("utf-8")
        elif not zipped and not named_gz and (whole := _unwrapped(self._path)) is not None:
            self._note = _WRAPPED
            yield whole
        else:
            if zipped != named_gz:
                self._note = "gzip under another name" if zipped else "named .gz but not compressed"
            stream: io.BufferedIOBase = gzip.GzipFile(fileobj=raw, mode="rb") if zipped else raw
            while True:
                try:
                    chunk = stream.read1(_CHUNK)
                except (EOFError, OSError, zlib.error):
                    self.lines_lost = True
                    return
                if not chunk:
                    return
                yield chunk

    def note(self, lines: int) -> str | None:
        """What is odd about the file, after its pieces gave so many lines."""
        if self.lines_lost:
            return f"gzip stream ends early: readable up to line {lines}, the rest is lost"
        return self._note


def read_through(path: Path, zipped: bool, sink: Callable[[bytes], object]) -> bool:
    """Pass the content of a file to ``sink`` in chunks; False when a gzip stream ends early."""
    with path.open("rb") as raw:
        stream: io.BufferedIOBase = gzip.GzipFile(fileobj=raw, mode="rb") if zipped else raw
        while True:
            try:
                chunk = stream.read1(_CHUNK)
            except (EOFError, OSError, zlib.error):
                return False
            if not chunk:
                return True
            sink(chunk)
