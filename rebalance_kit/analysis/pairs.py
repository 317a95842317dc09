"""Two columns of the same draws, compared pair by pair: which has less of a measure, beyond chance and beyond the moment.

The test is the sign test: without a difference each of two runs of a draw has less with probability 1/2. It needs no
distribution, only pairs. ``clear`` asks for one thing more: the median difference is larger than the middle half of either
column is wide. Otherwise the moment of a crash changes a cost by more than the protocol does, however surely one is less
on average.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from statistics import median, quantiles
from typing import NamedTuple

LEVEL = 0.01
"""Greatest probability of such signs by chance, divided by the number of comparisons that are made (Bonferroni)."""

Values = Sequence[float | None]


class Pairs(NamedTuple):
    """Draws in which both columns have a value: how often the first has less, as much, more.

    ``by`` is the median of second less first, ``spread`` the wider of the two middle halves, both in the measure's unit.
    """

    less: int
    same: int
    more: int
    by: float
    spread: float

    @property
    def total(self) -> int:
        """All pairs."""
        return self.less + self.same + self.more

    @property
    def chance(self) -> float:
        """Two-sided probability of such signs, or clearer ones, where nothing differs (sign test; ties are left out).

        >>> Pairs(10, 0, 0, 1.0, 0.0).chance, Pairs(0, 5, 0, 0.0, 0.0).chance
        (0.001953125, 1.0)
        """
        told = self.less + self.more
        tail = sum(comb(told, k) for k in range(min(self.less, self.more) + 1))
        return min(1.0, 2 * tail / float(2**told))

    def beyond_chance(self, comparisons: int = 1) -> bool:
        """Whether the first column has less more often than chance would have it."""
        return self.less > self.more and self.chance * comparisons < LEVEL

    def clear(self, comparisons: int = 1) -> bool:
        """Whether the first column has less beyond chance, and by more than the draws of one column differ."""
        return self.beyond_chance(comparisons) and self.by > self.spread


def pairs(first: Values, second: Values) -> Pairs:
    """Compare two columns of the same draws in their order.

    >>> pairs([1.0, 2.0, None], [2.0, 2.0, 5.0])
    Pairs(less=1, same=1, more=0, by=0.5, spread=0.5)
    """
    both = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    return Pairs(
        sum(a < b for a, b in both),
        sum(a == b for a, b in both),
        sum(a > b for a, b in both),
        median(b - a for a, b in both) if both else 0.0,
        max((_middle_half([pair[side] for pair in both]) for side in (0, 1)), default=0.0),
    )


def _middle_half(values: Sequence[float]) -> float:
    """How far the upper quartile lies above the lower one."""
    if len(values) < 2:
        return 0.0
    lower, _, upper = quantiles(values, n=4, method="inclusive")
    return upper - lower


def least(columns: Sequence[Values], comparisons: int = 1) -> int | None:
    """Which column has clearly less than every other one; None where none has."""
    for place, column in enumerate(columns):
        others = [other for number, other in enumerate(columns) if number != place]
        if others and all(pairs(column, other).clear(comparisons) for other in others):
            return place
    return None
