"""Another moment at which the second member joins, drawn for one learner."""

import random

from rebalance_kit.exercises.code_on_clients import client_case


def cases(seed):
    dice = random.Random(f"callbacks-for-all/{seed}")
    joins = [round(dice.uniform(3.0, 4.0), 2) for _ in range(3)]
    return tuple(
        client_case(
            f"{strategy}, a drawn moment", strategy, 18, {"a": {"from_s": 0}, "b": {"from_s": joins.pop()}}
        )
        for strategy in ("roundrobin", "cooperative-sticky", "consumer")
    )
