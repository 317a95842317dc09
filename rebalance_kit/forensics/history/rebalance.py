"""One rebalance as the fold fills it in: its row, whose JoinGroup it waited for, which partitions came and went.

One rebalance, as the fold fills it in: a row of the table, and what is asked about it until then.

Partitions that came and went in one rebalance, as the members' own logs tell it: who else must have come or gone.

A member that began nothing, and has fewer partitions after a rebalance than before, made room for another one.

Whose JoinGroup a classic rebalance had to wait for longest (consumer groups wait for nobody).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rebalance_kit.forensics.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rebalance_kit.forensics.event import Event


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
    "at_least",
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
    #: When each of them came or went first.
    at_ms: dict[str, int] = field(default_factory=dict)
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
    #: Whether its beginning or its end is not proved, so that it may have taken longer; None where no end is told.
    at_least: bool | None = None
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
    #: How long after it had come the culprit left, in a join phase that was not over; who came after this rebalance and began no other.
    left_again_ms: int | None = None
    later: str | None = None
    others: list[Lost] = field(default_factory=list)
    topics_ms: int | None = None
    restarting: bool = False
    resubscribed: list[str] = field(default_factory=list)
    stable: bool = False
    only_its_end: bool = False
    received: tuple[int | None, int] | None = None
    target_ms: int | None = None
    superseded_ms: int | None = None
    ack_ms: int | None = None

    def columns(self) -> dict[str, object]:
        """The row of the table."""
        return {name: getattr(self, name) for name in REBALANCES}


#: Lines of partitions that a member gave up, and of those that it was given.
GAVE = frozenset({"revoking", "revoked", "lost", "other_revoked", "other_lost"})
GOT = frozenset({"assigned", "other_assigned"})


_JSON = re.compile(r'"([\w.-]{1,249})":\[(\d[\d,]{0,2000})\]')


@dataclass(slots=True)
class Shift:
    """What the members with a log gave up and got in one rebalance."""

    gave: set[str] = field(default_factory=set)
    got: set[str] = field(default_factory=set)
    #: Who learnt from its heartbeat that the group was rebalancing, and when the first did.
    notified: str | None = None
    notified_ms: int | None = None
    #: How: some clients' lines do not say in which answer.
    learnt: str = ""
    #: When one subscribed of a name that had joined before, and that name; whether topics were not known before.
    subscribed: tuple[int, str] | None = None
    #: When the first member gave up partitions for it.
    gave_ms: int | None = None
    topicless: bool = False
    #: Whether the members' lines say what they were given.
    answered: bool = False
    #: Who was told that it is the only member; who gave up nothing, as it held nothing, when it asked to join.
    alone: str | None = None
    empty_handed: str | None = None

    def words(self) -> str | None:
        """Who must have begun it, as far as the shares tell; None where they tell nothing."""
        before, after = len(self.gave), len(self.got)
        fresh = {_topic(one) for one in self.got} - {_topic(one) for one in self.gave}
        if before and fresh and self.gave <= self.got:
            topics = ", ".join(sorted(fresh))
            return (
                f"topics came in: partitions of {topics} were assigned that nobody here had before "
                "(perhaps a new topic that the subscription matches, or a changed subscription)"
            )
        if before and self.answered and self.got < self.gave:
            whole = {_topic(one) for one in self.gave} - {_topic(one) for one in self.got}
            removed = " (or a topic was removed)" if whole and self.got else ""
            return (
                f"another member may have joined{removed}, by the shares: of {counted(before, 'partition')} that the members with a log gave up "
                f"they were given {after or 'none'} again"
            )
        if before and self.gave < self.got:
            return (
                f"another member may have left, or partitions were added, by the shares: the members with a log gave up {counted(before, 'partition')} "
                f"and were given {after}"
            )
        came_ms, comer = self.subscribed or (None, "")
        if self.notified_ms is not None and came_ms is not None and came_ms <= self.notified_ms:
            early = (self.notified_ms - came_ms) / 1000
            return (
                f"a consumer called {comer} subscribed {early:,.1f} s before {self.notified} {self.learnt} that the group was "
                "rebalancing: perhaps a second process of that name that joined"
            )
        if self.notified is not None:
            return f"{self.notified} {self.learnt} that the group was rebalancing; who began that, and why, is not in these lines"
        if self.alone is not None:
            return f"{self.alone} joined, as the only member of its group"
        if self.empty_handed is not None and not before:
            return f"{self.empty_handed} asked to join and held no partition before; whether somebody else began it is not in these lines"
        return None


def _in_json(text: str | None) -> set[str]:
    """Partitions as franz-go writes them: topics with lists of numbers."""
    found = _JSON.findall(text or "")
    return {f"{topic}-{number}" for topic, numbers in found for number in numbers.split(",")}


def _topic(partition: str) -> str:
    return partition.rpartition("-")[0]


class Shifts:
    """Keeps what each member gave up since it last joined, and puts it to the rebalance that it belongs to."""

    def __init__(self) -> None:
        self._pending: dict[tuple[str, str], Shift] = {}
        #: The rebalance in which a member has joined and was given nothing yet.
        self._joined: dict[tuple[str, str], Shift] = {}
        #: Members of consumer groups: they are given partitions before they acknowledge, classic ones after they have joined.
        self._reconciling: set[tuple[str, str]] = set()
        self._topicless: set[tuple[str, str]] = set()

    def moved(self, member: tuple[str, str], event: Event) -> None:
        """A line of partitions that come or go."""
        parts = set(event.partitions or ())
        if event.event in GOT:
            own = self._pending.setdefault(member, Shift()) if member in self._reconciling else None
            shift = own or self._joined.pop(member, None)
            if shift is not None:
                shift.got |= parts
                shift.gave |= _in_json(event.detail)
                shift.answered = True
        else:
            # A cooperative member gives up before it is given something, and after it has joined.
            joined = self._joined.get(member)
            shift = joined or self._pending.setdefault(member, Shift())
            shift.gave |= parts
            if joined is None and shift.gave_ms is None:
                shift.gave_ms = event.at_ms
            if event.event == "revoking" and event.partitions == [] and event.text.rstrip().endswith("[]"):
                shift.empty_handed = member[0]

    def reconciles(self, member: tuple[str, str]) -> None:
        """A member is one of a consumer group: what came and went since it last acknowledged is of the epoch that it acknowledges next."""
        self._reconciling.add(member)

    def notified(self, member: tuple[str, str], who: str, event: Event, at_ms: int | None = None) -> None:
        """A member learnt from its heartbeat, or from another answer, that the group is rebalancing."""
        shift = self._pending.setdefault(member, Shift())
        shift.notified = who
        by_heartbeat = "eartbeat" in event.text or (
            event.side != "other" and not (event.reason or "").startswith("rebalance failed")
        )
        shift.learnt = "learnt from its heartbeat" if by_heartbeat else "was told"
        shift.notified_ms = at_ms if shift.notified_ms is None else shift.notified_ms

    def subscribed(self, member: tuple[str, str], at_ms: int) -> None:
        """One of this name, which has joined before, subscribed as if for the first time."""
        shift = self._pending.setdefault(member, Shift())
        shift.subscribed = shift.subscribed or (at_ms, member[0])

    def without_topics(self, member: tuple[str, str]) -> None:
        """A leader knew nothing of the topics that it was to assign: of the rebalance after the one that it is in."""
        self._topicless.add(member)

    def settled(self, member: tuple[str, str], shift: Shift) -> None:
        """A member has joined the rebalance that ``shift`` is of."""
        again = self._joined.get(member) is shift
        own = self._pending.pop(member, None)
        if own is not None and again and own.topicless:
            # It is of the next rebalance.
            own.topicless, self._pending[member] = False, Shift(topicless=True)
        if own is not None:
            shift.gave |= own.gave
            shift.got |= own.got
            shift.answered = shift.answered or own.answered
            if own.notified_ms is not None and (shift.notified_ms or own.notified_ms) >= own.notified_ms:
                shift.notified, shift.notified_ms, shift.learnt = own.notified, own.notified_ms, own.learnt
            if shift.notified is None:
                shift.notified, shift.learnt = own.notified, own.learnt
            shift.subscribed = shift.subscribed or own.subscribed
            moments = [moment for moment in (shift.gave_ms, own.gave_ms) if moment is not None]
            shift.gave_ms = min(moments, default=None)
            shift.topicless = shift.topicless or own.topicless
            shift.empty_handed = shift.empty_handed or own.empty_handed
        if member not in self._reconciling:
            self._joined[member] = shift
        if member in self._topicless:
            self._topicless.discard(member)
            self._pending.setdefault(member, Shift()).topicless = True

    def is_notified(self, member: tuple[str, str]) -> bool:
        """Whether a member has learnt since it last joined that the group is rebalancing."""
        own = self._pending.get(member)
        return own is not None and own.notified is not None

    def open(self, member: tuple[str, str]) -> Shift | None:
        """What a member wrote since it last joined."""
        return self._pending.get(member)

    def forget(self, known: set[tuple[str, str]]) -> None:
        """Keep only these members."""
        self._pending = {key: one for key, one in self._pending.items() if key in known}
        self._joined = {key: one for key, one in self._joined.items() if key in known}
        self._topicless &= known
        self._reconciling &= known


#: A rebalance that waits longer than this for one member names it: a heartbeat interval and some more.
_LONG_WAIT_MS = 4_000


class Waits:
    """Keeps when members asked to join."""

    def __init__(self) -> None:
        self._joins: list[tuple[int, str]] = []

    def take(self, event: Event) -> None:
        """A client sends a JoinGroup."""
        if event.client is not None and event.at_ms is not None:
            self._joins.append((event.at_ms, event.client))

    def forget(self, before_ms: int) -> None:
        """Forget who asked before then."""
        self._joins = [join for join in self._joins if join[0] >= before_ms]

    def name(self, rebalances: Sequence[Rebalance]) -> None:
        """Add ``waited_for`` and ``waited_ms`` to the rebalances that waited long."""
        # The first rebalance of a group waits group.initial.rebalance.delay.ms for whoever may come.
        phases = [
            row
            for row in rebalances
            if row.protocol == "classic" and row.end_ms is not None and (row.before or 0) > 0
        ]
        begun = [row.start_ms for row in phases]
        first: dict[int, dict[str, int]] = {}
        for at_ms, client in self._joins:
            place = bisect_right(begun, at_ms) - 1
            if place >= 0 and at_ms <= (phases[place].end_ms or 0):
                mine = first.setdefault(place, {})
                mine[client] = min(mine.get(client, at_ms), at_ms)
        for place, told in first.items():
            late_ms, late = max((at_ms, client) for client, at_ms in told.items())
            waited_ms = late_ms - phases[place].start_ms
            if waited_ms > _LONG_WAIT_MS:
                phases[place].waited_for, phases[place].waited_ms = late, waited_ms
