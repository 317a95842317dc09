"""Members that come back, and processes that were replaced without having left.

Members that come back, and static members: restarts, instance ids that change hands, ids that never return.

Processes that were replaced without having left: the new member id joins, and a session later the old one expires.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING

from rebalance_kit.forensics.findings.finding import Evidence, Row, line, seconds, told
from rebalance_kit.forensics.history.triggers import reason_member

if TYPE_CHECKING:
    from rebalance_kit.forensics.event import Event
    from rebalance_kit.forensics.history.lives import Names


#: Members that leave and return within this time of each other make a rolling restart.
RETURN_WITHIN_MS = 60_000

#: An instance id that changes hands so often within a quarter of an hour is used by several.
TURNS = 3
_TURNS_WITHIN_MS = 15 * 60_000

#: Another instance id is no restart of the same moment when it comes so much later.
_LATER_MS = 10_000

_STATIC_DOC = "KIP-345 (static membership)"
_COMING = {"member_added": "joined", "joins": "joined", "left": "left", "epoch_left": "left"}

#: Lines of a client that did not poll in time, and how near to its leave they are.
SLOW = frozenset({"rd_poll_timeout", "poll_timeout", "other_poll_timeout"})
_SLOW_MS = 5_000

#: The lines that tell of it.
COMINGS_AND_GOINGS = frozenset(
    {*_COMING, *SLOW, "static_added", "static_replaced", "static_rejoins", "member_failed"}
)


@dataclass(slots=True)
class _Use:
    """One client's use of an instance id."""

    first: Evidence
    from_ms: int
    to_ms: int


@dataclass(slots=True)
class _Coming:
    """When an instance id came for the first and the last time, and its greatest member id."""

    first_ms: int
    last_ms: int
    member: str


class Restarts:
    """Folds comings and goings of dynamic members, and what becomes of instance ids."""

    def __init__(self) -> None:
        self._moves: list[tuple[int, int, str, str, Event]] = []
        self._turns: dict[str, list[Event]] = {}
        self._came: dict[str, _Coming] = {}
        self._lost: list[Event] = []
        #: When clients say that they did not poll in time: what they leave for is no restart.
        self._slow: dict[str, list[int]] = {}
        self._uses: dict[str, dict[str, _Use]] = {}
        #: Who left and came back at once, how often, and the first line.
        self._back: tuple[set[str], int, Evidence] | None = None
        self._handed: dict[str, tuple[int, Evidence]] = {}
        #: Instance ids that were lost for good, those that came instead, and the first line.
        self._renamed: tuple[set[str], set[str], Evidence] | None = None

    def take(self, event: Event) -> None:
        """A line of the group."""
        at_ms, name, instance = event.at_ms, event.event, event.instance
        if at_ms is None:
            return
        if name in {"static_replaced", "static_rejoins"} and instance is not None:
            self._turns.setdefault(instance, []).append(event)
        if name in SLOW and event.client is not None:
            self._slow.setdefault(event.client, []).append(at_ms)
        if event.side != "broker":
            return
        # Whose loop was too slow left, and came back, without a restart.
        slow = "poll timeout" in (event.reason or "")
        if name in _COMING and instance is None and event.member is not None and not slow:
            self._moves.append((at_ms, event.line, _COMING[name], event.member, event))
        elif name == "static_added" and instance is not None:
            member = event.member or ""
            came = self._came.setdefault(instance, _Coming(at_ms, at_ms, member))
            came.last_ms, came.member = at_ms, max(came.member, member)
        elif name == "member_failed":
            self._lost.append(event)

    def use(self, event: Event) -> None:
        """A line of a Java client that has an instance id."""
        at_ms, instance = event.at_ms, event.instance
        if at_ms is not None and instance is not None and event.client is not None:
            users = self._uses.setdefault(instance, {})
            users.setdefault(event.client, _Use(line(event), at_ms, at_ms)).to_ms = at_ms

    def settle(self, names: Names, before_ms: float = inf) -> None:
        """Sum up what was before then."""
        self._settle_returns(names, before_ms)
        self._settle_turns(before_ms)
        self._settle_lost(before_ms)

    def rows(self) -> list[Row]:
        """The findings, once all lines are taken and summed up."""
        return [*self._rolling(), *self._shared(), *self._changing_hands(), *self._new_names()]

    def _settle_returns(self, names: Names, before_ms: float) -> None:
        by_name: dict[str, list[tuple[int, int, str, Event]]] = {}
        for at_ms, place, kind, member, event in self._moves:
            by_name.setdefault(names.of(member) or "", []).append((at_ms, place, kind, event))
        for who, moves in by_name.items():
            moves.sort(key=lambda one: one[:2])
            for one, after in pairwise(moves):
                returns = (one[2], after[2]) == ("left", "joined") and after[0] - one[0] <= RETURN_WITHIN_MS
                slow = any(abs(at_ms - one[0]) <= _SLOW_MS for at_ms in self._slow.get(who, ()))
                if returns and not slow and one[0] < before_ms:
                    whose, times, first = self._back or (set(), 0, line(one[3]))
                    self._back = whose | {who}, times + 1, min(first, line(one[3]), key=lambda e: e.place)
        self._moves = [move for move in self._moves if move[0] >= before_ms]

    def _settle_turns(self, before_ms: float) -> None:
        for instance, events in list(self._turns.items()):
            events.sort(key=lambda event: (event.at_ms or 0, event.line))
            for one, third in zip(events, events[TURNS - 1 :], strict=False):
                at_ms = one.at_ms or 0
                if at_ms < before_ms and (third.at_ms or 0) - at_ms <= _TURNS_WITHIN_MS:
                    times, first = self._handed.get(instance, (0, line(one)))
                    self._handed[instance] = times + 1, min(first, line(one), key=lambda e: e.place)
            self._turns[instance] = [event for event in events if (event.at_ms or 0) >= before_ms]
            if not self._turns[instance]:
                del self._turns[instance]

    def _settle_lost(self, before_ms: float) -> None:
        # A classic coordinator names the member only; its id begins with the instance.
        owners = {came.member: instance for instance, came in self._came.items()}
        for event in self._lost:
            instance, lost_ms = owners.get(event.member or ""), event.at_ms or 0
            if lost_ms >= before_ms or instance is None or lost_ms <= self._came[instance].last_ms:
                continue
            came_ms = self._came[instance].first_ms
            fresh = {
                other for other, came in self._came.items() if came_ms + _LATER_MS < came.first_ms < lost_ms
            }
            if fresh:
                old, new, first = self._renamed or (set(), set(), line(event))
                self._renamed = old | {instance}, new | fresh, min(first, line(event), key=lambda e: e.place)
        self._lost = [event for event in self._lost if (event.at_ms or 0) >= before_ms]

    def _rolling(self) -> list[Row]:
        """Groups in which two or more dynamic members left and came back one after the other."""
        returned, times, first = self._back or (set(), 0, None)
        if len(returned) < 2 or first is None:
            return []
        return [
            told(
                "rolling_restart",
                None,
                times,
                f"as in a rolling restart without static membership, {', '.join(sorted(returned))} left and came back within a minute",
                first,
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
        return [
            told(
                "instances_take_turns",
                instance,
                begun + TURNS - 1,
                f"group.instance.id {instance} changed hands {begun + TURNS - 1} times, "
                "as when several consumers use it and fence each other in turn",
                first,
                "Look whether one consumer starts again and again, or several share the id: it belongs to one consumer, not to a host (add a suffix for each thread or subscription).",
                "KIP-345",
            )
            for instance, (begun, first) in self._handed.items()
        ]

    def _new_names(self) -> list[Row]:
        """At least two ids that were lost for good, with as many new ones come before (a session earlier at least)."""
        old, new, first = self._renamed or (set(), set(), None)
        if len(old) < 2 or len(new) < 2 or first is None:
            return []
        return [
            told(
                "static_ids_change",
                None,
                len(old),
                f"static members {', '.join(sorted(old))} expired and did not come back in these logs, while {len(new)} new instance ids appeared, "
                "as when the ids change with each rollout",
                first,
                "An old id keeps its partitions until its session is over. Take ids from stable names (a StatefulSet's ordinal), or use none; remove leftovers with "
                "AdminClient.removeMembersFromConsumerGroup.",
                "KIP-345",
            )
        ]


#: A session is hardly longer.
_WITHIN_MS = 300_000

#: Names that libraries give every client that has none of its own.
_NOBODYS = frozenset({"rdkafka", "sarama", "kgo", "kafkajs", "consumer", "consumer-1", ""})

#: The lines that tell of it.
REPLACING = frozenset(
    {"member_added", "static_added", "member_id_given", "preparing", "member_failed", "left"}
)


class Replaced:
    """Folds who came and whose old id expired afterwards."""

    def __init__(self) -> None:
        self._came: dict[str, int] = {}
        self._lost: dict[str, Event] = {}
        self._found: dict[str, tuple[int, int, Evidence]] = {}

    def take(self, event: Event) -> None:
        """A line of the coordinator, in order of time."""
        at_ms, member = event.at_ms, event.member
        if at_ms is None:
            return
        if event.event == "member_failed" and member is not None:
            self._lost.setdefault(member, event)
            return
        if event.event == "preparing":
            added = (event.reason or "").startswith("Adding new member")
            member = reason_member(event.reason) if added else None
        if member is not None and event.event != "left":
            self._came.setdefault(member, at_ms)

    def settle(self, names: Names, before_ms: float = inf) -> None:
        """Sum up the expiries before then."""
        by_name: dict[str, list[int]] = {}
        for member, at_ms in self._came.items():
            by_name.setdefault(names.of(member) or "", []).append(at_ms)
        for member, event in list(self._lost.items()):
            lost_ms, who = event.at_ms or 0, names.of(member) or ""
            if lost_ms >= before_ms:
                continue
            del self._lost[member]
            came_ms = self._came.get(member, -inf)
            newer = [at for at in by_name.get(who, ()) if max(came_ms, lost_ms - _WITHIN_MS) < at < lost_ms]
            if newer and who not in _NOBODYS:
                times, longest_ms, first = self._found.get(who, (0, 0, line(event)))
                self._found[who] = times + 1, max(longest_ms, lost_ms - min(newer)), first
        self._came = {one: at_ms for one, at_ms in self._came.items() if at_ms >= before_ms - _WITHIN_MS}

    def rows(self) -> list[Row]:
        """The findings, once all lines are taken and summed up."""
        return [
            told(
                "replaced_without_leave",
                who,
                times,
                f"{who} came with a new member id up to {seconds(longest_ms)} s before another of that name expired: perhaps a process was "
                "replaced without having left the group, or several consumers share that client.id",
                first,
                "Close the consumer when the process stops (SIGTERM, not SIGKILL; enough time before the kill), or give it a "
                "group.instance.id: until an old id expires, nobody reads the partitions that it owns.",
                "KafkaConsumer.close; KIP-345",
            )
            for who, (times, longest_ms, first) in self._found.items()
        ]
