"""05 Which partitions moved? The last owner before and the last owner of all, partition by partition."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

SETTLED_MS = 1767603625000


def moved(events: DataFrame) -> DataFrame:
    """One row per partition that changed hands: run, partition, owner_before, owner_after."""
    given = events.filter(F.col("event") == "assigned").select(
        "run", "at_ms", "client", F.explode("partitions").alias("partition")
    )
    before = F.when(F.col("at_ms") <= SETTLED_MS, F.col("at_ms"))
    return (
        given.groupBy("run", "partition")
        .agg(
            F.max_by("client", before).alias("owner_before"), F.max_by("client", "at_ms").alias("owner_after")
        )
        .filter(F.col("owner_before") != F.col("owner_after"))
    )
