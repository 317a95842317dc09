"""12 While it happens: a watermark on the event time says when a window is final."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def per_half_minute(events: DataFrame) -> DataFrame:
    """One row per run and window, in append mode: run, from, rebalances."""
    return (
        events.withWatermark("at", "60 seconds")
        .filter(F.col("event") == "preparing")
        .groupBy("run", F.window("at", "30 seconds"))
        .agg(F.count("*").alias("rebalances"))
        .select("run", F.col("window.start").alias("from"), "rebalances")
    )
