"""From files to classified lines, in two passes.

The first counts, for each file, its lines and those passed over; the second takes the few that are left
apart.  Both read the text and test every line alike: reading twice costs less than keeping all lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatch
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from rebalance_kit.pipeline import bronze, silver
from rebalance_kit.pipeline.layouts import Reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql import DataFrame, Row, SparkSession

    from rebalance_kit.pipeline.survey import LogFile


@dataclass(frozen=True, slots=True)
class Intake:
    """``classified``: all lines but those passed over; ``blocks`` (for line numbers and clocks); ``passed_over`` a file."""

    classified: DataFrame
    blocks: DataFrame
    passed_over: DataFrame


def take_in(spark: SparkSession, files: Sequence[LogFile], reading: Reading | None = None) -> Intake:
    """Read files and classify their lines."""
    said = reading or Reading()
    placed, addresses = bronze.read_raw(spark, files)
    cold = silver.passed_over(F.col("value"), F.octet_length("value"), said)
    counted = (
        placed.groupBy("location", "block")
        .agg(F.min("row").alias("first_row"), F.count("*").alias("lines"), F.count_if(cold).alias("cold"))
        .collect()
    )
    kept = bronze.named_lines(placed.filter(~cold), spark, addresses)
    passed: dict[LogFile, int] = {}
    for row in counted:
        file = addresses[row.location]
        passed[file] = passed.get(file, 0) + row.cold
    return Intake(
        silver.classify(kept, said),
        spark.createDataFrame(_blocks(counted, addresses, said), _BLOCKS),
        spark.createDataFrame(
            [(file.run, file.name, count) for file, count in passed.items()],
            "path string, file string, passed_over long",
        ),
    )


_BLOCKS = "path string, file string, block long, first_row long, before long, shift_ms long"


def _blocks(
    counted: Iterable[Row], addresses: Mapping[str, LogFile], reading: Reading
) -> list[tuple[str, str, int, int, int, int]]:
    """One row a block of a file: its first row, the lines before it, and what its clock is to be shifted by."""
    before: dict[str, int] = {}
    rows = []
    for row in sorted(counted, key=lambda row: (row.location, row.block)):
        file = addresses[row.location]
        earlier = before.get(row.location, 0)
        rows.append((file.run, file.name, row.block, row.first_row, earlier, shift(file, reading)))
        before[row.location] = earlier + row.lines
    return rows


def shift(file: LogFile, reading: Reading) -> int:
    """Milliseconds to add to the times of a file: the first offset whose pattern fits its path or name."""
    whole = f"{file.run}/{file.name}"
    fitting = (
        ms for pattern, ms in reading.offsets if fnmatch(whole, pattern) or fnmatch(file.name, pattern)
    )
    return next(fitting, 0)
