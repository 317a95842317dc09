"""Which partitions changed hands in each rebalance, as the members' callbacks tell.

A callback belongs to the last rebalance of its group that had begun when it was called.  ``revoked``
counts every partition given up (or lost), ``moved`` only those that went to somebody else: under the
eager protocol the first is everything and the second may be nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PLACE = ("at_ms", "file", "block", "row")

#: A rebalance is written down by the coordinator up to this long after a client felt it.
_EARLY_MS = 100


def callbacks(events: DataFrame) -> DataFrame:
    """One row a partition of a callback: path, group, place in time, event, client, partition."""
    calls = F.col("event").isin("assigned", "revoked", "lost") & F.col("client").isNotNull()
    return events.filter(calls & F.col("group").isNotNull() & F.col("at_ms").isNotNull()).select(
        "path", "group", *_PLACE, "event", "client", F.explode("partitions").alias("partition")
    )


def with_movements(rebalances: DataFrame, events: DataFrame) -> DataFrame:
    """Add ``moved`` and ``revoked``: sorted arrays of partitions; null where no member's log tells."""
    by_partition = Window.partitionBy("path", "group", "partition").orderBy(*_PLACE)
    owner = F.last(F.when(F.col("event") == "assigned", F.col("client")), ignorenulls=True)
    calls = callbacks(events).withColumn(
        "owner_before", owner.over(by_partition.rowsBetween(Window.unboundedPreceding, -1))
    )
    begun = rebalances.select(
        "path", "group", "number", (F.col("start_ms") - _EARLY_MS).alias("at_ms"), F.lit(1).alias("begins")
    )
    # One pass over both in order of time: each call gets the number of the rebalance before it.
    both = calls.withColumn("begins", F.lit(0)).unionByName(begun, allowMissingColumns=True)
    in_order = Window.partitionBy("path", "group").orderBy("at_ms", F.desc("begins"), "number")
    placed = both.withColumn(
        "number", F.last("number", ignorenulls=True).over(in_order.rowsBetween(Window.unboundedPreceding, 0))
    ).filter(F.col("begins") == 0)
    elsewhere = (F.col("event") == "assigned") & (F.col("owner_before") != F.col("client"))
    given_up = F.col("event").isin("revoked", "lost")
    sums = placed.groupBy("path", "group", "number").agg(
        F.sort_array(F.collect_set(F.when(elsewhere, F.col("partition")))).alias("moved"),
        F.sort_array(F.collect_set(F.when(given_up, F.col("partition")))).alias("revoked"),
    )
    telling = calls.select("path", "group").distinct().withColumn("tells", F.lit(True))
    none = F.when(F.col("tells"), F.array().cast("array<string>"))
    return (
        rebalances.join(sums, ["path", "group", "number"], "left")
        .join(telling, ["path", "group"], "left")
        .withColumn("moved", F.coalesce("moved", none))
        .withColumn("revoked", F.coalesce("revoked", none))
        .drop("tells")
    )
