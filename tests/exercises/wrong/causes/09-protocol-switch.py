from pyspark.sql import Window
from pyspark.sql import functions as F


def ruled(events, keys=("run", "client"), ahead=False):
    window = Window.partitionBy(*keys).orderBy("at_ms", "line")
    joined = F.when(F.col("event") == "joined", F.struct("generation", "assignor"))
    carried = (
        F.first(joined, ignorenulls=True).over(
            window.rowsBetween(Window.currentRow, Window.unboundedFollowing)
        )
        if ahead
        else F.last(joined, ignorenulls=True).over(
            window.rowsBetween(Window.unboundedPreceding, Window.currentRow)
        )
    )
    return (
        events.filter(F.col("event").isin("joined", "revoked"))
        .withColumn("of", carried)
        .withColumn("assignor", F.col("of.assignor"))
    )


def wrong_callbacks_counted(events):
    """is the number of *callbacks*"""
    return (
        ruled(events)
        .groupBy("run", "assignor")
        .agg(
            F.count_distinct("of.generation").alias("generations"),
            F.count_if(F.col("event") == "revoked").alias("revoked"),
        )
    )


def wrong_every_join_is_a_generation(events):
    """Count distinct ones"""
    size = F.sum(F.when(F.col("event") == "revoked", F.size("partitions")).otherwise(0))
    return (
        ruled(events)
        .groupBy("run", "assignor")
        .agg(F.count_if(F.col("event") == "joined").alias("generations"), size.alias("revoked"))
    )


def wrong_next_generation(events):
    """to the one its member had joined last before it"""
    size = F.sum(F.when(F.col("event") == "revoked", F.size("partitions")).otherwise(0))
    return (
        ruled(events, ahead=True)
        .groupBy("run", "assignor")
        .agg(F.count_distinct("of.generation").alias("generations"), size.alias("revoked"))
    )
