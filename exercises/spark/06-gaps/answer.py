"""06 How long did each partition go unread?"""

from pyspark.sql import DataFrame

SETTLED_MS = 1767603625000


def gaps(events: DataFrame) -> DataFrame:
    """One row per partition that went unread: run, partition, gaps, longest_ms."""
    raise NotImplementedError
