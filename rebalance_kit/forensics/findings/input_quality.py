"""Findings about the logs themselves: clocks that disagree, files given twice, two groups of one name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rebalance_kit.forensics.findings.finding import Evidence, Row, line, seconds, told

if TYPE_CHECKING:
    from rebalance_kit.forensics.event import Event

#: A client cannot learn of a generation before its coordinator has made it; more than this is no rounding.
CLOCK_MS = 500

#: A line this much earlier than the one before it in its file.
BACK_MS = 2_000

#: Hardly a process is frozen for longer, at each rebalance or once.
_FROZEN_MS, _ASLEEP_MS = 60_000, 15 * 60_000

#: Two files share this many coordinator's lines, to the millisecond: one is a copy.
_SHARED = 3


@dataclass(slots=True)
class _Sum:
    """How often something was found, by how much at most, and its first line."""

    first: Evidence
    times: int = 0
    most_ms: int = 0

    def add(self, first: Evidence, ms: int = 0) -> None:
        """Once more."""
        self.first = min(self.first, first, key=lambda one: one.place)
        self.times += 1
        self.most_ms = max(self.most_ms, ms)


#: Time zones are whole quarters of an hour apart.
ZONE_MS = 900_000


def _why_back(back: _Sum) -> str:
    off_ms = (back.most_ms + BACK_MS) % ZONE_MS
    zones = back.most_ms >= ZONE_MS - BACK_MS and off_ms <= 2 * BACK_MS
    mostly = "processes whose clocks stand in different time zones, " if zones else ""
    return f"{mostly}a clock that was set, summer time, or files strung together"


class InputQuality:
    """Folds what contradicts itself."""

    def __init__(self, group: str | None) -> None:
        self._group = group
        self._made: dict[tuple[str, int], list[tuple[str, int, Evidence]]] = {}
        self._early: list[tuple[str, int, Evidence]] = []
        self._now: tuple[int, dict[str, dict[str, Event]]] = (0, {})
        self._copies: dict[tuple[str, str], _Sum] = {}
        self._back: dict[str, _Sum] = {}
        self._late: dict[str, _Sum] = {}
        self._ahead: dict[str, _Sum] = {}
        self._twice: _Sum | None = None

    def went_back(self, event: Event) -> None:
        """A line that is earlier than the one before it in its file."""
        if event.back_ms is not None and event.back_ms > BACK_MS:
            self._back.setdefault(event.file, _Sum(line(event))).add(line(event), event.back_ms)

    def take(self, event: Event) -> None:
        """A line of the group: its coordinator's, or a member's that joined."""
        if event.at_ms is None:
            return
        number = event.generation if event.generation is not None else event.epoch
        if event.event in {"stabilized", "bumped"} and number is not None:
            made = self._made.setdefault((event.event, number), [])
            if (event.file, event.at_ms) not in {one[:2] for one in made}:
                made.append((event.file, event.at_ms, line(event)))
        # Lines come in order of time: a generation that is already made was not joined too early.
        elif event.event == "joined" and event.client is not None and number is not None:
            self._early += [(event.client, number, line(event))] * (("stabilized", number) not in self._made)
            # Nobody joins a generation when the next is made.
            later = self._made.get(("stabilized", number + 1), [])
            ahead_ms = event.at_ms - min((at_ms for _, at_ms, _ in later), default=event.at_ms)
            if ahead_ms > CLOCK_MS and len({file for file, _, _ in later}) == 1:
                self._ahead.setdefault(event.client, _Sum(line(event))).add(line(event), ahead_ms)
        if event.side == "broker":
            self._look_for_a_copy(event, event.at_ms)

    def _look_for_a_copy(self, event: Event, at_ms: int) -> None:
        if self._now[0] != at_ms:
            self._count_copies()
            self._now = (at_ms, {})
        self._now[1].setdefault(event.text, {}).setdefault(event.file, event)

    def _count_copies(self) -> None:
        for files in self._now[1].values():
            if len(files) > 1:
                one, other = sorted(files)[:2]
                first = line(files[one])
                self._copies.setdefault((one, other), _Sum(first)).add(first)
        self._now = (0, {})

    def settle(self, before_ms: float) -> None:
        """Sum up what generations say that were made before then."""
        for client, generation, first in self._early:
            made = self._made.get(("stabilized", generation), [])
            if (first.at_ms or 0) < before_ms and len({file for file, _, _ in made}) == 1:
                early_ms = min(at_ms for _, at_ms, _ in made) - (first.at_ms or 0)
                if early_ms > CLOCK_MS:
                    self._late.setdefault(client, _Sum(first)).add(first, early_ms)
        self._early = [one for one in self._early if (one[2].at_ms or 0) >= before_ms]
        for key, made in list(self._made.items()):
            if made[-1][1] < before_ms:
                del self._made[key]
                self._look_for_a_twin(made)

    def _look_for_a_twin(self, made: list[tuple[str, int, Evidence]]) -> None:
        if len({file for file, _, _ in made}) > 1 and len({at_ms for _, at_ms, _ in made}) > 1:
            first = min((first for _, _, first in made), key=lambda one: one.place)
            self._twice = self._twice or _Sum(first)
            self._twice.add(first)

    def rows(self) -> list[Row]:
        """The findings, once all lines are taken and summed up."""
        self._count_copies()
        return [*self._clocks(), *self._one_name(), *self._same_log(), *self._backwards()]

    def _clocks(self) -> list[Row]:
        """Clients that told of a generation before their coordinator's clock had made it."""
        return [
            told(
                "clocks_disagree",
                who,
                early.times,
                f"the clock of {who} is at least {seconds(early.most_ms)} s behind the coordinator's: "
                "it joined a generation before that was made",
                early.first,
                f"Read them with --offset '*{early.first.file.rsplit('/', 1)[-1]}=+{early.most_ms}ms' (or more), and synchronise the hosts (NTP).",
                "GroupMetadataManager: Stabilized comes before any answer to JoinGroup",
            )
            for who, early in self._late.items()
        ] + [
            told(
                "clocks_disagree",
                who,
                late.times,
                f"the clock of {who} is at least {seconds(late.most_ms)} s ahead of the coordinator's: it joined a generation after the next was made",
                late.first,
                f"Read them with --offset '*{late.first.file.rsplit('/', 1)[-1]}=-{late.most_ms}ms' (or more): a whole number of hours "
                "is a time zone (--time-zone, or %d{UTC} in its layout).",
                "GroupMetadataManager: Stabilized comes before any answer to JoinGroup",
            )
            for who, late in self._ahead.items()
            # A process that was frozen reads an answer late, too.
            if late.most_ms >= (_FROZEN_MS if late.times > 1 else _ASLEEP_MS)
        ]

    def _one_name(self) -> list[Row]:
        """A group whose generations were made twice, at different times, in different files: two groups of one name."""
        if self._twice is None or self._twice.times < 2:
            return []
        return [
            told(
                "one_name_two_groups",
                None,
                self._twice.times,
                f"two groups of the name {self._group} are in these files (two clusters?): their rebalances are told as one",
                self._twice.first,
                "Read the logs of each cluster by themselves: one folder a cluster.",
                "a group.id is unique within a cluster only",
            )
        ]

    def _same_log(self) -> list[Row]:
        """Files that hold the same lines of a coordinator as another one."""
        return [
            told(
                "same_log_twice",
                None,
                found.times,
                f"{other} holds the same lines as {one}: what is in both is counted once",
                found.first,
                "Leave one of the two out.",
                "the two files themselves",
            )
            for (one, other), found in self._copies.items()
            if found.times >= _SHARED
        ]

    def _backwards(self) -> list[Row]:
        """Files in which time goes back."""
        return [
            told(
                "time_goes_back",
                file,
                back.times,
                f"time goes back by {seconds(back.most_ms)} s within {file} ({_why_back(back)})",
                back.first,
                "Log in UTC; read the files of several processes, and rotated files, beside each other rather than strung together.",
                "log4j2 %d{UTC}",
            )
            for file, back in self._back.items()
        ]
