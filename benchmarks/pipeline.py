"""From log text to rebalances and storms: Spark, DuckDB and plain Python on one input, in one run; and Spark's growth and start.

The input comes from the log maker: eight folders, scenarios and protocols in turn, with the noise of real logs. All
three apply the same layouts and the same grammar to every line, and must find as many rebalances and storms.

    python benchmarks/pipeline.py [--lines 5000000] [--most 20000000] [--threads 2]

``--most 0`` leaves the growth out.  Ten minutes on an idle machine of two cores, five without the growth.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from shared.pipeline_peers import with_duckdb, with_python
from shared.processor import Processor
from shared.tables import publish

from rebalance_kit import scenarios
from rebalance_kit.recordings.maker import make_logs

WANTED = {"DuckDB": 1.0, "plain Python": 0.8, "local engine": 1.0, "growth": 1.15, "first": 0.5, "warm": 0.7}
MIX = tuple(
    (name, protocol)
    for name in ("crash", "storm", "scale-out", "rolling-restart")
    for protocol in ("eager", "consumer")
)
SMALL = 1_000_000

#: How long a reader reads between a notebook's first cell and the first that asks something of Spark.
READ_S = 10


def write_input(folder: Path, lines: int) -> tuple[list[Path], int]:
    """Logs of about so many lines; the files, and their lines."""
    made = [
        make_logs(
            scenarios.load(name), folder / f"{name}.{protocol}", lines=lines // len(MIX), protocol=protocol
        )
        for name, protocol in MIX
    ]
    return [path for one in made for path in one.files], sum(one.lines for one in made)


def with_spark(spark, folder: Path) -> tuple[int, int]:
    """Rebalances and storms, by the pipeline's own steps."""
    from rebalance_kit.pipeline import inquiry

    result = inquiry.forensics(spark, folder)
    told = result.rebalances.count(), result.storms.count()
    result.kept.unpersist()
    return told


def with_local(folder: Path) -> tuple[int, int]:
    """The same by the engine of one process, with all tables."""
    from rebalance_kit.forensics.look import look

    result = look([folder])
    return len(result.rows("rebalances")), len(result.rows("storms"))


def timed(job) -> tuple[float, float, tuple[int, int]]:
    """Wall and processor seconds, and what was found."""
    with Processor() as processor:
        begun = time.perf_counter()
        found = job()
        wall = time.perf_counter() - begun
    return wall, processor.seconds, tuple(found)


def first_result(kind: str, file: Path) -> tuple[float, float]:
    """Seconds to the first answer, and of a second one, in a process of its own: Spark's defaults or the kit's start."""
    done = subprocess.run(
        [sys.executable, __file__, "--first", kind, str(file)],
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    first, warm = done.stdout.split()[-2:]
    return float(first), float(warm)


def first(kind: str, file: str) -> None:
    if kind == "notebook":
        from rebalance_kit.pipeline.spark.session import start_in_background

        starting = start_in_background()
        time.sleep(READ_S)
    begun = time.perf_counter()
    if kind == "notebook":
        spark = starting.result()
    elif kind == "defaults":
        from pyspark.sql import SparkSession

        spark = SparkSession.builder.master("local[2]").getOrCreate()
    else:
        from rebalance_kit.pipeline.spark.session import quiet_session

        spark = quiet_session()
    from pyspark.sql import functions as F

    def query(word: str) -> None:
        lines = spark.read.text(file).filter(F.col("value").contains(word))
        lines.groupBy(F.substring("value", 2, 13).alias("hour")).count().orderBy("hour").collect()

    query("Stabilized")
    answered = time.perf_counter()
    query("Preparing")
    query("has failed")
    middle = time.perf_counter()
    query("Bumped")
    print(answered - begun, time.perf_counter() - middle)
    spark.stop()


def starts(file: Path) -> None:
    """The table of the first and the small answers."""
    from rebalance_kit.pipeline.spark.java import _AT_REST_S

    first_result("kit", file)  # writes the class archive when it ends, unless there is one
    time.sleep(2 * _AT_REST_S)
    plain, kit, read = (first_result(kind, file) for kind in ("defaults", "kit", "notebook"))
    rows = [
        (
            "first answer in a notebook, s",
            f"{plain[0]:.1f}",
            f"{read[0]:.1f}",
            verdict(read[0] / plain[0], WANTED["first"]),
        ),
        ("first answer in a script, s", f"{plain[0]:.1f}", f"{kit[0]:.1f}", f"{kit[0] / plain[0]:.2f}"),
        ("warm small query, s", f"{plain[1]:.2f}", f"{kit[1]:.2f}", verdict(kit[1], WANTED["warm"])),
    ]
    publish(
        "Pipeline: the first answer",
        ("", "Spark's defaults", "the kit", ""),
        rows,
        "local[2]; the kit with its class archive. Script: from `import` to the answer. Notebook: from the cell that asks, "
        f"{READ_S} s after the first cell, which begins Spark while one reads; Spark's defaults begin when asked.",
    )


def verdict(is_now: float, wanted: float) -> str:
    return f"{is_now:.2f} (wanted: at most {wanted}) {'met' if is_now <= wanted else 'missed'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=5_000_000)
    parser.add_argument("--most", type=int, default=20_000_000)
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--no-starts", dest="starts", action="store_false", help="leave the starts out")
    parser.add_argument("--first", nargs=2, metavar=("KIND", "FILE"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.first:
        first(*asked.first)
        return
    from rebalance_kit.pipeline.spark.session import spark_session

    with tempfile.TemporaryDirectory() as scratch:
        files, lines = write_input(Path(scratch) / "logs", asked.lines)
        small, few = write_input(Path(scratch) / "small", SMALL)
        if asked.starts:
            starts(small[0])
        spark = spark_session(f"local[{asked.threads}]", settings={"spark.driver.memory": "4g"})
        with_spark(spark, Path(scratch) / "small")  # class loading and compilation are measured apart
        jobs = {
            "Spark": lambda: with_spark(spark, Path(scratch) / "logs"),
            "DuckDB": lambda: with_duckdb(files, asked.threads),
            "plain Python": lambda: with_python(files),
            "local engine": lambda: with_local(Path(scratch) / "logs"),
        }
        took = {}
        for name, job in jobs.items():
            took[name] = timed(job)
            # Whoever interrupts has what was measured until then.
            wall, used, _ = took[name]
            print(f"{name}: {wall:.1f} s, {used:.1f} s of processor", file=sys.stderr, flush=True)
        assert len({found for *_, found in took.values()}) == 1, took
        ours, used, found = took["Spark"]
        rows = [
            (
                name,
                f"{seconds:.1f}",
                f"{processor:.1f}",
                f"{lines / seconds:,.0f}",
                verdict(ours / seconds, WANTED[name]) if name in WANTED else "",
                f"{used / processor:.2f}",
            )
            for name, (seconds, processor, _) in took.items()
        ]
        publish(
            "Pipeline",
            (
                "",
                "wall, s",
                "processor, s",
                "lines a second",
                "Spark's wall / this",
                "Spark's processor / this",
            ),
            rows,
            f"{lines:,} lines to {found[0]:,} rebalances and {found[1]:,} storms, {asked.threads} threads.",
        )
        if asked.most:
            _, many = write_input(Path(scratch) / "many", asked.most)
            sizes = [
                (few, timed(lambda: with_spark(spark, Path(scratch) / "small"))),
                (many, timed(lambda: with_spark(spark, Path(scratch) / "many"))),
            ]
            costs = [took[1] / count * 1e6 for count, took in sizes]
            rows = [
                (f"{count:,}", f"{took[0]:.1f}", f"{took[1]:.1f}", f"{cost:.2f}")
                for (count, took), cost in zip(sizes, costs, strict=True)
            ]
            publish(
                "Pipeline: growth",
                ("lines", "wall, s", "processor, s", "processor µs a line"),
                rows,
                f"4 GB of driver memory; {verdict(costs[1] / costs[0], WANTED['growth'])}.",
            )
        spark.stop()


if __name__ == "__main__":
    main()
