"""Find the cause of a change of topics, which the coordinator's line does not name.

Two sources: the controller's lines about topics and, since librdkafka gives the coordinator no reason,
its own words about why it joins again.  (``subscriptions``: the clients' calls of ``subscribe``.)
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rebalance_kit.forensics.event import Event
    from rebalance_kit.forensics.history.rebalance import Rebalance

#: Topics whose partitions Kafka itself makes while a group starts.
_INTERNAL_TOPIC = "__"

#: librdkafka says why it joins again at most this long before (or after) the coordinator writes of it.
_SAID_BEFORE_MS = 2_000
_SAID_AFTER_MS = 100

#: Triggers that a change of topics may lie behind; a re-join without a reason is librdkafka's way.
_MAY_BE_TOPICS = frozenset({"metadata_changed", "subscription_changed", "regex_changed", "rejoin"})

KINDS = {
    "topic_created": "new topic ",
    "topic_deleted": "deleted topic ",
    "partition_created": "new partition ",
}

_MOTIVE = re.compile(r"redistribute previously owned|etadata")
_NUMBER = re.compile(r"-\d+$")


class Topics:
    """Collects changes of topics, starts of brokers, and which topics the group uses.

    ``shared``: changes and starts that lines of no group tell, once all of them are taken.
    """

    def __init__(self, shared: Topics | None = None) -> None:
        self._shared = shared
        #: When the last rebalance began that is explained.
        self._explained_ms: float = -inf
        self._known: set[tuple[str, str]] = set()
        self._changes: list[tuple[int, str, str]] = []
        self._starts: list[int] = []
        self._native: dict[str, list[tuple[int, str]]] = {}
        self._used: set[str] | None = None
        self._by_pattern = False

    def change(self, event: Event) -> None:
        """The controller writes of a topic (a restarted broker writes its whole metadata again: the first counts)."""
        topic = event.topic or ""
        if event.at_ms is not None and not topic.startswith(_INTERNAL_TOPIC):
            if (event.event, topic) not in self._known:
                self._changes.append((event.at_ms, event.event, topic))
            self._known.add((event.event, topic))

    def start(self, event: Event) -> None:
        """A broker came up, or loaded the group."""
        if event.at_ms is not None:
            self._starts.append(event.at_ms)

    def rejoin(self, event: Event) -> None:
        """Librdkafka says why it joins again (once its partitions are given up, that is no motive)."""
        if event.client is not None and event.at_ms is not None and _MOTIVE.search(event.reason or ""):
            self._native.setdefault(event.client, []).append((event.at_ms, event.reason or ""))

    def use(self, event: Event) -> None:
        """A member subscribed to topics or was given partitions."""
        self._used = set() if self._used is None else self._used
        if event.event == "subscribed":
            self._by_pattern = self._by_pattern or bool(re.search("pattern|regular expression", event.text))
            if "Subscribed to topic(s)" in event.text and event.detail is not None:
                self._used.update(re.split(", *", event.detail))
        else:
            self._used.update(topic_of(partition) for partition in event.partitions or ())

    def uses(self, topic: str) -> bool:
        """Whether a member is known to use the topic."""
        return self._used is not None and (self._by_pattern or topic in self._used)

    def explain(self, rebalances: Sequence[Rebalance]) -> None:
        """Correct the triggers of re-joins without a reason, and add ``topics`` and ``restarting``."""
        for row in rebalances:
            if row.trigger == "rejoin" and row.said is None:
                self._native_reason(row)
        for row in rebalances:
            since_ms, self._explained_ms = self._explained_ms, max(self._explained_ms, row.start_ms)
            if row.trigger in _MAY_BE_TOPICS:
                changes, restarted = self.between(since_ms, row.start_ms)
                if self._shared is not None:
                    more, also = self._shared.between(since_ms, row.start_ms)
                    changes, restarted = changes + more, restarted or also
                _name(row, [one for one in changes if self._may_matter(*one[1:])], restarted=restarted)
        self._changes = [change for change in self._changes if change[0] > self._explained_ms]
        self._starts = [at_ms for at_ms in self._starts if at_ms > self._explained_ms]

    def between(self, since_ms: float, upto_ms: int) -> tuple[list[tuple[int, str, str]], bool]:
        """The changes after one moment and up to another, and whether a broker started then."""
        first, after = (
            bisect_right(self._changes, at_ms, key=itemgetter(0)) for at_ms in (since_ms, upto_ms)
        )
        started = bisect_right(self._starts, since_ms) < bisect_right(self._starts, upto_ms)
        return self._changes[first:after], started

    def forget(self, before_ms: int) -> None:
        """Forget what can explain no rebalance after then."""
        # All starts before the next rebalance say the same.
        self._starts = [at_ms for at_ms in self._starts if at_ms >= before_ms] or self._starts[-1:]
        self._native = {
            client: kept
            for client, told in self._native.items()
            if (kept := [one for one in told if one[0] >= before_ms - _SAID_BEFORE_MS])
        }

    def _native_reason(self, row: Rebalance) -> None:
        told = [
            (at_ms, reason)
            for at_ms, reason in self._native.get(row.culprit or "", ())
            if at_ms <= row.start_ms + _SAID_AFTER_MS
        ]
        if told and row.start_ms - max(told)[0] <= _SAID_BEFORE_MS:
            follows = "redistribute previously owned" in max(told)[1]
            row.trigger = "follow_up" if follows else "metadata_changed"

    def _may_matter(self, kind: str, topic: str) -> bool:
        """A change of a topic that the group does not use, as far as its members' logs tell, is no reason."""
        whole = topic_of(topic) if kind == "partition_created" else topic
        return self._used is None or self.uses(whole)


def _name(row: Rebalance, changes: Sequence[tuple[int, str, str]], *, restarted: bool) -> None:
    made = {topic for _, kind, topic in changes if kind == "topic_created"}
    words = [
        KINDS[kind] + topic
        for kind in KINDS
        # The partitions of a new topic are no news beside it.
        for topic in sorted({topic for _, one, topic in changes if one == kind})
        if kind != "partition_created" or topic_of(topic) not in made
    ]
    row.topics = ", ".join(words) or None
    row.topics_ms = max((at_ms for at_ms, _, _ in changes), default=None)
    if row.trigger == "rejoin" and row.said is None and row.topics is not None:
        row.trigger = "metadata_changed"
    row.restarting = restarted and row.trigger == "metadata_changed" and row.topics is None


@lru_cache(maxsize=4096)
def topic_of(partition: str) -> str:
    """The topic of a partition.

    >>> topic_of("orders-eu-11")
    'orders-eu'
    """
    return _NUMBER.sub("", partition)
