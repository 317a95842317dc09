"""What the coordinator's line does not name: the change of topics or of subscriptions behind a rebalance.

Find the cause of a change of topics, which the coordinator's line does not name.

Two sources: the controller's lines about topics and, since librdkafka gives the coordinator no reason,
its own words about why it joins again.  (``subscriptions``: the clients' calls of ``subscribe``.)

Whose call of ``subscribe`` lay behind a rebalance: the coordinator's line does not name it.

A classic member gives a reason when it joins again (librdkafka none); a KIP-848 coordinator bumps its
epoch without a word.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
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


#: A KIP-848 member asks for other topics in its next heartbeat; the default interval is 5 s.
_BEAT_MS = 6_000

#: More than any step is away: a bump after which the caller took no step comes last.
_FAR = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Call:
    """A call of subscribe that was not the first of its process: who, when, and what from and to."""

    caller: str
    called_ms: int
    earlier: str | None
    later: str | None
    first: Event


class Subscriptions:
    """Collects the members' calls of subscribe and their steps away from a settled assignment."""

    def __init__(self) -> None:
        #: Of each caller that named other topics, the first call and the number of calls.
        self.by_caller: dict[str, tuple[Call, int]] = {}
        self._calls: list[Call] = []
        #: When the last rebalance that is explained began and ended.
        self._last: tuple[int, int | None] = (0, None)
        self._before: dict[tuple[str, str], Event] = {}
        self._steps: dict[str, list[tuple[int, int]]] = {}

    def take(self, event: Event) -> None:
        """A process started or closed, or called subscribe."""
        if event.client is None:
            return
        key = event.client, event.file
        before, self._before[key] = self._before.get(key), event
        again = event.event == "subscribed" and before is not None and before.event == "subscribed"
        # To ask for the same topics again changes nothing (librdkafka does not say which).
        same = again and before and event.detail is not None and event.detail == before.detail
        if again and before and not same and event.at_ms is not None:
            call = Call(event.client, event.at_ms, before.detail, event.detail, event)
            self._calls.append(call)
            if call.later is not None:
                first, times = self.by_caller.get(call.caller, (call, 0))
                self.by_caller[call.caller] = first, times + 1

    def step(self, event: Event) -> None:
        """A KIP-848 member left its settled state."""
        if event.client is not None and event.at_ms is not None:
            self._steps.setdefault(event.client, []).append(
                (event.at_ms, -1 if event.epoch is None else event.epoch)
            )

    def explain(self, rebalances: Sequence[Rebalance]) -> None:
        """Tell apart who subscribed anew, what a pattern matched anew, and what changed by itself.

        Adds ``resubscribed``: who else did so while a classic rebalance was on its way, which takes it in.
        """
        callers: dict[int, list[tuple[int, str]]] = {}
        since = [self._last[0], *(row.start_ms for row in rebalances)]
        begun = since[1:]
        for call in self._calls:
            for place in self._answering(call, rebalances, begun, since):
                callers.setdefault(place, []).append((call.called_ms, call.caller))
        self._take_in(rebalances, since)
        for place, row in enumerate(rebalances):
            _correct(row, max(callers[place])[1] if place in callers else None)
            self._last = row.start_ms, row.end_ms

    def forget(self, before_ms: int) -> None:
        """Forget calls and steps before then, and processes that had closed."""
        self._before = {
            key: event
            for key, event in self._before.items()
            if event.event != "process_closed" or (event.at_ms or 0) >= before_ms
        }
        self._calls = [call for call in self._calls if call.called_ms >= before_ms]
        self._steps = {
            client: kept
            for client, steps in self._steps.items()
            if (kept := [step for step in steps if step[0] >= before_ms])
        }

    def _answering(
        self, call: Call, rebalances: Sequence[Rebalance], begun: Sequence[int], since: Sequence[int]
    ) -> list[int]:
        """The rebalances that a call may have begun: a classic one by its caller, or the nearest bump."""
        first = bisect_left(begun, call.called_ms)
        classic, bumped = [], []
        for place in range(first, len(rebalances)):
            row = rebalances[place]
            if call.called_ms <= since[place] and row.start_ms - call.called_ms > _BEAT_MS:
                break
            if row.topics_ms is not None and call.called_ms <= row.topics_ms:
                continue
            if row.protocol == "consumer" and row.trigger in {"metadata_changed", "unseen"}:
                bumped.append(place)
            elif _silent(row) and call.called_ms > since[place] and call.caller == row.culprit:
                classic.append(place)
        step = self._step(call)
        nearest = min(bumped, key=lambda place: _nearness(rebalances[place], call, step), default=None)
        return classic + ([] if nearest is None else [nearest])

    def _step(self, call: Call) -> tuple[int, int] | None:
        steps = self._steps.get(call.caller, [])
        place = bisect_left(steps, (call.called_ms, -2))
        return (
            min((one for one in steps[place:] if one[0] == steps[place][0]), default=None)
            if place < len(steps)
            else None
        )

    def _take_in(self, rebalances: Sequence[Rebalance], since: Sequence[int]) -> None:
        """Who subscribed anew between the end of the rebalance before and that of a classic one, besides its culprit."""
        calls = sorted((call.called_ms, call.caller) for call in self._calls)
        for place, row in enumerate(rebalances):
            if row.protocol != "classic" or row.end_ms is None or not calls:
                continue
            ended = rebalances[place - 1].end_ms if place else self._last[1]
            from_ms = since[place] if ended is None else ended
            inside = calls[
                bisect_right(calls, (from_ms, "\U0010ffff")) : bisect_right(calls, (row.end_ms, "\U0010ffff"))
            ]
            row.resubscribed = sorted({caller for _, caller in inside if caller != row.culprit})


def _silent(row: Rebalance) -> bool:
    """Re-joins that tell the coordinator no reason: librdkafka's way, whose log gives a call as a change of metadata."""
    return row.protocol == "classic" and row.trigger in {"rejoin", "metadata_changed"} and row.said is None


def _nearness(row: Rebalance, call: Call, step: tuple[int, int] | None) -> tuple[int, int]:
    """How near a bump is to a call.

    A bump names nobody.  The caller's next step tells: it carries the epoch that the answer gave it, or,
    where partitions had to be given up first, follows the bump at once.
    """
    if step is not None and step[1] == row.after:
        return -1, row.start_ms
    past = None if step is None else step[0] - row.start_ms
    return past if past is not None and past >= 0 else row.start_ms - call.called_ms + _FAR, row.start_ms


def _correct(row: Rebalance, caller: str | None) -> None:
    told = row.topics or ""
    if caller is not None:
        row.trigger, row.culprit, row.topics = "subscription_changed", caller, None
    # A pattern that matches a new topic reads "subscription has changed" though nobody called subscribe.
    elif row.trigger == "subscription_changed" and ("new topic " in told or "deleted topic " in told):
        row.trigger = "regex_changed"
