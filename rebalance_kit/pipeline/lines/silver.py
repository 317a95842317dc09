"""Silver: what each line is (parsed, ignored or rejected), and the events that were parsed.

``intake`` says what the lines are; here they get their line numbers and their times, and become the
tables that people and the gold steps read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.pipeline.lines.batch_reader import CLASSIFIED
from rebalance_kit.pipeline.lines.timestamps import line_time

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: The columns of an event that a line gives.
_TOLD = tuple(
    name
    for name in CLASSIFIED
    if name not in {"path", "file", "block", "nth", "row", "n", "class", "why", "told_at", "layout"}
)


def events(classified: DataFrame, blocks: DataFrame, reading: Reading | None = None) -> DataFrame:
    """The parsed lines as typed events, one row each, in the columns the gold steps use.

    ``blocks`` as ``intake.blocks_of`` makes it.  Lines of a client that name none get the one client that
    their file is of.
    """
    rows = classified.filter(F.col("class") == "parsed").transform(
        lambda lines: with_line_numbers(lines, blocks)
    )
    told = line_time(F.col("told_at"), F.col("layout"), reading or Reading())
    at = F.timestamp_millis(F.unix_millis(told) + F.col("shift_ms"))
    theirs = F.col("side") != "broker"
    filled = {
        name: F.coalesce(name, F.when(theirs, F.col(f"file_{name}"))).alias(name)
        for name in ("client", "group")
    }
    return rows.select(
        "path", "file", "line", "block", "row", at.alias("at"), *[filled.get(name, name) for name in _TOLD]
    ).withColumn("at_ms", F.unix_millis("at"))


def rejected(classified: DataFrame, blocks: DataFrame) -> DataFrame:
    """The rejected lines: path, file, line, why, and the beginning of the text."""
    lines = classified.filter(F.col("class") == "rejected").transform(
        lambda rows: with_line_numbers(rows, blocks)
    )
    return lines.select("path", "file", "line", "why", "text")


def with_line_numbers(rows: DataFrame, blocks: DataFrame) -> DataFrame:
    """Add ``line``, counted from 1 in each file, and what else ``blocks`` tells."""
    return rows.join(F.broadcast(blocks), ["path", "file", "block"], "inner").withColumn(
        "line", F.col("nth") + F.col("before")
    )
