"""Members that come back, and static members: restarts, instance ids that change hands, ids that never return."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from rebalance_kit.forensics.findings.finding import Evidence, Row, line, told

if TYPE_CHECKING:
    from rebalance_kit.forensics.event import Event
    from rebalance_kit.forensics.history.names import Names

#: Members that leave and return within this time of each other make a rolling restart.
RETURN_WITHIN_MS = 60_000

#: An instance id that changes hands so often within a quarter of an hour is used by several.
TURNS = 3
_TURNS_WITHIN_MS = 15 * 60_000

#: Another instance id is no restart of the same moment when it comes so much later.
_LATER_MS = 10_000

_STATIC_DOC = "KIP-345 (static membership)"
_COMING = {"member_added": "joined", "joins": "joined", "left": "left", "epoch_left": "left"}

#: The lines that tell of it.
COMINGS_AND_GOINGS = frozenset(
    {*_COMING, "static_added", "static_replaced", "static_rejoins", "member_failed"}
)


@dataclass(slots=True)
class _Use:
    """One client's use of an instance id."""

    first: Evidence
    from_ms: int
    to_ms: int


class Restarts:
    """Folds comings and goings of dynamic members, and what becomes of instance ids."""

    def __init__(self) -> None:
        self._moves: list[tuple[int, int, str, str, Event]] = []
        self._turns: dict[str, list[Event]] = {}
        self._came: dict[str, list[tuple[int, str]]] = {}
        self._lost: list[Event] = []
        self._uses: dict[str, dict[str, _Use]] = {}

    def take(self, event: Event) -> None:
        """A line of the group."""
        at_ms, name, instance = event.at_ms, event.event, event.instance
        if at_ms is None:
            return
        if name in {"static_replaced", "static_rejoins"} and instance is not None:
            self._turns.setdefault(instance, []).append(event)
        if event.side != "broker":
            return
        if name in _COMING and instance is None and event.member is not None:
            self._moves.append((at_ms, event.line, _COMING[name], event.member, event))
        elif name == "static_added" and instance is not None:
            self._came.setdefault(instance, []).append((at_ms, event.member or ""))
        elif name == "member_failed":
            self._lost.append(event)

    def use(self, event: Event) -> None:
        """A line of a Java client that has an instance id."""
        at_ms, instance = event.at_ms, event.instance
        if at_ms is not None and instance is not None and event.client is not None:
            users = self._uses.setdefault(instance, {})
            users.setdefault(event.client, _Use(line(event), at_ms, at_ms)).to_ms = at_ms

    def rows(self, names: Names) -> list[Row]:
        """The findings, once all lines are taken."""
        return [*self._rolling(names), *self._shared(), *self._changing_hands(), *self._new_names()]

    def _rolling(self, names: Names) -> list[Row]:
        """Groups in which two or more dynamic members left and came back one after the other."""
        by_name: dict[str, list[tuple[int, int, str, Event]]] = {}
        for at_ms, place, kind, member, event in self._moves:
            by_name.setdefault(names.of(member) or "", []).append((at_ms, place, kind, event))
        back: list[tuple[str, Evidence]] = []
        for who, moves in by_name.items():
            moves.sort(key=lambda one: one[:2])
            for one, after in pairwise(moves):
                if (one[2], after[2]) == ("left", "joined") and after[0] - one[0] <= RETURN_WITHIN_MS:
                    back.append((who, line(one[3])))
        returned = sorted({name for name, _ in back})
        if len(returned) < 2:
            return []
        return [
            told(
                "rolling_restart",
                None,
                len(back),
                f"rolling restart without static membership: {', '.join(returned)} left and came back, each time with rebalances",
                min((first for _, first in back), key=lambda one: one.place),
                "Give each process a stable group.instance.id and a session longer than its restart: then a restart needs no rebalance.",
                _STATIC_DOC,
            )
        ]

    def _shared(self) -> list[Row]:
        """Instance ids that two clients used, the later while the earlier one lived (it wrote again afterwards)."""
        return [
            told(
                "duplicate_instance_id",
                client,
                1,
                f"{client} uses the group.instance.id {instance} of {owner}, which was still running",
                use.first,
                "Give every process its own group.instance.id (for instance from the ordinal of a StatefulSet).",
                _STATIC_DOC,
            )
            for instance, users in self._uses.items()
            for client, use in users.items()
            for owner, earlier in users.items()
            if client != owner and earlier.from_ms < use.from_ms <= earlier.to_ms
        ]

    def _changing_hands(self) -> list[Row]:
        rows = []
        for instance, events in self._turns.items():
            events.sort(key=lambda event: (event.at_ms or 0, event.line))
            begun = [
                one
                for one, third in zip(events, events[TURNS - 1 :], strict=False)
                if (third.at_ms or 0) - (one.at_ms or 0) <= _TURNS_WITHIN_MS
            ]
            if begun:
                times = len(begun) + TURNS - 1
                rows.append(
                    told(
                        "instances_take_turns",
                        instance,
                        times,
                        f"group.instance.id {instance} changed hands {times} times: "
                        "several consumers use it and fence each other in turn",
                        min(map(line, begun), key=lambda one: one.place),
                        "An instance id belongs to one consumer, not to a host: add a suffix for each thread or subscription.",
                        "KIP-345",
                    )
                )
        return rows

    def _new_names(self) -> list[Row]:
        """At least two ids that were lost for good, with as many new ones come before (a session earlier at least)."""
        old: set[str] = set()
        new: set[str] = set()
        proof: list[Evidence] = []
        # A classic coordinator names the member only; its id begins with the instance.
        owners = {max(member for _, member in came): instance for instance, came in self._came.items()}
        for event in self._lost:
            instance = owners.get(event.member or "")
            lost_ms = event.at_ms or 0
            if instance is None or lost_ms <= self._came[instance][-1][0]:
                continue
            came_ms = self._came[instance][0][0]
            fresh = {
                other for other, came in self._came.items() if came_ms + _LATER_MS < came[0][0] < lost_ms
            }
            if fresh:
                old.add(instance)
                new |= fresh
                proof.append(line(event))
        if len(old) < 2 or len(new) < 2:
            return []
        return [
            told(
                "static_ids_change",
                None,
                len(old),
                f"static members {', '.join(sorted(old))} never came back, while {len(new)} new instance ids appeared: "
                "the ids change with each rollout, and the old ones held their partitions for a session",
                min(proof, key=lambda one: one.place),
                "Take ids from stable names (a StatefulSet's ordinal), or use none; remove leftovers with "
                "AdminClient.removeMembersFromConsumerGroup.",
                "KIP-345",
            )
        ]
