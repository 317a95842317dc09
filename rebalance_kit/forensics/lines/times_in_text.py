"""Finds a time wherever it stands in a line of no known layout, in the forms that loggers and tools write."""

from __future__ import annotations

import re
import unicodedata
from typing import TypeAlias

from rebalance_kit.forensics.grammar.template import LONG

#: A time as ``Clock`` reads it, with the name of the layout that says how (None: ISO, or counted from 1970).
TimeInText: TypeAlias = tuple[str | None, str | None]

#: The layout of times that leave out their year.
_NO_YEAR = "no-year"

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTHS_A_YEAR = len(_MONTHS)
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_MONTH_TAKEN = f"({_MONTH})[a-z]{{0,6}}"
_CLOCK = r"\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?"

_ISO = re.compile(
    r"(?<!\d)\d{4}([-/.])\d\d\1\d\d(?:[T_-]|,? {1,2})\d\d:\d\d:\d\d(?:[.,:]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d(?!\d))?"
)
#: What stands between two times of one line.
_OWN = re.compile(r"[ \t]{1,3}\[(?=\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]\d)")
#: Seconds with a fraction, or milliseconds, since 1970.
_COUNTED = re.compile(r"(?<![\w.-])(?<!Ms=)(?<!_ms=)(?:\d{10}\.\d{3}|1\d{12})(?![\w.-])", re.ASCII)
#: A clock before all else in a line that holds a date further on: another clock there is that of some thing in the message.
_HEAD_CLOCK = re.compile(r"\W{0,3}(\d\d:\d\d:\d\d)[.,](\d{1,9})\s")
_FAR = 40
#: Kibana and java.util.logging: ``Nov 21, 2026 @ 02:15:25.032``, ``November 21st 2026, 02:15:25.032``.
_NAMED = re.compile(
    rf"\b({_MONTH})[a-z]{{0,6}} (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}}),?(?: @)? ({_CLOCK})(?:[ \u202f]([AP]M))?"
)
#: Of web servers: ``21/Nov/2026:02:15:25 +0000``.
_APACHE = re.compile(rf"\b(\d\d)/({_MONTH})/(\d{{4}}):({_CLOCK})((?: [+-]\d{{4}})?)")
#: journalctl and syslog: ``Nov 21 02:15:25``.
_BARE = re.compile(rf"\b({_MONTH}) ([ \d]\d) (\d\d:\d\d:\d\d)(?:[.,](\d{{3}}))?")
#: Spark's own: ``23/11/21 02:15:25``.
_SPARKS = re.compile(r"(?<![\d/])(\d\d)/(0[1-9]|1[0-2])/([0-3]\d) (\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)")
#: The same with hyphens and a full stop, as some patterns of logback have it: ``24-03-17.12:29:01.297``.
_SHORT = re.compile(r"(?<![\d-])(\d\d)-(0[1-9]|1[0-2])-([0-3]\d)\.(\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)")
#: Of en-US: ``11/08/2024, 9:26:32 PM``.
_AMERICAN = re.compile(rf"(?<!\d)(0?[1-9]|1[0-2])/([0-3]?\d)/(\d{{4}}),? ({_CLOCK})[ \u202f]([AP]M)\b")
#: Of ``java.util.Date`` and ``ctime``: ``Sat Nov 21 02:15:25 UTC 2026``, ``Nov 21 02:15:25.032 2026``.
_DATES_OWN = re.compile(
    rf"\b({_MONTH}) ([ \d]?\d) ({_CLOCK})(?: (?:[A-Z]{{3,4}}|[+-]\d\d:?\d\d))? (\d{{4}})\b"
)
#: Day first: ``21 Nov 2026 02:15:25,032``, ``21-Nov-2026 02:15:25``, ``21.11.2026 02:15:25``.
_DAY_FIRST = re.compile(rf"(?<![\d-])([0-3]?\d)([ -]){_MONTH_TAKEN}\2(\d{{4}})[ ,:]{{1,2}}({_CLOCK})")
#: With slashes, of 24 hours: ``21/11/2026 02:15:25``; the month first only where the other way there is no such month.
_SLASHED = re.compile(rf"(?<![\d/])([0-3]?\d)/([0-3]?\d)/(\d{{4}}),? ({_CLOCK})(?![\d:]|[ \u202f][AP]M)")
_DOTTED = re.compile(rf"(?<![\d.])([0-3]\d)\.(0[1-9]|1[0-2])\.(\d{{4}}),? ({_CLOCK})")
#: Without separators: ``20261121 02:15:25``, ``20261121T021525``.
_COMPACT = re.compile(r"(?<!\d)(20\d\d)([01]\d)([0-3]\d)[ T](\d\d:\d\d:\d\d(?:[.,]\d{1,9})?|\d{6}(?=Z|\D))")
#: Of klog: ``I1121 02:15:25.032123``.
_KLOG = re.compile(r"\b[IWEF]([01]\d)([0-3]\d) (\d\d:\d\d:\d\d)\.(\d{3})")
#: A clock alone among the first fields of a line (bracketed texts, a level, a name or two): durations are true, the day is
#: unknown (told as the first of 1970).
_NO_DAY = re.compile(
    r"(?:\s{0,60}[\W_]{0,6}(?:[\[(<{][^\[\](){}<>]{0,60}[\])>}]|(?!\d{1,4}[/.-]\d{1,2}[/.-]\d)(?:(?!\d\d?:\d\d)[\w.@$/-]){1,40}(?=[\s|,:=>\])]))){0,4}?"
    r"\s{0,60}[\W_]{0,12}?(?<![\d:.])((?:[01]?\d|2[0-3]):[0-5]\d:[0-5]\d(?:[.,:]\d{1,9})?)(?![\d:])(?:[ \u202f]?([AP]M)\b)?"
)
#: Digits of any script, letters of full width, the decimal point and the comma of Arabic, and the dashes that a word
#: processor puts between digits.
_OTHER_SIGNS = re.compile(r"[^\D0-9]|[\uff01-\uff5e\u3000\u066b\u060c]|(?<=\d)[\u2010-\u2015\u2212](?=\d)")
_PLAIN_SIGNS = {
    "\u3000": " ",
    "\u066b": ".",
    "\u060c": ",",
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
}


def time_in(line: str) -> TimeInText:
    """The first thing in a line that looks like a time, in the most telling of these forms.

    >>> time_in("Nov 21, 2026 @ 02:15:25.032 said"), time_in("no time")
    (('2026-11-21T02:15:25.032', None), (None, None))
    """
    text = in_plain_digits(line[:LONG])
    if iso := iso_in(text):
        return _head_clock(text, iso) or iso, None
    if found := _NAMED.search(text):
        month, day, year, clock, half = found.groups()
        return f"{year}-{_number(month)}-{int(day):02}T{_of_day(clock, half)}", None
    if found := _APACHE.search(text):
        day, month, year, clock, zone = found.groups()
        return f"{year}-{_number(month)}-{day}T{_of_day(clock, None)}{zone}", None
    if found := _COUNTED.search(text):
        return found[0], None
    if told := _with_its_year(text):
        return told, None
    if found := _KLOG.search(text):
        month, day, clock, ms = found.groups()
        return f"{_MONTHS[int(month) % 13 - 1].title()} {day} {clock},{ms}", _NO_YEAR
    if found := _BARE.search(text):
        month, day, clock, ms = found.groups()
        return f"{month} {int(day):02} {clock},{ms or '000'}", _NO_YEAR
    if found := _AMERICAN.search(text):
        month, day, year, clock, half = found.groups()
        return f"{year}-{int(month):02}-{int(day):02}T{_of_day(clock, half)}", None
    if found := _SPARKS.search(text) or _SHORT.search(text):
        year, month, day, clock = found.groups()
        return f"20{year}-{month}-{day}T{clock}", None
    if found := _NO_DAY.match(text):
        hour, rest = _of_day(found[1], found[2]).split(":", 1)
        minute, second = rest.split(":", 1)
        return f"1970-01-01T{hour}:{minute}:{second.replace(':', '.')}", None
    return None, None


def _head_clock(text: str, iso: str) -> str | None:
    """The clock at the beginning of a line, where the date that it holds is another thing's."""
    head = _HEAD_CLOCK.match(text)
    found = _ISO.search(text, 0, LONG) if head is not None else None
    if head is None or found is None or found.start() < _FAR or head[1] in iso:
        return None
    return f"1970-01-01T{head[1]}.{head[2]}"


def _with_its_year(text: str) -> str | None:
    """A date in one of the forms that name their year behind the day or write it without a sign between."""
    if found := _DATES_OWN.search(text):
        month, day, clock, year = found.groups()
        return f"{year}-{_number(month)}-{int(day):02}T{_of_day(clock, None)}"
    if found := _DAY_FIRST.search(text):
        day, _, month, year, clock = found.groups()
        return f"{year}-{_number(month)}-{int(day):02}T{_of_day(clock, None)}"
    if found := _DOTTED.search(text):
        day, number, year, clock = found.groups()
        return f"{year}-{number}-{day}T{_of_day(clock, None)}"
    if found := _SLASHED.search(text):
        day, number, year, clock = found.groups()
        day, number = (number, day) if int(number) > _MONTHS_A_YEAR else (day, number)
        return f"{year}-{int(number):02}-{int(day):02}T{_of_day(clock, None)}"
    if found := _COMPACT.search(text):
        year, number, day, clock = found.groups()
        clock = clock if ":" in clock else f"{clock[:2]}:{clock[2:4]}:{clock[4:6]}"
        return f"{year}-{number}-{day}T{clock}"
    return None


def iso_in(text: str) -> str | None:
    """The first date and time of day in figures, the year first."""
    found = _ISO.search(in_plain_digits(text))
    if found is None:
        return None
    # A collector's time before the record's own, which is the finer one.
    if "." not in found[0][10:] and "," not in found[0][10:] and (own := _OWN.match(text, found.end())):
        found = _ISO.search(text, own.end() - 1) or found
    day, rest = found[0][:10], found[0][10:].lstrip("T_-, ")
    # Some put a colon before the fraction.
    return f"{re.sub('[/.]', '-', day)}T{rest[:8]}{rest[8:9].replace(':', '.')}{rest[9:]}"


def in_plain_digits(text: str) -> str:
    """The text with the digits of any script as 0 to 9: a logger that formats by locale writes others.

    >>> in_plain_digits("٢٠٢٦-١١-２１ 02:15")
    '2026-11-21 02:15'
    """
    return text if text.isascii() else _OTHER_SIGNS.sub(lambda found: _plain(found[0]), text)


def _plain(sign: str) -> str:
    if sign.isdecimal():
        return str(unicodedata.decimal(sign))
    return _PLAIN_SIGNS.get(sign) or chr(ord(sign) - ord("\uff01") + ord("!"))


def _number(month: str) -> str:
    return f"{_MONTHS.index(month.lower()) + 1:02}"


def _of_day(clock: str, half: str | None) -> str:
    """The time of day with two digits for the hour, of 24 hours."""
    hour, rest = clock.split(":", 1)
    if half is None:
        return f"{int(hour):02}:{rest}"
    return f"{int(hour) % 12 + (12 if half == 'PM' else 0):02}:{rest}"
