"""08 Storms."""

from pyspark.sql import DataFrame


def storms(events: DataFrame) -> DataFrame:
    """One row per storm: run, from_ms, to_ms, rebalances."""
    raise NotImplementedError
