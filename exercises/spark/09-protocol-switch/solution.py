"""09 Before and after the switch: each callback carries forward what its member had joined last."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F


def by_assignor(events: DataFrame) -> DataFrame:
    """One row per run and assignor: run, assignor, generations, revoked."""
    behind = (
        Window.partitionBy("run", "client")
        .orderBy("at_ms", "line")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    joined = F.when(F.col("event") == "joined", F.struct("generation", "assignor"))
    given_up = F.when(F.col("event") == "revoked", F.size("partitions"))
    return (
        events.filter(F.col("event").isin("joined", "revoked"))
        .withColumn("of", F.last(joined, ignorenulls=True).over(behind))
        .groupBy("run", F.col("of.assignor").alias("assignor"))
        .agg(
            F.count_distinct("of.generation").alias("generations"),
            F.coalesce(F.sum(given_up), F.lit(0)).cast("bigint").alias("revoked"),
        )
    )
