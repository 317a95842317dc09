"""Other settings, other seeds."""

from rebalance_kit.exercises.task import Case


def cases(seed):
    return (
        Case(
            (), {"timeouts_ms": (6_000, 30_000), "seeds": tuple(seed % 100_000 + step for step in range(3))}
        ),
    )
