"""Gold: rebalances of groups whose coordinator's log is not there, as the members felt them.

On a managed cluster only the clients' logs are at hand.  Every generation (or epoch) that a member
reports is a rebalance; its cause is what a member wrote between the one before and this.  What no
member wrote about was done by somebody whose log is missing, or by a process that died.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from rebalance_kit.pipeline.spark.asof import with_next

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, WindowSpec

_GROUP = ["path", "group"]

#: What a member asked for, by how its reason begins.
_REASONS = {
    "need to revoke partitions": "follow_up",
    "cached metadata has changed": "metadata_changed",
    "subscription has changed": "subscription_changed",
    "need to re-join with the given member-id": "join",
    "rebalance enforced by user": "enforced",
}

#: Reasons of a member that only answers what somebody else began.
_ANSWERS = r"^(group is already rebalancing|consumer pro-actively leaving|rebalance failed|encountered )"

#: What counts as the cause when several things were told: the most telling first.
_RANK = (
    "poll_timeout",
    "enforced",
    "subscription_changed",
    "metadata_changed",
    "leave",
    "join",
    "follow_up",
    "unseen",
)


def felt_rebalances(events: DataFrame) -> DataFrame:
    """Rows like those of ``rebalances`` for every group that no broker's line tells of."""
    told = events.filter(
        F.col("group").isNotNull()
        & F.col("at_ms").isNotNull()
        & F.col("client").isNotNull()
        & (F.col("side") != "broker")
    )
    coordinated = (
        events.filter((F.col("side") == "broker") & F.col("group").isNotNull()).select(*_GROUP).distinct()
    )
    # Most logs have none of these lines: two steps need not look for them.
    told = told.join(F.broadcast(coordinated), _GROUP, "left_anti").localCheckpoint()
    rounds = _rounds(told)
    return _caused(rounds, told)


def _rounds(told: DataFrame) -> DataFrame:
    """One row a generation or epoch: when its first and last member told of it, and who they were."""
    event = F.col("event")
    # An epoch is settled when a member has acknowledged it; the states before may still carry the old one.
    settled = (event == "transitioned") & (F.col("epoch") > 0) & (F.col("state_to") == "STABLE")
    classic = event.isin("joined", "synced", "rd_join_answer") & (F.col("generation") > 0)
    number = F.when(classic, F.col("generation")).when(settled, F.col("epoch"))
    protocol = F.when(classic, "classic").otherwise("consumer")
    place = F.struct("file", "line")
    return (
        told.withColumn("after", number)
        .filter(F.col("after").isNotNull())
        .groupBy(*_GROUP, protocol.alias("protocol"), "after")
        .agg(
            F.min("at_ms").alias("first_ms"),
            F.max("at_ms").alias("end_ms"),
            F.count_distinct("client").cast("int").alias("members"),
            F.min_by(place, F.struct("at_ms", "file", "line")).alias("place"),
        )
        .withColumn("before", F.coalesce(F.lag("after").over(_in_order()), F.col("after") - 1))
        .withColumn("since_ms", F.coalesce(F.lag("first_ms").over(_in_order()), F.lit(0)))
    )


def _in_order() -> WindowSpec:
    return Window.partitionBy(*_GROUP, "protocol").orderBy("after")


def _evidence(told: DataFrame) -> DataFrame:
    """Lines with which a member says that it began (or leaves) something: trigger, client, time, place."""
    event, reason = F.col("event"), F.col("reason")
    asked = F.lit(None).cast("string")
    for start, named in _REASONS.items():
        asked = F.when(reason.startswith(start), named).otherwise(asked)
    asked = F.coalesce(asked, F.when(~reason.rlike(_ANSWERS), F.lit("enforced")))
    trigger = (
        F.when(event.isin("poll_timeout", "rd_poll_timeout"), "poll_timeout")
        .when(event == "rejoin_requested", asked)
        .when((event == "leaving") & reason.contains("poll timeout"), "poll_timeout")
        .when(event.isin("leaving", "rd_leave"), "leave")
        .when((event == "transitioned") & (F.col("state_to") == "PREPARE_LEAVING"), "leave")
        .when((event == "transitioned") & (F.col("state_to") == "JOINING"), "join")
        .when((event == "rd_joining") & (F.col("member") == ""), "join")
    )
    return (
        told.withColumn("trigger", trigger)
        .filter(F.col("trigger").isNotNull())
        .select(*_GROUP, "trigger", "client", "at_ms", "reason", "file", "line")
    )


def _caused(rounds: DataFrame, told: DataFrame) -> DataFrame:
    rank: Column = F.array_position(F.array(*[F.lit(word) for word in _RANK]), F.col("trigger"))
    shown = F.struct(rank.alias("rank"), "at_ms", "trigger", "client", "reason", "file", "line")
    spans = rounds.select(*_GROUP, "protocol", "first_ms", "since_ms", "after")
    lines = _evidence(told).join(spans.select(*_GROUP, "protocol").distinct(), _GROUP, "inner")
    between = (
        with_next(lines, spans, [*_GROUP, "protocol"], at=F.col("at_ms"), point_at="first_ms", into="round")
        .filter(F.col("at_ms") > F.col("round.since_ms"))
        .withColumn("after", F.col("round.after"))
        .groupBy(*_GROUP, "protocol", "after")
        .agg(
            F.min(shown).alias("told"),
            _names("join").alias("joined"),
            _names("leave", "poll_timeout").alias("left"),
        )
    )
    none = F.array().cast("array<string>")
    rows = rounds.join(between, [*_GROUP, "protocol", "after"], "left")
    start = F.coalesce(F.col("told.at_ms"), F.col("first_ms"))
    columns = {
        "trigger": F.coalesce(F.col("told.trigger"), F.lit("unseen")),
        "culprit": F.col("told.client"),
        "culprit_member": F.lit(None).cast("string"),
        "start_ms": start,
        "duration_ms": F.col("end_ms") - start,
        "members": F.lit(None).cast("int"),
        "joined": F.coalesce("joined", none),
        "left": F.coalesce("left", none),
        "expired": none,
        "said": F.col("told.reason"),
        "file": F.coalesce("told.file", "place.file"),
        "line": F.coalesce("told.line", "place.line"),
    }
    filled = reduce(lambda table, item: table.withColumn(*item), columns.items(), rows)
    return filled.drop("told", "place", "since_ms", "first_ms")


def _names(*triggers: str) -> Column:
    return F.sort_array(F.collect_set(F.when(F.col("trigger").isin(*triggers), F.col("client"))))
