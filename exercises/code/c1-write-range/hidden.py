"""Groups drawn for one learner."""

import random
from pathlib import Path

from rebalance_kit.exercises.task import module_of

task = module_of(Path(__file__).with_name("task.py"))


def cases(seed):
    dice = random.Random(f"write-range/{seed}")
    return tuple(drawn(dice, number) for number in range(1, 5))


def drawn(dice, number):
    topics = {name: dice.randint(1, 9) for name in ("orders", "payments", "audit")[: dice.randint(2, 3)]}
    names = [f"app-{letter}" for letter in "abcdef"[: dice.randint(2, 5)]]
    dice.shuffle(names)
    nodes = dice.sample(range(1, 9), len(names))
    members = {}
    for name, node in zip(names, nodes, strict=True):
        wanted = dice.sample(sorted(topics), dice.randint(1, len(topics)))
        members[name] = (wanted, f"node-{node}" if number % 2 and dice.random() < 0.6 else None)
    members[names[0]] = (sorted(topics), members[names[0]][1])
    return task.range_case(f"drawn group {number}", topics, members)
