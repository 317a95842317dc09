"""How lines are laid out in a file: the layouts that people have, each as a function from a line to its text.

A ``Clock`` tells a layout what time to print. An ordinary one prints wall-clock time; a marked one leaves marks
where minutes and seconds stand, so that the same lines can be printed again at other times (``logs/blocks.py``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple

from rebalance_kit.logs.lines import EPOCH, SPRING_WIDTH, LogLine, shortened
from rebalance_kit.model.errors import DataError

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
