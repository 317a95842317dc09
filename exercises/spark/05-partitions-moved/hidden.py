"""Other incidents."""

from rebalance_kit.exercises.case_runs import simulated
from rebalance_kit.exercises.task import Case


def cases(seed):
    return (
        Case(
            (
                simulated("other-1", "crash", "eager", seed),
                simulated("other-2", "poll-timeout", "cooperative", seed),
                simulated("other-3", "join", "consumer", seed),
            )
        ),
    )
