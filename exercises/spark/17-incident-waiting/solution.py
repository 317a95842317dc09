"""17 Incident: whom does everybody wait for? The longest join phase first, then what its members wrote within it."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F


def waited_for(events: DataFrame) -> DataFrame:
    """One row per run: run, waited_ms, culprit, kind."""
    event = F.col("event")
    in_order = Window.partitionBy("run").orderBy("at_ms", "line")
    phases = (
        events.filter(event.isin("preparing", "stabilized"))
        .withColumn("next", F.lead(F.struct("event", "at_ms")).over(in_order))
        .filter((event == "preparing") & (F.col("next.event") == "stabilized"))
        .select("run", F.col("at_ms").alias("from_ms"), F.col("next.at_ms").alias("to_ms"))
    )
    longest = phases.groupBy("run").agg(
        F.max_by(F.struct("from_ms", "to_ms"), F.col("to_ms") - F.col("from_ms")).alias("phase")
    )
    mine = (
        Window.partitionBy("run", "client")
        .orderBy("at_ms", "line")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    steps = (
        events.filter(event.isin("revoked", "joining"))
        .withColumn(
            "revoked_ms", F.last(F.when(event == "revoked", F.col("at_ms")), ignorenulls=True).over(mine)
        )
        .filter(event == "joining")
        .join(longest, on="run", how="inner")
        .filter(F.col("at_ms").between(F.col("phase.from_ms"), F.col("phase.to_ms")))
    )
    last = F.max_by(F.struct("client", "at_ms", "revoked_ms"), "at_ms")
    slow = F.col("last.at_ms") - F.col("last.revoked_ms") > 5000
    return (
        steps.groupBy("run", (F.col("phase.to_ms") - F.col("phase.from_ms")).alias("waited_ms"))
        .agg(last.alias("last"))
        .select(
            "run",
            "waited_ms",
            F.col("last.client").alias("culprit"),
            F.when(slow, "slow_callback").otherwise("silent_member").alias("kind"),
        )
    )
