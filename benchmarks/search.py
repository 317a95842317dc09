"""How many random scenarios a second the search tries on one core, all invariants asked of each.

Target: 300 a second of 6 members x 12 partitions x 20 actions. Processor time is counted, best of three rounds,
so that whatever else runs on the machine weighs less.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from time import process_time

from shared.tables import publish

from rebalance_kit.analysis.invariants import check
from rebalance_kit.analysis.scenario_space import Space, draw
from rebalance_kit.analysis.search import find
from rebalance_kit.model.trace import Trace
from rebalance_kit.simulation.simulate import simulate

COUNT, ROUNDS, TARGET = 200, 3, 300
SIZES = (
    ("6 x 12 x 20", Space()),
    ("6 x 12 x 20, records counted", Space(data_plane=True)),
    ("3 x 6 x 10", Space(members=3, partitions=6, actions=10)),
    ("12 x 24 x 40", Space(members=12, partitions=24, actions=40)),
)


def ask(trace: Trace) -> None:
    """Ask every invariant, and go on whatever it says."""
    check(trace)


def rate(space: Space) -> float:
    """Scenarios a second of processor time, drawing, simulating and asking."""
    best = 0.0
    for _ in range(ROUNDS):
        began = process_time()
        find(space, ask, seed=1, budget=COUNT)
        best = max(best, COUNT / (process_time() - began))
    return best


def trace_rows(space: Space) -> float:
    """Rows of a mean trace."""
    return sum(len(simulate(draw(space, 1, number)).rows) for number in range(50)) / 50


def main() -> int:
    rows = []
    first = 0.0
    for name, space in SIZES:
        found = rate(space)
        first = first or found
        rows.append(
            (
                name,
                f"{found:.0f}",
                f"{trace_rows(space):.0f}",
                f"{(space.within_ms + space.settle_ms) / 1000:.0f}",
            )
        )
    classic = rate(replace(Space(), protocols=("eager", "cooperative")))
    rows.append(("6 x 12 x 20, classic alone", f"{classic:.0f}", "", ""))
    publish(
        "Random scenarios a second, one core",
        ("members x partitions x actions", "scenarios/s", "trace rows each", "simulated s each"),
        rows,
        f"Target: at least {TARGET} of 6 x 12 x 20 with every invariant asked; processor time, best of {ROUNDS}.",
    )
    return 0 if first >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
