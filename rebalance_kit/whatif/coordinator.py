"""What the broker's log tells: who joined, was expelled, left; topics that came, grew and went; its own stops."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rebalance_kit.forensics.event import Event
from rebalance_kit.whatif.lives import ground
from rebalance_kit.whatif.night import Deed, Ground

_UUID = re.compile(r"-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
JOINS = frozenset({"member_id_given", "static_added", "static_replaced", "joins", "static_rejoins"})
EXPIRES = frozenset({"member_failed", "session_expired"})
LEAVES = frozenset({"left", "epoch_left", "static_away"})
BY_ADMIN = "removed by an admin"


@dataclass(slots=True)
class Coordinator:
    """Events of the group's coordinator by member, and those of the broker itself."""

    joins: list[tuple[str, Event]] = field(default_factory=list)
    expires: list[tuple[str, Event]] = field(default_factory=list)
    leaves: list[tuple[str, Event]] = field(default_factory=list)
    own: list[Event] = field(default_factory=list)

    @property
    def told(self) -> bool:
        """Whether it said anything of the group."""
        return bool(self.joins or self.expires or self.leaves)


def coordinator_of(events: Iterable[Event], names: Mapping[str, str]) -> Coordinator:
    """Sort the broker's events; ``names`` maps member ids and instance ids to members' names."""
    told, known = Coordinator(), dict(names)
    for event in events:
        who = event.member or event.instance
        if event.side == "broker" and who:
            if who not in known:
                known[who] = known.get(event.instance or "", "") or _named(who, event, known)
            name = known[who]
            if event.event in JOINS:
                told.joins.append((name, event))
            elif event.event in EXPIRES:
                told.expires.append((name, event))
            elif event.event in LEAVES:
                told.leaves.append((name, event))
        if event.group is None and event.side == "broker":
            told.own.append(event)
    return told


def _named(who: str, event: Event, known: Mapping[str, str]) -> str:
    """A member id without its random part is the client.id (or the group.instance.id); a KIP-848 one says nothing."""
    bare = _UUID.sub("", who)
    if bare != who:
        return known.get(bare, bare)
    return event.instance or f"member-{len({*known.values()}) + 1}"


def topics_of(own: Iterable[Event], since_ms: int) -> tuple[dict[str, tuple[int, Ground]], list[Deed]]:
    """Topics with their partitions before ``since_ms``, and what became of them later."""
    made: dict[str, list[Event]] = defaultdict(list)
    deeds: list[Deed] = []
    topics: dict[str, tuple[int, Ground]] = {}
    seen: set[tuple[str, str | None, str]] = set()
    for event in own:
        # A broker that starts again replays every record: the same topic with the same id is no new one.
        said = event.event, event.topic, (event.detail or "").split(" ", 1)[0]
        if said in seen and event.event in {"partition_created", "topic_deleted"}:
            continue
        seen.add(said)
        name = (event.topic or "").rpartition("-")[0]
        if event.event == "partition_created" and name and not name.startswith("__"):
            made[name].append(event)
        elif event.event == "topic_deleted" and not (event.topic or "__").startswith("__"):
            deeds.append(
                Deed(event.at_ms or 0, "delete_topic", None, ground(event), {"topic": event.topic or ""})
            )
            made[f"\0{event.topic}"].append(event)
    for name, events in made.items():
        if not name.startswith("\0"):
            gone = [one.at_ms or 0 for one in made.get(f"\0{name}", ())]
            first, later = _growth(name, events, since_ms, gone)
            topics |= first
            deeds += later
    return topics, deeds


def _growth(
    name: str, events: Sequence[Event], since_ms: int, gone: Sequence[int]
) -> tuple[dict[str, tuple[int, Ground]], list[Deed]]:
    first: dict[str, tuple[int, Ground]] = {}
    deeds: list[Deed] = []
    count, last_ms = 0, 0
    for at_ms, event in [(event.at_ms or 0, event) for event in events]:
        if any(last_ms < when <= at_ms for when in gone):
            count = 0
        count, last_ms = count + 1, at_ms
        if at_ms < since_ms:
            first[name] = count, ground(event)
            continue
        args = {"topic": name, "partitions": count}
        grows = count > 1 and not (deeds and deeds[-1].do == "create_topic" and at_ms - deeds[-1].at_ms < 500)
        if deeds and at_ms - deeds[-1].at_ms < 500:
            deeds[-1] = Deed(deeds[-1].at_ms, deeds[-1].do, None, ground(event), args)
        else:
            deeds.append(
                Deed(at_ms, "add_partitions" if grows else "create_topic", None, ground(event), args)
            )
    return first, deeds


def stops_of(own: Sequence[Event], begin_ms: int, end_ms: int) -> Iterator[Deed]:
    """The broker's stops within the night, as ``broker_down`` and ``broker_up``."""
    starts = [event for event in own if event.event == "broker_started"]
    for event in own:
        at_ms = event.at_ms or 0
        if event.event != "broker_stopping" or not begin_ms <= at_ms <= end_ms:
            continue
        back = next((one for one in starts if (one.at_ms or 0) > at_ms), None)
        if back is None:
            continue
        loaded = next(
            (one for one in own if one.event == "metadata_loaded" and (one.at_ms or 0) > at_ms), back
        )
        yield Deed(at_ms, "broker_down", None, ground(event))
        yield Deed(loaded.at_ms or 0, "broker_up", None, ground(loaded))
