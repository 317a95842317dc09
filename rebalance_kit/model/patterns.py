"""How long a regular expression may try: an upper bound, worked out from its parts before anything is matched."""

from __future__ import annotations

import importlib
import math
from typing import Any

MOST_STEPS = 1e7
"""Steps of matching one name that are taken; about half a second."""


def most_steps(pattern: str, letters: int) -> float:
    """The most ways in which parts of ``pattern`` can share out a name of so many letters.

    Each part that may take more or less multiplies the ways, and a repeated part multiplies them at each turn. Raises
    ``re.error`` for what is no pattern.

    >>> most_steps("orders-.*", 10), most_steps("(a|b)?c", 10)
    (11.0, 2.0)
    >>> most_steps("(a+)+", 30) > MOST_STEPS
    True
    """
    parser: Any = importlib.import_module("re._parser")
    exponent = _ways(parser.parse(pattern), letters)
    return round(math.exp(exponent), 3) if exponent < 600 else math.inf


def _ways(parts: Any, letters: int) -> float:
    """The logarithm of the ways of a sequence: those of its parts multiply."""
    return math.fsum(_ways_of_part(str(kind), given, letters) for kind, given in parts)


def _ways_of_part(kind: str, given: Any, letters: int) -> float:
    if kind == "BRANCH":
        return math.log(len(given[1])) + max(_ways(one, letters) for one in given[1])
    if kind == "GROUPREF_EXISTS":
        return math.log(2) + max(_ways(one, letters) for one in given[1:] if one is not None)
    if kind.endswith("_REPEAT"):
        least, most, repeated = given
        turns: int = max(int(least), min(int(most), letters // max(1, int(repeated.getwidth()[0]))))
        return math.log(max(1, turns - int(least) + 1)) + turns * _ways(repeated, letters)
    if kind in {"SUBPATTERN", "ASSERT", "ASSERT_NOT"}:
        return _ways(given[-1], letters)
    return _ways(given, letters) if kind == "ATOMIC_GROUP" else 0.0
