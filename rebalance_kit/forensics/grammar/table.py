"""The grammar: every line that the pipeline understands, in one table of templates.

The first template whose literal pieces all occur in a message decides.  A message that resembles a template
without matching it is rejected and reported, because Kafka then prints a line differently than the table says.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from rebalance_kit.forensics.grammar.broker import BROKER
from rebalance_kit.forensics.grammar.java_client import (
    BLOCK_LINES,
    CONFIG_KEYS,
    JAVA,
    OLDER_BROKER,
    OLDER_JAVA,
)
from rebalance_kit.forensics.grammar.librdkafka import LIBRDKAFKA, REFUSALS
from rebalance_kit.forensics.grammar.other_clients import FRAMEWORKS, OTHER_CLIENTS
from rebalance_kit.forensics.grammar.template import NUMBERS, Template, group_matcher

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
    "OTHER_CLIENTS",
    "REFUSALS",
    "UNLAID",
    "Finder",
    "Found",
    "find_of_others",
    "parse_message",
]

#: Templates of messages: the text after the time, level and prefixes.
MESSAGES: tuple[Template, ...] = BROKER + OLDER_BROKER + JAVA + OLDER_JAVA + LIBRDKAFKA + FRAMEWORKS

#: Templates of lines without a layout.
UNLAID: tuple[Template, ...] = BLOCK_LINES + REFUSALS

#: A line that starts with none of the first and contains none of the second cannot be in the table;
#: this alone discards most lines of a log.
CLUES_AT_START: tuple[str, ...] = ("%", *(template.literals[0] for template in BLOCK_LINES))
#: Each begins with a letter that another begins with too, where one is to be had: every further letter costs all lines.
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
    "[thrd:",
    ": partitions ",
    "ebalanc",
    "State transition from ",
    "session expired",
    "partitions are ",
    "Updated partition assignment",
    "local member_id",
    "not known in the current generation",
    *(
        "oining",
        "oined",
        "oins the",
        "oordinator",
        "eartbeat",
        "evok",
        "evocation took",
        "ssigned",
        "ssignment",
        "eneration",
        "max.poll.interval",
    ),
    *(
        "FENCED_",
        "UNKNOWN_MEMBER",
        "IllegalGeneration",
        "ILLEGAL_GENERATION",
        "CommitFailed",
        "max_poll_interval",
        "ember ",
        "ember(",
        'ember"',
        "ember:",
        "o-commit of offsets",
        "ember_",
        "Task is being killed",
        "nrecoverable exception",
        "herder work thread",
        "invalid task provided offset",
        "Failed to start connector",
        "orized",
        "orization",
        "REBALANC",
        "stream thread",
        "exception during processing",
        "Crash: ",
        "pping container",
        "onsumer exception",
        "reams uncaught",
        "onsumer_offsets",
        "has become unresponsive",
        "nknownMember",
        "rror_code=",
        "rror Code: ",
        "rrorCode",
        "MAX_POLL",
        "maximum poll interval",
        " subscription to ",
        "Graceful stop of",
        "roblem getting partitions",
        "imed out ",
        "loop check partition number",
        "opic has changed",
        "oll timeout",
        "ost partition",
        "s were lost",
        "offsets after a leader",
        "opic has not yet been",
        "o partition metadata",
        "Restarting the consumer in ",
        "subscribed to topics and partitions",
    ),
)

#: A KIP-848 client of 4.3.1 writes thousands of these per second while its only broker is down.
NOISE: tuple[str, ...] = ("] Rebootstrapping with [",)

#: How many leading characters of a message select the templates to try, and how many such beginnings are remembered.
_BRANCH, _MOST = 12, 10_000


#: A message's template, and the texts of its fields in order, or None when it only resembles the template.
#: (A plain tuple, because one is made for every line.)
Found: TypeAlias = tuple[Template, tuple[str, ...] | None]


class _Candidate(NamedTuple):
    start: str
    pieces: tuple[str, ...]
    groups_of: Callable[[str], tuple[str, ...] | None]
    template: Template


class Finder:
    """Looks up messages in a table of templates."""

    def __init__(self, table: Sequence[Template]) -> None:
        self._table = table
        #: The candidates for a beginning, and those of them that a message may resemble.
        self._branches: dict[str, tuple[list[_Candidate], list[_Candidate]]] = {}

    def find(self, message: str) -> Found | None:
        """The template that a message belongs to, or the first that it resembles; None when there is neither.

        A message resembles a template when it starts like it and contains its longest piece.
        """
        beginning = message[:_BRANCH]
        likely, resembled = self._branches.get(beginning) or self._branch(beginning)
        for start, pieces, groups_of, template in likely:
            if message.startswith(start):
                for piece in pieces:
                    if piece not in message:
                        break
                else:
                    return template, groups_of(message)
        for start, pieces, _, template in resembled:
            if message.startswith(start) and (not pieces or pieces[0] in message):
                return template, None
        return None

    @cached_property
    def _candidates(self) -> list[_Candidate]:
        return [
            _Candidate(*template.literals, group_matcher(template.pattern, template.linear), template)
            for template in self._table
        ]

    def _branch(self, beginning: str) -> tuple[list[_Candidate], list[_Candidate]]:
        """The candidates that agree with a beginning, in the table's order, and those that may be resembled."""
        if len(self._branches) >= _MOST:
            self._branches.clear()
        some = [one for one in self._candidates if beginning.startswith(one.start[:_BRANCH])]
        branch = self._branches[beginning] = some, _may_be_resembled(some)
        return branch


def _may_be_resembled(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Not librdkafka's debug lines, because many of them differ only in one word."""
    return [some for some in candidates if some.template.side != "librdkafka"]


IN_MESSAGES, IN_UNLAID = Finder(MESSAGES), Finder(UNLAID)

_IN_OTHER_CLIENTS = Finder(OTHER_CLIENTS)
_BEGINNINGS = re.compile(
    "|".join(
        [
            *(re.escape(template.literals[0]) for template in OTHER_CLIENTS),
            # Of brokers and Connect, whose lines people copy without what stands before the message.
            *(
                r"\[Group \S+\] (?:Pending m|M)ember ",
                r"\[GroupId \S+\] ",
                "Preparing to re",
                "Stabilized group ",
            ),
            *("Assignment received from leader", "(?<![\\w.] )Member ", "(?<![\\w.] )Group ", "Connector '"),
            *("Graceful stop of ", "WorkerS(?:ink|ource)Task", "Decided on assignment"),
            *(
                "Revok(?:e|ing) previously assigned partitions",
                "Adding newly assigned partitions",
                "Lost previously assigned",
            ),
            *(
                "Giving away all assigned",
                "Request joining group due to",
                "Attempt to heartbeat failed since",
            ),
        ]
    )
)
_IN_QUOTES = re.compile(r"""((?:[^"\\]|\\(?!n|r)["\\/])+?)(?:\\[nr])*(?<!\\)(?:"|\Z)""")

#: Anchored lines are searched for other clients' words this far.
_SEARCHED = 2_000


def find_of_others(line: str) -> Found | None:
    """What another client says, wherever it stands in the line."""
    if "ShareConsumer " in line:
        return None
    for beginning in _BEGINNINGS.finditer(line, 0, _SEARCHED):
        rest = line[beginning.start() :].rstrip()
        # In JSON the message ends where its quotes do.
        quoted = _IN_QUOTES.match(rest) if '"' in line[: beginning.start()] else None
        for text in [rest] if quoted is None else [rest, quoted[1].replace('\\"', '"'), rest + " "]:
            for finder in (_IN_OTHER_CLIENTS, IN_MESSAGES):
                found = finder.find(text)
                # Behind the message other keys follow: only a template that reads them reads so far.
                if text is rest and quoted and found and '"' not in found[0].text:
                    continue
                if found is not None and found[1] is not None:
                    return found
    return None


def parse_message(message: str, finder: Finder = IN_MESSAGES) -> dict[str, str] | None:
    """The fields of a message by name, including ``event`` and ``side``; None when no template matches.

    A message that only resembles a template gives ``{"rejected_by": event}``.
    """
    found = finder.find(message)
    if found is None:
        return None
    template, fields = found
    if fields is None:
        return {"rejected_by": template.event}
    constant = {"event": template.event, "side": template.side, **dict(template.given)}
    return constant | dict(zip(template.fields, fields, strict=True))
