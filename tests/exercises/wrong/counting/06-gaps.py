from pyspark.sql import Window
from pyspark.sql import functions as F

SETTLED_MS = 1767603625000


def calls(events):
    return events.filter(F.col("event").isin("assigned", "revoked", "lost")).select(
        "run", "at_ms", "file", "line", "event", "client", F.explode("partitions").alias("partition")
    )


def ends_a_gap(rows, keys, begins, ends, since=SETTLED_MS):
    window = Window.partitionBy(*keys).orderBy("at_ms", "file", "line")
    rows = rows.withColumn("last", F.lag(F.struct("event", "at_ms")).over(window)).filter(
        (F.col("event").isin(*ends)) & F.col("last.event").isin(*begins) & (F.col("last.at_ms") >= since)
    )
    return rows.groupBy("run", "partition").agg(
        F.count("*").alias("gaps"), F.max(F.col("at_ms") - F.col("last.at_ms")).alias("longest_ms")
    )


def wrong_member_by_member(events):
    """its gap ends with *another* member's callback"""
    return ends_a_gap(calls(events), ("run", "client", "partition"), ("revoked", "lost"), ("assigned",))


def wrong_time_at_work(events):
    """Measure from `revoked` (or `lost`) to the next `assigned`"""
    return ends_a_gap(calls(events), ("run", "partition"), ("assigned",), ("revoked", "lost"), since=0)


def wrong_from_the_start(events):
    """more gaps than there were after 09:00:25"""
    return ends_a_gap(calls(events), ("run", "partition"), ("revoked", "lost"), ("assigned",), since=0)
