"""06 How long did each partition rest? One window a partition: the callback before each assigned."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

AT_REST_MS = 1767603625000


def rests(events: DataFrame) -> DataFrame:
    """One row a partition that rested: run, partition, rests, longest_ms."""
    by_partition = Window.partitionBy("run", "partition").orderBy("at_ms", "file", "line")
    calls = events.filter(F.col("event").isin("assigned", "revoked", "lost")).select(
        "run", "at_ms", "file", "line", "event", F.explode("partitions").alias("partition")
    )
    rested = (
        (F.col("event") == "assigned")
        & F.col("last.event").isin("revoked", "lost")
        & (F.col("last.at_ms") >= AT_REST_MS)
    )
    return (
        calls.withColumn("last", F.lag(F.struct("event", "at_ms")).over(by_partition))
        .filter(rested)
        .groupBy("run", "partition")
        .agg(F.count("*").alias("rests"), F.max(F.col("at_ms") - F.col("last.at_ms")).alias("longest_ms"))
    )
