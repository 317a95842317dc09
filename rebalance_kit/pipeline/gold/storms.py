"""Gold: storms, spells of time in which a group rebalanced again and again.

A spell is a session window: it goes on while the next rebalance begins within ``GAP`` of the last.
Members that start (or stop) together within seconds are one wave, so a deployment of twenty
processes is no storm; a spell with ``WAVES`` waves or more is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: The columns of the table, in order.
STORMS = (
    "path",
    "group",
    "from_ms",
    "to_ms",
    "duration_ms",
    "rebalances",
    "waves",
    "per_minute",
    "triggers",
    "culprits",
    "file",
    "line",
)

#: A spell ends when no rebalance begins for this long.
GAP = "60 seconds"

#: Fewer waves than this are no storm.
WAVES = 7

#: Joins that follow each other within this time are one wave, and so are leaves.
_TOGETHER_MS = 5_000


def storms(rebalances: DataFrame) -> DataFrame:
    """One row a storm: how long, how many rebalances, and who caused how many of them, most first."""
    in_order = Window.partitionBy("path", "group").orderBy("number")
    earlier = F.lag(F.struct("trigger", "start_ms")).over(in_order)
    same = (F.col("earlier.trigger") == F.col("trigger")) & F.col("trigger").isin("join", "leave")
    near = F.col("start_ms") - F.col("earlier.start_ms") <= _TOGETHER_MS
    spells = (
        rebalances.withColumn("earlier", earlier)
        .withColumn("wave", F.when(same & near, 0).otherwise(1))
        .withColumn("spell", F.session_window(F.timestamp_millis("start_ms"), GAP))
        .groupBy("path", "group", "spell")
        .agg(
            F.min("start_ms").alias("from_ms"),
            F.max(F.coalesce("end_ms", "start_ms")).alias("to_ms"),
            F.count("*").alias("rebalances"),
            F.sum("wave").alias("waves"),
            F.collect_list("trigger").alias("all_triggers"),
            F.collect_list("culprit").alias("all_culprits"),
            F.min_by(F.struct("file", "line"), "number").alias("place"),
        )
        .filter(F.col("waves") >= WAVES)
    )
    lasted = F.col("to_ms") - F.col("from_ms")
    per_minute = F.round(F.col("rebalances") * 60_000 / F.greatest(lasted, F.lit(1_000)), 1)
    return (
        spells.withColumn("duration_ms", lasted)
        .withColumn("per_minute", per_minute)
        .withColumn("triggers", F.expr(_tally("all_triggers")))
        .withColumn("culprits", F.expr(_tally("all_culprits")))
        .select("*", "place.file", "place.line")
        .select(*STORMS)
    )


def _tally(column: str) -> str:
    """SQL: the distinct values with how often each occurs, most frequent first (``c2 x 7``)."""
    counted = f"transform(array_distinct({column}), v -> named_struct('n', -size(filter({column}, w -> w = v)), 'v', v))"
    return f"transform(array_sort({counted}), s -> concat(s.v, ' x ', cast(-s.n as string)))"
