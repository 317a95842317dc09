from pyspark.sql import Window
from pyspark.sql import functions as F


def wrong_ends_at_stabilized(events):
    """that is the end of the join phase"""
    window = Window.partitionBy("run").orderBy("at_ms", "line")
    rows = events.filter(F.col("event").isin("preparing", "stabilized")).withColumn(
        "end_ms", F.lead("at_ms").over(window)
    )
    return (
        rows.filter(F.col("event") == "preparing")
        .select("run", F.col("generation").alias("before"), F.col("at_ms").alias("start_ms"), "end_ms")
        .withColumn("duration_ms", F.col("end_ms") - F.col("start_ms"))
    )


def wrong_all_nights_are_one(events):
    """the window needs `partitionBy("run")`"""
    window = Window.orderBy("at_ms", "line").rowsBetween(1, Window.unboundedFollowing)
    end = F.first(F.when(F.col("event") == "assignment_received", F.col("at_ms")), ignorenulls=True).over(
        window
    )
    rows = events.filter(F.col("event").isin("preparing", "assignment_received")).withColumn("end_ms", end)
    return (
        rows.filter(F.col("event") == "preparing")
        .select("run", F.col("generation").alias("before"), F.col("at_ms").alias("start_ms"), "end_ms")
        .withColumn("duration_ms", F.col("end_ms") - F.col("start_ms"))
    )


def wrong_ends_are_rows_too(events):
    """Keep the rows of `preparing`, and only those"""
    window = Window.partitionBy("run").orderBy("at_ms", "line")
    rows = events.filter(F.col("event").isin("preparing", "assignment_received")).withColumn(
        "end_ms", F.lead("at_ms").over(window)
    )
    return rows.select(
        "run", F.col("generation").alias("before"), F.col("at_ms").alias("start_ms"), "end_ms"
    ).withColumn("duration_ms", F.col("end_ms") - F.col("start_ms"))
