"""Python's collector of cycles, out of the way where a call makes many objects and no cycle."""

from __future__ import annotations

import gc
from collections.abc import Iterator
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
