"""Line counts per file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

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
