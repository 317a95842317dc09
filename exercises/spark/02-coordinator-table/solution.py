"""02 What the coordinator counted: conditions with names, one pass over the lines."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def coordinator_table(lines: DataFrame) -> DataFrame:
    """One row per run: run, preparing, stabilized, last_generation, expired."""
    text = F.col("text")
    stabilized = text.contains("Stabilized group ")
    emptied = text.contains(" is now empty")
    generation = F.regexp_extract(text, r"generation (\d+)", 1).try_cast("int")
    return lines.groupBy("run").agg(
        F.count_if(text.contains("Preparing to rebalance group ")).alias("preparing"),
        F.count_if(stabilized).alias("stabilized"),
        F.max(F.when(stabilized | emptied, generation)).alias("last_generation"),
        F.count_if(text.contains(" has failed, removing it from the group")).alias("expired"),
    )
