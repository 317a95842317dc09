"""Numbers of things and names of members in words, and what clients say in words of their own."""

from __future__ import annotations

import re

#: A UUID behind a client's name.
_UUID = re.compile(r"\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")


def short(text: str) -> str:
    """A text with the first part of its UUIDs alone, which is enough to tell members apart.

    >>> short("c1-3d088f73-0d4b-40a2-94b6-76a32dab4a9b leaves")
    'c1-3d088f73 leaves'
    """
    return _UUID.sub(r"\1", text)


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
FIRST_ANSWER = re.compile(r"member_?id_?required|needs a valid member ID|\[(?:Error )?79\]", re.IGNORECASE)
