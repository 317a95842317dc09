"""05 Which partitions moved?"""

from pyspark.sql import DataFrame

SETTLED_MS = 1767603625000


def moved(events: DataFrame) -> DataFrame:
    """One row per partition that changed hands: run, partition, owner_before, owner_after."""
    raise NotImplementedError
