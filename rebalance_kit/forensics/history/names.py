"""Who is who: member ids as the names people know.

A broker writes member ids.  A client's own lines give both its ``client.id`` and its member id; so
does the broker up to 3.9 when a member leaves.  Failing these, an id made by a classic coordinator
begins with the client's name (or, for a static member, with its instance id).
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rebalance_kit.forensics.event import Event

_UUID_TAIL = re.compile(r"-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
_GIVEN_ID = re.compile(r"with the given member-id: (.*)$")

#: What librdkafka writes for a member id that it does not have.
_NO_ID = ("", "(not-set)")


#: Client and instance id of a member of whom no line tells either.
_NOTHING = (None, None)


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
        member = event.member
        if event.reason and (given := _GIVEN_ID.search(event.reason)) and given[1]:
            member = given[1]
        if member is None or member in _NO_ID:
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
