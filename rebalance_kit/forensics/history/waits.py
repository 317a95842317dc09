"""Whose JoinGroup a classic rebalance had to wait for longest (consumer groups wait for nobody)."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rebalance_kit.forensics.event import Event
    from rebalance_kit.forensics.history.rebalance import Rebalance

#: A rebalance that waits longer than this for one member names it: a heartbeat interval and some more.
_LONG_WAIT_MS = 4_000


class Waits:
    """Keeps when members asked to join."""

    def __init__(self) -> None:
        self._joins: list[tuple[int, str]] = []

    def take(self, event: Event) -> None:
        """A client sends a JoinGroup."""
        if event.client is not None and event.at_ms is not None:
            self._joins.append((event.at_ms, event.client))

    def forget(self, before_ms: int) -> None:
        """Forget who asked before then."""
        self._joins = [join for join in self._joins if join[0] >= before_ms]

    def name(self, rebalances: Sequence[Rebalance]) -> None:
        """Add ``waited_for`` and ``waited_ms`` to the rebalances that waited long."""
        # The first rebalance of a group waits group.initial.rebalance.delay.ms for whoever may come.
        phases = [
            row
            for row in rebalances
            if row.protocol == "classic" and row.end_ms is not None and (row.before or 0) > 0
        ]
        begun = [row.start_ms for row in phases]
        first: dict[int, dict[str, int]] = {}
        for at_ms, client in self._joins:
            place = bisect_right(begun, at_ms) - 1
            if place >= 0 and at_ms <= (phases[place].end_ms or 0):
                mine = first.setdefault(place, {})
                mine[client] = min(mine.get(client, at_ms), at_ms)
        for place, told in first.items():
            late_ms, late = max((at_ms, client) for client, at_ms in told.items())
            waited_ms = late_ms - phases[place].start_ms
            if waited_ms > _LONG_WAIT_MS:
                phases[place].waited_for, phases[place].waited_ms = late, waited_ms
