"""The whole engine: 50 x 500 with data plane, 1,000 x 10,000 control plane, and its growth.

Targets: three protocols together under 2 s for 50 members x 500 partitions, one crash, 120 simulated
seconds; under 60 s and 2 GB for 1,000 x 10,000.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from time import perf_counter

from shared.tables import publish

from rebalance_kit.simulation.scenario.scenario import (
    THREE_PROTOCOLS,
    Action,
    MemberSpec,
    Scenario,
    TopicSpec,
)
from rebalance_kit.simulation.simulate import simulate

SIZES = ((50, 500), (125, 1_250), (250, 2_500), (500, 5_000), (1_000, 10_000))


def crash(members: int, partitions: int, *, data_plane: bool) -> Scenario:
    specs = tuple(MemberSpec(f"consumer-{number}", ("orders",)) for number in range(members))
    return Scenario(
        "crash",
        (TopicSpec("orders", partitions),),
        specs,
        (Action(40_000, "crash", "consumer-1"),),
        120_000,
        data_plane=data_plane,
    )


def one(members: int, partitions: int, protocol: str, *, data_plane: bool) -> tuple[float, int]:
    scenario = crash(members, partitions, data_plane=data_plane)
    began = perf_counter()
    trace = simulate(scenario, protocol=protocol)
    return perf_counter() - began, len(trace.rows)


def peak_mb() -> float:
    """Peak memory of a fresh process that runs the greatest size once, in MB."""
    code = "import engine; engine.one(1_000, 10_000, 'eager', data_plane=False); print(engine.own_peak_mb())"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=sys.path[0]
    )
    return float(done.stdout)


def own_peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    one(10, 100, "eager", data_plane=True)
    rows = []
    with_data = [one(50, 500, protocol, data_plane=True) for protocol in THREE_PROTOCOLS]
    total = sum(seconds for seconds, _ in with_data)
    rows.append(
        (
            "50 x 500, with data plane",
            *(f"{seconds:.2f}" for seconds, _ in with_data),
            f"{total:.2f}",
            sum(count for _, count in with_data),
        )
    )
    greatest = 0.0
    for members, partitions in SIZES:
        runs = [one(members, partitions, protocol, data_plane=False) for protocol in THREE_PROTOCOLS]
        greatest = sum(seconds for seconds, _ in runs)
        rows.append(
            (
                f"{members:,} x {partitions:,}, control plane",
                *(f"{seconds:.2f}" for seconds, _ in runs),
                f"{greatest:.2f}",
                sum(count for _, count in runs),
            )
        )
    peak = peak_mb()
    publish(
        "One crash, 120 simulated seconds",
        ("members x partitions", "eager, s", "cooperative, s", "consumer, s", "together, s", "trace rows"),
        rows,
        f"Targets: 50 x 500 together < 2 s; 1,000 x 10,000 < 60 s and < 2 GB (peak {peak:.0f} MB).",
    )
    return 0 if total < 2 and greatest < 60 and peak < 2_000 else 1


if __name__ == "__main__":
    sys.exit(main())
