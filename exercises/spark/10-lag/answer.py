"""10 Lag around a rebalance."""

from pyspark.sql import DataFrame

SETTLED_MS = 1767603625000


def lag_around(events: DataFrame, samples: DataFrame) -> DataFrame:
    """One row per run and partition: run, partition, lag_before, lag_peak."""
    raise NotImplementedError
