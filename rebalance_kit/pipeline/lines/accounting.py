"""Line counts per file, and the check that every line is parsed, ignored or rejected."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import functions as F

from rebalance_kit.model.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

    from rebalance_kit.forensics.lines.files import LogFile


def line_counts(spark: SparkSession, classified: DataFrame, files: Sequence[LogFile]) -> DataFrame:
    """One row per file: lines (counted separately, before Spark read them), parsed, ignored, rejected, note.

    Files without a line have a row too.
    """
    surveyed = spark.createDataFrame(
        [(file.run, file.name, file.lines, file.note) for file in files],
        "path string, file string, lines long, note string",
    )
    kinds = ("parsed", "ignored", "rejected")
    counted = classified.groupBy("path", "file").agg(
        *[F.sum(F.when(F.col("class") == kind, F.col("n"))).alias(kind) for kind in kinds]
    )
    filled = [F.coalesce(F.col(kind), F.lit(0)).alias(kind) for kind in kinds]
    joined = surveyed.join(counted, ["path", "file"], "left")
    return joined.select("path", "file", "lines", *filled, "note")


class LineCount(NamedTuple):
    """One row of ``line_counts``."""

    path: str
    file: str
    lines: int
    parsed: int
    ignored: int
    rejected: int
    note: str | None


def checked_counts(counts: DataFrame) -> list[LineCount]:
    """Collect ``line_counts`` in order of path and file, and check that they balance."""
    rows = [LineCount(*row) for row in counts.orderBy("path", "file").collect()]
    require_balance(rows)
    return rows


def require_balance(counts: Sequence[LineCount]) -> None:
    """Raise ``DataError`` unless parsed + ignored + rejected = lines for every file."""
    unbalanced = [
        f"{count.path} {count.file}: {count.lines} lines, but {count.parsed} parsed + {count.ignored} ignored "
        f"+ {count.rejected} rejected"
        for count in counts
        if count.parsed + count.ignored + count.rejected != count.lines
    ]
    if unbalanced:
        raise DataError(
            "lines were lost or made up (did a file change while it was read?): " + "; ".join(unbalanced[:5])
        )
