from pyspark.sql import Window
from pyspark.sql import functions as F


def phases(events, until=("stabilized",)):
    window = Window.partitionBy("run").orderBy("at_ms", "line")
    rows = (
        events.filter(F.col("event").isin("preparing", *until))
        .withColumn("next", F.lead("at_ms").over(window))
        .filter(F.col("event") == "preparing")
    )
    length = F.col("next") - F.col("at_ms")
    return rows.groupBy("run").agg(F.max_by(F.struct("at_ms", "next"), length).alias("phase"))


def judged(events, pick=F.max_by, kind=None, until=("stabilized",)):
    mine = (
        Window.partitionBy("run", "client")
        .orderBy("at_ms", "line")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    rows = events.filter(F.col("event").isin("revoked", "joining")).withColumn(
        "revoked_ms", F.last(F.when(F.col("event") == "revoked", F.col("at_ms")), ignorenulls=True).over(mine)
    )
    rows = (
        rows.filter(F.col("event") == "joining")
        .join(phases(events, until), on="run")
        .filter(F.col("at_ms").between(F.col("phase.at_ms"), F.col("phase.next")))
    )
    last = rows.groupBy("run", (F.col("phase.next") - F.col("phase.at_ms")).alias("waited_ms")).agg(
        pick(F.struct("client", "at_ms", "revoked_ms"), "at_ms").alias("last")
    )
    slow = F.when(F.col("last.at_ms") - F.col("last.revoked_ms") > 5000, "slow_callback").otherwise(
        "silent_member"
    )
    return last.select(
        "run",
        "waited_ms",
        F.col("last.client").alias("culprit"),
        (slow if kind is None else F.lit(kind)).alias("kind"),
    )


def wrong_who_joined_first(events):
    """who asked to join *last* within the phase"""
    return judged(events, pick=F.min_by)


def wrong_always_a_callback(events):
    """A callback at work has begun to revoke"""
    return judged(events, kind="slow_callback")


def wrong_until_the_assignment(events):
    """From `preparing` to the next `stabilized`, and the longest"""
    return judged(events, until=("assignment_received",))
