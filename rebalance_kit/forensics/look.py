"""Look into logs in this process: from files to tables, without Java and without any package.

>>> from rebalance_kit.forensics.look import look
>>> look(["logs/"]).rows("rebalances")  # doctest: +SKIP
"""

from __future__ import annotations

import os
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING

from rebalance_kit.forensics.group_tables import GroupTables, group_tables, tables_of_groups
from rebalance_kit.forensics.lines.archives import budget
from rebalance_kit.forensics.lines.file_reader import FileRead, FileReader, span_of, sums
from rebalance_kit.forensics.lines.files import PassedOver, Text, collect_some
from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.forensics.tables import EVENTS, GOLD, Row, in_order, require_table
from rebalance_kit.model.collector import uncollected
from rebalance_kit.model.errors import DataError, require_kind

if TYPE_CHECKING:
    from rebalance_kit.forensics.event import Event

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Look:
    """The tables of one look at some logs; ``rows`` gives them by name."""

    passed_over: tuple[PassedOver, ...] = ()
    files: list[FileRead] = field(default_factory=list)
    #: Whether it was stopped before all was read.
    interrupted: bool = False
    _gold: dict[str, list[Row]] = field(default_factory=lambda: {name: [] for name in GOLD})

    def rows(self, name: str) -> list[Row]:
        """The rows of a table, in its order; ``DataError`` for a table that is none."""
        require_table(name)
        if name == "lines":
            return in_order(name, [_counted(file) for file in self.files])
        if name == "rejected":
            return in_order(name, [row for file in self.files for row in _rejected(file)])
        if name == "events":
            return in_order(name, [event_row(event) for file in self.files for event in file.events])
        return in_order(name, self._gold[name])

    @property
    def period(self) -> tuple[int, int] | None:
        """From when to when lines were written, those of no group too; None where no time was read. The table of lines tells it of groups alone."""
        told = [ms for file in self.files for ms in file.span or ()]
        rows = self.rows("lines")
        return span_of(
            told + [row[name] for row in rows for name in ("from_ms", "to_ms") if row[name] is not None]
        )

    def add(self, path: str, events: Sequence[Event]) -> list[Row]:
        """Add the tables of one run, whose events come file by file in the order of names; returns its rows of ``groups``."""
        before = len(self._gold["groups"])
        for group, told in by_group(events, placed=True):
            for name, rows in self._gold.items():
                rows += [{"path": path, "group": group, **row} for row in getattr(told, name)]
        return self._gold["groups"][before:]

    def __repr__(self) -> str:
        """What was read, and how many rows the tables have."""
        lines = sum(file.lines for file in self.files)
        told = ", ".join(f"{len(rows)} {name}" for name, rows in self._gold.items())
        return f"Look at {len(self.files)} files, {lines:,} lines: {told}"


@dataclass(frozen=True, slots=True)
class Listener:
    """Who is told how a look goes on, and asked whether to stop it."""

    #: Lines read so far.
    on_lines: Callable[[int], object] = lambda _: None
    #: A run that is done: its path, and its rows of ``groups``.
    on_run: Callable[[str, list[Row]], object] = lambda *_: None
    stopped: Callable[[], bool] = lambda: False


def look(
    paths: Iterable[str | os.PathLike[str]],
    reading: Reading | None = None,
    listener: Listener | None = None,
    processes: int = 1,
) -> Look:
    """Read the logs under ``paths`` and return their tables; ``processes`` more read the lines, where there are several.

    Every folder that holds logs is one run; files named one by one are together one run.  Raises ``DataError``
    for a path that is missing or unreadable, or when nothing there is a log.  A look that ``listener`` stops
    gives the tables of what was read until then.
    """
    require_kind(reading, (Reading, NoneType), "reading", "a Reading, or None")
    given = list(paths)
    if not given:
        raise DataError("no path given; expected at least one log file or folder of logs")
    with budget():
        if processes < 2:
            return _looked(given, FileReader(reading or Reading()), listener or Listener())
        from rebalance_kit.forensics.lines.several import SeveralReaders

        with SeveralReaders(reading or Reading(), processes) as reader:
            return _looked(given, reader, listener or Listener())


def _looked(given: Sequence[str | os.PathLike[str]], reader: FileReader, heard: Listener) -> Look:
    found, passed_over = collect_some(given)
    told = Look(passed_over)
    runs: dict[str, list[tuple[str, Path]]] = defaultdict(list)
    for run, name, path in found:
        runs[run].append((name, path))
    with uncollected():
        reads = _read_all(told, reader, heard, runs)
        for run, files in runs.items():
            events = [event for one in islice(reads, len(files)) for event in one.events]
            if events or not told.interrupted:
                heard.on_run(run, told.add(run, events))
    return told


#: So many files more are begun before the first of them is settled, where other processes read.
_FILES_AHEAD = 12


def _read_all(
    told: Look, reader: FileReader, heard: Listener, runs: Mapping[str, Sequence[tuple[str, Path]]]
) -> Iterator[FileRead]:
    """The files in their order, each complete; some further ones are begun by then."""
    begun: deque[FileRead] = deque()
    lines = 0
    for run, files in runs.items():
        for name, path in sorted(files):
            if told.interrupted or heard.stopped():
                told.interrupted = True
                break
            one = _read(told, reader, heard, (run, name, path), lines)
            lines += one.lines
            begun.append(one)
            if len(begun) > _FILES_AHEAD or not reader.ahead:
                yield reader.settled(begun.popleft())
    while begun:
        yield reader.settled(begun.popleft())


def _read(
    told: Look, reader: FileReader, heard: Listener, file: tuple[str, str, Path], before: int
) -> FileRead:
    run, name, path = file
    text, one = Text(path), FileRead(run, name)
    told.files.append(one)
    for piece in text.pieces():
        reader.feed(one, piece)
        heard.on_lines(before + one.lines)
        if heard.stopped():
            told.interrupted, one.rest = True, b""
            break
    reader.close(one)
    one.note = f"interrupted: read up to line {one.lines}" if told.interrupted else text.note(one.lines)
    return one


def by_group(events: Sequence[Event], *, placed: bool = False) -> Iterator[tuple[str | None, GroupTables]]:
    """The tables of each group of a run, and, where there is not exactly one, of the lines of no group.

    ``placed``: the events come file by file, in the order of names and lines.
    """
    groups: dict[str | None, list[Event]] = defaultdict(list)
    for event in events:
        groups[event.group].append(event)
    shared = groups.pop(None, [])
    named = sorted((group, own) for group, own in groups.items() if group is not None)
    if len(named) == 1:
        yield named[0][0], group_tables(named[0][0], events, alone=True, placed=placed)
    else:
        yield from tables_of_groups(named, shared, alone=False, placed=placed)


def _counted(file: FileRead) -> Row:
    return {
        "path": file.run,
        "file": file.name,
        "lines": file.lines,
        "parsed": file.parsed,
        "ignored": file.ignored,
        "rejected": len(file.rejected),
        **sums((event.__dict__ for event in file.events), file.rejected),
        "note": file.note,
    }


def _rejected(file: FileRead) -> list[Row]:
    return [
        {"path": file.run, "file": file.name, "line": line, "why": why, "text": text}
        for line, why, text in file.rejected
    ]


def event_row(event: Event) -> Row:
    """An event as a row of the table."""
    row = {name: getattr(event, name, None) for name in EVENTS}
    row["at"] = None if event.at_ms is None else _EPOCH + timedelta(milliseconds=event.at_ms)
    return row
