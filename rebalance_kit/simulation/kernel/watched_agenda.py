"""An agenda that remembers how long some of its timers waited: what would other lengths have changed?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from rebalance_kit.simulation.kernel.agenda import Agenda, Key


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
