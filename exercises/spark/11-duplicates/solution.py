"""11 Read twice: one row per record; what is left when each has been counted once came again."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def read_twice(deliveries: DataFrame) -> DataFrame:
    """One row per run: run, delivered, again."""
    records = deliveries.select("run", "partition", F.explode(F.sequence("first", "last")).alias("offset"))
    times = records.groupBy("run", "partition", "offset").agg(F.count("*").alias("times"))
    return times.groupBy("run").agg(
        F.sum("times").alias("delivered"), F.sum(F.col("times") - 1).alias("again")
    )
