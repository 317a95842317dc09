"""14 Fair by count, unfair by load."""

from pyspark.sql import DataFrame


def load(events: DataFrame, rates: DataFrame) -> DataFrame:
    """One row per run and client: run, client, partitions, per_s."""
    raise NotImplementedError
