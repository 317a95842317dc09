"""Two other rollouts."""

from rebalance_kit.exercises.case_runs import simulated
from rebalance_kit.exercises.task import Case


def cases(seed):
    return (
        Case(
            (
                simulated("other-1", "two-bounces", None, seed),
                simulated("other-2", "two-bounces", None, seed + 1),
            )
        ),
    )
