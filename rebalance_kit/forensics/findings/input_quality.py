"""Findings about the logs themselves: clocks that disagree, files given twice, two groups of one name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebalance_kit.forensics.findings.finding import Evidence, Row, line, seconds, told

if TYPE_CHECKING:
    from rebalance_kit.forensics.event import Event

#: A client cannot learn of a generation before its coordinator has made it; more than this is no rounding.
CLOCK_MS = 500

#: A line this much earlier than the one before it in its file.
BACK_MS = 2_000

#: Two files share this many coordinator's lines, to the millisecond: one is a copy.
_SHARED = 3


class InputQuality:
    """Folds what contradicts itself."""

    def __init__(self, group: str | None) -> None:
        self._group = group
        self._made: dict[tuple[str, int], list[tuple[str, int, Evidence]]] = {}
        self._early: list[tuple[str, int, Evidence]] = []
        self._now: tuple[int, dict[str, dict[str, Event]]] = (0, {})
        self._copies: dict[tuple[str, str], tuple[int, Evidence]] = {}
        self._back: dict[str, list[tuple[int, Evidence]]] = {}

    def went_back(self, event: Event) -> None:
        """A line that is earlier than the one before it in its file."""
        if event.back_ms is not None and event.back_ms > BACK_MS:
            self._back.setdefault(event.file, []).append((event.back_ms, line(event)))

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
                times, first = self._copies.get((one, other), (0, line(files[one])))
                self._copies[one, other] = (times + 1, min(first, line(files[one]), key=lambda e: e.place))
        self._now = (0, {})

    def rows(self) -> list[Row]:
        """The findings, once all lines are taken."""
        self._count_copies()
        return [*self._clocks(), *self._one_name(), *self._same_log(), *self._backwards()]

    def _clocks(self) -> list[Row]:
        """Clients that told of a generation before their coordinator's clock had made it."""
        found: dict[str, list[tuple[int, Evidence]]] = {}
        for client, generation, first in self._early:
            made = self._made.get(("stabilized", generation), [])
            if len({file for file, _, _ in made}) == 1:
                early_ms = min(at_ms for _, at_ms, _ in made) - (first.at_ms or 0)
                if early_ms > CLOCK_MS:
                    found.setdefault(client, []).append((early_ms, first))
        return [
            told(
                "clocks_disagree",
                who,
                len(early),
                f"the clock of {who} is at least {seconds(max(ms for ms, _ in early))} s behind the coordinator's: "
                "it joined a generation before that was made",
                _earliest(early),
                "Give its logs an offset, or synchronise the hosts (NTP); times across files are only as good as the clocks.",
                "GroupMetadataManager: Stabilized comes before any answer to JoinGroup",
            )
            for who, early in found.items()
        ]

    def _one_name(self) -> list[Row]:
        """A group whose generations were made twice, at different times, in different files: two groups of one name."""
        twice = [
            made
            for made in self._made.values()
            if len({file for file, _, _ in made}) > 1 and len({at_ms for _, at_ms, _ in made}) > 1
        ]
        if len(twice) < 2:
            return []
        return [
            told(
                "one_name_two_groups",
                None,
                len(twice),
                f"two groups of the name {self._group} are in these files (two clusters?): their rebalances are told as one",
                min((first for made in twice for _, _, first in made), key=lambda one: one.place),
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
                times,
                f"{other} holds the same lines as {one}: what is in both is counted twice",
                first,
                "Leave one of the two out.",
                "the two files themselves",
            )
            for (one, other), (times, first) in self._copies.items()
            if times >= _SHARED
        ]

    def _backwards(self) -> list[Row]:
        """Files in which time goes back."""
        return [
            told(
                "time_goes_back",
                file,
                len(back),
                f"time goes back by {seconds(max(ms for ms, _ in back))} s within {file} "
                "(a clock that was set, summer time, or files strung together)",
                _earliest(back),
                "Log in UTC; put rotated files beside each other rather than into one in the wrong order.",
                "log4j2 %d{UTC}",
            )
            for file, back in self._back.items()
        ]


def _earliest(found: list[tuple[int, Evidence]]) -> Evidence:
    return min((first for _, first in found), key=lambda one: one.place)
