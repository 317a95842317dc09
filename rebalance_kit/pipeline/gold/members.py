"""Gold: the life of each member of a group, as its coordinator wrote it down.

A life begins when the coordinator takes the member in and ends when it leaves, expires, is fenced or
is replaced; a life without an end was still going on when the log ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from rebalance_kit.pipeline.gold.member_names import with_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: The columns of the table, in order.
MEMBERS = ("path", "group", "member", "client", "instance", "joined_ms", "ended_ms", "end")

_BEGINS = ("member_id_given", "member_added", "static_added", "joins", "static_rejoins")

#: How a life ends, by the line that says so.
_ENDS = {
    "left": "left",
    "epoch_left": "left",
    "static_away": "away (static)",
    "member_failed": "expired",
    "session_expired": "expired",
    "transition_expired": "fenced",
    "fenced": "fenced",
}


#: Where a line names the members it removes: in brackets, or as a Scala set.
_NEVER_SYNCED = r"Removing \[(.*)\] on pending sync request expiration"
_NOT_REJOINED = r"^(?:\[|Set\()?(.*?)[\])]?\.?$"


def members(events: DataFrame, names: DataFrame) -> DataFrame:
    """One row a member id of a group: who it was, when it came, when and how it ended."""
    event = F.col("event")
    told = events.filter(
        (F.col("side") == "broker") & F.col("group").isNotNull() & F.col("at_ms").isNotNull()
    )
    # A process that comes back under its old id takes its own place.
    own_place = F.coalesce(F.col("other") == F.col("member"), F.lit(False))
    replaced = told.filter(
        event.isin("static_replaced", "static_rejoins") & F.col("other").isNotNull() & ~own_place
    ).select(
        "path",
        "group",
        F.col("other").alias("member"),
        "at_ms",
        F.lit("replaced").alias("end"),
        F.lit(None).cast("string").alias("instance"),
    )
    ends = F.lit(None).cast("string")
    for name, word in _ENDS.items():
        ends = F.when(event == name, word).otherwise(ends)
    # An administrator's removal is written down as a leave, with a reason of its own.
    ends = F.when(F.col("reason").contains("removed by an admin") & (ends == "left"), "removed").otherwise(
        ends
    )
    known = told.filter(event.isin(*_BEGINS, *_ENDS) & F.col("member").isNotNull()).select(
        "path", "group", "member", "at_ms", ends.alias("end"), "instance"
    )
    ended = F.struct("at_ms", "end")
    lives = (
        known.unionByName(replaced)
        .unionByName(_fenced_in_passing(told))
        .groupBy("path", "group", "member")
        .agg(
            F.min(F.when(F.col("end").isNull(), F.col("at_ms"))).alias("joined_ms"),
            F.max(F.when(F.col("end").isNotNull(), ended)).alias("last"),
            F.max(F.when(F.col("end").isNull(), F.col("at_ms"))).alias("back_ms"),
            F.max("instance").alias("instance"),
        )
        # A KIP-848 member keeps its id when it comes back after an end.
        .withColumn(
            "last",
            F.when(F.col("back_ms").isNull() | (F.col("last.at_ms") >= F.col("back_ms")), F.col("last")),
        )
    )
    named = with_name(lives, names, "member", "client")
    return named.select(
        "path",
        "group",
        "member",
        "client",
        "instance",
        "joined_ms",
        F.col("last.at_ms").alias("ended_ms"),
        F.col("last.end").alias("end"),
    )


def _fenced_in_passing(told: DataFrame) -> DataFrame:
    """Members that a line about the whole group names as removed: no SyncGroup of theirs came, or no JoinGroup."""
    event = F.col("event")
    named = F.coalesce(
        F.when(event == "preparing", F.regexp_extract("reason", _NEVER_SYNCED, 1)),
        F.when(event == "not_rejoined", F.regexp_extract("detail", _NOT_REJOINED, 1)),
    )
    return (
        told.withColumn("member", F.explode(F.split(named, ", ")))
        .filter(F.col("member") != "")
        .select(
            "path",
            "group",
            "member",
            "at_ms",
            F.lit("fenced").alias("end"),
            F.lit(None).cast("string").alias("instance"),
        )
    )
