"""The grammar: every line the pipeline understands, in one table of templates.

The first template whose literal pieces are all in a message decides.  A message that resembles a
template and does not fit is rejected, and the report says so, since that is a line Kafka prints
otherwise than we know.  ``parse_message`` is the plain-Python reading of the same table: tests hold it and
the Spark job to the same result.
"""

from __future__ import annotations

import re
from functools import cache

from rebalance_kit.pipeline.grammar_broker import BROKER
from rebalance_kit.pipeline.grammar_java import BLOCK_LINES, CONFIG_KEYS, JAVA
from rebalance_kit.pipeline.grammar_librdkafka import LIBRDKAFKA, REFUSALS
from rebalance_kit.pipeline.templates import NUMBERS, Template

__all__ = [
    "BLOCK_LINES",
    "BROKER",
    "CLUES",
    "CLUES_AT_START",
    "CONFIG_KEYS",
    "JAVA",
    "LIBRDKAFKA",
    "MESSAGES",
    "NOISE",
    "NUMBERS",
    "REFUSALS",
    "UNLAID",
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


def parse_message(message: str, table: tuple[Template, ...] = MESSAGES) -> dict[str, str] | None:
    """The fields of a message by the first template that fits; None when none does.

    A message that fits none but resembles one gives ``{"rejected_by": event}``.
    """
    likely = _by_first_word(table).get(re.split("[ =]", message, maxsplit=1)[0], ()) + _by_first_word(
        table
    ).get("", ())
    for template in likely:
        if template.claims(message):
            found = template.parse(message)
            return found or {"rejected_by": template.event}
    return next(({"rejected_by": template.event} for template in likely if template.resembles(message)), None)


@cache
def _by_first_word(table: tuple[Template, ...]) -> dict[str, tuple[Template, ...]]:
    """The templates by their messages' first word; those that begin with anything under ``""``."""
    words: dict[str, tuple[Template, ...]] = {}
    for template in table:
        word = "" if "{" in template.first_word else template.first_word
        words[word] = (*words.get(word, ()), template)
    return words
