"""Other scenarios, drawn with the learner's seed."""

from rebalance_kit.exercises.case_runs import simulated
from rebalance_kit.exercises.task import Case


def cases(seed):
    return (
        Case(
            (
                simulated("other-1", "storm", "cooperative", seed),
                simulated("other-2", "scale-out", "eager", seed),
                simulated("other-3", "rolling-restart", "consumer", seed),
            )
        ),
    )
