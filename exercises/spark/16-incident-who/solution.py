"""16 Incident: who was it, and what? What the coordinator saw, then what the removed member itself wrote next."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def culprits(events: DataFrame) -> DataFrame:
    """One row per run: run, culprit, kind."""
    event = F.col("event")
    names = (
        events.filter((F.col("side") == "java") & F.col("member").isNotNull())
        .select("run", "member", "client")
        .distinct()
    )
    removed = (
        events.filter(event.isin("member_failed", "session_expired"))
        .select("run", "member", F.col("at_ms").alias("removed_ms"))
        .join(names, on=["run", "member"], how="inner")
    )
    own = events.filter(F.col("side") == "java").select(
        "run", "client", "event", F.col("at_ms").alias("seen_ms"), "line"
    )
    after = (
        removed.join(own, on=["run", "client"], how="inner")
        .filter(F.col("seen_ms") > F.col("removed_ms"))
        .groupBy("run", "client", "removed_ms")
        .agg(F.min_by("event", F.struct("seen_ms", "line")).alias("next"))
    )
    back = F.when(F.col("next") == "process_started", "killed").otherwise("frozen")
    by_session = after.select(
        "run", F.col("client").alias("culprit"), back.alias("kind"), F.col("removed_ms").alias("at_ms")
    )
    by_itself = events.filter(event == "poll_timeout").select(
        "run", F.col("client").alias("culprit"), F.lit("long_batch").alias("kind"), "at_ms"
    )
    first = F.min_by(F.struct("culprit", "kind"), "at_ms")
    return (
        by_session.unionByName(by_itself)
        .groupBy("run")
        .agg(first.alias("first"))
        .select("run", "first.culprit", "first.kind")
    )
