"""Read a file: every line counted, those that matter as events, the wrong ones with the reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any

from rebalance_kit.forensics.event import MESSAGES_A_LINE, Event, only
from rebalance_kit.forensics.lines.anchors import is_unclear
from rebalance_kit.forensics.lines.line_reader import LONGEST_LINE, SHOWN, Messages, Several
from rebalance_kit.forensics.lines.repeats import ZONE, QuickReader, Repeats, sieve
from rebalance_kit.forensics.lines.timestamps import MILLIS
from rebalance_kit.model.collector import uncollected

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rebalance_kit.forensics.lines.layouts import Reading
    from rebalance_kit.forensics.lines.repeats import Cut, Memory, Told


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
    #: Bytes of the line that ``rest`` begins which were left out, because it is longer than any that is read.
    left_out: int = 0
    clients: set[str | None] = field(default_factory=set)
    groups: set[str | None] = field(default_factory=set)
    last_ms: int | None = None
    #: The first and the last time that its lines carry, whatever they tell.
    span: tuple[int, int] | None = None

    @property
    def ignored(self) -> int:
        """Lines that are neither parsed nor rejected."""
        return self.lines - self.parsed - len(self.rejected)


class FileReader:
    """Reads file after file."""

    #: Whether files are better begun before the one before is settled.
    ahead = False

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._messages = Messages(reading)
        self._sieve = sieve(reading.table)
        self._quick = QuickReader(self._sieve)
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
        """Read the whole lines of another piece of a file; of a line that is too long only the beginning is held."""
        if told.left_out:
            more, end, chunk = chunk.partition(b"\n")
            told.left_out += len(more)
            if not end:
                return
            _reject_long(told)
        head, end, rest = (told.rest + chunk).rpartition(b"\n")
        told.rest, told.left_out = rest[: LONGEST_LINE + 1], max(0, len(rest) - LONGEST_LINE - 1)
        if end:
            self.take(told, head)

    def end(self, told: FileRead) -> None:
        """Read a last line without an end, and complete the events (which may be done after any piece)."""
        self.close(told)
        self.settled(told)

    def close(self, told: FileRead) -> None:
        """Read a last line without an end."""
        if told.rest and told.left_out:
            _reject_long(told)
        elif told.rest:
            self.take(told, told.rest)
            told.rest = b""

    def settled(self, told: FileRead) -> FileRead:
        """A file that was closed, its events with what only the whole file tells."""
        _complete(told, shift(told.run, told.name, self._reading))
        return told

    def memories(self) -> list[Memory]:
        """What the reader remembers of lines, by the form of their times."""
        return self._repeats.memories()

    def take(self, told: FileRead, data: bytes) -> None:
        """Whole lines, without the end of the last."""
        lines = data.decode("utf-8", "replace").split("\n")
        form, whole, unread = self._repeats.form_of(lines), self._repeats.whole, _UNREAD
        seconds, memory, width, end = form.seconds, form.memory, form.width, form.width + 3
        first, told.lines = told.lines, told.lines + len(lines)
        low, high, millis = _NEVER, -_NEVER, MILLIS.get
        found: Any
        # Most lines are ignored ones that were read before: they end at the first "continue" or at the third.
        for number, line in enumerate(lines, first + 1):
            second, ms = seconds.get(line[:width]), millis(line[width:end])
            if second is None and ms is not None:
                second = self._repeats.second_of(form, line)
            if second is not None and ms is not None:
                ms += second
                if ms > high:  # noqa: PLR1730 - a call for each line is slow
                    high = ms
                if ms < low:  # noqa: PLR1730
                    low = ms
                rest = line[end:]
                found = memory.get(rest, unread)
                if found is None:
                    continue
                if type(found) is dict:
                    _add(told, found.copy(), number, line)["at_ms"] += ms
                    continue
                cut = memory, rest, ms
            else:
                found = whole.get(line, unread)
                if found is None:
                    continue
                if type(found) is dict:
                    _add(told, found.copy(), number, line)
                    continue
                cut = (whole, line, 0) if found is not unread else self._repeats.cut(line)
                if cut[2] and not ZONE.match(cut[1]):
                    high, low = max(high, cut[2]), min(low, cut[2])
            self._take(told, number, line, cut, data)
        plain = () if low > high or self._repeats.is_zoned(form, lines) else (low, high)
        told.span = span_of([*(told.span or ()), *self._written(lines), *plain])

    def _written(self, lines: Sequence[str]) -> list[int]:
        """When lines near both ends were written whose time is none of the plain ones."""
        ends = lines if len(lines) <= 2 * _NEAR_AN_END else [*lines[:_NEAR_AN_END], *lines[-_NEAR_AN_END:]]
        cut, whole = self._repeats.cut, self._repeats.whole
        odd = (line for line in ends if (found := cut(line))[0] is whole or ZONE.match(found[1]))
        return [ms for line in odd if (ms := self._messages.written_at(line)) is not None]

    def _take(self, told: FileRead, number: int, line: str, cut: Cut, data: bytes) -> None:
        """A line that is cut, which need not be remembered."""
        found: Any = cut[0].get(cut[1], _UNREAD)
        if found is _UNREAD:
            found = self._unread(line, cut, data, number - told.lines - 1)
            if type(found) is dict:
                _add(told, found, number, line)
            elif found is not None:
                _tell(told, found, number, line)
            self._repeats.remember(cut, found)
        elif type(found) is dict:
            fields = _add(told, found.copy(), number, line)
            if "at_ms" in fields:
                fields["at_ms"] += cut[2]
        elif found is not None:
            _tell(told, found if type(found) is str else _copied(found, cut[2]), number, line)

    def _unread(self, line: str, cut: Cut, data: bytes, place_in_data: int) -> Told:
        quick = self._quick.read(line, cut[1], cut[2]) if self._repeats.is_kafkas(cut[0]) else None
        return self._line(line, data, place_in_data) if quick is None else quick or None

    def _line(self, line: str, data: bytes, place_in_data: int) -> Told:
        may_matter = self._sieve(line)
        if len(line) >= LONGEST_LINE // 4:
            size = len(data.split(b"\n")[place_in_data])
            if size > LONGEST_LINE:
                return _too_long(size)
        if may_matter is False:
            return None
        if may_matter is None and "\0" not in line and "\1" not in line and "\2" not in line:
            return "no known layout"
        found = self._messages.read(line.rstrip("\r"))
        return found[0] if type(found) is list and len(found) == 1 else found


def span_of(moments: Sequence[int]) -> tuple[int, int] | None:
    """The first and the last of these moments: of lines that hold no day only the time of day is known, so any other begins before them."""
    return (min(moments, key=lambda ms: (ms < DAY_MS, ms)), max(moments)) if moments else None


def sums(events: Iterable[dict[str, Any]], rejected: Iterable[tuple[int, str, str]]) -> dict[str, Any]:
    """What a table of files adds to the counts of lines: of some events and rejected lines."""
    first_ms: int | None = None
    last_ms: int | None = None
    by_words: set[int] = set()
    for fields in events:
        at_ms = fields.get("at_ms")
        if at_ms is not None:
            if first_ms is None or (at_ms < DAY_MS, at_ms) < (first_ms < DAY_MS, first_ms):
                first_ms = at_ms
            last_ms = at_ms if last_ms is None or at_ms > last_ms else last_ms
        if "confidence" in fields:
            by_words.add(fields["row"] // MESSAGES_A_LINE)
    unclear = sum(is_unclear(why, text) for _, why, text in rejected)
    return {"unclear": unclear, "by_words": len(by_words), "from_ms": first_ms, "to_ms": last_ms}


def _add(told: FileRead, fields: dict[str, Any], number: int, line: str) -> dict[str, Any]:
    """Add the one event of a line to what a file holds."""
    fields["line"], fields["row"] = number, number * MESSAGES_A_LINE
    fields["text"] = line.rstrip("\r")[:SHOWN]
    fields["path"], fields["file"] = told.run, told.name
    told.parsed += 1
    told.events.append(Event(fields))
    return fields


def _tell(told: FileRead, found: list[dict[str, Any]] | str, number: int, line: str) -> None:
    """Add the several events of a line to what a file holds, or why it is rejected."""
    if isinstance(found, str):
        told.rejected.append((number, found, line.rstrip("\r")[:SHOWN]))
        return
    for part, fields in enumerate(found):
        text = fields["text"]
        _add(told, fields, number, line)["row"] += part
        if type(found) is Several:
            fields["text"] = text
    told.parsed -= len(found) - 1


def _copied(found: list[dict[str, Any]], ms: int) -> list[dict[str, Any]]:
    """The fields of the events of a line that is remembered, at a moment."""
    return [
        {**fields, "at_ms": fields["at_ms"] + ms} if "at_ms" in fields else fields.copy() for fields in found
    ]


def _too_long(size: int) -> str:
    """Why a line of so many bytes is rejected."""
    return f"line of {size} bytes; at most {LONGEST_LINE} are read"


def _reject_long(told: FileRead) -> None:
    """Count the line whose beginning is held, and reject it."""
    told.lines += 1
    shown = told.rest[: 4 * SHOWN].decode("utf-8", "replace")[:SHOWN]
    told.rejected.append((told.lines, _too_long(len(told.rest) + told.left_out), shown))
    told.rest, told.left_out = b"", 0


#: Times before this are those of lines that hold no day.
DAY_MS = 86_400_000

#: Later than any line.
_NEVER = 1 << 62

#: So many lines at each end of a piece tell when its lines were written, where their time is none of the plain ones.
_NEAR_AN_END = 200

#: A line that is not remembered.
_UNREAD = object()


def _complete(told: FileRead, shift_ms: int) -> None:
    """Lines of a client that name none get the one client (and group) that their file is of; clocks are set right."""
    if told.span is not None:
        told.span = told.span[0] + shift_ms, told.span[1] + shift_ms
    nameless, before = [], told.last_ms
    clients, groups = told.clients, told.groups
    for event in told.events:
        fields = event.__dict__
        if fields["side"] != "broker":
            groups.add(fields.get("group"))
            if "client" in fields:
                clients.add(fields["client"])
            if "client" not in fields or "group" not in fields:
                nameless.append(fields)
        at_ms = fields.get("at_ms")
        if at_ms is not None:
            if shift_ms:
                fields["at_ms"] = at_ms = at_ms + shift_ms
            # Of a bare time of day the day is unknown.
            if before is not None and before > at_ms >= DAY_MS:
                fields["back_ms"] = before - at_ms
            before = at_ms
    told.last_ms = before
    client, group = only(clients), only(groups)
    for fields in nameless:
        if client is not None:
            fields.setdefault("client", client)
        # What single words tell is of the group only where the client is known too.
        if group is not None and (client is not None or "confidence" not in fields):
            fields.setdefault("group", group)


def shift(run: str, name: str, reading: Reading) -> int:
    """Milliseconds to add to the times of a file: the first offset whose pattern fits its path or name."""
    whole = f"{run}/{name}"
    fitting = (ms for pattern, ms in reading.offsets if fnmatch(whole, pattern) or fnmatch(name, pattern))
    return next(fitting, 0)
