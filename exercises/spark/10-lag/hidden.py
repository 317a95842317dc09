"""Other incidents."""

from rebalance_kit.exercises.case_runs import simulated
from rebalance_kit.exercises.task import Case


def cases(seed):
    return (
        Case(
            (
                simulated("other-1", "slow-callback", "eager", seed),
                simulated("other-2", "crash", "eager", seed),
            )
        ),
    )
