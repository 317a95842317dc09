"""Other groups."""

from rebalance_kit.exercises.case_runs import simulated
from rebalance_kit.exercises.task import Case


def cases(seed):
    return (
        Case(
            (
                simulated("big", "rolling-restart", "cooperative", seed),
                simulated("small", "leave", "consumer", seed),
            )
        ),
    )
