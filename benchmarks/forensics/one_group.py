"""A single group with many rebalances: what each costs, by the local engine and (``--spark``) through Spark.

    python benchmarks/forensics/one_group.py [--rebalances 2000 5000 10000 20000] [--every 60] [--spark]

A member with a new id joins every ``--every`` seconds of the log and leaves again.  A row is printed as soon as it is measured.
Half a minute without Spark.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pipeline import timed, with_local, with_spark
from shared.tables import machine

WANTED = 1.15
_BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
_LOGGER = "(org.apache.kafka.coordinator.group.GroupMetadataManager)"


def write(folder: Path, rebalances: int, every_s: int) -> None:
    """The coordinator's log of so many rebalances: joins and leaves in turn."""
    folder.mkdir()
    with (folder / "server.log").open("w", encoding="utf-8") as out:
        for number in range(rebalances):
            member = f"c{number // 2 % 3}-{number // 2:08x}-0000-0000-0000-000000000000"
            at = _BEGIN + timedelta(seconds=every_s * number)
            why = "removing member" if number % 2 else "Adding new member"
            tail = "on LeaveGroup" if number % 2 else "with group instance id None"
            for later_ms, said in (
                (0, f"Member {member} in group g has left" if number % 2 else f"Dynamic member with unknown member id joins group g in Stable state. Created a new member id {member} and requesting the member to rejoin with this id."),
                (1, f"Preparing to rebalance group g in state PreparingRebalance with old generation {number} (reason: {why} {member} {tail}; client reason: not provided)."),
                (900, f"Stabilized group g generation {number + 1} with 2 members."),
                (950, f"Assignment received from leader c0-1 for group g for generation {number + 1}. The group has 2 members, 0 of which are static."),
            ):  # fmt: skip
                when = at + timedelta(milliseconds=later_ms)
                print(f"[{when:%Y-%m-%d %H:%M:%S},{when.microsecond // 1000:03}] INFO [GroupCoordinator id=1] {said} {_LOGGER}", file=out)  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rebalances", type=int, nargs="+", default=[2_000, 5_000, 10_000, 20_000])
    parser.add_argument("--every", type=int, default=60)
    parser.add_argument("--spark", action="store_true")
    asked = parser.parse_args()
    jobs = {"local": with_local}
    if asked.spark:
        from rebalance_kit.pipeline.spark.session import spark_session

        spark = spark_session("local[2]")
        jobs["Spark"] = lambda folder: with_spark(spark, folder)
    print(
        f"## Forensics: a single group\n\n{machine()}. Wanted: the cost of each rebalance rises by no more than {WANTED - 1:.0%}.\n"
    )
    print(
        "| engine | rebalances | wall, s | processor, s | processor, ms a rebalance | of the first |\n|---|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as scratch:
        for count in asked.rebalances:
            write(Path(scratch) / str(count), count, asked.every)
        for engine, job in jobs.items():
            job(Path(scratch) / str(asked.rebalances[0]))  # imports and classes are measured apart
            first = 0.0
            for count in asked.rebalances:
                wall, used, found = timed(partial(job, Path(scratch) / str(count)))
                assert found[0] == count, (found, count)
                first = first or used / count
                cells = (
                    engine,
                    f"{count:,}",
                    f"{wall:.1f}",
                    f"{used:.2f}",
                    f"{used / count * 1000:.3f}",
                    f"{used / count / first:.2f}",
                )
                print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
