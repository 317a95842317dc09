"""Findings about assignments and about the offsets at which members began to read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from rebalance_kit.forensics.findings.finding import Row, line, told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rebalance_kit.forensics.event import Event
    from rebalance_kit.forensics.history.rebalance import Rebalance

#: Sets in "{c1-uuid=Assignment(partitions=[orders-0, orders-1]), ...}"; userData may follow them.
_SETS = re.compile(r"Assignment\(partitions=\[([^\]]*)\]")

#: A difference of so many partitions is uneven, if the largest share is also twice the average.
_UNEVEN = 3


#: The lines that tell of shares and offsets.
SHARED_OUT = frozenset({"assignment_finished", "offset_set", "offset_missing"})


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
        passing = {row.before for row in rebalances if row.trigger == "follow_up"} - {None}
        for one in self._given:
            if (one.event.at_ms or 0) < before_ms and one.event.generation not in passing:
                if one.idle:
                    self._idle = _summed(self._idle, one)
                if one.highest - one.lowest >= _UNEVEN and one.highest >= 2 * one.total / one.members:
                    self._uneven = _summed(self._uneven, one)
        self._given = [one for one in self._given if (one.event.at_ms or 0) >= before_ms]

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
            f"{last.idle} of {last.members} members own no partition: there are more members than partitions they can share",
            line(first.event),
            "Run as many members as there are partitions, or add partitions; each idle one still makes the group rebalance "
            "when it comes and goes.",
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
