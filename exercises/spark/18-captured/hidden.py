"""Other captured runs."""

from rebalance_kit.exercises.case_runs import recorded
from rebalance_kit.exercises.task import Case


def cases(seed):
    del seed  # the recordings are what they are
    return (
        Case(
            recorded(
                "crash.consumer.4.3.1",
                "freeze.cooperative.4.3.1",
                "poll-timeout.consumer.4.3.1",
                "leave.eager.3.9.1",
                "crash-2x4.cooperative.4.0.0",
            )
        ),
    )
