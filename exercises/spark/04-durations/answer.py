"""04 How long did it take?"""

from pyspark.sql import DataFrame


def durations(events: DataFrame) -> DataFrame:
    """One row per rebalance: run, before, start_ms, end_ms, duration_ms."""
    raise NotImplementedError
