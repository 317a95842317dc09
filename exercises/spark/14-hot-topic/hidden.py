"""Other sizes, other rates."""

from pathlib import Path

from rebalance_kit.exercises.task import Case, module_of

two_topics = module_of(Path(__file__).with_name("task.py")).two_topics


def cases(seed):
    size = 4 + seed % 5
    return (
        Case(
            (
                two_topics("other-1", "sticky", seed, busy=size, quiet=9, rate=40),
                two_topics("other-2", "eager", seed, busy=size, quiet=3, members=3),
            )
        ),
    )
