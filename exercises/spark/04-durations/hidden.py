"""Other nights."""

from rebalance_kit.exercises.case_runs import simulated
from rebalance_kit.exercises.task import Case


def cases(seed):
    return (
        Case(
            (
                simulated("other-1", "rolling-restart", "cooperative", seed),
                simulated("other-2", "storm", "eager", seed),
                simulated("other-3", "crash", "eager", seed),
            )
        ),
    )
