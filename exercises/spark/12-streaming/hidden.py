"""Another hour, the other broker late."""

from rebalance_kit.exercises.case_runs import simulated
from rebalance_kit.exercises.task import Case


def cases(seed):
    return (
        Case(
            (
                simulated("broker-1", "two-bounces", None, seed),
                simulated("broker-2", "storm", "cooperative", seed),
            ),
            {"behind_ms": {"broker-2": 40_000}},
        ),
    )
