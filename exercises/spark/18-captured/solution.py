"""18 Real clusters, real noise: gather the evidence of all four kinds with its time, then keep the earliest of each run."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def faults(events: DataFrame) -> DataFrame:
    """One row per run: run, culprit, kind."""
    event, java = F.col("event"), F.col("side") == "java"
    names = (
        events.filter(java & F.col("member").isNotNull())
        .select("run", "member", F.col("client").alias("culprit"))
        .distinct()
    )
    gone = (
        events.filter(event.isin("member_failed", "session_expired", "left", "epoch_left"))
        .select("run", "member", "event", F.col("at_ms").alias("gone_ms"))
        .join(names, on=["run", "member"], how="inner")
    )
    own = events.filter(java).select(
        "run", F.col("client").alias("culprit"), F.struct("at_ms", "line", "event").alias("own")
    )
    later = F.when(F.col("own.at_ms") > F.col("gone_ms"), F.col("own"))
    seen = (
        gone.join(own, on=["run", "culprit"], how="left")
        .groupBy("run", "culprit", "event", "gone_ms")
        .agg(F.min(later).alias("next"))
    )
    kind = (
        F.when(event.isin("left", "epoch_left"), "closed")
        .when(F.col("next.event").isNull() | (F.col("next.event") == "process_started"), "killed")
        .otherwise("frozen")
    )
    by_coordinator = seen.select("run", "culprit", kind.alias("kind"), F.col("gone_ms").alias("at_ms"))
    stalled = events.filter(event == "poll_timeout").select(
        "run",
        F.col("client").alias("culprit"),
        F.lit("stalled").alias("kind"),
        (F.col("at_ms") - 1000).alias("at_ms"),
    )
    first = F.min_by(F.struct("culprit", "kind"), "at_ms")
    return (
        by_coordinator.unionByName(stalled)
        .groupBy("run")
        .agg(first.alias("first"))
        .select("run", "first.culprit", "first.kind")
    )
