"""Gold: when a partition rested between two owners, as the members' callbacks tell.

A partition rests from the moment its owner's revoked (or lost) callback begins until a new owner's
assigned callback begins.  An owner that died calls nothing: its partitions have rested since it fell
silent, a session before its expiry.  How long a session is stands in a classic member's own log;
where it does not (a consumer group's sessions are the broker's), the gap is told from the expiry on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from rebalance_kit.pipeline.gold.member_names import with_name
from rebalance_kit.pipeline.spark.asof import with_last

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


def gaps(events: DataFrame, names: DataFrame) -> DataFrame:
    """One row a rest of a partition; ``known_by`` is ``revoked``, ``lost`` or ``expired`` (then at least so long)."""
    by_partition = Window.partitionBy("path", "group", "partition").orderBy("at_ms", "file", "block", "row")
    upto = by_partition.rowsBetween(Window.unboundedPreceding, Window.currentRow)
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
        # A zombie that learns late of its loss says nothing about who reads the partition now.
        .withColumn(
            "owner",
            F.last(F.when(F.col("event") == "assigned", F.col("client")), ignorenulls=True).over(upto),
        )
        .filter((F.col("event") == "assigned") | (F.col("client") == F.col("owner")))
        .withColumn("last", F.lag(F.struct("event", "client", "at_ms")).over(by_partition))
        .filter((F.col("event") == "assigned") & F.col("last").isNotNull())
    )
    expiries = (
        with_name(events, names, "member", "name")
        .filter(F.col("event").isin("member_failed", "session_expired"))
        .select("path", "group", F.col("name").alias("dead"), F.col("at_ms").alias("expired_ms"))
        .join(_sessions(events), ["path", "dead"], "left")
    )
    # The coordinator's timer was set by the last heartbeat that reached it.
    silent_since = F.col("expiry.expired_ms") - F.coalesce("expiry.session_ms", F.lit(0))
    row = ["path", "group", "partition", "at_ms", "client", "last"]
    kept = calls.filter(F.col("last.event") == "assigned").select(*row, F.col("last.client").alias("dead"))
    expired = (
        with_last(
            kept, expiries, ["path", "group", "dead"], at=F.col("at_ms"), point_at="expired_ms", into="expiry"
        )
        .filter(F.col("expiry.expired_ms") >= F.col("last.at_ms"))
        .select(*row, F.greatest(F.col("last.at_ms"), silent_since).alias("from_ms"))
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


def _sessions(events: DataFrame) -> DataFrame:
    """The session timeout that each classic member (``dead``) wrote down when it started."""
    value = {
        key: F.max(F.when(F.col("key") == key, F.col("value")))
        for key in ("session.timeout.ms", "group.protocol")
    }
    return (
        events.filter((F.col("event") == "config") & F.col("client").isNotNull())
        .groupBy("path", F.col("client").alias("dead"))
        .agg(value["session.timeout.ms"].alias("session"), value["group.protocol"].alias("chosen"))
        .filter(F.lower(F.coalesce("chosen", F.lit("classic"))) == "classic")
        .select("path", "dead", F.col("session").try_cast("long").alias("session_ms"))
    )
