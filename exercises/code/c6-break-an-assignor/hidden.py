"""The same lists with other seeds, drawn for one learner: a break that needs luck is none."""

import random
from pathlib import Path

from rebalance_kit.exercises.task import module_of

task = module_of(Path(__file__).with_name("task.py"))


def cases(seed):
    dice = random.Random(f"break/{seed}")
    return tuple(task.case(name, dice.randint(2, 10**6), "hidden") for name in task.GIVEN)
