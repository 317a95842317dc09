"""Finds a message by its anchor, whatever stands before it and after it.

Kafka puts ``[GroupCoordinator 0]: ``, ``[Consumer clientId=...`` and the like at the beginning of a message.  Where
no layout fits a line, the message is read from there on; what looks like a time and a level elsewhere is taken for
them, and what loggers, exports and terminals put behind a message is cut off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from rebalance_kit.forensics.lines.safe_regex import LONG

#: How messages of brokers, Java clients and librdkafka begin.
ANCHOR = re.compile(
    r"\[(?:GroupCoordinator|GroupMetadataManager) [^\]]{1,99}\]|\[(?:Consumer|Worker) (?:instanceId=|clientId=)"
    r"|\[thrd:[^\]]{0,99}\]: ?|stream-(?:thread|client) \["
)

_TIME = re.compile(
    r"(?<!\d)\d{4}-\d\d-\d\d[T _]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d(?!\d))?|(?<!\d)\d{10}\.\d{3}(?!\d)"
)
_LEVEL = re.compile(r"\b(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|Trace|Debug|Info|Warn|Warning|Error)\b")
_GROUP_BROKER = re.compile(r"(?:GroupCoordinator/\d{1,9}: |\S{1,99}:\d{1,5}/(?:\d{1,9}|bootstrap): )")
_CLIENT_OF_RDKAFKA = re.compile(r"rdkafka#[\w.-]{1,99}")

#: What stands behind messages: a logger in brackets and all after it; the rest of a CSV or JSON line; borders.
_LOGGER = re.compile(r"\s*\((?:[A-Za-z_$][\w$]*\.)+[\w$]+(?::\d+)?\)[^()]{0,400}\Z", re.ASCII)
_EXPORT_TIME = re.compile(r",\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]?\d*Z?\Z", re.ASCII)
_REST_OF_QUOTED = re.compile(r'(?<!\\)"[,}\]].*\Z|(?<!\\)"\Z')
_BORDER = " \t│|*"


class Anchored(NamedTuple):
    """A message found by its anchor: its possible texts, the likeliest first, its time, level and client."""

    texts: tuple[str, ...]
    at: str | None
    level: str | None
    client: str | None


def anchored(line: str) -> Anchored | None:
    """The message in a line by its anchor; None without one."""
    found = ANCHOR.search(line[:LONG])
    if found is None:
        return None
    head, text = line[: found.start()], line[found.start() :]
    client = None
    if found[0].startswith("[thrd:"):
        text = text[len(found[0]) :]
        broker = _GROUP_BROKER.match(text)
        text = text[broker.end() :] if broker else text
        name = _CLIENT_OF_RDKAFKA.search(head)
        client = name[0].split("#", 1)[1] if name else None
    at = _TIME.search(head) or _TIME.search(text[-200:])
    level = _LEVEL.search(head)
    return Anchored(
        tuple(dict.fromkeys(_texts(text, quoted='"' in head))),
        at[0].replace("_", "T") if at else None,
        level[0].upper() if level else None,
        client,
    )


def _texts(text: str, *, quoted: bool) -> Iterator[str]:
    """The text without what may stand behind it."""
    bare = text.rstrip(_BORDER)
    if quoted:
        bare = _REST_OF_QUOTED.sub("", bare, count=1).replace('\\"', '"').replace('""', '"')
    cut = _EXPORT_TIME.sub("", bare[-1_000:])
    cut = _LOGGER.sub("", cut).rstrip(_BORDER)
    yield bare[:-1_000] + cut
    yield bare
    yield text


def time_in(line: str) -> str | None:
    """The first thing in a line that looks like a time."""
    found = _TIME.search(line[:LONG])
    return found[0].replace("_", "T") if found else None
