"""Another member of another real run."""

from rebalance_kit.exercises.case_runs import recorded
from rebalance_kit.exercises.task import Case


def cases(seed):
    name = ("freeze.eager.4.3.1", "poll-timeout.cooperative.4.3.1", "join.eager.3.9.1")[seed % 3]
    return (Case(recorded(name), {"file": "c2.log"}),)
