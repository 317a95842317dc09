"""Other real runs."""

from rebalance_kit.exercises.case_runs import recorded
from rebalance_kit.exercises.task import Case


def cases(seed):
    protocol = ("eager", "cooperative", "consumer")[seed % 3]
    return (Case(recorded(f"freeze.{protocol}.4.3.1", f"poll-timeout.{protocol}.4.3.1")),)
