"""02 What the coordinator counted."""

from pyspark.sql import DataFrame


def coordinator_table(lines: DataFrame) -> DataFrame:
    """One row per run: run, preparing, stabilized, last_generation, expired."""
    raise NotImplementedError
