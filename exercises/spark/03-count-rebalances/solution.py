"""03 How many rebalances? The coordinator says each one once; members say it each for themselves."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def rebalances_per_run(events: DataFrame) -> DataFrame:
    """One row per run: run, rebalances."""
    begins = F.col("event").isin("preparing", "bumped")
    return events.filter(begins).groupBy("run").agg(F.count("*").alias("rebalances"))
