"""Numbers of things and names of members in words, and what clients say in words of their own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

#: Less is no length of time that a tenth of a second shows.
_LEAST_MS = 50

#: A UUID behind a client's name.
_UUID = re.compile(r"\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")


def short(text: str) -> str:
    """A text with the first part of its UUIDs alone, which is enough to tell members apart.

    >>> short("c1-3d088f73-0d4b-40a2-94b6-76a32dab4a9b leaves")
    'c1-3d088f73… leaves'
    """
    return _UUID.sub(r"\1…", text)


def lasted(row: Mapping[str, Any]) -> str | None:
    """How long a rebalance took, and whether that is the least that it took; None where no end is told, or one moment of it.

    >>> lasted({"duration_ms": 3_040, "at_least": True}), lasted({"duration_ms": 12, "at_least": True})
    ('at least 3.0 s', None)
    """
    duration_ms = row["duration_ms"]
    if duration_ms is None or (row["at_least"] and duration_ms < _LEAST_MS):
        return None
    return f"{'at least ' if row['at_least'] else ''}{duration_ms / 1000:,.1f} s"


def counted(number: int, name: str) -> str:
    """So many of a thing, in the plural where it is not one.

    >>> counted(1, "rebalance"), counted(1200, "line")
    ('1 rebalance', '1,200 lines')
    """
    return f"{number:,} {name}{'' if number == 1 else 's'}"


#: The class of an exception, with its package or without.
EXCEPTION = r"(?:[\w$]+\.)*[A-Z]\w*(?:Exception|Error)\b"

#: What stands before the words of a Java client, a Streams thread or a coordinator.
WHOSE = re.compile(r"^(?:stream-(?:thread|client) )?\[[^\]]{1,200}\]:? ?")

#: The reason with which a Java client resets its own state when it leaves: it asks nobody to join.
LEAVES_BY_ITSELF = "pro-actively leaving the group"

#: MEMBER_ID_REQUIRED, the first answer to every JoinGroup without a member id, in any client's words.
FIRST_ANSWER = re.compile(
    r"member_?id_?required|needs a valid member ID|need to re-join with the given member-id|\[(?:Error )?79\]",
    re.IGNORECASE,
)
