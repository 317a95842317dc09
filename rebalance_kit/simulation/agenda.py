"""What happens next: one queue ordered by ``(at_ms, seq)``, with keyed timers that may be re-armed.

Setting a live timer again replaces it. Re-arming to a later moment costs a dictionary write: the
queued entry notices when it comes up that its deadline has moved.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

Key = tuple[Any, ...]


class Agenda:
    """The clock of a run. Times are whole milliseconds."""

    __slots__ = ("_deadlines", "_heap", "_queued", "_seq", "now_ms")

    def __init__(self) -> None:
        self.now_ms = 0
        self._seq = 0
        self._heap: list[tuple[int, int, Callable[..., None] | None, Any]] = []
        self._deadlines: dict[Key, tuple[int, Callable[..., None], Any]] = {}
        self._queued: dict[Key, int] = {}

    def at(self, at_ms: int, run: Callable[..., None], argument: Any) -> None:
        """Call ``run(argument)`` at that moment, or now if it has passed."""
        self._seq += 1
        heapq.heappush(self._heap, (max(self.now_ms, at_ms), self._seq, run, argument))

    def set_timer(self, key: Key, at_ms: int, run: Callable[..., None], argument: Any) -> None:
        """Arm the timer ``key``; one that is live is replaced."""
        self._deadlines[key] = (at_ms, run, argument)
        queued = self._queued.get(key)
        if queued is None or queued > at_ms:
            self._queue(key, at_ms)

    def cancel_timer(self, key: Key) -> None:
        """Forget the timer, if it is live."""
        self._deadlines.pop(key, None)

    def deadline_ms(self, key: Key) -> int | None:
        """When a timer will fire, None when it is not armed."""
        held = self._deadlines.get(key)
        return held[0] if held else None

    def _queue(self, key: Key, at_ms: int) -> None:
        at_ms = max(at_ms, self.now_ms)
        self._queued[key] = at_ms
        self._seq += 1
        heapq.heappush(self._heap, (at_ms, self._seq, None, key))

    def run(self, end_ms: int) -> None:
        """Let everything happen up to and including ``end_ms``."""
        heap, pop = self._heap, heapq.heappop
        queued, deadlines = self._queued, self._deadlines
        while heap and heap[0][0] <= end_ms:
            at_ms, _, run, argument = pop(heap)
            self.now_ms = at_ms
            if run is not None:
                run(argument)
                continue
            if queued.get(argument) != at_ms:
                continue
            del queued[argument]
            held = deadlines.get(argument)
            if held is None:
                continue
            if held[0] > at_ms:
                self._queue(argument, held[0])
                continue
            del deadlines[argument]
            held[1](held[2])
        self.now_ms = end_ms
