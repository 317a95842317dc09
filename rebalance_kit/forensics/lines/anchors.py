"""Finds a message by its anchor, whatever stands before it and after it.

Kafka puts ``[GroupCoordinator 0]: ``, ``[Consumer clientId=...`` and the like at the beginning of a message.  Where
no layout fits a line, the message is read from there on; what looks like a time and a level elsewhere is taken for
them, and what loggers, exports and terminals put behind a message is cut off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from rebalance_kit.forensics.grammar.safe_regex import LONG
from rebalance_kit.forensics.lines.times_in_text import iso_in, time_in

#: How messages of brokers, Java clients and librdkafka begin.
ANCHOR = re.compile(
    r"\[(?:GroupCoordinator|GroupMetadataManager) [^\]]{1,99}\]|\[(?:Consumer|Worker) (?:instanceId=|clientId=)"
    r"|\[thrd:[^\]]{0,99}\]: ?|stream-(?:thread|client) \["
)

#: What makes a line that begins with a tab more than the line of a block.
IN_TABBED = re.compile(ANCHOR.pattern + r'|\{"')

#: A line is searched for so many anchors.
_MOST_ANCHORS = 4

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
    layout: str | None
    level: str | None
    client: str | None


def anchored(line: str) -> Iterator[Anchored]:
    """The messages in a line that an anchor begins, the first first (it may only stand before another)."""
    for found in islice(ANCHOR.finditer(line, 0, LONG), _MOST_ANCHORS):
        yield _anchored(line, found)


def _anchored(line: str, found: re.Match[str]) -> Anchored:
    head, text = line[: found.start()], line[found.start() :]
    client = None
    if found[0].startswith("[thrd:"):
        text = text[len(found[0]) :]
        broker = _GROUP_BROKER.match(text)
        text = text[broker.end() :] if broker else text
        name = _CLIENT_OF_RDKAFKA.search(head)
        client = name[0].split("#", 1)[1] if name else None
    at, layout = time_in(head)
    if at is None:
        at, layout = iso_in(text[-200:]), None
    level = _LEVEL.search(head)
    return Anchored(
        tuple(dict.fromkeys(_texts(text, quoted='"' in head))),
        at,
        layout,
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
