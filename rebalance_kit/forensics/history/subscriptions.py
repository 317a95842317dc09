"""Whose call of ``subscribe`` lay behind a rebalance: the coordinator's line does not name it.

A classic member gives a reason when it joins again (librdkafka none); a KIP-848 coordinator bumps its
epoch without a word.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rebalance_kit.forensics.event import Event
    from rebalance_kit.forensics.history.rebalance import Rebalance

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
            if row.protocol == "consumer" and row.trigger == "metadata_changed":
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
