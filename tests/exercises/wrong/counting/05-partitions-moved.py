from pyspark.sql import functions as F

SETTLED_MS = 1767603625000


def owners(events, kinds=("assigned",)):
    return events.filter(F.col("event").isin(*kinds)).select(
        "run", "at_ms", "client", F.explode("partitions").alias("partition")
    )


def wrong_all_that_was_handed_out(events):
    """given up and handed back is not moved"""
    before = F.when(F.col("at_ms") <= SETTLED_MS, F.col("at_ms"))
    return (
        owners(events)
        .groupBy("run", "partition")
        .agg(
            F.max_by("client", before).alias("owner_before"), F.max_by("client", "at_ms").alias("owner_after")
        )
    )


def wrong_first_owner(events):
    """The *first* owner is not the owner before the incident"""
    rows = (
        owners(events)
        .groupBy("run", "partition")
        .agg(
            F.min_by("client", "at_ms").alias("owner_before"),
            F.max_by("client", "at_ms").alias("owner_after"),
        )
    )
    return rows.filter(F.col("owner_before") != F.col("owner_after"))


def wrong_from_revoked(events):
    """Take the owner from `assigned` alone"""
    before = F.when((F.col("at_ms") > SETTLED_MS) & (F.col("event") == "revoked"), F.col("client"))
    calls = events.filter(F.col("event").isin("assigned", "revoked")).select(
        "run", "at_ms", "event", "client", F.explode("partitions").alias("partition")
    )
    after = F.when(F.col("event") == "assigned", F.col("client"))
    rows = calls.groupBy("run", "partition").agg(
        F.max(before).alias("owner_before"), F.max_by(after, "at_ms").alias("owner_after")
    )
    return rows.filter(~F.col("owner_before").eqNullSafe(F.col("owner_after")))
