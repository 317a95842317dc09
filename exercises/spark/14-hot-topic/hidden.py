"""Other sizes, other rates."""

import importlib.util
from pathlib import Path

from rebalance_kit.exercises.task import Case

spec = importlib.util.spec_from_file_location("hot_topic", Path(__file__).with_name("task.py"))
task = importlib.util.module_from_spec(spec)
spec.loader.exec_module(task)


def cases(seed):
    size = 4 + seed % 5
    return (
        Case(
            (
                task.two_topics("other-1", "sticky", seed, busy=size, quiet=9, rate=40),
                task.two_topics("other-2", "eager", seed, busy=size, quiet=3, members=3),
            )
        ),
    )
