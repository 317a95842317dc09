"""Many runs one after another, with Python's garbage collector out of the way."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rebalance_kit.model.collector import uncollected


@contextmanager
def without_collector() -> Iterator[Callable[[], None]]:
    """Let the garbage collector look only now and then: traces are many and die whole. Call what is given after each run."""
    count = 0

    def tick() -> None:
        nonlocal count
        count += 1
        if count % 100 == 0:
            gc.collect(0)  # what came since the last look: older things live as long as the runs

    with uncollected():
        yield tick
