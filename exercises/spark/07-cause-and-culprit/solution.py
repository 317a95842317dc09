"""07 Why, and whose doing? The reason names the member; for a leave the line before says why it left."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

SETTLED_MS = 1767603625000
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


def causes(events: DataFrame) -> DataFrame:
    """One row per rebalance: run, start_ms, trigger, culprit."""
    reason = F.col("reason")
    leaver = F.col("leaver")
    trigger = (
        F.when(reason.startswith("Adding new member"), "join")
        .when(reason.contains("heartbeat expiration"), "session")
        .when(reason.contains("LeaveGroup") & leaver.contains("poll timeout"), "poll_timeout")
        .when(reason.contains("LeaveGroup"), "leave")
        .when(reason.contains("need to revoke partitions"), "follow_up")
    )
    behind = Window.partitionBy("run").orderBy("at_ms", "line").rowsBetween(Window.unboundedPreceding, -1)
    return (
        events.filter(F.col("event").isin("preparing", "left"))
        .withColumn("leaver", F.last(F.when(F.col("event") == "left", reason), ignorenulls=True).over(behind))
        .filter((F.col("event") == "preparing") & (F.col("at_ms") >= SETTLED_MS))
        .select(
            "run",
            F.col("at_ms").alias("start_ms"),
            trigger.alias("trigger"),
            F.regexp_extract("reason", rf"([\w.-]+)-{UUID}", 1).alias("culprit"),
        )
    )
