"""08 Storms: a session window a run; its own end is a gap later than the last rebalance, so the last start is kept."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def storms(events: DataFrame) -> DataFrame:
    """One row per storm: run, from_ms, to_ms, rebalances."""
    return (
        events.filter(F.col("event") == "preparing")
        .groupBy("run", F.session_window("at", "25 seconds"))
        .agg(F.min("at_ms").alias("from_ms"), F.max("at_ms").alias("to_ms"), F.count("*").alias("rebalances"))
        .filter(F.col("rebalances") >= 3)
        .drop("session_window")
    )
