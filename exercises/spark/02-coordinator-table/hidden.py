"""Four other real runs."""

from rebalance_kit.exercises.case_runs import recorded
from rebalance_kit.exercises.task import Case


def cases(seed):
    del seed  # the recordings are what they are
    return (
        Case(
            recorded(
                "freeze.cooperative.4.3.1",
                "leave.cooperative.3.9.1",
                "crash-2x4.cooperative.3.9.1",
                "join.eager.4.0.0",
            )
        ),
    )
