"""The grammar: every line the pipeline understands, in one table of templates.

The first template whose literal pieces are all in a message decides.  A message that resembles a
template and does not fit is rejected, and the report says so, since that is a line Kafka prints
otherwise than we know.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from rebalance_kit.forensics.grammar.broker import BROKER
from rebalance_kit.forensics.grammar.java_client import BLOCK_LINES, CONFIG_KEYS, JAVA
from rebalance_kit.forensics.grammar.librdkafka import LIBRDKAFKA, REFUSALS
from rebalance_kit.forensics.grammar.template import NUMBERS, Template
from rebalance_kit.forensics.lines.safe_regex import taker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "BLOCK_LINES",
    "BROKER",
    "CLUES",
    "CLUES_AT_START",
    "CONFIG_KEYS",
    "IN_MESSAGES",
    "IN_UNLAID",
    "JAVA",
    "LIBRDKAFKA",
    "MESSAGES",
    "NOISE",
    "NUMBERS",
    "REFUSALS",
    "UNLAID",
    "Finder",
    "Found",
    "parse_message",
]

#: Templates of messages: what a line says behind its time, level and prefixes.
MESSAGES: tuple[Template, ...] = BROKER + JAVA + LIBRDKAFKA

#: Templates of lines that have no layout of their own.
UNLAID: tuple[Template, ...] = BLOCK_LINES + REFUSALS

#: A line that starts with none of the first and holds none of the second cannot be in the table;
#: most lines of a log are passed over on this alone.
CLUES_AT_START: tuple[str, ...] = ("%", *(template.literals[0] for template in BLOCK_LINES))
CLUES: tuple[str, ...] = (
    "roup",
    "offset for partition",
    "Kafka version: ",
    "App info kafka.consumer",
    "Kafka Server started",
    "[KafkaServer id=",
    "[BrokerServer id=",
    "TopicRecord for",
    "PartitionRecord for new",
    "All partition.assignment.strategy",
)

#: A KIP-848 client of 4.3.1 writes thousands of these a second while its only broker is down.
NOISE: tuple[str, ...] = ("] Rebootstrapping with [",)

#: How many letters of a message's beginning choose among the templates.
_BRANCH = 4


#: What a message is: the template that claims it, and its fields' texts in order; None when it only resembles one.
#: (Plain tuples: one is made for every line.)
Found: TypeAlias = tuple[Template, tuple[str, ...] | None]


class _Candidate(NamedTuple):
    start: str
    pieces: tuple[str, ...]
    take: Callable[[str], tuple[str, ...] | None]
    template: Template


class Finder:
    """Looks up messages in a table of templates."""

    def __init__(self, table: Sequence[Template]) -> None:
        self._table = table

    def find(self, message: str) -> Found | None:
        """The template that a message belongs to, or the first that it resembles; None when it is nobody's."""
        likely = self._branches.get(message[:_BRANCH], self._short)
        for start, pieces, take, template in likely:
            if message.startswith(start):
                for piece in pieces:
                    if piece not in message:
                        break
                else:
                    return template, take(message)
        return next(((one.template, None) for one in likely if one.template.resembles(message)), None)

    @cached_property
    def _candidates(self) -> list[_Candidate]:
        return [
            _Candidate(*template.literals, taker(template.pattern, template.linear), template)
            for template in self._table
        ]

    @cached_property
    def _short(self) -> list[_Candidate]:
        """Those whose first letters are not fixed."""
        return [one for one in self._candidates if len(one.start) < _BRANCH]

    @cached_property
    def _branches(self) -> dict[str, list[_Candidate]]:
        """Those to try for each way to begin, in the table's order."""
        ways = dict.fromkeys(one.start[:_BRANCH] for one in self._candidates if len(one.start) >= _BRANCH)
        return {way: [one for one in self._candidates if way.startswith(one.start[:_BRANCH])] for way in ways}


IN_MESSAGES, IN_UNLAID = Finder(MESSAGES), Finder(UNLAID)


def parse_message(message: str, finder: Finder = IN_MESSAGES) -> dict[str, str] | None:
    """The fields of a message by name, ``event`` and ``side`` included; None when no template fits.

    A message that fits none but resembles one gives ``{"rejected_by": event}``.
    """
    found = finder.find(message)
    if found is None:
        return None
    template, fields = found
    if fields is None:
        return {"rejected_by": template.event}
    given = {"event": template.event, "side": template.side, **dict(template.given)}
    return given | dict(zip(template.fields, fields, strict=True))
