"""Python's collector of cycles, out of the way where a call makes many objects and no cycle, or many runs follow each other."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Collect no cycles within this block; as before afterwards. One collection over many objects takes longer than most steps.

    What the block made counts as old then, so that the next collection of young objects does not go through all of it.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            if not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()


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
