"""Answers of a log store as curl delivers them: one line of JSON in which many lines of logs stand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Larger answers are not taken apart.
MOST_BYTES = 64 << 20

#: Where messages and their times stand: Elasticsearch, Datadog, CloudWatch.
_MESSAGES = ("message", "msg", "log", "line", "content")
_TIMES = ("@timestamp", "timestamp", "time", "ts", "eventTime")

_NANOSECONDS = 19


def spread(data: bytes) -> bytes | None:
    """The lines in an answer that is one line of JSON, each with its time; None for any other text.

    Knows Elasticsearch's hits, Loki's streams, CloudWatch's events, Datadog's data, and any list of records with a message.
    """
    if len(data) > MOST_BYTES or data[:1] not in {b"{", b"["} or b"\n" in data.rstrip(b"\r\n"):
        return None
    try:
        told = json.loads(data)
    except (ValueError, RecursionError):
        return None
    lines = list(_lines(told))
    return "\n".join(lines).encode("utf-8", "replace") if len(lines) > 1 else None


def _lines(value: Any) -> Iterator[str]:
    """The lines below a value, in their order."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            line = _record(one)
            if line is not None:
                yield line
            else:
                waiting += reversed([part for part in one.values() if isinstance(part, dict | list)])
        elif isinstance(one, list):
            if (
                len(one) == 2
                and all(isinstance(part, str) for part in one)
                and len(one[0]) == _NANOSECONDS
                and one[0].isdecimal()
            ):
                yield _timed(one[1], one[0][:13])
            else:
                waiting += reversed([part for part in one if isinstance(part, dict | list)])


def _record(record: dict[str, Any]) -> str | None:
    """A record as a line of its own; None for one without a message."""
    message = next((record[name] for name in _MESSAGES if isinstance(record.get(name), str)), None)
    if message is None:
        return None
    at = next((record[name] for name in _TIMES if isinstance(record.get(name), str | int)), None)
    return _timed(message, None if at is None else str(at))


def _timed(message: str, at: str | None) -> str:
    """A message with the time of its record before it, unless it begins with one of its own."""
    bare = " ".join(message.splitlines())
    return (
        bare
        if at is None or bare[:3] in {"[20", "%3|", "%4|", "%5|", "%6|", "%7|"} or bare[:2] == "20"
        else f"{at} {bare}"
    )
