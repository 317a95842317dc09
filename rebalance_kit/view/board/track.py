"""Tracks: states in order of time, found by bisection; and positions between two looks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from rebalance_kit.view.board.states import Position

S = TypeVar("S")


@dataclass(slots=True)
class Track(Generic[S]):
    """States in order of time; each holds from its ``times`` entry to the next."""

    times: list[int] = field(default_factory=list)
    states: list[S] = field(default_factory=list)

    def push(self, at_ms: int, state: S) -> None:
        """Add a state unless it equals the last; a later word on the same millisecond wins."""
        if self.times and self.times[-1] == at_ms:
            self.states[-1] = state
            if len(self.states) > 1 and self.states[-2] == state:
                self.times.pop()
                self.states.pop()
        elif not self.states or self.states[-1] != state:
            self.times.append(at_ms)
            self.states.append(state)

    def index(self, at_ms: int) -> int:
        """Which entry holds at that moment (the first one before anything was known)."""
        return max(bisect_right(self.times, at_ms) - 1, 0)

    def at(self, at_ms: int) -> S:
        """The state at that moment."""
        return self.states[self.index(at_ms)]

    def since(self, at_ms: int, same: Callable[[S], bool]) -> int:
        """Since when every state has satisfied ``same``, looking back from that moment."""
        index = self.index(at_ms)
        while index > 0 and same(self.states[index - 1]):
            index -= 1
        return self.times[index]


def begun(state: S) -> Track[S]:
    """A track that holds one state from the start."""
    return Track([0], [state])


def between(known: list[tuple[int, Position]], index: int, at_ms: int, *, flows: bool) -> Position:
    """The position at a moment between two looks: the log grows evenly, an owner that kept up keeps up."""
    since, here = known[index]
    if index + 1 < len(known):
        until, there = known[index + 1]
    elif index > 0:
        until, there = (
            at_ms,
            here._replace(log_end=here.log_end + round(_rate(known, index) * (at_ms - since))),
        )
    else:
        until, there = at_ms, here
    share = (at_ms - since) / (until - since) if until > since else 1.0
    log_end = round(here.log_end + (there.log_end - here.log_end) * share)
    if not flows:
        return Position(here.position, max(log_end, here.log_end), here.committed)
    if index + 1 < len(known) and there.log_end - there.position > max(2, here.log_end - here.position):
        return Position(
            round(here.position + (there.position - here.position) * share), log_end, here.committed
        )
    behind = max(0, there.log_end - there.position) if index + 1 < len(known) else 0
    return Position(max(here.position, log_end - behind), max(log_end, here.position), here.committed)


def _rate(known: list[tuple[int, Position]], index: int) -> float:
    first, last = known[0], known[index]
    return (last[1].log_end - first[1].log_end) / (last[0] - first[0]) if last[0] > first[0] else 0.0
