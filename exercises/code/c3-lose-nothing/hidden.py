"""Runs drawn for one learner."""

import random
from pathlib import Path

from rebalance_kit.exercises.task import module_of

task = module_of(Path(__file__).with_name("task.py"))


def cases(seed):
    dice = random.Random(f"lose-nothing/{seed}")
    starts = {"a": 0, "b": dice.randint(0, 900), "c": dice.randint(20_000, 40_000)}
    leaver = dice.choice("abc")
    close = f"{{at: {dice.randint(55_000, 75_000)}ms, do: close, member: {leaver}}}"
    grow = f"{{at: {dice.randint(25_000, 50_000)}ms, do: add_partitions, topic: orders, partitions: {dice.randint(5, 9)}}}"
    frozen_ms = dice.randint(55_000, 65_000)
    freeze = (
        f"{{at: {frozen_ms}ms, do: freeze, member: {leaver}}}",
        f"{{at: {frozen_ms + 70_000}ms, do: thaw, member: {leaver}}}",
    )
    protocol = dice.choice(("eager", "consumer"))
    return (
        task.shop(
            f"drawn: {leaver} leaves",
            dice.choice(("eager", "cooperative", "consumer")),
            seed % 9973,
            starts,
            (close,),
            orderly=True,
        ),
        task.shop(
            "drawn: the topic grows",
            dice.choice(("eager", "cooperative")),
            seed % 9967,
            {"a": 0, "b": 0},
            (grow,),
            orderly=True,
        ),
        task.shop(
            f"drawn: {leaver} freezes", protocol, seed % 9949, starts, freeze, orderly=False, end_s=160
        ),
    )
