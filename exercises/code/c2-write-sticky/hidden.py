"""Running groups drawn for one learner."""

import random
from pathlib import Path

from rebalance_kit.exercises.task import module_of

task = module_of(Path(__file__).with_name("task.py"))


def cases(seed):
    dice = random.Random(f"write-sticky/{seed}")
    return tuple(drawn(dice, number) for number in range(1, 4))


def drawn(dice, number):
    topics = {"orders": dice.randint(5, 14), "payments": dice.randint(1, 6)}
    first, later = dice.randint(2, 3), dice.randint(1, 2)
    members = {
        name: 0 if place < first else 25 + place for place, name in enumerate("abcde"[: first + later])
    }
    actions = [f"{{at: 60s, do: close, member: {dice.choice(sorted(members))}}}"]
    if dice.random() < 0.5:
        grown = topics["orders"] + dice.randint(1, 4)
        actions.append(f"{{at: 80s, do: add_partitions, topic: orders, partitions: {grown}}}")
    return task.sticky_case(f"drawn group {number}", topics, members, actions)
