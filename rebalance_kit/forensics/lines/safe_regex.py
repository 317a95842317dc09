"""Expressions that take a text apart, a long one in a time that grows with its length only."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

#: Python tries every way to fit a text: soon done with a usual line, never with some of a million letters.
LONG = 2_000


def taker(expression: str, of_long: str) -> Callable[[str], tuple[str, ...] | None]:
    """A function that gives the texts of an expression's groups in order (empty: not there), or None: no match.

    ``of_long`` takes texts of more than ``LONG`` letters: the same groups, in an expression whose pieces are atomic,
    so that it never goes back behind a piece that it has found.
    """
    match, match_long = (re.compile(one, re.ASCII).match for one in (expression, of_long))

    def take(text: str) -> tuple[str, ...] | None:
        fit = (match if len(text) <= LONG else match_long)(text)
        return fit and fit.groups("")

    return take
