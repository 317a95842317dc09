"""10 Lag around a rebalance: the incident is one row per run, so it is joined to every sample of that run."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

SETTLED_MS = 1767603625000


def lag_around(events: DataFrame, samples: DataFrame) -> DataFrame:
    """One row per run and partition: run, partition, lag_before, lag_peak."""
    begins = F.col("event").isin("preparing", "bumped") & (F.col("at_ms") >= SETTLED_MS)
    incidents = events.filter(begins).groupBy("run").agg(F.min("at_ms").alias("incident_ms"))
    lag, before = F.col("log_end") - F.col("position"), F.col("at_ms") < F.col("incident_ms")
    return (
        samples.join(incidents, on="run", how="inner")
        .groupBy("run", "partition")
        .agg(
            F.max_by(lag, F.when(before, F.col("at_ms"))).alias("lag_before"),
            F.max(F.when(~before, lag)).alias("lag_peak"),
        )
    )
