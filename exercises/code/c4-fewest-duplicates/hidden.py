"""Runs drawn for one learner."""

import random
from pathlib import Path

from rebalance_kit.exercises.task import module_of

task = module_of(Path(__file__).with_name("task.py"))


def cases(seed):
    dice = random.Random(f"fewest-duplicates/{seed}")
    return tuple(drawn(dice, number, seed) for number in (1, 2))


def drawn(dice, number, seed):
    starts = {
        "a": 0,
        "b": dice.randint(0, 900),
        "c": dice.randint(20_000, 40_000),
        "d": dice.randint(70_000, 78_000),
    }
    closed_ms, frozen_ms = dice.randint(50_000, 65_000), dice.randint(85_000, 95_000)
    who, protocol = dice.choice("abc"), ("consumer", "cooperative")[number % 2]
    actions = (
        f"{{at: {closed_ms}ms, do: close, member: b}}",
        f"{{at: {closed_ms + 9_000}ms, do: start, member: b}}",
        f"{{at: {frozen_ms}ms, do: freeze, member: {who}}}",
        f"{{at: {frozen_ms + 70_000}ms, do: thaw, member: {who}}}",
    )
    return task.shop(f"drawn: {protocol}, {who} freezes", protocol, seed % 9973 + number, starts, actions)
