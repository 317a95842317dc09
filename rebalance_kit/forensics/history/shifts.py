"""Partitions that came and went in one rebalance, as the members' own logs tell it: who else must have come or gone.

A member that began nothing, and has fewer partitions after a rebalance than before, made room for another one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rebalance_kit.forensics.words import counted

if TYPE_CHECKING:
    from rebalance_kit.forensics.event import Event

#: Lines of partitions that a member gave up, and of those that it was given.
GAVE = frozenset({"revoking", "revoked", "lost", "other_revoked", "other_lost"})
GOT = frozenset({"assigned", "other_assigned"})


_JSON = re.compile(r'"([\w.-]{1,249})":\[(\d[\d,]{0,2000})\]')


@dataclass(slots=True)
class Shift:
    """What the members with a log gave up and got in one rebalance."""

    gave: set[str] = field(default_factory=set)
    got: set[str] = field(default_factory=set)
    #: Who learnt from its heartbeat that the group was rebalancing.
    notified: str | None = None
    #: Whether the members' lines say what they were given.
    answered: bool = False
    #: Who was told that it is the only member.
    alone: str | None = None

    def words(self) -> str | None:
        """Who must have begun it, as far as the shares tell; None where they tell nothing."""
        before, after = len(self.gave), len(self.got)
        fresh = {_topic(one) for one in self.got} - {_topic(one) for one in self.gave}
        if before and fresh and self.gave <= self.got:
            topics = ", ".join(sorted(fresh))
            return (
                f"topics came in: partitions of {topics} were assigned that nobody here had before "
                "(a new topic that the subscription matches, or a changed subscription)"
            )
        if before and self.answered and self.got < self.gave:
            return (
                f"another member joined, by the shares: of {counted(before, 'partition')} that the members with a log gave up "
                f"they were given {after or 'none'} again"
            )
        if before and self.gave < self.got:
            return (
                f"another member left or was lost, by the shares: the members with a log gave up {counted(before, 'partition')} "
                f"and were given {after}"
            )
        if self.notified is not None:
            return (
                f"somebody else began it: {self.notified} learnt from its heartbeat that the group was rebalancing "
                "(a member joined, left or was lost, or topics changed); the coordinator's log would tell who"
            )
        if self.alone is not None:
            return f"{self.alone} joined, as the only member of its group"
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

    def moved(self, member: tuple[str, str], event: Event) -> None:
        """A line of partitions that come or go."""
        parts = set(event.partitions or ())
        if event.event in GOT:
            shift = self._joined.pop(member, None)
            if shift is not None:
                shift.got |= parts
                shift.gave |= _in_json(event.detail)
                shift.answered = True
        else:
            # A cooperative member gives up before it is given something, and after it has joined.
            (self._joined.get(member) or self._pending.setdefault(member, Shift())).gave |= parts

    def notified(self, member: tuple[str, str], who: str) -> None:
        """A member learnt from its heartbeat that the group is rebalancing."""
        self._pending.setdefault(member, Shift()).notified = who

    def settled(self, member: tuple[str, str], shift: Shift) -> None:
        """A member has joined the rebalance that ``shift`` is of."""
        own = self._pending.pop(member, None)
        if own is not None:
            shift.gave |= own.gave
            shift.notified = shift.notified or own.notified
        self._joined[member] = shift

    def open(self, member: tuple[str, str]) -> Shift | None:
        """What a member wrote since it last joined."""
        return self._pending.get(member)

    def forget(self, known: set[tuple[str, str]]) -> None:
        """Keep only these members."""
        self._pending = {key: one for key, one in self._pending.items() if key in known}
        self._joined = {key: one for key, one in self._joined.items() if key in known}
