"""04 How long did it take? Only the two lines that matter are kept; then the next one is the end, or there is none."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F


def durations(events: DataFrame) -> DataFrame:
    """One row per rebalance: run, before, start_ms, end_ms, duration_ms."""
    in_order = Window.partitionBy("run").orderBy("at_ms", "line")
    ended = F.col("next.event") == "assignment_received"
    return (
        events.filter(F.col("event").isin("preparing", "assignment_received"))
        .withColumn("next", F.lead(F.struct("event", "at_ms")).over(in_order))
        .filter(F.col("event") == "preparing")
        .select(
            "run",
            F.col("generation").alias("before"),
            F.col("at_ms").alias("start_ms"),
            F.when(ended, F.col("next.at_ms")).alias("end_ms"),
        )
        .withColumn("duration_ms", F.col("end_ms") - F.col("start_ms"))
    )
