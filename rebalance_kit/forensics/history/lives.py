"""Members of a group: who is who, and each one's life.

The life of each member of a group, as its coordinator wrote it down.

A life begins when the coordinator takes the member in and ends when it leaves, expires, is fenced or
is replaced; a life without an end was still going on when the log ended.

Who is who: member ids as the names people know.

A broker writes member ids.  A client's own lines give both its ``client.id`` and its member id; so
does the broker up to 3.9 when a member leaves.  Failing these, an id made by a classic coordinator
begins with the client's name (or, for a static member, with its instance id).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from rebalance_kit.forensics.event import Event
from rebalance_kit.forensics.history.triggers import reason_member

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


#: The columns of the table, in order (``path`` and ``group`` come before them).
MEMBERS = ("member", "client", "instance", "joined_ms", "ended_ms", "end")

_BEGINS = frozenset({"member_id_given", "member_added", "static_added", "joins", "static_rejoins"})

#: How a life ends, by the line that says so.
_ENDS = {
    "left": "left",
    "epoch_left": "left",
    "static_away": "away (static)",
    "member_failed": "expired",
    "session_expired": "expired",
    "transition_expired": "fenced",
    "fenced": "fenced",
}

#: Where a line names the members it removes: in brackets, or as a Scala set.
_NEVER_SYNCED = re.compile(r"Removing \[(.*)\] on pending sync request expiration")
_NOT_REJOINED = re.compile(r"^(?:\[|Set\()?(.*?)[\])]?\.?$")


@dataclass(slots=True)
class _Life:
    joined_ms: int | None = None
    back_ms: int | None = None
    last: tuple[int, str] | None = None
    instance: str | None = None

    @property
    def ended(self) -> tuple[int, str] | None:
        """When and how it ended; a KIP-848 member keeps its id when it comes back after an end."""
        over = self.last is not None and (self.back_ms is None or self.last[0] >= self.back_ms)
        return self.last if over else None


class Namesakes:
    """The lives of members of one name, in order of their beginning: which of them went on at a moment."""

    def __init__(self, lives: list[tuple[int, float, str]]) -> None:
        lives.sort()
        self._joined = [joined_ms for joined_ms, _, _ in lives]
        # Of all that had begun, the two that ended last, because one of them may be the one that is asked about.
        self._last: list[list[tuple[float, str]]] = []
        longest: list[tuple[float, str]] = []
        for _, ended_ms, member in lives:
            longest = sorted([*longest, (ended_ms, member)], reverse=True)[:2]
            self._last.append(longest)

    def other_at(self, member: str | None, at_ms: int) -> bool:
        """Whether one besides this member was in the group then."""
        place = bisect_left(self._joined, at_ms)
        return place > 0 and any(
            ended_ms > at_ms and other != member for ended_ms, other in self._last[place - 1]
        )


class Lives:
    """Folds a coordinator's lines into lives of members."""

    def __init__(self) -> None:
        self._lives: dict[str, _Life] = {}

    def take(self, event: Event) -> None:
        """A line of the coordinator; one without a time tells nothing here."""
        at_ms, name, member = event.at_ms, event.event, event.member
        if at_ms is None:
            return
        other = event.other
        if name in {"static_replaced", "static_rejoins"} and other is not None and other != member:
            self._ended(other, at_ms, "replaced")
        if name in _BEGINS and member is not None:
            life = self._life(member, event.instance)
            life.joined_ms = at_ms if life.joined_ms is None else life.joined_ms
            life.back_ms = at_ms
        elif name in _ENDS and member is not None:
            # An administrator's removal is written down as a leave, with a reason of its own.
            end = _ENDS[name]
            removed = end == "left" and "removed by an admin" in (event.reason or "")
            self._ended(member, at_ms, "removed" if removed else end, event.instance)
        elif name == "preparing" and (event.reason or "").startswith("Adding new member"):
            added = reason_member(event.reason)
            if added is not None and added not in self._lives:
                self._life(added, None).joined_ms = at_ms
        for fenced in _fenced_in_passing(event):
            self._ended(fenced, at_ms, "fenced")

    def _life(self, member: str, instance: str | None) -> _Life:
        life = self._lives.setdefault(member, _Life())
        if instance is not None:
            life.instance = max(life.instance or "", instance)
        return life

    def _ended(self, member: str, at_ms: int, end: str, instance: str | None = None) -> None:
        life = self._life(member, instance)
        life.last = max(life.last or (at_ms, end), (at_ms, end))

    def by_name(self, name_of: Callable[[str | None], str | None]) -> dict[str | None, Namesakes]:
        """The lives of each name: a client.id need not be one process's."""
        told: dict[str | None, list[tuple[int, float, str]]] = {}
        for member, life in self._lives.items():
            if life.joined_ms is not None:
                ended_ms = life.ended[0] if life.ended else inf
                told.setdefault(name_of(member), []).append((life.joined_ms, ended_ms, member))
        return {name: Namesakes(lives) for name, lives in told.items()}

    def __len__(self) -> int:
        """How many are in the group, or have ended a short while ago."""
        return len(self._lives)

    def __contains__(self, member: str) -> bool:
        """Whether the member is in the group, or has ended a short while ago."""
        return member in self._lives

    def finished(
        self, name_of: Callable[[str | None], str | None], before_ms: float = inf
    ) -> list[dict[str, object]]:
        """Give away the lives that ended before then, as rows of the table; without a moment, all."""
        told: list[dict[str, object]] = []
        for member, life in sorted(self._lives.items()):
            ended_ms, end = life.ended or (None, None)
            if before_ms == inf or (ended_ms is not None and ended_ms < before_ms):
                del self._lives[member]
                row = (member, name_of(member), life.instance, life.joined_ms, ended_ms, end)
                told.append(dict(zip(MEMBERS, row, strict=True)))
        return told


def _fenced_in_passing(event: Event) -> list[str]:
    """Members that a line about the whole group names as removed: no SyncGroup of theirs came, or no JoinGroup."""
    found = None
    if event.event == "preparing" and event.reason is not None:
        found = _NEVER_SYNCED.search(event.reason)
    elif event.event == "not_rejoined" and event.detail is not None:
        found = _NOT_REJOINED.search(event.detail)
    return [member for member in found[1].split(", ") if member] if found else []


_UUID_TAIL = re.compile(r"-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
_GIVEN_ID = re.compile(r"with the given member-id: (.*)$")

#: What librdkafka writes for a member id that it does not have.
NO_ID = ("", "(not-set)")


def given_id(event: Event) -> str | None:
    """The member id with which a line says that a client is to join."""
    given = _GIVEN_ID.search(event.reason) if event.reason else None
    return given[1] or None if given else None


#: Client and instance id of a member of whom no line tells either.
_NOTHING = (None, None)


#: Lines of a member that is refused, because another one has its instance id, or that takes it over; and what stands for that one.
_REFUSED = frozenset({"instance_refused", "client_instance_refused", "static_replaced"})
_ANOTHER = ""


class Names:
    """Collects which line names which member; whoever is asked for gets the name that is known by then.

    ``shared``: what lines of no group name, once all of them are taken.
    """

    def __init__(self, shared: Names | None = None) -> None:
        self._known: dict[str, tuple[str | None, str | None]] = {}
        self._users: dict[str, set[str]] = {}
        self._asked: _Answers | None = None
        self._shared = shared

    def take(self, event: Event) -> str | None:
        """Learn from a line that holds a member id beside a client or an instance id; returns whom it is about."""
        client, instance = event.client, event.instance
        if client is None and instance is None:
            return event.member
        self._asked = None
        if client is not None and instance is not None:
            self._users.setdefault(instance, set()).add(client)
        if instance is not None and event.event in _REFUSED:
            self._users.setdefault(instance, set()).add(_ANOTHER)
        member = given_id(event) or event.member
        if member is None or member in NO_ID:
            return None
        before = self._known.get(member, _NOTHING)
        self._known[member] = (_greater(before[0], client), _greater(before[1], instance))
        return member

    def of(self, member: str | None) -> str | None:
        """The client's name of a member id (or instance id); None for None."""
        if member is None:
            return None
        if self._asked is None:
            self._asked = self._answers()
        client = self._asked.clients.get(member)
        if client is None and self._shared is not None and member not in self._known:
            client = self._called(*self._shared.said_of(member))
        return client or self._of_instance(member, self._asked.by_instance) or bare_name(member)

    def forget(self, gone: Iterable[str]) -> None:
        """Forget members that will not be asked for any more, and instance ids that no other member has."""
        before = len(self._known)
        for member in gone:
            self._known.pop(member, None)
        if len(self._known) < before:
            left = {instance for _, instance in self._known.values()}
            self._users = {instance: users for instance, users in self._users.items() if instance in left}
            self._asked = None

    def _answers(self) -> _Answers:
        clients, by_instance = {}, dict[str, set[str]]()
        for member, own in self._known.items():
            more = _NOTHING if self._shared is None else self._shared.said_of(member)
            client, instance = map(_greater, own, more)
            name = self._called(client, instance)
            if name is not None:
                clients[member] = name
                if instance is not None:
                    by_instance.setdefault(instance, set()).add(name)
        return _Answers(clients, by_instance)

    def _called(self, client: str | None, instance: str | None) -> str | None:
        """The name of a member; one that only the broker mentions goes by the one client that uses its instance id."""
        if client or instance is None:
            return client
        users = self._users.get(instance, set())
        if self._shared is not None:
            users = users | self._shared.users_of(instance)
        return next(iter(users)) if len(users) == 1 else None

    def _of_instance(self, instance: str, by_instance: dict[str, set[str]]) -> str:
        """Who has an instance id; where several clients use it (one after the other, or by mistake), all of them."""
        names = by_instance.get(instance, set())
        if self._shared is not None:
            others = self._shared.members_by_instance.get(instance, ())
            told = (self._called(*self._shared.said_of(one)) for one in others if one not in self._known)
            names = names.union(name for name in told if name is not None)
        return " or ".join(sorted(names))

    def said_of(self, member: str) -> tuple[str | None, str | None]:
        """The client and the instance id that lines name beside a member id."""
        return self._known.get(member, _NOTHING)

    def users_of(self, instance: str) -> set[str]:
        """The clients that lines name beside an instance id."""
        return self._users.get(instance, set())

    @cached_property
    def members_by_instance(self) -> dict[str, list[str]]:
        """The members by their instance ids; to be asked for once all lines are taken."""
        members: dict[str, list[str]] = {}
        for member, (_, instance) in self._known.items():
            if instance is not None:
                members.setdefault(instance, []).append(member)
        return members


class _Answers(NamedTuple):
    """The client of each member id, where a line tells it, and the names of each instance id."""

    clients: dict[str, str]
    by_instance: dict[str, set[str]]


def bare_name(member: str) -> str:
    """A classic member id without its random tail; another id as it is.

    >>> bare_name("c1-3d088f73-0d4b-40a2-94b6-76a32dab4a9b")
    'c1'
    """
    return _UUID_TAIL.sub("", member)


def _greater(one: str | None, other: str | None) -> str | None:
    return max(one, other) if one is not None and other is not None else one if other is None else other
