"""A run's logs as a block that can be printed again and again: later, with other ids, from higher generations and offsets on.

The lines of all files are printed once with marks in place of what changes (times, the random parts of member ids,
generations and epochs, offsets). A repetition computes each mark's text once and joins the pieces, which is some
hundred times faster than simulating and wording the same incident anew.
"""

from __future__ import annotations

import base64
import json
import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple

from rebalance_kit.logs.lines import EPOCH, SPRING_WIDTH, LogLine, shortened
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.trace import Trace

# How lines are laid out in a file: the layouts that people have, each as a function from a line to its text.
#
# A ``Clock`` tells a layout what time to print. An ordinary one prints wall-clock time; a marked one leaves marks
# where minutes and seconds stand, so that the same lines can be printed again at other times (``logs/blocks.py``).


OPEN, CLOSE = "\ue000", "\ue001"
"""What a mark stands between; private characters that no log holds."""
ZONE_MINUTES = 120
"""The offset of the layouts whose host runs on local time."""
_ZONE = f"+{ZONE_MINUTES // 60:02d}:{ZONE_MINUTES % 60:02d}"
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
DATE, YEARLESS = "d", "y"
"""Ways to write a minute beside ISO with a blank or a ``T``: ``21 Nov 2026 02:15`` and ``Nov 21 02:15``."""


class Moment(NamedTuple):
    """A time in the pieces of which layouts are made: the text up to the minute, then seconds and milliseconds."""

    minute: str
    second: int
    ms: int


class Clock:
    """Wall-clock time of a run that begins at ``begins``; ``marked`` prints marks in place of minutes and seconds."""

    def __init__(self, begins: datetime = EPOCH, *, marked: bool = False) -> None:
        self.base = begins.replace(second=0, microsecond=0)
        self.lead_ms = begins.second * 1000 + begins.microsecond // 1000
        self.marked = marked

    def moment(self, at_ms: int, between: str = " ", zone_minutes: int = 0) -> Moment:
        """The time of a line; date and time of day parted by ``between`` (a blank, T, or ``DATE`` or ``YEARLESS``)."""
        minutes, rest = divmod(at_ms + self.lead_ms, 60_000)
        minutes += zone_minutes
        if self.marked:
            return Moment(f"{OPEN}m{between}{minutes}{CLOSE}", rest // 1000, rest % 1000)
        return Moment(minute_text(self.base, minutes, between), rest // 1000, rest % 1000)

    def epoch(self, at_ms: int) -> tuple[str, int]:
        """Whole seconds since 1970 as text, and the milliseconds beside them."""
        seconds, ms = divmod(at_ms + self.lead_ms, 1000)
        text = f"{OPEN}s{seconds}{CLOSE}" if self.marked else str(int(self.base.timestamp()) + seconds)
        return text, ms


def minute_text(base: datetime, minutes: int, between: str) -> str:
    """``2026-01-05 09:00``, that many minutes after ``base``, written as ``between`` says."""
    when = base + timedelta(minutes=minutes)
    if between in {DATE, YEARLESS}:
        month = MONTHS[when.month - 1]
        return f"{when:%d} {month} {when:%Y %H:%M}" if between == DATE else f"{month} {when:%d %H:%M}"
    return f"{when:%Y-%m-%d}{between}{when:%H:%M}"


def _below(line: LogLine) -> str:
    return "" if line.thrown is None else f"\n{line.thrown}"


def _kafka(line: LogLine, clock: Clock) -> str:
    at = clock.moment(line.at_ms)
    return (
        f"[{at.minute}:{at.second:02d},{at.ms:03d}] {line.level} {line.message} ({line.logger}){_below(line)}"
    )


def _spring(line: LogLine, clock: Clock) -> str:
    at = clock.moment(line.at_ms, "T")
    logger = shortened(line.logger)
    return f"{at.minute}:{at.second:02d}.{at.ms:03d}Z {line.level:>6} 1 --- [           main] {logger:<{SPRING_WIDTH}} : {line.message}{_below(line)}"


def _json(line: LogLine, clock: Clock) -> str:
    at = clock.moment(line.at_ms, "T")
    held = {
        "@timestamp": f"{at.minute}:{at.second:02d}.{at.ms:03d}Z",
        "level": line.level,
        "logger_name": line.logger,
        "thread_name": "main",
        "message": line.message,
    }
    if line.thrown is not None:
        held["stack_trace"] = line.thrown
    return json.dumps(held, ensure_ascii=False, separators=(",", ":"))


def _kafka_iso(line: LogLine, clock: Clock) -> str:
    at = clock.moment(line.at_ms, "T", ZONE_MINUTES)
    return f"[{at.minute}:{at.second:02d}.{at.ms:03d}{_ZONE}] {line.level} {line.message} ({line.logger}){_below(line)}"


def _log4j(line: LogLine, clock: Clock) -> str:
    at = clock.moment(line.at_ms)
    return f"{at.minute}:{at.second:02d},{at.ms:03d} [main] {line.level:<5} {line.logger} - {line.message}{_below(line)}"


def _log4j2(line: LogLine, clock: Clock) -> str:
    at = clock.moment(line.at_ms, "T", ZONE_MINUTES)
    return f"{at.minute}:{at.second:02d}.{at.ms:03d}{_ZONE} {line.level:<5} [main] {line.logger} - {line.message}{_below(line)}"


def _log4j_date(line: LogLine, clock: Clock) -> str:
    """log4j 1's ``%d{DATE}``: ``21 Nov 2026 02:15:25,032``."""
    at = clock.moment(line.at_ms, DATE)
    return f"{at.minute}:{at.second:02d},{at.ms:03d} {line.level:<5} [main] {line.logger} - {line.message}{_below(line)}"


def _no_year(line: LogLine, clock: Clock) -> str:
    at = clock.moment(line.at_ms, YEARLESS)
    return f"{at.minute}:{at.second:02d},{at.ms:03d} {line.level:<5} {line.logger} - {line.message}{_below(line)}"


def _connect(line: LogLine, clock: Clock) -> str:
    """Connect's own pattern ``[%d] %p %X{connector.context}%m (%c:%L)%n``."""
    at = clock.moment(line.at_ms)
    return f"[{at.minute}:{at.second:02d},{at.ms:03d}] {line.level} [orders-sink|task-0] {line.message} ({line.logger}:{_line_number(line)}){_below(line)}"


def _line_number(line: LogLine) -> int:
    """A line of source, the same for the same logger and beginning."""
    return 100 + sum(line.logger.encode()) * 7 % 900


def _docker(line: LogLine, clock: Clock) -> str:
    """``docker logs --timestamps`` and ``kubectl logs --timestamps``: a time in front of every physical line."""
    at = clock.moment(line.at_ms, "T")
    stamp = f"{at.minute}:{at.second:02d}.{at.ms:03d}{(line.at_ms * 7919) % 1_000_000:06d}Z"
    text = _native(line, clock) if line.level.isdigit() else _kafka(line, clock)
    return "\n".join(f"{stamp} {part}" for part in text.split("\n"))


def _native(line: LogLine, clock: Clock) -> str:
    """Librdkafka's default printer, whatever the others print."""
    seconds, ms = clock.epoch(line.at_ms)
    return f"%{line.level}|{seconds}.{ms:03d}|{line.logger}| {line.message}"


Printer = Callable[[LogLine, Clock], str]
PRINTERS: Mapping[str, Printer] = MappingProxyType(
    {
        "kafka": _kafka,
        "kafka-iso": _kafka_iso,
        "spring-boot": _spring,
        "json": _json,
        "log4j": _log4j,
        "log4j2": _log4j2,
        "log4j-date": _log4j_date,
        "no-year": _no_year,
        "connect": _connect,
        "docker": _docker,
        "kubectl": _docker,
    }
)
"""Layouts by name; librdkafka's members print their own in each of them."""
WRAPS = frozenset({"docker", "kubectl"})
"""Layouts that stand around another one, librdkafka's too."""


def printer(layout: str, *, native: bool = False) -> Printer:
    """The function that prints a line in ``layout``, ``native`` for a librdkafka client; raises ``DataError``."""
    found = PRINTERS.get(layout)
    if found is None:
        raise DataError(f"layout {layout!r} is unknown; expected one of {', '.join(PRINTERS)}")
    return _native if native and layout not in WRAPS else found


def utc(text: str) -> datetime:
    """An ISO time as UTC; without a zone it is UTC. Raises ``DataError``."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError as error:
        raise DataError(f"{text!r} is no time; expected one such as 2026-01-05T09:00:00Z") from error
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)


_MARK = re.compile(f"{OPEN}(.*?){CLOSE}", re.DOTALL)
_GENERATION = re.compile(
    r"(?P<lead>\b(?:[gG]eneration|[eE]poch)(?:(?: to| id|-id|Id)? |Id=|=|: | \()|\bGeneration\{generationId=|[mM]ember ?[eE]poch[= ]|groupEpoch=)(?P<n>\d+)\b"
)
_OFFSET = re.compile(r"(?P<lead>\boffset=)(?P<n>\d+)\b")
_NOT_THE_GROUPS = re.compile(r"(?:leader|Leader)\w*$|offsets-\d+ (?:with|in) $")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
_TAIL = 36


def mark(kind: str, value: object) -> str:
    """A mark in a text: ``kind`` and what it stands for."""
    return f"{OPEN}{kind}{value}{CLOSE}"


class Marker:
    """Puts marks into the messages of one run: its member ids, generations of its groups, offsets."""

    def __init__(self, trace: Trace) -> None:
        rows = list(trace.of("process_started"))
        self.groups = tuple(
            sorted({str(trace.meta.get("group", "")), *(str(row.detail["group"]) for row in rows)})
        )
        self.group_of: Mapping[str, str] = {row.actor: str(row.detail["group"]) for row in rows}
        self.ids = tuple(sorted({row.member_id for row in trace.rows if row.member_id}))
        tails = {self._tail(one): number for number, one in enumerate(self.ids)}
        self._numbers = tails
        self._ids = (
            re.compile("|".join(re.escape(one) for one in sorted(tails, key=lambda one: (-len(one), one))))
            if tails
            else None
        )
        self._by_length = sorted(self.groups, key=lambda one: (-len(one), one))

    @staticmethod
    def _tail(member_id: str) -> str:
        return member_id[-_TAIL:] if _UUID.search(member_id) else member_id

    def text(self, message: str, group: str) -> str:
        """The message with marks; ``group`` is the one that it is about."""
        number = self.groups.index(group)

        def generation(found: re.Match[str]) -> str:
            value, lead = int(found["n"]), found["lead"]
            before = found.string[max(0, found.start() - 24) : found.start()]
            if (
                _NOT_THE_GROUPS.search(before)
                or (value == 0 and "epoch" in lead.lower())
                or (lead == "epoch=" and before.endswith(", ") and "Leader" in found.string)
            ):
                return found[0]
            return lead + mark("g", f"{number}:{value}")

        marked = _GENERATION.sub(generation, message)
        marked = _OFFSET.sub(lambda found: found["lead"] + mark("o", found["n"]), marked)
        if self._ids is not None:
            marked = self._ids.sub(
                lambda found: mark("u" if _UUID.match(found[0]) else "b", self._numbers[found[0]]), marked
            )
        return marked

    def line(self, line: LogLine, member: str | None) -> LogLine:
        """A line with marks; ``member`` whose it is, None for the broker's."""
        group = self._group(line.message, member)
        thrown = None if line.thrown is None else self.text(line.thrown, group)
        return LogLine(line.at_ms, line.level, line.logger, self.text(line.message, group), thrown)

    def _group(self, message: str, member: str | None) -> str:
        if len(self.groups) == 1:
            return self.groups[0]
        named = next((one for one in self._by_length if one in message), None)
        return named or self.group_of.get(member or "", self.groups[0])


@dataclass(frozen=True, slots=True)
class Sheet:
    """One file's part of a block: literal text and marks in turn, and its physical lines."""

    pieces: tuple[str, ...]
    marks: tuple[str, ...]
    lines: int

    def text(self, values: Mapping[str, str]) -> str:
        """The text with every mark replaced."""
        filled = list(self.pieces)
        if len(self.marks) == 1:
            filled[1] = values[self.marks[0]]
        elif self.marks:
            filled[1::2] = itemgetter(*self.marks)(values)
        return "".join(filled)


def sheet(text: str) -> Sheet:
    """A sheet of a text with marks; the text ends with a newline unless it is empty."""
    pieces = _MARK.split(text)
    return Sheet(tuple(pieces), tuple(pieces[1::2]), text.count("\n"))


def printed(lines: Iterable[LogLine], layouts: tuple[Printer, Printer], clock: Clock) -> str:
    """Lines in a layout: the first printer for Java's, the second for librdkafka's."""
    java, native = layouts
    return "".join((native if line.level.isdigit() else java)(line, clock) + "\n" for line in lines)


@dataclass(frozen=True, slots=True)
class Block:
    """All files of a run with marks. ``spans`` are the first and last generation of each group, ``offset`` the greatest one."""

    sheets: Mapping[str, Sheet]
    groups: tuple[str, ...]
    ids: int
    spans: tuple[tuple[int, int], ...]
    offset: int
    length_ms: int

    @property
    def lines(self) -> int:
        """Physical lines of all files together."""
        return sum(one.lines for one in self.sheets.values())

    @property
    def marks(self) -> tuple[str, ...]:
        """Every mark of the block once, in a fixed order."""
        return tuple(dict.fromkeys(name for one in self.sheets.values() for name in one.marks))


def block(texts: Mapping[str, str], trace: Trace, marker: Marker) -> Block:
    """A block of the marked texts of a run's files."""
    sheets = {name: sheet(text) for name, text in texts.items()}
    offsets = [int(name[1:]) for one in sheets.values() for name in one.marks if name[0] == "o"]
    reached: dict[str, list[int]] = {}
    for row in trace.of("generation", "epoch_bump", "group_state"):
        if row.generation and row.actor == "coordinator":
            reached.setdefault(str(row.detail["group"]), []).append(row.generation)
    spans = tuple(
        (min(reached[group]), max(reached[group])) if group in reached else (1, 0) for group in marker.groups
    )
    return Block(sheets, marker.groups, len(marker.ids), spans, max(offsets, default=0), trace.end_ms)


class Place:
    """Where in a long log the next block stands: its time, and how far generations and offsets have come."""

    def __init__(self, base: datetime, seed: object) -> None:
        self.base = base
        self.seed = seed
        self.number = 0
        self.minutes = 0
        self.offset = 0
        self.reached: dict[str, int] = {}

    def values(self, one: Block) -> dict[str, str]:
        """The text of every mark of a block that begins here."""
        dice = random.Random(f"{self.seed}/{self.number}")
        ids = [_uuid(dice) for _ in range(one.ids)]
        shifts = [
            self.reached[group] + 1 - first if group in self.reached else 0
            for group, (first, _) in zip(one.groups, one.spans, strict=True)
        ]
        seconds = int(self.base.timestamp()) + self.minutes * 60
        found: dict[str, str] = {}
        for name in one.marks:
            kind, rest = name[0], name[1:]
            if kind == "m":
                found[name] = minute_text(self.base, self.minutes + int(rest[1:]), rest[0])
            elif kind == "g":
                group, _, value = rest.partition(":")
                found[name] = str(int(value) + shifts[int(group)])
            elif kind == "o":
                found[name] = str(int(rest) + self.offset)
            elif kind == "s":
                found[name] = str(seconds + int(rest))
            elif kind == "t":
                found[name] = str(seconds * 1000 + int(rest))
            elif kind == "n":
                found[name] = str(self.number)
            else:
                found[name] = ids[int(rest)][0 if kind == "u" else 1]
        return found

    def move(self, one: Block, rest_minutes: int) -> None:
        """Go to where the next block may begin: ``rest_minutes`` after the end of this one."""
        for group, (first, last) in zip(one.groups, one.spans, strict=True):
            if last:
                self.reached[group] = self.reached.get(group, first - 1) + last - first + 1
        self.offset += one.offset
        self.minutes += -(-one.length_ms // 60_000) + 1 + rest_minutes
        self.number += 1


def _uuid(dice: random.Random) -> tuple[str, str]:
    """One random id as ``java.util.UUID`` prints it, and as Kafka's own ``Uuid`` does (which never begins with a dash)."""
    while True:
        data = bytearray(dice.randbytes(16))
        data[6], data[8] = data[6] & 0x0F | 0x40, data[8] & 0x3F | 0x80
        short = base64.urlsafe_b64encode(data).decode().rstrip("=")
        if not short.startswith("-"):
            plain = data.hex()
            return f"{plain[:8]}-{plain[8:12]}-{plain[12:16]}-{plain[16:20]}-{plain[20:]}", short


def ends_where_it_began(trace: Trace, groups: Sequence[str]) -> bool:
    """Whether every group is empty at the end, so that the same block may follow."""
    states = {str(row.detail["group"]): str(row.detail["to"]) for row in trace.of("group_state")}
    return all(states.get(group, "Empty") in {"Empty", "Dead"} for group in groups)
