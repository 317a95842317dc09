"""09 Before and after the switch."""

from pyspark.sql import DataFrame


def by_assignor(events: DataFrame) -> DataFrame:
    """One row per run and assignor: run, assignor, generations, revoked."""
    raise NotImplementedError
