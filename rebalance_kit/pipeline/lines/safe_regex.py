"""Expressions that take a text apart, a long one in a time that grows with its length only."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

#: Python tries every way to fit a text: soon done with a usual line, never with some of a million letters.
#: Longer texts go to RE2, which takes longer to begin and reads each letter once.
LONG = 2_000


def taker(expression: str) -> Callable[[str], tuple[str, ...] | None]:
    """A function that gives the texts of an expression's groups in order (empty: not there), or None: no match.

    All groups are named.  Where RE2 lacks something that the expression holds, Python reads long texts too.
    """
    match = re.compile(expression, re.ASCII).match

    def take(text: str) -> tuple[str, ...] | None:
        if len(text) > LONG:
            return _take_long(expression, text)
        fit = match(text)
        return fit and fit.groups("")

    return take


def _take_long(expression: str, text: str) -> tuple[str, ...] | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        found = pc.extract_regex(pa.array([text]), expression)[0].as_py()
    except pa.ArrowInvalid:
        fit = re.match(expression, text, re.ASCII)
        return fit and fit.groups("")
    return None if found is None else tuple(found.values())
