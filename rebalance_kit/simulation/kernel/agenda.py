"""The event queue, ordered by ``(at_ms, seq)``, with keyed timers that may be re-armed.

Setting a live timer again replaces it. Re-arming to a later moment, which every heartbeat does, only
writes the new deadline down: the queued entry notices when it comes up that it is too early.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Mapping
from typing import Any

Key = tuple[Any, ...]
_DEADLINE, _RUN, _ARGUMENT, _QUEUED = range(4)
"""Places in a timer: deadline (None when it is not armed), what to call, with what, when it is queued."""


class Agenda:
    """The clock of a run. Times are whole milliseconds."""

    __slots__ = ("_heap", "_seq", "_timers", "now_ms")

    def __init__(self) -> None:
        self.now_ms = 0
        self._seq = 0
        self._heap: list[tuple[int, int, Callable[..., None] | None, Any]] = []
        self._timers: dict[Key, list[Any]] = {}

    def at(self, at_ms: int, run: Callable[..., None], argument: Any) -> None:
        """Call ``run(argument)`` at that moment, or now if it has passed."""
        self._seq = seq = self._seq + 1
        now_ms = self.now_ms
        heapq.heappush(self._heap, (at_ms if at_ms > now_ms else now_ms, seq, run, argument))  # noqa: FURB136 - the busiest line

    def set_timer(self, key: Key, at_ms: int, run: Callable[..., None], argument: Any) -> None:
        """Arm the timer ``key``; one that is live is replaced."""
        timer = self._timers.get(key)
        if timer is None:
            timer = self._timers[key] = [at_ms, run, argument, None]
        else:
            timer[_DEADLINE], timer[_RUN], timer[_ARGUMENT] = at_ms, run, argument
            if timer[_QUEUED] is not None and timer[_QUEUED] <= at_ms:
                return
        self._queue(timer, at_ms)

    def cancel_timer(self, key: Key) -> None:
        """Forget the timer, if it is live."""
        timer = self._timers.get(key)
        if timer is not None:
            timer[_DEADLINE] = None

    def clear(self) -> None:
        """Forget all that was to happen."""
        self._heap.clear()
        self._timers.clear()

    def _queue(self, timer: list[Any], at_ms: int) -> None:
        timer[_QUEUED] = at_ms = max(at_ms, self.now_ms)
        self._seq += 1
        heapq.heappush(self._heap, (at_ms, self._seq, None, timer))

    def run(self, end_ms: int) -> None:
        """Let everything happen up to and including ``end_ms``."""
        heap, pop = self._heap, heapq.heappop
        while heap and heap[0][0] <= end_ms:
            at_ms, _, run, argument = pop(heap)
            self.now_ms = at_ms
            if run is not None:
                run(argument)
                continue
            timer = argument
            if timer[_QUEUED] != at_ms:
                continue  # it was queued again for an earlier moment, and has fired or moved on since
            timer[_QUEUED] = None
            deadline = timer[_DEADLINE]
            if deadline is None:
                continue
            if deadline > at_ms:
                self._queue(timer, deadline)
                continue
            timer[_DEADLINE] = None
            timer[_RUN](timer[_ARGUMENT])
        self.now_ms = end_ms


# An agenda that remembers how long some of its timers waited: what would other lengths have changed?


class WatchedAgenda(Agenda):
    """An agenda that watches timers of some kinds; a timer's key is ``(whose, (kind, ...))``."""

    __slots__ = ("_armed", "_kinds", "_waits")

    def __init__(self, kinds: Collection[str]) -> None:
        super().__init__()
        self._kinds = frozenset(kinds)
        self._armed: dict[Key, tuple[int, int]] = {}
        self._waits: list[tuple[int, int, int]] = []
        """Each wait that is over: when it began, when it was to end, when it ended."""

    def set_timer(self, key: Key, at_ms: int, run: Callable[..., None], argument: Any) -> None:
        """Arm the timer ``key``; one that is live is replaced."""
        if key[1][0] in self._kinds:
            self._end_wait(key)
            self._armed[key] = (self.now_ms, at_ms)
        super().set_timer(key, at_ms, run, argument)

    def cancel_timer(self, key: Key) -> None:
        """Forget the timer, if it is live."""
        self._end_wait(key)
        super().cancel_timer(key)

    def clear(self) -> None:
        """Forget all that was to happen, and how it was waited for."""
        super().clear()
        self._armed.clear()
        self._waits.clear()

    def _end_wait(self, key: Key) -> None:
        armed = self._armed.pop(key, None)
        if armed is not None:
            begun_ms, deadline_ms = armed
            self._waits.append((begun_ms, deadline_ms, min(self.now_ms, deadline_ms)))

    def parting_ms(self, lengths: Mapping[int, int]) -> int | None:
        """The first moment by now at which a watched timer would fire otherwise, or would not, were it armed for another length.

        ``lengths`` gives the other length by the present one; timers of lengths that are not in it stay as they are.
        None where nothing would differ until now.
        """
        under_way = [(begun, until, min(self.now_ms, until)) for begun, until in self._armed.values()]
        partings = (
            (min(deadline_ms, begun_ms + lengths[deadline_ms - begun_ms]), ended_ms)
            for begun_ms, deadline_ms, ended_ms in [*self._waits, *under_way]
            if deadline_ms - begun_ms in lengths
        )
        return min((parts_ms for parts_ms, ended_ms in partings if parts_ms <= ended_ms), default=None)
