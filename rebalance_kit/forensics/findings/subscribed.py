"""Findings about subscriptions that changed or have nothing in common, and topics created again."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from rebalance_kit.forensics.findings.finding import Evidence, Row, line, seconds, told

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rebalance_kit.forensics.event import Event
    from rebalance_kit.forensics.history.subscriptions import Call
    from rebalance_kit.forensics.history.topics import Topics


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
