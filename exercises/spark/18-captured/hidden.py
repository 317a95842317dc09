"""Other captured runs, in an order drawn for the learner."""

import random

from rebalance_kit.exercises.case_runs import recorded_nights
from rebalance_kit.exercises.task import Case

RUNS = (
    "crash.consumer.4.3.1",
    "freeze.cooperative.4.3.1",
    "poll-timeout.consumer.4.3.1",
    "leave.eager.3.9.1",
    "crash-2x4.cooperative.4.0.0",
)


def cases(seed):
    return (Case(recorded_nights(*random.Random(seed).sample(RUNS, len(RUNS)))),)
