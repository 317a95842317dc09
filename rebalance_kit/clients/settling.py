"""When a run of real clients is over: after its seconds, or a little later while the group has not settled."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence

SETTLE_S = 7.0
"""A classic rebalance of the mock cluster waits 3.5 s for its members, on a busy machine longer; a callback younger than this may have a successor."""
MOST_S = 14.0
"""How much longer than its seconds a run may last."""


class Settling:
    """What the members of one run tell each other: who reads, and when the assignment last changed.

    On a busy machine a rebalance ends later. A run that ended in the midst of it would blame the callbacks.
    """

    def __init__(self, seconds: float, stay: Sequence[str]) -> None:
        self._seconds = seconds
        self._last = dict.fromkeys(stay, 0)
        self._stirred_s = -math.inf
        self._over = False
        self._lock = threading.Lock()

    def stirred(self, now_s: float) -> None:
        """A member joined, or a callback began or ended."""
        with self._lock:
            self._stirred_s = max(self._stirred_s, now_s)

    def read(self, name: str, records: int) -> None:
        """A member's report of its last second."""
        with self._lock:
            if name in self._last:
                self._last[name] = records

    def over(self, now_s: float) -> bool:
        """Whether the run ends: for all members at once, and never again afterwards."""
        with self._lock:
            if not self._over and now_s >= self._seconds:
                all_read = all(self._last.values())
                settled = now_s - self._stirred_s >= SETTLE_S
                self._over = all_read or settled or now_s >= self._seconds + MOST_S
            return self._over
