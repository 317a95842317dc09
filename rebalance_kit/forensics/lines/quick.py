"""Reads lines in Kafka's own layout without searching for their parts: most have a beginning and an end that occurred before.

``[2026-11-21 02:15:25,032] INFO [Consumer clientId=c1, groupId=g] message (logger)``: level and prefix are looked up, and so
is the logger.  Only what is quite ordinary is read here; any other line is left to ``Messages``, which would say the same.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

from rebalance_kit.forensics.grammar.safe_regex import LONG
from rebalance_kit.forensics.grammar.table import IN_MESSAGES, NOISE
from rebalance_kit.forensics.lines.about import speaks_of_a_group
from rebalance_kit.forensics.lines.line_reader import client_prefix, is_broker_prefix
from rebalance_kit.forensics.lines.messages import SHOWN, fields_at_once, instance_of

if TYPE_CHECKING:
    from collections.abc import Callable

#: Level, instance, client and group.
_Head: TypeAlias = "tuple[str, str | None, str | None, str | None]"

_LEVEL = re.compile(r"\] ([A-Z]+) ", re.ASCII)
_LOGGER = re.compile(r" \([\w.$]+(?::\d+)?\)", re.ASCII)

#: A beginning that is not remembered.
_UNKNOWN: _Head = ("", None, None, None)

#: So many beginnings are remembered.
_MOST = 10_000

#: What an ordinary line gives that tells nothing.
NOTHING: dict[str, Any] = {}

#: A message that holds the first may hold another message, and the others may be a border that a terminal drew.
_MORE, _BORDER = "[", "\t│|*"

#: What is written at most once in an ordinary prefix.
_ONCE = ("instanceId=", "clientId=", "groupId=")


class QuickReader:
    """Reads the rests of lines whose time was cut off, in the form of Kafka's own layout."""

    def __init__(self, may_matter: Callable[[str], bool | None]) -> None:
        self._may_matter = may_matter
        self._heads: dict[str, _Head | None] = {}
        self._loggers: set[str] = set()

    def read(self, line: str, rest: str, at_ms: int) -> dict[str, Any] | None:
        """The fields of the one event in a line; ``NOTHING`` where there is none; None where it is no ordinary line."""
        begin = rest.find(" ", 2) + 1
        bare = rest[begin : begin + 1] != "["
        if not bare:
            begin = rest.find("] ", begin) + 2
        beginning = rest[:begin]
        head = self._heads.get(beginning, _UNKNOWN)
        if head is _UNKNOWN:
            head = self._learn(beginning)
        if head is None or len(line) > LONG or "\0" in line or "\1" in line or "\2" in line:
            return None
        end = rest.rfind(" (")
        if rest[end:] not in self._loggers and not self._learn_logger(rest[end:]):
            return None
        message = rest[begin:end]
        if message[:1] == " " or message[-1:] == " " or (bare and not self._may_matter(line)):
            return None
        found = IN_MESSAGES.find(message)
        if found is None:
            # Nor may it be a message together with its logger.
            known = (
                speaks_of_a_group(line)
                or bare
                or _MORE in message
                or message[-1:] in _BORDER
                or IN_MESSAGES.find(rest[begin:])
            )
            return None if known else NOTHING
        if found[1] is None or NOISE[0] in line:
            return None
        told = fields_at_once(found[0], found[1])
        told["text"], told["at_ms"] = line[:SHOWN], at_ms
        told["level"], instance, client, group = head
        if group and not told.get("group"):
            told["group"] = group
        if client and not told.get("client"):
            told["client"] = client
        if instance and not told.get("instance"):
            told["instance"] = instance_of(instance)
        return told

    def _learn(self, beginning: str) -> _Head | None:
        """What a beginning says; None for one that is not of the ordinary form."""
        if len(self._heads) >= _MOST:
            self._heads.clear()
        level = _LEVEL.match(beginning)
        prefix = beginning[level.end() :] if level else ""
        head: _Head | None = None
        if level and (not prefix or is_broker_prefix(prefix)):
            head = level[1], None, None, None
        elif level and prefix.count("]") == 1 and all(prefix.count(name) <= 1 for name in _ONCE):
            told = client_prefix(prefix)
            head = None if told is None else (level[1], *told)
        self._heads[beginning] = head
        return head

    def _learn_logger(self, end: str) -> bool:
        if _LOGGER.fullmatch(end) is None:
            return False
        if len(self._loggers) >= _MOST:
            self._loggers.clear()
        self._loggers.add(end)
        return True
