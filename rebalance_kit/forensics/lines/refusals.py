"""Kafka's errors of groups in the words of any client: names, numbers, and the sentences that clients put for them.

Sources: ``org.apache.kafka.common.protocol.Errors``; librdkafka ``rd_kafka_err_descs``; sarama ``errors.go``; kafka-python
``errors.py``; kafka-go ``error.go``.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Refusal(NamedTuple):
    """An error of Kafka's, its number, and the event that a line with it tells."""

    name: str
    number: int
    event: str
    words: str


#: The most telling first: a line may hold several.
_TABLE = (
    Refusal(
        "FENCED_INSTANCE_ID",
        82,
        "client_instance_fenced",
        r"fenced.?instance.?id|fenced by (?:another|other) (?:consumer|instance)|\bgets? fenced\b|fenced exception for group|same group\.instance\.id|another consumer with the same group.instance.id has registered|fenced id error|instance id \S{1,249} has been fenced",
    ),
    Refusal(
        "UNRELEASED_INSTANCE_ID",
        111,
        "client_instance_refused",
        r"unreleased.?instance.?id|instance id is (?:still )?(?:used|owned)",
    ),
    Refusal(
        "GROUP_AUTHORIZATION_FAILED",
        30,
        "join_refused",
        r"group.?authorization|not authorized to access (?:this )?group|not authorized to commit offsets for group",
    ),
    Refusal(
        "TOPIC_AUTHORIZATION_FAILED",
        29,
        "join_refused",
        r"topic.?authorization|not authorized to (?:access (?:this )?topics?|read from partition)",
    ),
    Refusal(
        "GROUP_MAX_SIZE_REACHED",
        81,
        "join_refused",
        r"group.?max.?size|reached its max size|group has reached maximum size",
    ),
    Refusal(
        "INCONSISTENT_GROUP_PROTOCOL",
        23,
        "join_refused",
        r"inconsistent.?group.?protocol|protocols? (?:type )?(?:is|are) incompatible",
    ),
    Refusal(
        "INVALID_SESSION_TIMEOUT",
        26,
        "join_refused",
        r"invalid.?session.?timeout|session timeout is (?:not within|outside)",
    ),
    Refusal(
        "UNSUPPORTED_ASSIGNOR",
        112,
        "join_refused",
        r"unsupported.?assignor|assignor or its version range is not supported",
    ),
    Refusal(
        "NOT_COORDINATOR",
        16,
        "other_no_coordinator",
        r"not.?coordinator|not the (?:correct |right )?coordinator|not coordinated by this broker",
    ),
    Refusal(
        "COORDINATOR_NOT_AVAILABLE",
        15,
        "other_no_coordinator",
        r"coordinator.?(?:(?:for \S{1,249} )?is )?not.?available|offset's topic has not yet been created|coordinator unknown|no coordinator|unknown coordinator|(?:fail\w*|unable|could not|cannot) (?:to )?(?:find|discover|locate|look ?up) (?:the |a )?(?:group )?coordinator",
    ),
    Refusal(
        "COORDINATOR_LOAD_IN_PROGRESS",
        14,
        "other_no_coordinator",
        r"coordinator.?(?:is )?load|group.?load.?in.?progress|still loading offsets|is loading the group",
    ),
    Refusal(
        "UNKNOWN_MEMBER_ID",
        25,
        "other_unknown_member",
        r"unknown.?member|not aware of this member|member.?id was not recogni|not (?:a )?known (?:member|in the current)|memberid is not in the current",
    ),
    Refusal("ILLEGAL_GENERATION", 22, "other_unknown_member", r"illegal.?generation|generation.?id is not\b"),
    Refusal(
        "FENCED_MEMBER_EPOCH", 110, "other_unknown_member", r"fenced.?member.?epoch|member epoch is fenced"
    ),
    Refusal("STALE_MEMBER_EPOCH", 113, "other_commit_failed", r"stale.?member.?epoch|member epoch is stale"),
    Refusal(
        "REBALANCE_IN_PROGRESS",
        27,
        "other_rebalancing",
        r"rebalance.?in.?progress|rebalance for the group is in progress|group is rebalancing",
    ),
    Refusal(
        "MEMBER_ID_REQUIRED",
        79,
        "other_step",
        r"member.?id.?required|have a valid member id|needs a valid member id",
    ),
)

_NUMBERED = r"\[error {0}\]|error.?code\W{{1,4}}{0}\b|\berr\W{{1,3}}{0}\b"

REFUSALS: tuple[tuple[Refusal, re.Pattern[str]], ...] = tuple(
    (one, re.compile(f"{one.words}|{_NUMBERED.format(one.number)}", re.IGNORECASE)) for one in _TABLE
)
_ANY = re.compile(
    "|".join(
        [
            *(one.words for one in _TABLE),
            _NUMBERED.format(f"(?:{'|'.join(str(one.number) for one in _TABLE)})"),
        ]
    ),
    re.IGNORECASE,
)

#: The names as Kafka writes them.
NAMES = frozenset(one.name for one in _TABLE)


#: Words that tell that no coordinator is known, and not which error an answer held.
_UNKNOWN = re.compile(
    r"coordinator unknown|unknown coordinator|no coordinator\b[\w ]{0,40}|(?:fail\w*|unable|could not|cannot) (?:to )?(?:find|discover|locate|look ?up) [\w ]{0,20}coordinator",
    re.IGNORECASE,
)


def as_said(error: Refusal, text: str) -> str:
    """An error by its name; one that is told by words that several errors have, by these words.

    >>> as_said(refusal_in("no coordinator available"), "no coordinator available")
    'no coordinator available'
    """
    words = _UNKNOWN.search(text) if error.name == "COORDINATOR_NOT_AVAILABLE" else None
    return words[0].strip() if words and not _NOT_AVAILABLE.search(text) else error.name


_NOT_AVAILABLE = re.compile(r"coordinator_?not_?available|\[error 15\]|\[15\]", re.IGNORECASE)


def refusal_in(text: str) -> Refusal | None:
    """The most telling error of a group's that a line holds; None for none.

    >>> refusal_in("Heartbeat failed ([Error 16] NotCoordinatorForGroupError); retrying").name
    'NOT_COORDINATOR'
    """
    if _ANY.search(text) is None:
        return None
    return next((one for one, pattern in REFUSALS if pattern.search(text)), None)
