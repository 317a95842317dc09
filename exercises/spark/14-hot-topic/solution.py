"""14 Fair by count, unfair by load: the last assignment, partition by partition, joined to what a partition carries."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def load(events: DataFrame, rates: DataFrame) -> DataFrame:
    """One row per run and client: run, client, partitions, per_s."""
    last = (
        events.filter(F.col("event") == "assigned")
        .groupBy("run", "client")
        .agg(F.max_by("partitions", F.struct("at_ms", "line")).alias("held"))
    )
    topic = F.regexp_replace("partition", r"-\d+$", "")
    return (
        last.select("run", "client", F.explode("held").alias("partition"))
        .withColumn("topic", topic)
        .join(rates, on=["run", "topic"], how="inner")
        .groupBy("run", "client")
        .agg(F.count("*").alias("partitions"), F.sum("per_s").alias("per_s"))
    )
