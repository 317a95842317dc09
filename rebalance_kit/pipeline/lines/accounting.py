"""The books: what became of every line, file by file, and whether it adds up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from rebalance_kit.model.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

    from rebalance_kit.forensics.lines.files import LogFile


def line_counts(spark: SparkSession, classified: DataFrame, files: Sequence[LogFile]) -> DataFrame:
    """One row a file: lines (counted apart, before Spark read them), parsed, ignored, rejected, note.

    Files without a line are in it too.
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


def require_balance(rows: Sequence[tuple[str, str, int, int, int, int, str | None]]) -> None:
    """Raise ``DataError`` unless parsed + ignored + rejected = lines for every row of ``line_counts``."""
    wrong = [
        f"{path} {file}: {lines} lines, but {parsed} parsed + {ignored} ignored + {rejected} rejected"
        for path, file, lines, parsed, ignored, rejected, _ in rows
        if parsed + ignored + rejected != lines
    ]
    if wrong:
        raise DataError(
            "lines were lost or made up (did a file change while it was read?): " + "; ".join(wrong[:5])
        )
