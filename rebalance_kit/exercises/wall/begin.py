"""Which process an answer gets: one behind the best wall of this machine, or a watched one."""

from __future__ import annotations

import select

from rebalance_kit.exercises.wall import kinds
from rebalance_kit.exercises.wall.process import Walled
from rebalance_kit.exercises.wall.watched import Watched


def begun(need: kinds.Need) -> Walled:
    """Start what is needed behind the best wall; where pipes cannot be waited for together (Windows), a watched process."""
    return Walled(need) if hasattr(select, "poll") else Watched(need)
