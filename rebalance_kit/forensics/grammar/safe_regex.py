"""Regular expressions whose time grows linearly with the length of a long text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

#: Python's ``re`` backtracks: quick on an ordinary line, endless on some hostile ones of a million characters.
LONG = 2_000


def group_matcher(expression: str, of_long: str) -> Callable[[str], tuple[str, ...] | None]:
    """A function from a text to the expression's groups in order ("" for an absent one), or None without a match.

    ``of_long`` matches texts of more than ``LONG`` characters: the same groups, in an expression of atomic pieces,
    which never backtracks into a piece that it has matched.
    """
    match, match_long = (re.compile(each, re.ASCII).match for each in (expression, of_long))

    def groups_of(text: str) -> tuple[str, ...] | None:
        found = (match if len(text) <= LONG else match_long)(text)
        return found and found.groups("")

    return groups_of
