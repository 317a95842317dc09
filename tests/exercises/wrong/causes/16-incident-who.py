from pyspark.sql import functions as F


def names(events):
    return (
        events.filter((F.col("side") == "java") & F.col("member").isNotNull())
        .select("run", "member", F.col("client").alias("culprit"))
        .distinct()
    )


def removed(events, kinds=("member_failed", "session_expired")):
    return (
        events.filter(F.col("event").isin(*kinds))
        .select("run", "member", "at_ms")
        .join(names(events), on=["run", "member"])
    )


def stalled(events):
    return events.filter(F.col("event") == "poll_timeout").select(
        "run", F.col("client").alias("culprit"), F.lit("long_batch").alias("kind"), "at_ms"
    )


def first(rows):
    return (
        rows.groupBy("run")
        .agg(F.min_by(F.struct("culprit", "kind"), "at_ms").alias("first"))
        .select("run", "first.culprit", "first.kind")
    )


def wrong_removed_means_killed(events):
    """The member's *own* next line decides"""
    return first(
        removed(events)
        .select("run", "culprit", F.lit("killed").alias("kind"), "at_ms")
        .unionByName(stalled(events))
    )


def wrong_classic_groups_only(events):
    """has no culprit"""
    return first(
        removed(events, ("member_failed",)).select("run", "culprit", F.lit("killed").alias("kind"), "at_ms")
    )


def wrong_poll_timeouts_are_frozen(events):
    """did that member leave by itself"""
    return first(
        removed(events)
        .select("run", "culprit", F.lit("killed").alias("kind"), "at_ms")
        .unionByName(stalled(events).withColumn("kind", F.lit("frozen")))
    )


def wrong_every_evidence_is_a_row(events):
    """Keep the *earliest* evidence of each run"""
    own = events.filter((F.col("side") == "java") & (F.col("event") == "process_started")).select(
        "run", F.col("client").alias("culprit"), F.lit("killed").alias("kind")
    )
    return own.unionByName(stalled(events).drop("at_ms"))
