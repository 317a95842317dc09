"""A sweep on one core and on two, with one worker of a cluster and with two: runs a second, and how much faster.

Every measurement is a Spark of its own, and the same sweep runs once before it is measured: Java compiles while it works.

    python benchmarks/sweep.py [--runs 2000]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext

from shared.tables import publish

from rebalance_kit import scenarios
from rebalance_kit.pipeline.spark.cluster import LocalCluster
from rebalance_kit.pipeline.sweep.grid import sweep

WANTED = 1.8


def measure(master: str, runs: int) -> float:
    """Seconds that the sweep takes on a running, warm session of ``master``."""
    from rebalance_kit.pipeline.spark.session import spark_session, without_codegen

    spark = spark_session(master)
    timeouts = {"session.timeout.ms": [6_000, 10_000, 20_000, 45_000]}
    seeds = max(1, runs // 12)

    def job(count: int) -> tuple[float, int]:
        begun = time.perf_counter()
        table = (
            sweep(spark, scenarios.load("crash"), timeouts, count)
            .groupBy()
            .agg({"error": "count", "run": "count"})
        )
        with without_codegen(spark):  # as the command does
            row = table.collect()[0].asDict()
        assert row["count(error)"] == 0, "some runs failed"
        return time.perf_counter() - begun, row["count(run)"]

    job(seeds)
    took, done = job(seeds)
    print(took / done * runs)
    spark.stop()
    return took


def apart(master: str, runs: int) -> float:
    """The same in a process of its own: one process has one Spark."""
    command = [sys.executable, __file__, "--master", master, "--runs", str(runs)]
    told = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True
    ).stdout
    return float(told.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--master", default=None, help="measure this one only, and print the seconds")
    asked = parser.parse_args()
    if asked.master:
        measure(asked.master, asked.runs)
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for kind, options in (
            ("cores of one machine", ("local[1]", "local[2]")),
            ("workers of a cluster, a core each", (1, 2)),
        ):
            took = []
            for option in options:
                with (
                    nullcontext()
                    if isinstance(option, str)
                    else LocalCluster(folder, workers=option) as cluster
                ):
                    took.append(apart(option if cluster is None else cluster.url, asked.runs))
            ratio = took[0] / took[1]
            rows.append(
                (
                    kind,
                    *(f"{asked.runs / one:,.1f}" for one in took),
                    f"{ratio:.2f}",
                    "met" if ratio >= WANTED else "missed",
                )
            )
    note = f"{asked.runs:,} runs of the scenario crash, 3 protocols x 4 session timeouts, runs a second; wanted: {WANTED} times as many on two."
    publish("Sweep", ("", "one", "two", "times", ""), rows, note)


if __name__ == "__main__":
    main()
