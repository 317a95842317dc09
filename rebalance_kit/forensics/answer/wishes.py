"""What is asked for at the terminal: a stretch of time, groups, members, how much, and what counts as trouble."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from rebalance_kit.forensics.answer.severity import CRITICAL, WARNING
from rebalance_kit.model.errors import ConfigError

#: What ``--fail-on`` may say.
FAIL_ON = (WARNING, CRITICAL, "never")

#: Tables that CSV can hold: lists of records cannot.
CSV_TABLES = ("findings", "rebalances", "gaps", "storms", "members", "lines", "rejected")

#: How many findings the screen shows.
TOP = 3

_DAY_MS = 86_400_000
_UNITS = {"d": _DAY_MS, "h": 3_600_000, "m": 60_000, "s": 1_000}
_BACK = re.compile(r"-(\d{1,6}(?:\.\d{1,3})?)([dhms])", re.ASCII)
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,3}))?)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a person asked for; as it stands: everything, told on one screen."""

    since: str | None = None
    until: str | None = None
    #: Patterns as of a shell (``orders-*``); none: all.
    groups: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    top: int = TOP
    fail_on: str = WARNING

    @property
    def narrowed(self) -> bool:
        """Whether something may be left out."""
        return bool(self.since or self.until or self.groups or self.members)

    def check(self) -> None:
        """Raise ``ConfigError`` for what cannot be meant, before anything is read."""
        if not 0 <= self.top <= 10_000:
            raise ConfigError(f"--top {self.top}; expected 0 to 10000")
        for name, text in (("--since", self.since), ("--until", self.until)):
            if text is not None:
                moment(text, 0, name)

    def period(self, end_ms: int | None) -> tuple[int | None, int | None]:
        """From when to when, in milliseconds since 1970, where the logs end at ``end_ms``; ``ConfigError`` if they cross."""
        end = 0 if end_ms is None else end_ms
        since = None if self.since is None else moment(self.since, end, "--since")
        until = None if self.until is None else moment(self.until, end, "--until")
        if since is not None and until is not None and since > until:
            raise ConfigError(f"--since {self.since} lies after --until {self.until}; expected it before")
        return since, until


def moment(text: str, end_ms: int, name: str = "a time") -> int:
    """A moment in UTC: ``-2h`` before the end of the logs, a clock of their last day, or a date with or without one.

    >>> moment("-2h", 7_200_000), moment("1970-01-02 00:01", 0)
    (0, 86460000)
    """
    if back := _BACK.fullmatch(text):
        return end_ms - round(float(back[1]) * _UNITS[back[2]])
    if clock := _CLOCK.fullmatch(text):
        hours, minutes, seconds = (int(part or 0) for part in clock.groups()[:3])
        if hours < 24 and minutes < 60 and seconds < 60:
            ms = ((hours * 60 + minutes) * 60 + seconds) * 1_000 + int(((clock[4] or "") + "000")[:3])
            at_ms = end_ms - end_ms % _DAY_MS + ms
            return at_ms if at_ms <= end_ms else at_ms - _DAY_MS
    try:
        told = datetime.fromisoformat(text)
        told = told if told.tzinfo else told.replace(tzinfo=UTC)
        return (told - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    except (ValueError, OverflowError):
        raise ConfigError(
            f"{name} {text!r}; expected -2h (before the end of the logs), 02:40, 2026-11-23 or 2026-11-23T02:40:00"
        ) from None
