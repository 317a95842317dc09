"""Findings about subscriptions and assignments, and the offsets at which members began to read.

Findings about subscriptions that changed or have nothing in common, and topics created again.

Findings about assignments and about the offsets at which members began to read.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from rebalance_kit.forensics.findings.finding import Evidence, Row, line, seconds, told

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rebalance_kit.forensics.event import Event
    from rebalance_kit.forensics.history.rebalance import Rebalance
    from rebalance_kit.forensics.history.topics import Call, Topics


class Remade:
    """Collects which topics were made and deleted; ``shared``: what lines of no group tell, once all of them are taken."""

    def __init__(self, shared: Remade | None = None) -> None:
        self._shared = shared
        self._said: dict[tuple[str, str], dict[str, Evidence]] = {}

    def change(self, event: Event) -> None:
        """The controller writes of a topic."""
        if event.topic is not None and event.detail is not None and event.at_ms is not None:
            # A restarted broker writes its whole metadata again: the first mention of an id counts.
            self._said.setdefault((event.event, event.topic), {}).setdefault(event.detail, line(event))

    def rows(self, topics: Topics) -> list[Row]:
        """Topics of the group that were deleted and made again under another id; to be asked once, at the end."""
        if self._shared is not None:
            for key, ids in self._shared.mentions() if self._said else ():
                self._said[key] = ids | self._said.get(key, {})
        told = self.made_again if self._shared is None or self._said else self._shared.made_again
        return [_made_anew(*one) for one in told if topics.uses(one[0])]

    def mentions(self) -> Iterable[tuple[tuple[str, str], dict[str, Evidence]]]:
        """Of each kind of change and topic, the ids with their first mention."""
        return self._said.items()

    @cached_property
    def made_again(self) -> list[tuple[str, int, Evidence, int]]:
        """Topics in order: how often each was made again, the first line, and when it had been deleted before."""
        found = []
        for topic in sorted(topic for kind, topic in self._said if kind == "topic_deleted"):
            gone = self._said["topic_deleted", topic]
            again = []
            for new, first in self._said.get(("topic_created", topic), {}).items():
                before = [
                    old_first.at_ms or 0
                    for old, old_first in gone.items()
                    if old != new and (first.at_ms or 0) >= (old_first.at_ms or 0)
                ]
                again += [(first, max(before))] if before else []
            if again:
                first, gone_ms = min(again, key=lambda one: one[0].place)
                found.append((topic, len(again), first, gone_ms))
        return found


class Subscribed:
    """Collects the members' lists of topics."""

    def __init__(self) -> None:
        self._lists: dict[str, tuple[list[str], Evidence]] = {}

    def take(self, event: Event) -> None:
        """A member subscribed to a list of topics."""
        if event.client is not None and event.at_ms is not None and "Subscribed to topic(s)" in event.text:
            # The last list of a member counts; a change of mind is no other application.
            self._lists[event.client] = sorted(re.split(", *", event.detail or "")), line(event)

    def rows(self, calls: Mapping[str, tuple[Call, int]]) -> list[Row]:
        """The findings, once all lines are taken."""
        return [*_resubscribed(calls), *self._unlike()]

    def _unlike(self) -> list[Row]:
        """Whether two members subscribe to lists of topics that have nothing in common."""
        apart = [
            (one, other)
            for one in sorted(self._lists)
            for other in sorted(self._lists)
            if one < other and not set(self._lists[one][0]) & set(self._lists[other][0])
        ]
        if not apart:
            return []
        one, other = apart[0]
        return [
            told(
                "unlike_subscriptions",
                None,
                len(apart),
                f"{one} reads {', '.join(self._lists[one][0])} and {other} reads {', '.join(self._lists[other][0])}: "
                "two applications in one group, and each rebalance stops both",
                min((self._lists[pair[0]][1] for pair in apart), key=lambda first: first.place),
                "Give every application a group.id of its own.",
                "KafkaConsumer: consumer groups and topic subscriptions",
            )
        ]


def _resubscribed(calls: Mapping[str, tuple[Call, int]]) -> list[Row]:
    """Members that called subscribe again with other topics, whichever rebalance took it in."""
    rows = []
    for who, (first, times) in calls.items():
        more = f", and {times - 1} time(s) more" if times > 1 else ""
        earlier = "another" if first.earlier is None else first.earlier
        rows.append(
            told(
                "resubscribed",
                who,
                times,
                f"{who} changed its subscription from {earlier} to {first.later}{more}",
                line(first.first),
                "Every change rebalances the whole group: subscribe once, to all topics or to a pattern; "
                "use pause() and resume() to hold some back.",
                "KafkaConsumer.subscribe; ConsumerCoordinator.rejoinNeededOrPending",
            )
        )
    return rows


def _made_anew(topic: str, times: int, first: Evidence, gone_ms: int) -> Row:
    return told(
        "topic_recreated",
        None,
        times,
        f"topic {topic} was deleted and {seconds((first.at_ms or 0) - gone_ms)} s later made again: "
        "of the same name, it is another topic, and its offsets begin anew",
        first,
        "Stop the consumers first, or read from a new topic; members that still commit the old one hold up the rebalance.",
        "KIP-516 (topic ids)",
    )


#: Sets in "{c1-uuid=Assignment(partitions=[orders-0, orders-1]), ...}"; userData may follow them.
_SETS = re.compile(r"Assignment\(partitions=\[([^\]]*)\]")

#: A difference of so many partitions is uneven, if the largest share is also twice the average.
_UNEVEN = 3


#: The second step of a cooperative rebalance follows the first within this time.
_STEP_MS = 10_000

#: So many lines behind its assignment a leader is told what it has to give up.
_BLOCK = 12

#: The lines that tell of shares and offsets.
SHARED_OUT = frozenset(
    {"assignment_finished", "block_revoked", "joined", "offset_set", "offset_missing", "synced"}
)


class _Shares(NamedTuple):
    event: Event
    idle: int
    members: int
    highest: int
    lowest: int
    total: int


class Shares:
    """Folds the leaders' assignments and the offsets at which members begin."""

    def __init__(self) -> None:
        self._highest: dict[str, int] = {}
        #: The first, how often, and (of what was rewound) from which offset.
        self._rewound: tuple[Event, int, int] | None = None
        self._missing: tuple[Event, int] | None = None
        self._given: list[_Shares] = []
        #: Where a member is told what to give up (these lines have no time, so they come first).
        self._revoked: dict[str, list[int]] = {}
        #: Generations in which what changes hands is given to nobody yet.
        self._cooperative: set[int | None] = set()
        #: Of final assignments: the first and the last, and how many there were.
        self._idle: tuple[_Shares, _Shares, int] | None = None
        self._uneven: tuple[_Shares, _Shares, int] | None = None

    def take(self, event: Event) -> None:
        """A line of a client."""
        if event.event == "assignment_finished":
            sizes = [len(one.split(", ")) if one else 0 for one in _SETS.findall(event.detail or "")]
            if sizes:
                self._given.append(
                    _Shares(event, sizes.count(0), len(sizes), max(sizes), min(sizes), sum(sizes))
                )
        elif event.event in {"joined", "synced"}:
            if "cooperative" in (event.assignor or ""):
                self._cooperative.add(event.generation)
        elif event.event == "block_revoked":
            if event.partitions:
                self._revoked.setdefault(event.file, []).append(event.line)
        elif event.event in {"offset_set", "offset_missing"} and event.client is not None:
            topic, offset = event.topic or "", event.offset
            highest = self._highest.get(topic)
            if highest is not None and event.event == "offset_missing":
                first, times = self._missing or (event, 0)
                self._missing = first, times + 1
            elif highest is not None and offset is not None and offset < highest:
                rewound, times, from_offset = self._rewound or (event, 0, highest)
                self._rewound = rewound, times + 1, from_offset
            if offset is not None:
                self._highest[topic] = max(offset, highest if highest is not None else offset)

    def settle(self, rebalances: Sequence[Rebalance], before_ms: float) -> None:
        """Sum up the assignments before then; ``rebalances`` are those that are over since the last time."""
        passing = {row.before for row in rebalances if row.trigger == "follow_up"}
        # What the next generation gives and this one does not waits for its former owner.
        passing |= {
            one.event.generation
            for one, after in pairwise(self._given)
            if after.total > one.total and after.event.generation == (one.event.generation or 0) + 1
        }
        # Nor is one final by which its leader has to give up partitions.
        passing |= {one.event.generation for one in self._given if self._gives_up(one.event)}
        # A cooperative one is final where none follows at once.
        lasting = {row.before: row.start_ms for row in rebalances if row.protocol == "classic"}
        passing |= {
            one.event.generation
            for one in self._given
            if one.event.generation in self._cooperative
            and lasting.get(one.event.generation, -inf) - (one.event.at_ms or 0) < _STEP_MS
        }
        passing.discard(None)
        for one in self._given:
            if (one.event.at_ms or 0) < before_ms and one.event.generation not in passing:
                # Where nobody was given anything the topics were not known, or had no partitions.
                if one.idle and one.total:
                    self._idle = _summed(self._idle, one)
                if one.highest - one.lowest >= _UNEVEN and one.highest >= 2 * one.total / one.members:
                    self._uneven = _summed(self._uneven, one)
        self._given = [one for one in self._given if (one.event.at_ms or 0) >= before_ms]

    def _gives_up(self, event: Event) -> bool:
        lines = self._revoked.get(event.file, [])
        place = bisect_right(lines, event.line)
        return place < len(lines) and lines[place] - event.line <= _BLOCK

    def rows(self) -> list[Row]:
        """The findings, once all lines are taken and summed up."""
        return [*self._offsets(), *_idle(self._idle), *_uneven(self._uneven)]

    def _offsets(self) -> list[Row]:
        """Partitions whose committed offset went down, or vanished, between two owners."""
        rows = []
        if self._missing:
            one, times = self._missing
            rows.append(
                told(
                    "offsets_lost",
                    one.client,
                    times,
                    f"the committed offset of {one.topic} was gone when {one.client} asked for it, though it had been there before",
                    line(one),
                    "Deleted with their topic, or expired: offsets.retention.minutes counts from when the group became empty. "
                    "auto.offset.reset decides where reading begins.",
                    "KIP-211; offsets.retention.minutes",
                )
            )
        if self._rewound:
            one, times, highest = self._rewound
            rows.append(
                told(
                    "offset_rewound",
                    one.client,
                    times,
                    f"the committed offset of {one.topic} went back from {highest} to {one.offset}: its records came again",
                    line(one),
                    "A late acknowledgement was committed after a newer one (or somebody reset the group): drop pending "
                    "acknowledgements in onPartitionsRevoked.",
                    "OffsetCommit compares nothing; ConsumerRebalanceListener",
                )
            )
        return rows


def _summed(before: tuple[_Shares, _Shares, int] | None, one: _Shares) -> tuple[_Shares, _Shares, int]:
    first, _, times = before or (one, one, 0)
    return first, one, times + 1


def _idle(given: tuple[_Shares, _Shares, int] | None) -> list[Row]:
    """Final assignments in which members got nothing."""
    if given is None:
        return []
    first, last, times = given
    return [
        told(
            "idle_members",
            None,
            times,
            f"{last.idle} of {last.members} members own no partition",
            line(first.event),
            "With more members than partitions some are idle: run fewer, or add partitions. With enough partitions look at the assignor (range "
            "shares out each topic by itself) and at what each member subscribes to.",
            "Kafka documentation, Consumers: a partition has one owner in a group",
        )
    ]


def _uneven(given: tuple[_Shares, _Shares, int] | None) -> list[Row]:
    """Final assignments in which one member got far more than its share."""
    if given is None:
        return []
    first, last, times = given
    return [
        told(
            "skewed_assignment",
            None,
            times,
            f"one member was given {last.highest} partitions and another {last.lowest}",
            line(first.event),
            "The range assignor gives the remainder of every topic to the same members: use cooperative-sticky, "
            "roundrobin or uniform, or partition counts that the number of members divides.",
            "RangeAssignor",
        )
    ]
