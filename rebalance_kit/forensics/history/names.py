"""Who is who: member ids as the names people know.

A broker writes member ids.  A client's own lines give both its ``client.id`` and its member id; so
does the broker up to 3.9 when a member leaves.  Failing these, an id made by a classic coordinator
begins with the client's name (or, for a static member, with its instance id).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rebalance_kit.forensics.event import Event

_UUID_TAIL = re.compile(r"-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
_GIVEN_ID = re.compile(r"with the given member-id: (.*)$")

#: What librdkafka writes for a member id that it does not have.
_NO_ID = ("", "(not-set)")


class Names:
    """Collects which line names which member; whoever is asked for gets the name that is known by then."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str | None, str | None]] = {}
        self._users: dict[str, set[str]] = {}
        self._asked: _Answers | None = None

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
        before = self._known.get(member, (None, None))
        self._known[member] = (_greater(before[0], client), _greater(before[1], instance))
        return member

    def of(self, member: str | None) -> str | None:
        """The client's name of a member id (or instance id); None for None."""
        if member is None:
            return None
        if self._asked is None:
            self._asked = self._answers()
        return self._asked.clients.get(member) or self._asked.by_instance.get(member) or bare_name(member)

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
        for member, (client, instance) in self._known.items():
            # A static member that only the broker mentions goes by the one client that uses its instance id.
            users = self._users.get(instance or "", set())
            name = client or (next(iter(users)) if len(users) == 1 else None)
            if name is not None:
                clients[member] = name
                if instance is not None:
                    by_instance.setdefault(instance, set()).add(name)
        # An instance id that several clients use (one after the other, or by mistake) names them all.
        return _Answers(clients, {key: " or ".join(sorted(names)) for key, names in by_instance.items()})


class _Answers(NamedTuple):
    """The client of each member id, where a line tells it, and the names of each instance id."""

    clients: dict[str, str]
    by_instance: dict[str, str]


def bare_name(member: str) -> str:
    """A classic member id without its random tail; another id as it is.

    >>> bare_name("c1-3d088f73-0d4b-40a2-94b6-76a32dab4a9b")
    'c1'
    """
    return _UUID_TAIL.sub("", member)


def _greater(one: str | None, other: str | None) -> str | None:
    return max(one, other) if one is not None and other is not None else one if other is None else other
