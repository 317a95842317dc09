"""Who is who: member ids as the names people know.

A broker writes member ids.  A client's own lines give both its ``client.id`` and its member id; so
does the broker up to 3.9 when a member leaves.  Failing these, an id made by a classic coordinator
begins with the client's name (or, for a static member, with its instance id).
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rebalance_kit.forensics.event import Event

_UUID_TAIL = re.compile(r"-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
_GIVEN_ID = re.compile(r"with the given member-id: (.*)$")

#: What librdkafka writes for a member id that it does not have.
_NO_ID = ("", "(not-set)")


class Names:
    """Collects which line names which member; asked once all lines are taken."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str | None, str | None]] = {}
        self._users: dict[str, set[str]] = {}

    def take(self, event: Event) -> None:
        """Learn from a line that holds a member id beside a client or an instance id."""
        client, instance = event.client, event.instance
        if client is None and instance is None:
            return
        if client is not None and instance is not None:
            self._users.setdefault(instance, set()).add(client)
        member = event.member
        if event.reason and (given := _GIVEN_ID.search(event.reason)) and given[1]:
            member = given[1]
        if member is None or member in _NO_ID:
            return
        before = self._known.get(member, (None, None))
        self._known[member] = (_greater(before[0], client), _greater(before[1], instance))

    @cached_property
    def _clients(self) -> dict[str, str]:
        """The client of each member id, where a line tells it."""
        told = {}
        for member, (client, instance) in self._known.items():
            # A static member that only the broker mentions goes by the one client that uses its instance id.
            users = self._users.get(instance or "", set())
            name = client or (next(iter(users)) if len(users) == 1 else None)
            if name is not None:
                told[member] = name
        return told

    @cached_property
    def _by_instance(self) -> dict[str, str]:
        """An instance id that several clients use (one after the other, or by mistake) names them all."""
        users: dict[str, set[str]] = {}
        for member, client in self._clients.items():
            instance = self._known[member][1]
            if instance is not None:
                users.setdefault(instance, set()).add(client)
        return {instance: " or ".join(sorted(clients)) for instance, clients in users.items()}

    def of(self, member: str | None) -> str | None:
        """The client's name of a member id (or instance id); None for None."""
        if member is None:
            return None
        return self._clients.get(member) or self._by_instance.get(member) or bare_name(member)


def bare_name(member: str) -> str:
    """A classic member id without its random tail; another id as it is.

    >>> bare_name("c1-3d088f73-0d4b-40a2-94b6-76a32dab4a9b")
    'c1'
    """
    return _UUID_TAIL.sub("", member)


def _greater(one: str | None, other: str | None) -> str | None:
    return max(one, other) if one is not None and other is not None else one if other is None else other
