"""06 How long did each partition go unread? One window per partition: the callback before each assigned."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

SETTLED_MS = 1767603625000


def gaps(events: DataFrame) -> DataFrame:
    """One row per partition that went unread: run, partition, gaps, longest_ms."""
    by_partition = Window.partitionBy("run", "partition").orderBy("at_ms", "file", "line")
    calls = events.filter(F.col("event").isin("assigned", "revoked", "lost")).select(
        "run", "at_ms", "file", "line", "event", F.explode("partitions").alias("partition")
    )
    ends_a_gap = (
        (F.col("event") == "assigned")
        & F.col("last.event").isin("revoked", "lost")
        & (F.col("last.at_ms") >= SETTLED_MS)
    )
    return (
        calls.withColumn("last", F.lag(F.struct("event", "at_ms")).over(by_partition))
        .filter(ends_a_gap)
        .groupBy("run", "partition")
        .agg(F.count("*").alias("gaps"), F.max(F.col("at_ms") - F.col("last.at_ms")).alias("longest_ms"))
    )
