"""Another moment at which the second member joins, drawn for one learner."""

import random

from rebalance_kit.exercises.code_on_clients import client_case


def cases(seed):
    dice = random.Random(f"eager-callbacks/{seed}")
    members = {"a": {"from_s": 0}, "b": {"from_s": round(dice.uniform(3.0, 4.0), 2)}}
    return (client_case("a drawn moment", dice.choice(("range", "roundrobin")), 18, members),)
