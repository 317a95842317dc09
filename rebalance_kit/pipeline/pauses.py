"""Gold: when a partition rested between two owners, as the members' callbacks tell.

A partition rests from the moment its owner's revoked (or lost) callback begins until a new owner's
assigned callback begins.  An owner that died calls nothing: its partitions have rested since its
death, of which the logs know only that it was before its expiry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from rebalance_kit.pipeline.names import with_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: The columns of the table, in order.
PAUSES = (
    "path",
    "group",
    "partition",
    "from_ms",
    "to_ms",
    "duration_ms",
    "owner_before",
    "owner_after",
    "known_by",
)


def pauses(events: DataFrame, names: DataFrame) -> DataFrame:
    """One row a rest of a partition; ``known_by`` is ``revoked``, ``lost`` or ``expired`` (then at least so long)."""
    by_partition = Window.partitionBy("path", "group", "partition").orderBy("at_ms", "file", "block", "row")
    calls = (
        events.filter(F.col("event").isin("assigned", "revoked", "lost") & F.col("client").isNotNull())
        .select(
            "path",
            "group",
            "at_ms",
            "file",
            "block",
            "row",
            "event",
            "client",
            F.explode("partitions").alias("partition"),
        )
        .withColumn("last", F.lag(F.struct("event", "client", "at_ms")).over(by_partition))
        .filter((F.col("event") == "assigned") & F.col("last").isNotNull())
    )
    expiries = (
        with_name(events, names, "member", "name")
        .filter(F.col("event").isin("member_failed", "session_expired"))
        .select("path", "group", F.col("name").alias("dead"), F.col("at_ms").alias("expired_ms"))
    )
    died = (F.col("dead") == F.col("last.client")) & F.col("expired_ms").between(
        F.col("last.at_ms"), F.col("at_ms")
    )
    row = ["path", "group", "partition", "at_ms", "client", "last"]
    expired = (
        calls.filter(F.col("last.event") == "assigned")
        .join(expiries, ["path", "group"], "inner")
        .filter(died)
        .groupBy(*row)
        .agg(F.max("expired_ms").alias("from_ms"))
        .withColumn("known_by", F.lit("expired"))
    )
    called = (
        calls.filter(F.col("last.event") != "assigned")
        .select(*row)
        .withColumn("from_ms", F.col("last.at_ms"))
        .withColumn("known_by", F.col("last.event"))
    )
    return (
        called.unionByName(expired)
        .withColumn("to_ms", F.col("at_ms"))
        .withColumn("duration_ms", F.col("to_ms") - F.col("from_ms"))
        .withColumn("owner_before", F.col("last.client"))
        .withColumn("owner_after", F.col("client"))
        .select(*PAUSES)
    )
