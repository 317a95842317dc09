"""The event queue, ordered by ``(at_ms, seq)``, with keyed timers that may be re-armed.

Setting a live timer again replaces it. Re-arming to a later moment, which every heartbeat does, only
writes the new deadline down: the queued entry notices when it comes up that it is too early.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
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
