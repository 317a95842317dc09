"""The same objective at other moments, drawn for one learner."""

import random
from pathlib import Path

from rebalance_kit.exercises.task import module_of

task = module_of(Path(__file__).with_name("task.py"))


def cases(seed):
    dice = random.Random(f"slo/{seed}")
    return tuple(
        task.slo(f"drawn moment: {what}", what, dice.randint(2, 10**6), dice.randint(55_000, 75_000))
        for what in ("crash", "crash", "freeze", "batch", "stuck", "restart")
    )
