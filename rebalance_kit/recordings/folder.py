"""Recorded runs: one as a folder, and the packed file of those that come with the repository.

One recorded run: a folder with ``run.json``, the broker's log, a log per member, and the truth.

What cannot be read is left out and said (``left_out``); a run without ``run.json`` is no run.

The recorded runs that come with the repository, packed into one file.

``data/recorded/recorded-runs.tar.xz`` holds all of them, plain, as ``<run>/<file>``: 51 MB of text
in less than one, since runs resemble each other.  ``data/recorded/table.json`` is the table of what
the raw text counts (generations, epochs, targets, expired members, callbacks), one object a run and
group; ``data/recorded/README.md`` tells how the runs were made and what the files hold. The folder
``MORE`` holds a second, smaller pack of the same kind: ask for it with ``folder=MORE``.
"""

from __future__ import annotations

import gzip
import json
import re
import tarfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, TextIO

from rebalance_kit.model.errors import DataError, RebalanceKitError
from rebalance_kit.model.files import refuse_no_file, write_atomically
from rebalance_kit.model.topology import parse_partition

# Check the form of the rows and steps of a recorded run.


#: What a step may do.
STEPS = (
    "admin",
    "broker-start",
    "broker-stop",
    "cli",
    "cut",
    "freeze",
    "heal",
    "kill",
    "start",
    "tell",
    "thaw",
)

#: Moments further apart than this (a year, in ms) are no moments of one run.
_FAR_MS = 366 * 24 * 3_600_000


def is_step(step: Any) -> bool:
    """An object with ``t`` (ms), ``do``, and, where a member is started, its name and configs."""
    if not (isinstance(step, dict) and _moment(step.get("t")) and isinstance(step.get("do"), str)):
        return False
    if not _order(step.get("line", "")):
        return False
    if step["do"] in {"kill", "freeze", "thaw", "cut", "heal", "tell", "start"} and not isinstance(
        step.get("member"), str
    ):
        return False
    return step["do"] != "start" or (
        isinstance(step.get("configs"), dict) and isinstance(step.get("topics"), str)
    )


def is_row(row: Any) -> bool:
    """An object with ``by``, ``t`` (ms) and ``kind``, and what the rows of its kind hold."""
    if not (
        isinstance(row, dict)
        and isinstance(row.get("by"), str)
        and _moment(row.get("t"))
        and isinstance(row.get("kind"), str)
    ):
        return False
    if not _order(row.get("line", "")):
        return False
    return _OF_KIND.get(row["kind"], _any)(row)


def near(moment: int, begin: int) -> bool:
    """Whether a moment can belong to a run that began then."""
    return abs(moment - begin) < _FAR_MS


def _order(line: Any) -> bool:
    """What was told or administered: words that are there in number, and numbers where there must be some."""
    if not isinstance(line, str):
        return False
    words = line.split()
    if not words or words[0] not in _WORDS:
        return True
    most, numbers = _WORDS[words[0]]
    return len(words) > most and all(words[place].isascii() and words[place].isdigit() for place in numbers)


def _moment(at: Any) -> bool:
    return isinstance(at, int) and not isinstance(at, bool)


def _any(row: Mapping[str, Any]) -> bool:
    return True


def _partition(text: Any) -> bool:
    try:
        parse_partition(text)
    except (RebalanceKitError, ValueError, TypeError, AttributeError):
        return False
    return True


def _names(held: Any) -> bool:
    return isinstance(held, list) and all(map(_partition, held))


def _callback(row: Mapping[str, Any]) -> bool:
    return (
        _names(row.get("partitions"))
        and isinstance(row.get("generation"), int | None)
        and isinstance(row.get("member"), str | None)
    )


def _records(row: Mapping[str, Any]) -> bool:
    held = row.get("records")
    return isinstance(held, dict) and all(
        _partition(name) and isinstance(span, list) and len(span) == 2 and all(map(_moment, span))
        for name, span in held.items()
    )


def _describe(row: Mapping[str, Any]) -> bool:
    members, epochs = row.get("members"), (row.get("epoch"), row.get("target_epoch"))
    return (
        isinstance(members, dict)
        and isinstance(row.get("state"), str)
        and isinstance(row.get("group"), str)
        and all(isinstance(one, int | None) for one in epochs)
        and all(
            isinstance(held, dict)
            and all(held.get(key) is None or _names(held[key]) for key in ("owned", "target"))
            for held in members.values()
        )
    )


_WORDS: Mapping[str, tuple[int, tuple[int, ...]]] = MappingProxyType(
    {
        "topic": (2, (2,)),
        "partitions": (2, (2,)),
        "delete-topic": (1, ()),
        "remove-instance": (2, ()),
        "stall": (1, (1,)),
        "slow": (1, (1,)),
        "subscribe": (1, ()),
    }
)
"""Orders by their first word: how many words follow at least, and which of them are numbers."""
_OF_KIND: Mapping[str, Callable[[Mapping[str, Any]], bool]] = MappingProxyType(
    {
        "assigned": _callback,
        "revoked": _callback,
        "lost": _callback,
        "records": _records,
        "describe": _describe,
    }
)


_DEFAULT = re.compile(r"\[(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d),(\d{3})\] (\w+) (.*)$")
_SPRING = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\.(\d{3})Z\s+(\w+) \d+ --- \[[^]]*\] \S+\s+: (.*)$"
)
_LIBRD = re.compile(r"%(\d)\|(\d+)\.(\d{3})\|(\w+)\|[^|]*\| (.*)$")


@dataclass(frozen=True, slots=True)
class Line:
    """One log event: time in ms since the epoch, level, message (further physical lines joined by newlines)."""

    t: int
    level: str
    text: str


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A recorded run as read from its folder; times are ms since the epoch."""

    name: str
    scenario: str
    protocol: str
    kafka: str
    broker_configs: Mapping[str, str]
    steps: tuple[Mapping[str, Any], ...]
    broker: tuple[Line, ...]
    members: Mapping[str, tuple[Line, ...]]
    truth: tuple[Mapping[str, Any], ...]
    left_out: tuple[str, ...] = ()
    summary: Mapping[str, Any] = field(default_factory=dict)

    @property
    def begin(self) -> int:
        """When the first step was taken."""
        return int(self.steps[0]["t"])

    @property
    def stop(self) -> int:
        """When the recording's own shutdown begins, or the last moment of the truth."""
        stops = [
            int(step["t"]) for step in self.steps if step["do"] == "admin" and step.get("line") == "stop"
        ]
        return (
            stops[0]
            if stops
            else max((int(row["t"]) for row in self.truth), default=int(self.steps[-1]["t"]))
        )


def read_run(folder: str | Path) -> RecordedRun:
    """Read a recorded run; raises ``DataError`` when there is no readable ``run.json`` or no step in it."""
    path = Path(folder)
    notes: list[str] = []
    refuse_no_file(path / "run.json", "run.json of a recorded run")
    try:
        head = json.loads((path / "run.json").read_text(encoding="utf-8", errors="replace"), strict=False)
        steps = tuple(step for step in head["steps"] if _kept(step, path, notes))
        begin = steps[0]["t"]
        broker = {str(key): str(value) for key, value in _object(head, "broker", path, notes).items()}
        summary = _object(head, "summary", path, notes)
    except (OSError, ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
        raise DataError(
            f"{path}: not a recorded run: expected run.json with scenario, protocol, kafka and steps ({error!r})"
        ) from error
    members = {}
    for file in sorted(path.glob("*.log.gz")) + sorted(path.glob("*.log")):
        name = file.name.removesuffix(".gz").removesuffix(".log")
        if name != "broker":
            members[name] = tuple(_lines(file, notes))
    return RecordedRun(
        path.name,
        str(head.get("scenario", path.name)),
        str(head.get("protocol", "")),
        str(head.get("kafka", "")),
        broker,
        steps,
        tuple(_lines(_found(path, "broker.log"), notes)),
        members,
        tuple(_truth(_found(path, "truth.jsonl"), begin, notes)),
        tuple(notes),
        summary,
    )


def _object(head: Mapping[str, Any], key: str, path: Path, notes: list[str]) -> Mapping[str, Any]:
    held = head.get(key, {})
    if isinstance(held, dict):
        return held
    notes.append(f"{path / 'run.json'}: {key} left out: expected an object, got {str(held)[:60]!r}")
    return {}


def _kept(step: Any, path: Path, notes: list[str]) -> bool:
    if is_step(step):
        if step["do"] not in STEPS:
            notes.append(
                f"{path / 'run.json'}: step {step['do']!r} is of an unknown kind, and nothing is done for it; expected one of {', '.join(STEPS)}"
            )
        return True
    notes.append(
        f"{path / 'run.json'}: step {str(step)[:100]} left out: expected an object with t (ms), do, and what that needs"
    )
    return False


def _found(path: Path, name: str) -> Path:
    packed = path / f"{name}.gz"
    return packed if packed.exists() else path / name


def _opened(file: Path) -> TextIO:
    refuse_no_file(file, "a file of a recorded run")
    if file.suffix == ".gz":
        return gzip.open(file, "rt", encoding="utf-8", errors="replace")
    return file.open(encoding="utf-8", errors="replace")


def _text(file: Path, notes: list[str]) -> Iterator[tuple[int, str]]:
    """Physical lines with their numbers; a damaged end is left out and noted."""
    number = 0
    try:
        with _opened(file) as lines:
            for number, line in enumerate(lines, start=1):
                yield number, line.rstrip("\n")
    except (OSError, EOFError, zlib.error) as error:
        notes.append(f"{file}: left out from line {number + 1} on: {error}")


def _lines(file: Path, notes: list[str]) -> Iterator[Line]:
    held: Line | None = None
    more: list[str] = []
    for _, text in _text(file, notes):
        line = parse_line(text)
        if line is None:
            more.append(text)
            continue
        if held is not None:
            yield Line(held.t, held.level, "\n".join([held.text, *more])) if more else held
        held, more = line, []
    if held is not None:
        yield Line(held.t, held.level, "\n".join([held.text, *more])) if more else held


def parse_line(text: str) -> Line | None:
    """One physical line of a known layout (Kafka's default, Spring Boot's, librdkafka's), else None."""
    match = _DEFAULT.match(text) or _SPRING.match(text)
    if match:
        *when, level, message = match.groups()
        year, month, day, hour, minute, second, milli = (int(part) for part in when)
        try:
            stamp = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        except ValueError:
            return None
        return Line(int(stamp.timestamp()) * 1000 + milli, level, message)
    match = _LIBRD.match(text)
    if match:
        level, seconds, millis, facility, message = match.groups()
        return Line(int(seconds) * 1000 + int(millis), level, f"{facility} {message}")
    return None


def _truth(file: Path, begin: int, notes: list[str]) -> Iterator[Mapping[str, Any]]:
    last = None
    for number, text in _text(file, notes):
        try:
            row = json.loads(text)
            kept = is_row(row) and near(row["t"], begin)
        except (ValueError, RecursionError):
            kept = False
        if not kept:
            notes.append(
                f"{file}:{number}: left out: expected a JSON object with by, t and kind, and what that kind holds, got {text[:60]!r}"
            )
            continue
        if last is not None and row["t"] < last - 1000:
            notes.append(f"{file}:{number}: the clock goes backwards by {last - row['t']} ms")
        last = row["t"]
        yield row


_HERE = Path(__file__).resolve().parent
_HOMES = (_HERE / "recorded", _HERE.parents[1] / "data" / "recorded")
"""Inside an installed package, or in a checkout."""

#: Where the pack lies.
RECORDED = next((folder for folder in _HOMES if folder.is_dir()), _HOMES[-1])

#: A second pack: runs recorded later, of what the first one does not cover.
MORE = RECORDED / "more"

#: The same deeds under five settings and three protocols.
SETTINGS = RECORDED / "settings"

_PACK = "recorded-runs.tar.xz"

#: Files that a folder of a recorded run holds compressed.
_COMPRESSED = (".log", ".jsonl")


def table(folder: Path = RECORDED) -> list[dict[str, Any]]:
    """The table of truth: what the raw text of every run and group counts."""
    rows: list[dict[str, Any]] = json.loads(_present(folder / "table.json").read_text("utf-8"))
    return rows


def run_names(folder: Path = RECORDED) -> tuple[str, ...]:
    """Names of the packed runs, ``<scenario>.<protocol>.<Kafka version>``, in order."""
    return tuple(dict.fromkeys(row["run"] for row in table(folder)))


def read_file(run: str, name: str, folder: Path = RECORDED) -> bytes:
    """One file of one run, uncompressed (``c1.log``, ``truth.jsonl``, ``run.json`` ...).

    Raises ``DataError`` when the pack has no such run or file.
    """
    for member, data in _members(folder, {run}):
        if member == f"{run}/{name}":
            return data
    raise DataError(f"no file {name!r} of run {run!r} in {folder / _PACK}; expected a run of run_names()")


def unpack(target: Path, runs: Collection[str] | None = None, folder: Path = RECORDED) -> tuple[Path, ...]:
    """Write runs (default: all) as folders under ``target``, as they were recorded; return the folders.

    They come in the order in which they were asked for; all runs, or those of a set, in the order of the pack.
    Logs and truth are compressed (``.gz``) as in the recording.  Raises ``DataError`` for a run that is not packed.
    """
    known = run_names(folder)
    wanted = set(known if runs is None else runs)
    if unknown := sorted(wanted - set(known)):
        raise DataError(f"no recorded run {unknown[0]!r}; expected one of {', '.join(known)}")
    for member, data in _members(folder, wanted):
        place = target / member
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.suffix in _COMPRESSED:
            place = place.with_name(place.name + ".gz")
            data = gzip.compress(data, compresslevel=1, mtime=0)  # noqa: PLW2901
        write_atomically(place, data)
    in_order = known if runs is None or isinstance(runs, AbstractSet) else dict.fromkeys(runs)
    return tuple(target / run for run in in_order if run in wanted)


def _members(folder: Path, runs: Collection[str]) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(_present(folder / _PACK), "r:xz") as pack:
        for member in pack:
            stream = pack.extractfile(member)
            if stream is not None and member.name.split("/", 1)[0] in runs:
                yield member.name, stream.read()


def _present(path: Path) -> Path:
    if not path.is_file():
        raise DataError(f"{path} is missing; expected the recorded runs beside the package or in a checkout")
    return path
