"""An event: one message of a line, with its place and its time; what the history of a group is folded from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

#: A line holds fewer messages than this: ``row`` counts lines and the messages in them.
MESSAGES_A_LINE = 1_000_000

#: Text columns of an event that come straight from a template's field.
TEXT_FIELDS = (
    "member",
    "other",
    "leader",
    "reason",
    "cause",
    "detail",
    "state",
    "state_from",
    "state_to",
    "protocol",
    "assignor",
    "topic",
    "mode",
    "kind",
    "key",
    "value",
    "confidence",
)

#: What files of logs end in.
FILE_END = re.compile(r"(\.log|\.txt|\.out)?(\.\d+)?(\.gz)?$")


class Kind(NamedTuple):
    """What decides who is told of an event."""

    event: str
    side: str
    group: str | None
    #: Whether it has a time, may name a member, has an instance id, and is earlier than the line before it.
    dated: bool
    names: bool
    instance: bool
    back: bool


class Event:
    """What a line says.  Only what it says is stored; all else is None."""

    path: str = ""
    file: str = ""
    line: int = 0
    row: int = 0
    at_ms: int | None = None
    event: str = ""
    side: str = ""
    level: str | None = None
    group: str | None = None
    client: str | None = None
    instance: str | None = None
    member: str | None = None
    other: str | None = None
    leader: str | None = None
    reason: str | None = None
    cause: str | None = None
    detail: str | None = None
    state: str | None = None
    state_from: str | None = None
    state_to: str | None = None
    protocol: str | None = None
    assignor: str | None = None
    topic: str | None = None
    mode: str | None = None
    kind: str | None = None
    key: str | None = None
    value: str | None = None
    #: ``low`` where no template knows the line and its words alone were read.
    confidence: str | None = None
    epoch: int | None = None
    generation: int | None = None
    hash: int | None = None
    limit_ms: int | None = None
    members: int | None = None
    offset: int | None = None
    over_ms: int | None = None
    static: int | None = None
    took_ms: int | None = None
    partitions: list[str] | None = None
    text: str = ""
    #: By how much the line before it in its file is later.
    back_ms: int | None = None

    def __init__(self, told: dict[str, Any]) -> None:
        self.__dict__ = told

    @property
    def named_by_file(self) -> str:
        """What a process is called whose lines name no client: its file, without what files of logs end in."""
        return FILE_END.sub("", self.file.rsplit("/", 1)[-1], count=1)

    @property
    def named_in_words(self) -> str:
        """The same in a sentence."""
        return f"a client of {self.file.rsplit('/', 1)[-1]}"


def only(values: Iterable[str | None]) -> str | None:
    """The one value that there is besides None; None where there are several.

    >>> only(["c1", None, "c1"]), only(["c1", "c2"])
    ('c1', None)
    """
    different = set(values) - {None}
    return next(iter(different)) if len(different) == 1 else None
