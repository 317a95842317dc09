"""One rebalance, as the fold fills it in: a row of the table, and what is asked about it until then."""

from __future__ import annotations

from dataclasses import dataclass, field

#: The columns of the table, in order (``path`` and ``group`` come before them).
REBALANCES = (
    "number",
    "protocol",
    "trigger",
    "cause",
    "culprit",
    "culprit_member",
    "start_ms",
    "end_ms",
    "duration_ms",
    "before",
    "after",
    "members",
    "joined",
    "left",
    "expired",
    "moved",
    "revoked",
    "fate",
    "topics",
    "waited_for",
    "waited_ms",
    "said",
    "confidence",
    "file",
    "line",
)


@dataclass(slots=True)
class Moves:
    """Who joined, left and expired around one rebalance: member ids, and for expiries their time."""

    joined: set[str] = field(default_factory=set)
    left: set[str] = field(default_factory=set)
    expired: list[tuple[int, str]] = field(default_factory=list)


@dataclass(slots=True)
class Lost:
    """Somebody who expired: whom and when to ask for, and what had become of it, in a word and in words."""

    name: str
    member: str | None
    at_ms: int
    fate: str | None = None
    fate_ms: int | None = None
    words: str | None = None
    stalled: bool = False


@dataclass(slots=True)
class Rebalance:
    """A row of the table of rebalances; the fields behind ``line`` are for the steps that complete it."""

    protocol: str
    trigger: str
    start_ms: int
    file: str
    line: int
    number: int = 0
    cause: str = ""
    culprit: str | None = None
    culprit_member: str | None = None
    end_ms: int | None = None
    duration_ms: int | None = None
    before: int | None = None
    after: int | None = None
    members: int | None = None
    joined: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    expired: list[str] = field(default_factory=list)
    moved: list[str] | None = None
    revoked: list[str] | None = None
    fate: str | None = None
    topics: str | None = None
    waited_for: str | None = None
    waited_ms: int | None = None
    said: str | None = None
    confidence: str | None = None
    # What follows is no column
    moves: Moves = field(default_factory=Moves)
    words: str | None = None
    #: What is known of the beginning of one whose cause nobody wrote down.
    known: str | None = None
    #: What the culprit is called in a sentence, where no line names it.
    named: str | None = None
    stalled: bool = False
    shares_name: bool = False
    others: list[Lost] = field(default_factory=list)
    topics_ms: int | None = None
    restarting: bool = False
    resubscribed: list[str] = field(default_factory=list)
    stable: bool = False
    only_its_end: bool = False
    received: tuple[int | None, int] | None = None
    target_ms: int | None = None
    ack_ms: int | None = None

    def columns(self) -> dict[str, object]:
        """The row of the table."""
        return {name: getattr(self, name) for name in REBALANCES}
