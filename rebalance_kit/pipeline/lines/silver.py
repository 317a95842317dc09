"""Silver: parsed events and rejected lines, as tables.

``classify`` says what each line is; this module adds line numbers and times, and selects the columns that
people and the gold steps read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from rebalance_kit.forensics.event import MESSAGES_A_LINE
from rebalance_kit.forensics.tables import EVENTS
from rebalance_kit.pipeline.lines.batch_reader import CLASSIFIED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: The columns of an event that its line provides.
_EVENT_COLUMNS = tuple(
    name
    for name in CLASSIFIED
    if name not in {"path", "file", "block", "nth", "row", "n", "class", "why", "at_ms"}
)


def events(classified: DataFrame, blocks: DataFrame) -> DataFrame:
    """The parsed lines as typed events, one row per event, in the columns of ``tables.EVENTS``.

    ``blocks`` comes from ``classify.blocks_of``.  A client's line that names no client gets its file's client,
    where the file has only one.
    """
    rows = classified.filter(F.col("class") == "parsed").transform(
        lambda lines: with_line_numbers(lines, blocks)
    )
    at_ms = F.col("at_ms") + F.col("shift_ms")
    by_client = F.col("side") != "broker"
    filled = {
        name: F.coalesce(name, F.when(by_client, F.col(f"file_{name}"))).alias(name)
        for name in ("client", "group")
    }
    return rows.select(
        "path",
        "file",
        "line",
        (F.col("row") + F.col("before") * MESSAGES_A_LINE).alias("row"),
        F.timestamp_millis(at_ms).alias("at"),
        *[filled.get(name, F.col(name)) for name in _EVENT_COLUMNS],
        at_ms.alias("at_ms"),
    ).select(*EVENTS)


def rejected(classified: DataFrame, blocks: DataFrame) -> DataFrame:
    """The rejected lines: path, file, line, why, and the beginning of the text."""
    lines = classified.filter(F.col("class") == "rejected").transform(
        lambda rows: with_line_numbers(rows, blocks)
    )
    return lines.select("path", "file", "line", "why", "text")


def with_line_numbers(rows: DataFrame, blocks: DataFrame) -> DataFrame:
    """Add ``line``, counted from 1 in each file, and the other columns of ``blocks``."""
    return rows.join(F.broadcast(blocks), ["path", "file", "block"], "inner").withColumn(
        "line", F.col("nth") + F.col("before")
    )
