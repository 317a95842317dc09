"""07 Why, and whose doing?"""

from pyspark.sql import DataFrame

SETTLED_MS = 1767603625000


def causes(events: DataFrame) -> DataFrame:
    """One row per rebalance: run, start_ms, trigger, culprit."""
    raise NotImplementedError
