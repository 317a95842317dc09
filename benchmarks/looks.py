"""From the command to the report: ``rebalance-kit logs`` for one recorded run and for all, by both engines.

Beside it, in the same run, Spark alone: its start and a count of the same lines.  Where other work shares the
machine the wall clock tells of that work, so processor time stands beside it (all processes of a command).

    python benchmarks/looks.py [--times 3]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from shared.processor import Processor
from shared.tables import publish

from rebalance_kit.recordings.folder import unpack

RUN = "freeze.cooperative.4.3.1"

#: Spark's own start with its defaults, and a count of the lines that the kit reads.
ALONE = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[2]").config("spark.log.level", "ERROR").getOrCreate()
print(spark.read.option("recursiveFileLookup", "true").text(sys.argv[1]).count())
spark.stop()
"""


def measured(command: list[str]) -> tuple[float, float]:
    """Wall and processor seconds of a command and of what it started."""
    with Processor() as processor:
        begun = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=900)
        wall = time.perf_counter() - begun
    return wall, processor.seconds


def best(command: list[str], times: int) -> tuple[float, float]:
    """The median of some runs, wall and processor time each."""
    runs = [measured(command) for _ in range(times)]
    return statistics.median(wall for wall, _ in runs), statistics.median(used for _, used in runs)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        unpack(folder)
        logs = [sys.executable, "-m", "rebalance_kit.cli", "logs"]
        rows = []
        for told, path in (("one recorded run", folder / RUN), ("all recorded runs", folder)):
            local = best([*logs, str(path), "--engine", "local"], asked.times)
            alone = best([sys.executable, "-c", ALONE, str(path)], 1)
            spark = best([*logs, str(path), "--engine", "spark"], 1)
            for name, (wall, used) in (
                ("local", local),
                ("Spark alone: start and count", alone),
                ("spark", spark),
            ):
                ratio = f"{wall / alone[0]:.2f} ({used / alone[1]:.2f})" if name == "spark" else ""
                rows.append((told, name, f"{wall:.1f}", f"{used:.1f}", ratio))
                print(*rows[-1], sep="; ", file=sys.stderr, flush=True)
    publish(
        "Forensics: from the command to the report",
        ("logs", "engine", "wall, s", "processor, s", "wall (processor) : Spark alone"),
        rows,
        "`time rebalance-kit logs RUN`, interpreter included. Wanted: one run at most 1.5 s local, all at most 6 s; "
        "with Spark at most 2 times Spark's own start and a count of the same files.",
    )


if __name__ == "__main__":
    main()
