"""Read a file: every line counted, those that matter as events, the wrong ones with the reason."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any

from rebalance_kit.forensics.event import Event
from rebalance_kit.forensics.lines.messages import LONGEST_LINE, SHOWN, Messages, place
from rebalance_kit.forensics.lines.sieve import sieve

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rebalance_kit.forensics.lines.layouts import Reading


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

    def read(self, run: str, name: str, chunks: Iterable[bytes]) -> FileRead:
        """Read the text of a file, piece by piece."""
        told = FileRead(run, name)
        with _uncollected():
            rest = b""
            for chunk in chunks:
                head, end, tail = (rest + chunk).rpartition(b"\n")
                rest = tail
                if end:
                    self._take(told, head)
            if rest:
                self._take(told, rest)
        _complete(told, shift(run, name, self._reading))
        return told

    def _take(self, told: FileRead, data: bytes) -> None:
        """Whole lines, without the end of the last."""
        begun, test, run, name = told.lines, self._sieve, told.run, told.name
        text = data.decode("utf-8", "replace")
        lines = text.split("\n")
        told.lines += len(lines)
        for number, line in enumerate(lines, start=begun + 1):
            may_matter = test(line)
            if may_matter is False and len(line) < LONGEST_LINE // 4:
                continue
            found = self._line(line, data, number - begun - 1, may_matter=may_matter)
            if found is None:
                continue
            if isinstance(found, str):
                told.rejected.append((number, found, line.rstrip("\r")[:SHOWN]))
                continue
            told.parsed += 1
            for part, fields in enumerate(found):
                place(fields, number, part)
                fields["path"], fields["file"] = run, name
                told.events.append(Event(fields))

    def _line(
        self, line: str, data: bytes, place_in_data: int, *, may_matter: bool | None
    ) -> list[dict[str, Any]] | str | None:
        if len(line) >= LONGEST_LINE // 4:
            size = len(data.split(b"\n")[place_in_data])
            if size > LONGEST_LINE:
                return f"line of {size} bytes; at most {LONGEST_LINE} are read"
            if may_matter is False:
                return None
        if may_matter is None and "\0" not in line and "\1" not in line and "\2" not in line:
            return "no known layout"
        return self._messages.read(line.rstrip("\r"))


def _complete(told: FileRead, shift_ms: int) -> None:
    """Lines of a client that name none get the one client (and group) that their file is of; clocks are set right."""
    theirs = [event for event in told.events if event.side != "broker"]
    clients = {event.client for event in theirs} - {None}
    groups = {event.group for event in theirs if event.client is not None} - {None}
    client = next(iter(clients)) if len(clients) == 1 else None
    group = next(iter(groups)) if len(groups) == 1 else None
    for event in theirs:
        if event.client is None and client is not None:
            event.client = client
        if event.group is None and group is not None:
            event.group = group
    before: int | None = None
    for event in told.events:
        if event.at_ms is None:
            continue
        event.at_ms += shift_ms
        if before is not None and before > event.at_ms:
            event.back_ms = before - event.at_ms
        before = event.at_ms


def shift(run: str, name: str, reading: Reading) -> int:
    """Milliseconds to add to the times of a file: the first offset whose pattern fits its path or name."""
    whole = f"{run}/{name}"
    fitting = (ms for pattern, ms in reading.offsets if fnmatch(whole, pattern) or fnmatch(name, pattern))
    return next(fitting, 0)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Many events and no cycles: Python's collector would go through them all again and again."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
