"""Two incidents for one learner."""

from rebalance_kit.exercises.drawn import incidents
from rebalance_kit.exercises.task import Case


def cases(seed):
    return (Case(incidents(seed, ("slow_callback", "silent_member"), each=1, protocol="eager")),)
