"""Which cases of a product ``make test`` runs; the others carry the mark ``long`` and run under ``make test-long``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

import pytest

LONG = pytest.mark.long


def thinned(*axes: Sequence[Any]) -> list[Any]:
    """All points of a product, for ``parametrize``: a diagonal on which each value occurs is short, the rest is long."""
    longest = max(len(axis) for axis in axes)
    diagonal = {tuple(step % len(axis) for axis in axes) for step in range(longest)}
    return [
        pytest.param(
            *(axis[at] for axis, at in zip(axes, point, strict=True)), marks=() if point in diagonal else LONG
        )
        for point in product(*(range(len(axis)) for axis in axes))
    ]


def one_of_each(cases: Iterable[Any], kind: Callable[[Any], Any], name: Callable[[Any], str]) -> list[Any]:
    """The cases, for ``parametrize``: the first of each kind is short, the others are long."""
    seen: set[Any] = set()
    found = []
    for case in cases:
        values = case if isinstance(case, tuple) else (case,)
        found.append(pytest.param(*values, marks=LONG if kind(case) in seen else (), id=name(case)))
        seen.add(kind(case))
    return found
