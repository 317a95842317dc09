"""11 Read twice."""

from pyspark.sql import DataFrame


def read_twice(deliveries: DataFrame) -> DataFrame:
    """One row a run: run, delivered, again."""
    raise NotImplementedError
