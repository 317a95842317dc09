"""Three incidents for one learner."""

from rebalance_kit.exercises.drawn import incidents
from rebalance_kit.exercises.task import Case


def cases(seed):
    return (Case(incidents(seed, ("killed_process", "frozen_process", "long_batch"), each=1)),)
