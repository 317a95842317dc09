"""Read a file: every line counted, those that matter as events, the wrong ones with the reason."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any

from rebalance_kit.forensics.event import MESSAGES_A_LINE, Event
from rebalance_kit.forensics.lines.messages import LONGEST_LINE, SHOWN, Messages
from rebalance_kit.forensics.lines.repeats import Repeats
from rebalance_kit.forensics.lines.sieve import sieve

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rebalance_kit.forensics.lines.layouts import Reading
    from rebalance_kit.forensics.lines.repeats import Memory, Told


@dataclass(slots=True)
class FileRead:
    """What a file holds: its events in their order, its rejected lines, and how many lines became what."""

    run: str
    name: str
    note: str | None = None
    events: list[Event] = field(default_factory=list)
    rejected: list[tuple[int, str, str]] = field(default_factory=list)
    lines: int = 0
    parsed: int = 0
    #: What a file that is read piece by piece needs to know of the pieces before.
    rest: bytes = b""
    clients: set[str | None] = field(default_factory=set)
    groups: set[str | None] = field(default_factory=set)
    last_ms: int | None = None

    @property
    def ignored(self) -> int:
        """Lines that are neither parsed nor rejected."""
        return self.lines - self.parsed - len(self.rejected)


class FileReader:
    """Reads file after file."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._messages = Messages(reading)
        self._sieve = sieve(reading.table)
        self._repeats = Repeats(reading, self._messages.clock)

    def read(self, run: str, name: str, chunks: Iterable[bytes]) -> FileRead:
        """Read the text of a file, piece by piece."""
        told = FileRead(run, name)
        with uncollected():
            for chunk in chunks:
                self.feed(told, chunk)
        self.end(told)
        return told

    def feed(self, told: FileRead, chunk: bytes) -> None:
        """Read the whole lines of another piece of a file."""
        head, end, told.rest = (told.rest + chunk).rpartition(b"\n")
        if end:
            self.take(told, head)

    def end(self, told: FileRead) -> None:
        """Read a last line without an end, and complete the events (which may be done after any piece)."""
        if told.rest:
            self.take(told, told.rest)
            told.rest = b""
        _complete(told, shift(told.run, told.name, self._reading))

    def memories(self) -> list[Memory]:
        """What the reader remembers of lines, by the form of their times."""
        return self._repeats.memories()

    def take(self, told: FileRead, data: bytes) -> None:
        """Whole lines, without the end of the last."""
        run, name, events, unread = told.run, told.name, told.events, _UNREAD
        lines = data.decode("utf-8", "replace").split("\n")
        number, told.lines = told.lines, told.lines + len(lines)
        for line, cut in zip(lines, self._repeats.cuts(lines), strict=True):
            number += 1
            found: Any = cut[0].get(cut[1], unread)
            if found is None:
                continue
            ms = cut[2]
            if found is unread:
                found = self._line(line, data, number - told.lines - 1)
                self._repeats.remember(cut, found)
                if found is None:
                    continue
                ms = 0
            text = line.rstrip("\r")[:SHOWN]
            if isinstance(found, str):
                told.rejected.append((number, found, text))
                continue
            told.parsed += 1
            row = number * MESSAGES_A_LINE
            for fields in found:
                said = fields.copy()
                if ms and "at_ms" in said:
                    said["at_ms"] += ms
                said["text"], said["line"], said["row"], said["path"], said["file"] = (
                    text,
                    number,
                    row,
                    run,
                    name,
                )
                row += 1
                events.append(Event(said))

    def _line(self, line: str, data: bytes, place_in_data: int) -> Told:
        may_matter = self._sieve(line)
        if len(line) >= LONGEST_LINE // 4:
            size = len(data.split(b"\n")[place_in_data])
            if size > LONGEST_LINE:
                return f"line of {size} bytes; at most {LONGEST_LINE} are read"
        if may_matter is False:
            return None
        if may_matter is None and "\0" not in line and "\1" not in line and "\2" not in line:
            return "no known layout"
        return self._messages.read(line.rstrip("\r"))


#: A line that is not remembered.
_UNREAD = object()


def _complete(told: FileRead, shift_ms: int) -> None:
    """Lines of a client that name none get the one client (and group) that their file is of; clocks are set right."""
    theirs = [event.__dict__ for event in told.events if event.side != "broker"]
    told.clients |= {fields.get("client") for fields in theirs}
    told.groups |= {fields.get("group") for fields in theirs if "client" in fields}
    client, group = _only(told.clients), _only(told.groups)
    for fields in theirs:
        if client is not None and "client" not in fields:
            fields["client"] = client
        if group is not None and "group" not in fields:
            fields["group"] = group
    before = told.last_ms
    for event in told.events:
        if event.at_ms is None:
            continue
        if shift_ms:
            event.at_ms += shift_ms
        if before is not None and before > event.at_ms:
            event.back_ms = before - event.at_ms
        before = event.at_ms
    told.last_ms = before


def _only(values: set[str | None]) -> str | None:
    """The one value that there is besides None."""
    several = values - {None}
    return next(iter(several)) if len(several) == 1 else None


def shift(run: str, name: str, reading: Reading) -> int:
    """Milliseconds to add to the times of a file: the first offset whose pattern fits its path or name."""
    whole = f"{run}/{name}"
    fitting = (ms for pattern, ms in reading.offsets if fnmatch(whole, pattern) or fnmatch(name, pattern))
    return next(fitting, 0)


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause Python's collector, which would go through many events again and again and find no cycle."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
