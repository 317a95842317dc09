"""Levels of load among one topic's readers: who is next to get a partition, who is next to give one.

Readers stand in line by load, then by number. Getting works like filling a vessel: the lowest level from left
to right, then the level rises by one and takes in those who are there already. Giving works from the other end,
right to left, level by level downwards. Both go by the loads at the start: what is moved meanwhile is what the
two levels count (``UniformHeterogeneousAssignmentBuilder.MemberAssignmentBalancer``).

>>> levels = LoadLevels([0, 1, 2], loads := [1, 0, 2])
>>> [levels.next_least() for _ in range(4)]
[1, 1, 0, 1]
"""

from __future__ import annotations

from collections.abc import Sequence


class LoadLevels:
    """The readers of one topic in line, with a low range that fills up and a high range that empties."""

    __slots__ = (
        "_high_end",
        "_high_level",
        "_high_next",
        "_high_start",
        "_line",
        "_loads",
        "_low_end",
        "_low_level",
        "_low_next",
        "imbalance",
    )

    def __init__(self, readers: Sequence[int], loads: Sequence[int]) -> None:
        """Line up ``readers`` (numbers into ``loads``, at least one); ``loads`` is read live."""
        self._line = sorted(readers, key=lambda reader: (loads[reader], reader))
        self._loads = loads
        lowest, highest = loads[self._line[0]], loads[self._line[-1]]
        self.imbalance = highest - lowest
        self._low_end = self._low_next = 0
        self._low_level = lowest - 1
        self._high_start = self._high_end = len(self._line)
        self._high_next = len(self._line) - 1
        self._high_level = highest + 1

    def is_balanced(self) -> bool:
        """True once the two levels differ by one at most."""
        return self._high_level - self._low_level <= 1

    def next_least(self) -> int:
        """Return the reader that gets the next partition."""
        if self._low_next >= self._low_end:
            self._low_level += 1
            while self._low_end < len(self._line) and self._load(self._low_end) == self._low_level:
                self._low_end += 1
            self._low_next = 0
        self._low_next += 1
        return self._line[self._low_next - 1]

    def next_most(self) -> int | None:
        """Return the reader that gives the next partition; None when nobody is left that could."""
        if self._high_next < self._high_start:
            if self._high_end <= self._high_start and self._high_start > 0:
                self._high_level = self._load(self._high_start - 1)
            else:
                self._high_level -= 1
            while self._high_start > 0 and self._load(self._high_start - 1) == self._high_level:
                self._high_start -= 1
            self._high_next = self._high_end - 1
        if self._high_next < 0:
            return None
        self._high_next -= 1
        return self._line[self._high_next + 1]

    def exclude_most(self) -> None:
        """Take the reader last returned by ``next_most`` out of the high range: it has nothing to give."""
        place, end = self._high_next + 1, self._high_end - 1
        self._line[place], self._line[end] = self._line[end], self._line[place]
        self._high_end -= 1

    def _load(self, place: int) -> int:
        return self._loads[self._line[place]]
