"""06 How long did each partition rest?"""

from pyspark.sql import DataFrame

AT_REST_MS = 1767603625000


def rests(events: DataFrame) -> DataFrame:
    """One row a partition that rested: run, partition, rests, longest_ms."""
    raise NotImplementedError
