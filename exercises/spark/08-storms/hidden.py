"""Other nights."""

from rebalance_kit.exercises.case_runs import simulated
from rebalance_kit.exercises.task import Case


def cases(seed):
    return (
        Case(
            (
                simulated("other-1", "storm", "cooperative", seed),
                simulated("other-2", "rolling-restart", "eager", seed),
                simulated("other-3", "crash", "eager", seed),
                simulated("other-4", "two-bounces", None, seed),
            )
        ),
    )
