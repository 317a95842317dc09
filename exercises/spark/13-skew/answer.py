"""13 One hot group."""

from pyspark.sql import DataFrame

BUCKETS = 8


def counted_in_buckets(requests: DataFrame) -> DataFrame:
    """One row per run and API: run, api, requests, largest_bucket."""
    raise NotImplementedError
