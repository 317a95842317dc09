"""What a repeated run is told of the recorded one: when requests arrived, and how long the rest took.

When requests of a recorded run reached its broker: what the broker's log tells of the first ones of each life.

A heartbeat leaves no line unless it changes something. A target is computed inside one: with the join that bumped
the epoch, or with the acknowledgement of a member that joined before, which then arrived at that moment.

Seeded latency draws of a repeated run: most of a machine like the measured ones, the last of others.

A run recorded while its machine was busy (or on a quick one) has latencies that the measured spreads hardly
reach, and then a race can only go one way.  From draw 25 on, what takes time without a setting of Kafka
deciding it takes a given share of the measured time: on the whole machine, or in processes that have just
started.  Which share follows from the draw's number alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from rebalance_kit.model.versions import has
from rebalance_kit.recordings.folder import RecordedRun
from rebalance_kit.simulation.kernel import Latencies, Spread
from rebalance_kit.simulation.scenario.scenario import Scenario

COMPUTED_WITH_JOIN_MS = 450
ACK_UNDER_WAY_MS = 600
"""The longest that a first acknowledgement is looked for at the broker; a quiet machine takes some 30 ms."""
HEARD_MS = 50
"""Whoever hears of a target first, and within so long, has sent the heartbeat that computed it."""
_CREATED = re.compile(
    r"(?:unknown member id joins|and unknown member id joins).*Created a new member id (\S+?)(?: and request| for this member)"
)
_REPLACED = re.compile(r"Replacing previously mapped member (\S+) with this groupInstanceId")
_PENDING = re.compile(r"Pending dynamic member with id (\S+) joins group")
_ADDED = re.compile(r"reason: Adding new member (\S+) with group instance id")
_CONSUMER_JOIN = re.compile(
    r"\[GroupId \S+\] (?:Static m|M)ember (\S+) (?:with instance id \S+ )?(?:joins the consumer group|cannot join)"
)
_CONSUMER_REJOIN = re.compile(
    r"re-joins the consumer group using the \S+ protocol\. Created a new member (\S+) to replace"
)
_COMPUTED = re.compile(
    r"\[GroupId (\S+)\] Computed a new target assignment for epoch \d+ with '\S+' assignor in (\d+)ms"
)
_ROUND = re.compile(r"Stabilized group \S+ generation|Group \S+ with generation \d+ is now empty")
_HEARD = re.compile(r"Member (\S+) with epoch \d+ transitioned from \S+ to RECONCILING")
_INTERVAL = "group.consumer.assignment.interval.ms"


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Moments (ms since the epoch) by member id: first request, classic member added, target computed with the join.

    ``replaced`` are the moments when a static member's id was replaced, ``alone`` those when a target was computed
    by a heartbeat that is not known to be a join, each with the member that heard of it at once, if any did.
    """

    first: Mapping[str, int]
    added: Mapping[str, int]
    computed: Mapping[str, int]
    replaced: tuple[int, ...]
    alone: tuple[tuple[int, str | None], ...]

    def acknowledged(self, sent: int, member_id: str) -> int | None:
        """When that member's acknowledgement sent at that moment reached the broker, if a target tells."""
        for at, heard_by in self.alone:
            if sent < at <= sent + ACK_UNDER_WAY_MS and heard_by in {None, member_id}:
                return at
        return None


def arrivals(run: RecordedRun) -> Arrivals:
    """Read them from the broker's log."""
    first: dict[str, int] = {}
    added: dict[str, int] = {}
    computed: dict[str, int] = {}
    replaced: list[int] = []
    alone: list[tuple[int, str | None]] = []
    heard = _heard(run)
    joining: tuple[str, int] | None = None
    groups: set[str] = set()
    latest = 0
    ends = _computations(run)
    rounds = [line.t for line in run.broker if _ROUND.search(line.text)]
    for line in run.broker:
        for pattern in (_CREATED, _CONSUMER_JOIN, _CONSUMER_REJOIN):
            found = pattern.search(line.text)
            if found:
                joining = (found[1], line.t) if found[1] not in first else None
                latest = max(line.t, latest + 1)  # lines of one millisecond keep their order
                first.setdefault(found[1], latest)
        target = _COMPUTED.search(line.text)
        if target:
            # a fresh broker is slow: what counts for the assignment interval is the end of the computation;
            # a group's first target waits for no interval, and is always computed with the join
            end = ends.pop(0)
            if joining and (line.t - joining[1] <= COMPUTED_WITH_JOIN_MS or target[1] not in groups):
                computed[joining[0]] = end
            else:
                alone.append((line.t, _first_to_hear(heard, line.t)))
            joining = None
            groups.add(target[1])
        for pattern in (_PENDING, _ADDED):
            found = pattern.search(line.text)
            if found and found[1] not in added:
                latest = added[found[1]] = max(line.t, latest + 1)
        if _REPLACED.search(line.text):
            replaced.append(line.t)
    if not has("new-coordinator", run.kafka):
        added = _behind_the_leader(first, added, rounds)
    return Arrivals(first, added, computed, tuple(replaced), tuple(alone))


def _heard(run: RecordedRun) -> list[tuple[int, str]]:
    """Every moment at which a Java member began to reconcile an assignment, with its id."""
    return sorted(
        (line.t, found[1])
        for lines in run.members.values()
        for line in lines
        if (found := _HEARD.search(line.text))
    )


def _first_to_hear(heard: Sequence[tuple[int, str]], computed: int) -> str | None:
    return next((member for at, member in heard if computed <= at <= computed + HEARD_MS), None)


def _computations(run: RecordedRun) -> list[int]:
    """When each computation of a target ended, as the assignment interval counts it.

    The line comes when everything is done, and says how long that took; on a fresh broker most of it may be spent
    after the moment that is stored. That one lies early enough for the next computation of the group.
    """
    interval = int(run.broker_configs.get(_INTERVAL, 1_000)) if has("assignment-interval", run.kafka) else 0
    seen = [(line.t, found) for line in run.broker if (found := _COMPUTED.search(line.text))]
    ends = []
    for place, (at, found) in enumerate(seen):
        following = next(
            (t - int(one[2]) for t, one in seen[place + 1 :] if one[1] == found[1]), at + interval
        )
        ends.append(max(at - int(found[2]), min(at, following - interval)))
    return ends


def _behind_the_leader(
    first: Mapping[str, int], added: Mapping[str, int], rounds: Sequence[int]
) -> dict[str, int]:
    """Add the members that no line of a coordinator up to 3.9 names.

    Only the member whose addition begins a rebalance has a line of it: whoever got an id before that
    line, and after the round before it was over, was added after it.
    """
    found = dict(added)
    for leader, joined in added.items():
        since = max((at for at in rounds if at < joined), default=0)
        for member, created in first.items():
            if member != leader and since < created < joined:
                found.setdefault(member, joined + 5)
    return found


#: Draws before this one have the measured latencies.
OTHER_MACHINES = 25

#: What is quicker or slower, and percent of the measured latencies, draw by draw from there on, and round again.
PACES = (
    ("first", 200),
    ("all", 200),
    ("first", 300),
    ("all", 25),
    ("first", 400),
    ("all", 400),
    ("first", 50),
    ("all", 50),
    ("first", 600),
    ("all", 300),
    ("first", 200),
    ("all", 600),
    ("first", 300),
    ("all", 150),
    ("first", 400),
    ("all", 800),
)

#: What only a process's first requests and first seconds take.
_FIRST = ("first_request", "first_sync", "first_ack", "first_commit", "reconcile_joining", "reconcile_first")

#: Not a matter of how quick the machine is: lateness of timers, and what a record pins anyway.
_KEPT = (
    "heartbeat_late",
    "background_late",
    "librdkafka_late",
    "start_classic",
    "start_consumer",
    "start_librdkafka",
    "warming_percent",
)


def of_draw(scenario: Scenario, seed: int) -> Scenario:
    """The scenario that draw ``seed`` (from 1) simulates: its latencies, scaled for the later draws.

    Sixteen draws and sixteen in turn let the answer to a late second request travel as on a warm connection, and as long as that.
    """
    held = replace(scenario.latencies, second_answer_own_percent=0 if seed // len(PACES) % 2 else 100)
    if seed >= OTHER_MACHINES:
        what, percent = PACES[(seed - OTHER_MACHINES) % len(PACES)]
        names = _FIRST if what == "first" else [one.name for one in fields(held) if one.name not in _KEPT]
        held = _paced(held, names, percent)
    return replace(scenario, latencies=held)


def _paced(latencies: Latencies, names: tuple[str, ...] | list[str], percent: int) -> Latencies:
    """These spreads at that pace, never below a millisecond."""
    paced: dict[str, Any] = {}
    for name in names:
        held = getattr(latencies, name)
        if isinstance(held, Spread):
            paced[name] = Spread(*(max(getattr(held, at.name) * percent / 100, 1.0) for at in fields(held)))
    return replace(latencies, **paced)
