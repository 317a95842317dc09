"""The time of a line: what its layout or its container wrote, as milliseconds since 1970."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from rebalance_kit.forensics.lines.layouts import EPOCH_MILLIS, EPOCH_SECONDS, ISO

if TYPE_CHECKING:
    from collections.abc import Callable

    from rebalance_kit.forensics.lines.layouts import Reading

#: The first and the last millisecond of the years 1 to 9999.
_CALENDAR_MS = (-62_135_596_800_000, 253_402_300_799_999)

#: Fractions of a second as most loggers write them.
MILLIS = {f"{ms:03}": ms for ms in range(1000)}

#: Milliseconds by the end of a text such as ``2026-11-21 02:15:25``.
_SECONDS = {f":{second:02}": second * 1000 for second in range(60)}

#: So many seconds are remembered.
_MOST_SECONDS = 50_000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d):(\d\d)(?:[.,](\d+))?(Z| ?[+-]\d\d(?::?\d\d)?)?", re.ASCII
)
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()

#: How a letter of java.time.format.DateTimeFormatter reads (repeated: as many times, or as shown).
_LETTERS = {
    "y": r"\d{4}",
    "u": r"\d{4}",
    "MMM": r"[A-Za-z]{3}",
    "E": r"[A-Za-z]+",
    "a": r"[AaPp][Mm]",
    "S": r"\d+",
    "zone": r"Z|UTC|GMT|[+-]\d\d:?\d\d|[+-]\d\d",
}


class Clock:
    """Reads the times of lines as ``reading`` says: year and zone where the text has none."""

    def __init__(self, reading: Reading) -> None:
        self._zone = _zone(reading.time_zone)
        self._seconds: dict[str, int] = {}
        #: When minutes begin that have occurred.
        self._minutes: dict[str, int] = {}
        self._year = reading.year
        self._yearless = {layout.name for layout in reading.table if _is_yearless(layout.time)}
        self._ways: dict[str | None, Callable[[str], int | None]] = {
            layout.name: self._way(layout.time) for layout in reversed(reading.table)
        }

    def read(self, at: str | None, layout: str | None) -> int | None:
        """The moment that the text tells in a line of this layout; None where it cannot be read."""
        if at is None:
            return None
        way = self._ways.get(layout)
        return self._iso(at) if way is None else way(at)

    def lacks_year(self, layout: str | None) -> bool:
        """Whether times of this layout have no year, and the reader was told none."""
        return self._year is None and layout in self._yearless

    def second(self, at: str) -> int | None:
        """The moment of ``2026-11-21 02:15:25`` (or with a T), quickly; None for another text."""
        begun = self._seconds.get(at)
        if begun is None and at[4:5] == "-":
            minute, seconds_ms = self._minutes.get(at[:16]), _SECONDS.get(at[16:])
            if minute is not None and seconds_ms is not None:
                begun = minute + seconds_ms
            else:
                fit = _ISO.fullmatch(at)
                begun = self._moment(fit) if fit and fit[4] is None and fit[5] is None else None
            if begun is not None:
                if len(self._seconds) >= _MOST_SECONDS:
                    self._seconds.clear()
                    self._minutes.clear()
                self._seconds[at] = begun
                if seconds_ms is not None and self._zone is None:
                    self._minutes[at[:16]] = begun - seconds_ms
        return begun

    def _way(self, time: str | None) -> Callable[[str], int | None]:
        if time in {None, ISO}:
            return self._iso
        if time == EPOCH_SECONDS:
            return lambda at: _number(at, 1000)
        if time == EPOCH_MILLIS:
            return lambda at: _number(at, 1) if re.fullmatch(r"[+-]?\d+", at) else None
        return lambda at: self._by_pattern(at, time or "")

    def _iso(self, at: str) -> int | None:
        """ISO 8601 with the liberties that loggers take; a bare number is seconds or milliseconds since 1970."""
        if at[19:20] in {",", "."}:
            begun, ms = self.second(at[:19]), MILLIS.get(at[20:])
            if begun is not None and ms is not None:
                return begun + ms
        if at[4:5] != "-":
            return (
                _instant(at)
                if at.startswith("{")
                else _number(at, 1 if len(at.split(".", 1)[0]) >= 12 else 1000)
            )
        fit = _ISO.fullmatch(at)
        return fit and self._moment(fit)

    def _moment(self, fit: re.Match[str]) -> int | None:
        day, minute, second, fraction, zone = fit.groups()
        begun = _minute(day, minute)
        if begun is None or second > "59":
            return None
        ms = begun + int(second) * 1000 + (int((fraction + "00")[:3]) if fraction else 0)
        if zone:
            return ms - _offset_ms(zone)
        return ms if self._zone is None else self._local(ms)

    def _local(self, ms: int) -> int:
        assert self._zone is not None
        return ms - round(self._zone(ms) * 1000)

    def _by_pattern(self, at: str, pattern: str) -> int | None:
        if _is_yearless(pattern):
            if self._year is None:
                return None
            at, pattern = f"{self._year} {at}", "yyyy " + pattern
        expression, names = _expression(pattern)
        fit = expression.fullmatch(at)
        if fit is None:
            return None
        told = dict(zip(names, fit.groups(), strict=True))
        ms = _moment(told)
        if ms is None or "zone" in told:
            return None if ms is None else ms - _offset_ms(told["zone"])
        return ms if self._zone is None else self._local(ms)


def _is_yearless(pattern: str | None) -> bool:
    return pattern not in {None, ISO, EPOCH_SECONDS, EPOCH_MILLIS} and not set("yu") & set(pattern or "")


def is_date(at: str) -> bool:
    """Whether a text has the form of a date and a time, be there such a moment or not.

    >>> is_date("2026-02-30 25:00:61,000"), is_date("Jan 5 09:00:00")
    (True, False)
    """
    return _ISO.fullmatch(at) is not None


@lru_cache(maxsize=4096)
def _minute(day: str, minute: str) -> int | None:
    try:
        begun = datetime.fromisoformat(f"{day}T{minute}:00+00:00")
    except ValueError:
        return None
    return (begun - _EPOCH) // timedelta(milliseconds=1)


def _zone(name: str | None) -> Callable[[int], float] | None:
    """A function from a local time to its offset in seconds."""
    if name is None:
        return None
    from zoneinfo import ZoneInfo

    zone = ZoneInfo(name)

    def offset(ms: int) -> float:
        local = (_EPOCH + timedelta(milliseconds=ms)).replace(tzinfo=zone)
        return (local.utcoffset() or timedelta()).total_seconds()

    return offset


def _offset_ms(zone: str) -> int:
    text = zone.strip()
    if text in {"Z", "UTC", "GMT"}:
        return 0
    sign = -1 if text[0] == "-" else 1
    digits = text[1:].replace(":", "")
    return sign * (int(digits[:2]) * 60 + int(digits[2:] or 0)) * 60_000


def _instant(at: str) -> int | None:
    try:
        told = json.loads(at, parse_float=str)
        second, nano = told["epochSecond"], int(told.get("nanoOfSecond", 0))
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    begun = _number(str(second), 1000)
    return begun if begun is None or "." in str(second) else begun + nano // 1_000_000


def _number(at: str, times: int) -> int | None:
    """A number since 1970 as milliseconds; None outside the years 1 to 9999."""
    try:
        ms = Decimal(at).quantize(Decimal("0.001"), ROUND_HALF_UP) * times
        return int(ms) if _CALENDAR_MS[0] <= ms <= _CALENDAR_MS[1] else None
    except (InvalidOperation, ValueError):
        return None


@cache
def _expression(pattern: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """The expression of a DateTimeFormatter pattern, and what its groups are (a letter, ``MMM`` or ``zone``)."""
    told, names = "", []
    for quoted, letters, _, other in re.findall(r"'([^']*)'|(([A-Za-z])\3*)|(.)", _bare(pattern)):
        if letters:
            name = "zone" if letters[0] in "XxZzVO" else "MMM" if letters.startswith("MMM") else letters[0]
            told += f"({_LETTERS.get(name) or (r'[ ]?[0-9]{1,2}' if len(letters) == 1 else r'[0-9]{2}')})"
            names.append(name)
        else:
            told += re.escape(quoted or other or "'")
    return re.compile(told, re.ASCII), tuple(names)


def _bare(pattern: str) -> str:
    return pattern.replace("[", "").replace("]", "")


def _moment(told: dict[str, str]) -> int | None:
    month = told.get("M", "1")
    if "MMM" in told:
        name = told["MMM"].lower()
        if name not in _MONTHS:
            return None
        month = str(_MONTHS.index(name) + 1)
    hour = int(told.get("H", told.get("k", "0")))
    if "h" in told:
        hour = int(told["h"]) % 12 + (12 if told.get("a", "am").lower() == "pm" else 0)
    try:
        whole = datetime(
            int(told.get("y", told.get("u", "1970"))),
            int(month),
            int(told.get("d", "1")),
            hour,
            int(told.get("m", "0")),
            int(told.get("s", "0")),
            tzinfo=UTC,
        )
    except ValueError:
        return None
    return (whole - _EPOCH) // timedelta(milliseconds=1) + int((told.get("S", "0") + "00")[:3])
