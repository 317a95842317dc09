"""Processes that were replaced without having left: the new member id joins, and a session later the old one expires."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from rebalance_kit.forensics.findings.finding import Evidence, Row, line, seconds, told
from rebalance_kit.forensics.history.triggers import reason_member

if TYPE_CHECKING:
    from rebalance_kit.forensics.event import Event
    from rebalance_kit.forensics.history.names import Names

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
                f"{who} came with a new member id up to {seconds(longest_ms)} s before its old one expired: its process was "
                "replaced without having left the group (or two processes share that client.id)",
                first,
                "Close the consumer when the process stops (SIGTERM, not SIGKILL; enough time before the kill), or give it a "
                "group.instance.id; until the old id expires its partitions are read by nobody.",
                "KafkaConsumer.close; KIP-345",
            )
            for who, (times, longest_ms, first) in self._found.items()
        ]
