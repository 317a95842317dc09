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
import time
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from rebalance_kit.forensics.lines.archives import (
    LIMITS_OPTION,
    OverBudget,
    budget,
    current_budget,
    is_archive,
    packed_as,
    unpacked,
)
from rebalance_kit.forensics.lines.exports import (
    EXPORTS,
    MOST_BYTES,
    TERMINAL_BYTES,
    TimesAbove,
    holds_a_log,
    rejoined,
    spread,
    turned,
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
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

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


class PassedOver(NamedTuple):
    """A file that is not read, or not all of it, and why; ``damaged``: it may hold logs nonetheless."""

    path: str
    why: str
    damaged: bool = False


@dataclass(frozen=True, slots=True)
class Survey:
    """The log files, and the files that were passed over with the reason."""

    files: tuple[LogFile, ...]
    passed_over: tuple[PassedOver, ...]


def survey(paths: Sequence[str | os.PathLike[str]], salvage: Path) -> Survey:
    """List and read through the log files under ``paths``; copy damaged ones into ``salvage``.

    Raises ``DataError`` for the first path that does not exist or cannot be read, or when no log is found.
    """
    if not paths:
        raise DataError("no path given; expected at least one log file or folder of logs")
    with budget():
        found, passed_over = collect_some(paths)
        files = tuple(look(run, name, path, salvage, place) for place, (run, name, path) in enumerate(found))
    return Survey(files, passed_over)


def collect_some(
    paths: Sequence[str | os.PathLike[str]],
) -> tuple[list[tuple[str, str, Path]], tuple[PassedOver, ...]]:
    """As ``collect``, with what damaged archives still give; ``DataError`` when there is no log at all."""
    found, passed_over = collect(paths, damaged_too=True)
    if not found:
        asked = ", ".join(os.fspath(path) for path in paths)
        damaged = "; ".join(f"{one.path} {one.why}" for one in passed_over if one.damaged)
        raise DataError(
            f"no log file under {asked}{f' ({damaged})' if damaged else ''}; "
            "expected files such as server.log or client.log.gz"
        )
    return found, passed_over


def collect(
    paths: Iterable[str | os.PathLike[str]], *, damaged_too: bool = False
) -> tuple[list[tuple[str, str, Path]], tuple[PassedOver, ...]]:
    """The log files under ``paths`` as (run, name, path), and the files passed over with the reason.

    With ``damaged_too`` a damaged archive gives what can be unpacked of it; without, one that was named raises ``DataError``.
    """
    found: list[tuple[str, str, Path]] = []
    passed_over: list[PassedOver] = []
    single: list[Path] = []
    for given in paths:
        path = Path(given)
        if path.is_dir():
            in_folder, others = _files_below(path, damaged_too=damaged_too)
            found += in_folder
            passed_over += others
        elif os.fspath(given) == STANDARD_INPUT:
            found.append((STANDARD_INPUT_NAME, STANDARD_INPUT_NAME, standard_input()))
        elif path.is_fifo():
            found.append((str(path), str(path), named_pipe(path)))
        elif path.exists() and not path.is_file():
            raise DataError(
                f"{path} is a socket or a device; expected files, folders, pipes, or - for what is piped in (`... | rebalance-kit logs -`)"
            )
        elif path.exists() and (is_archive(path) or packed_as(path)):
            inside, why = _files_of(path, (), damaged_too=damaged_too)
            if why and not damaged_too:
                raise DataError(f"{path} {why.why}; expected an archive of logs, or logs")
            passed_over += [why] if why else []
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


def _files_below(path: Path, *, damaged_too: bool) -> tuple[list[tuple[str, str, Path]], list[PassedOver]]:
    found: list[tuple[str, str, Path]] = []
    passed_over: list[PassedOver] = []
    for folder, names in _folders(path):
        for name in names:
            inside, why = _files_of(folder / name, names, damaged_too=damaged_too)
            passed_over += [why] if why else []
            found += [(str(folder), inner, place) for inner, place in inside]
    return found, passed_over


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


def _files_of(
    path: Path, beside: Sequence[str], *, damaged_too: bool
) -> tuple[list[tuple[str, Path]], PassedOver | None]:
    """The logs that a file is, or holds as an archive, with their names; and why it is none, or not all is read."""

    def passed_over(why: str, *, damaged: bool = False) -> PassedOver:
        return PassedOver(str(path), why, damaged)

    if not path.is_file():
        return [], passed_over("a pipe, a device or a link to nothing, not a file")
    if "run.json" in beside:
        return ([(path.name, path)], None) if _is_log(path.name, beside, path) else ([], passed_over(_NO_LOG))
    if is_archive(path) and path.suffix.lower() not in _NO_ARCHIVE:
        files, damage = unpacked(path)
        logs = [
            (f"{path.name}: {name}", place)
            for name, place in files
            if _is_log(name.rsplit("/", 1)[-1], (), place)
        ]
        if damage is None:
            return logs, None
        if not logs or not damaged_too:
            return [], passed_over(f"cannot be unpacked: {damage}", damaged=True)
        return logs, passed_over(f"is damaged: {damage}; what can be unpacked of it is read", damaged=True)
    form = packed_as(path)
    if form is not None:
        return [], passed_over(f"is packed with {form}, which is not read: unpack it", damaged=True)
    return ([(path.name, path)], None) if _is_log(path.name, beside, path) else ([], passed_over(_NO_LOG))


_NO_LOG = "not a log by its name"

#: Files that are archives to their programs alone.
_NO_ARCHIVE = frozenset(".jar .war .whl .docx .xlsx .odt .ods .pptx .epub .egg .nupkg".split())


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
        target.write_bytes(whole[0])
        return LogFile(run, name, target, _count(target, zipped=False)[0], whole[1])
    lines, (damage, times_above) = _count(path, zipped)
    if damage is None and zipped == named_gz and not times_above:
        return LogFile(run, name, path, lines)
    target = salvage / f"{place}.log"
    with target.open("wb") as out:
        read_through(path, zipped, out.write)
    odd = TIMES_ABOVE if times_above else _misnamed(zipped)
    return LogFile(run, name, target, lines, _lost(damage, lines) if damage else odd)


def _misnamed(zipped: bool) -> str:
    return "gzip under another name" if zipped else "named .gz but not compressed"


def _lost(damage: str, lines: int) -> str:
    over = LIMITS_OPTION in damage
    return f"{damage}: {'read up to' if over else 'readable up to'} line {lines}{'' if over else ', the rest is lost'}"


#: What is said of a file whose lines were put together.
TIMES_ABOVE = "java.util.logging writes times on lines of their own: each line is read with the time above it"
#: So much of a file shows whether it may be one line.
_HEAD = 64 << 10
_SPREAD = "one line of JSON: each message in it is read as a line; line numbers are those of the messages"
NEWEST_FIRST = "sorted newest first: read in reverse, and line numbers count from the end"
_BROKEN = "lines that had been broken were joined; line numbers are those of their beginnings"
_BORDERED = "borders that a terminal drew were taken off the lines"
_WRAPPED = "lines that a terminal had wrapped were joined; line numbers are those of their beginnings"


def _unwrapped(path: Path) -> tuple[bytes, str | None] | None:
    """The lines of a terminal's copy, or of an answer in one line of JSON, with what is odd about them; None for another file."""
    size = path.stat().st_size
    if size <= TERMINAL_BYTES and (whole := unwrapped(data := path.read_bytes())) is not None:
        return whole, _WRAPPED if whole.count(b"\n\n") > data.count(b"\n\n") else _BORDERED
    with path.open("rb") as stream:
        head = stream.read(_HEAD)
    if size <= MOST_BYTES and head[:1] in {b"{", b"["} and b"\n" not in head.rstrip(b"\r\n"):
        lines = spread(path.read_bytes())
        return None if lines is None else (lines, _SPREAD)
    if size <= MOST_BYTES and (whole := turned(head)) is not None:
        whole = turned(path.read_bytes()) or whole
        return (rejoined(whole) or (whole, False))[0], NEWEST_FIRST
    if size <= TERMINAL_BYTES and (told := rejoined(path.read_bytes())) is not None:
        return told[0], _BROKEN if told[1] else None
    return None


def _empty(salvage: Path, place: int) -> Path:
    target = salvage / f"{place}.log"
    target.touch()
    return target


def _recoded(run: str, name: str, path: Path, target: Path) -> LogFile:
    """A UTF-16 file (as some Windows shells write) as UTF-8."""
    text = path.read_bytes().decode("utf-16", errors="replace")
    target.write_bytes(text.encode("utf-8"))
    return LogFile(run, name, target, _count(target, zipped=False)[0], "UTF-16, read as UTF-8")


def _count(path: Path, zipped: bool) -> tuple[int, Passage]:
    """The lines of a file, including an unterminated last one, and how it was read."""
    lines, last = 0, b"\n"

    def count(chunk: bytes) -> None:
        nonlocal lines, last
        lines += chunk.count(b"\n")
        last = chunk[-1:] or last

    passage = read_through(path, zipped, count)
    return lines + (last != b"\n"), passage


class Text:
    """The text of a file, piece by piece; what is odd about it is known once all pieces are taken."""

    def __init__(self, path: Path) -> None:
        self._path = path
        #: What keeps the rest from being read, once all pieces are taken.
        self.damage: str | None = None
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
            self._note = whole[1]
            yield whole[0]
        else:
            if zipped != named_gz:
                self._note = _misnamed(zipped)
            self.damage, times_above = yield from _chunks(raw, zipped, self._path)
            if times_above:
                self._note = TIMES_ABOVE

    def note(self, lines: int) -> str | None:
        """What is odd about the file, after its pieces gave so many lines."""
        return self._note if self.damage is None else _lost(self.damage, lines)


class Passage(NamedTuple):
    """What is wrong with a gzip stream that cannot be read on, and whether times stood on lines of their own."""

    damage: str | None
    times_above: bool


def read_through(path: Path, zipped: bool, sink: Callable[[bytes], object]) -> Passage:
    """Pass the content of a file to ``sink`` in chunks, each line with its time."""
    with path.open("rb") as raw:
        chunks = _chunks(raw, zipped, path)
        while True:
            try:
                sink(next(chunks))
            except StopIteration as end:
                return cast("Passage", end.value)


def _chunks(raw: io.BufferedReader, zipped: bool, path: Path) -> Generator[bytes, None, Passage]:
    """The content of a file, piece by piece, each line with its time; of what is packed as much as the budget allows."""
    stream: io.BufferedIOBase = gzip.GzipFile(fileobj=raw, mode="rb") if zipped else raw
    below, damage, held = TimesAbove(), None, current_budget()
    while True:
        try:
            begun_s = time.monotonic()
            chunk = stream.read1(_CHUNK)
            if zipped:
                held.took(path, stream.tell(), time.monotonic() - begun_s)
        except OverBudget as problem:
            damage = str(problem)
            break
        except EOFError:
            damage = "gzip stream ends early"
            break
        except (OSError, zlib.error) as problem:
            if not zipped:
                raise
            damage = f"gzip stream is damaged ({str(problem)[:80]})"
            break
        if not chunk:
            break
        yield below.take(chunk)
    yield below.rest()
    return Passage(damage, bool(below.applies))
