"""Gold: one row a rebalance, from what the coordinator wrote.

Classic: a rebalance begins with "Preparing to rebalance" and ends when the leader's assignment has
been received ("Stabilized" only ends the join phase).  KIP-848: every bump of the group epoch is a
rebalance; several may share one target assignment, and it ends when the last member that wrote a
log has acknowledged (without client logs: when the target was computed).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from rebalance_kit.pipeline.gold.client_side_rebalances import felt_rebalances
from rebalance_kit.pipeline.gold.member_names import with_name
from rebalance_kit.pipeline.gold.triggers import (
    classic_trigger,
    client_reason,
    epoch_trigger,
    leave_trigger,
    reason_member,
)
from rebalance_kit.pipeline.spark.asof import with_last

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, DataFrame, WindowSpec

#: The columns of the table, in order.
REBALANCES = (
    "path",
    "group",
    "number",
    "protocol",
    "trigger",
    "cause",
    "culprit",
    "culprit_member",
    "start_ms",
    "end_ms",
    "duration_ms",
    "before",
    "after",
    "members",
    "joined",
    "left",
    "expired",
    "moved",
    "revoked",
    "fate",
    "topics",
    "waited_for",
    "waited_ms",
    "said",
    "file",
    "line",
)

#: What makes a KIP-848 group bump its epoch is written at most this long before the bump; only the
#: first join of a fresh coordinator takes as long as a seventh of it.
_CAUSE_WINDOW_MS = 1000
_AT_ONCE_MS = 50

_KEYS = ("path", "group")

_JOINED = ("member_id_given", "member_added", "static_added", "joins", "static_rejoins")
_LEFT = ("left", "epoch_left")
_EXPIRED = ("member_failed", "session_expired")


def _order() -> list[Column]:
    return [F.col("at_ms"), F.col("file"), F.col("block"), F.col("row")]


def _group() -> WindowSpec:
    return Window.partitionBy("path", "group").orderBy(*_order())


def _ahead() -> WindowSpec:
    """The lines of the group after this one, the nearest last (Spark takes a frame without an end up anew for each row)."""
    backwards = Window.partitionBy("path", "group").orderBy(*[place.desc() for place in _order()])
    return backwards.rowsBetween(Window.unboundedPreceding, -1)


def rebalances(events: DataFrame, names: DataFrame) -> DataFrame:
    """The rebalances of every group, without what the members' logs add to them.

    From the coordinator's lines; for a group of which no broker's log tells, from its members'.
    """
    told = events.filter(
        (F.col("side") == "broker") & F.col("group").isNotNull() & F.col("at_ms").isNotNull()
    )
    # Four steps read these lines: they are few, and costly to sort anew for each.
    told = with_name(told, names, "member", "name").transform(with_round).localCheckpoint()
    rows = classic_rebalances(told).unionByName(epoch_rebalances(told, events))
    named = with_name(rows, names, "culprit_member", "culprit").unionByName(
        felt_rebalances(events), allowMissingColumns=True
    )
    in_order = Window.partitionBy("path", "group").orderBy("start_ms", "file", "line")
    return named.withColumn("number", F.row_number().over(in_order))


def classic_rebalances(told: DataFrame) -> DataFrame:
    """One row a "Preparing to rebalance": its end is the assignment of the next generation."""
    behind = _group().rowsBetween(Window.unboundedPreceding, Window.currentRow)
    event = F.col("event")
    ends = event.isin("stabilized", "emptied", "upgraded", "preparing", "unloaded")
    closing = F.struct("event", "generation", "members", "at_ms")
    leaver = F.struct("member", "reason", event.isin(*_EXPIRED).alias("expired"))
    received = F.when(event == "assignment_received", F.struct("generation", "at_ms"))
    marked = (
        told.withColumn("closing", F.last(F.when(ends, closing), ignorenulls=True).over(_ahead()))
        .withColumn("received", F.last(received, ignorenulls=True).over(_ahead()))
        .withColumn(
            "leaver", F.last(F.when(event.isin(*_LEFT, *_EXPIRED), leaver), ignorenulls=True).over(behind)
        )
    )
    own = F.substring_index(reason_member(F.col("reason")), ",", 1)
    stated = classic_trigger(F.col("reason"))
    # A leave (also one that turns the group into a classic one) is told best by the line before it.
    trigger = (
        F.when(stated != "leave", stated)
        .when(own.isNull() & F.col("leaver.expired"), "session_expired")
        .otherwise(F.coalesce(leave_trigger(client_reason(F.col("reason"))), F.lit("leave")))
    )
    trigger = F.when(trigger == "leave", leave_trigger(F.col("leaver.reason"))).otherwise(trigger)
    leaving = stated == "leave"
    after = F.when(F.col("closing.event").isin("stabilized", "emptied"), F.col("closing.generation"))
    assigned_at = F.when(
        (F.col("closing.event") == "stabilized") & (F.col("received.generation") == after),
        F.col("received.at_ms"),
    )
    rows = marked.filter(event == "preparing").select(
        "path",
        "group",
        "round",
        F.lit("classic").alias("protocol"),
        trigger.alias("trigger"),
        F.when(leaving, F.coalesce(own, F.col("leaver.member"))).otherwise(own).alias("culprit_member"),
        F.col("at_ms").alias("start_ms"),
        F.coalesce(assigned_at, F.when(after.isNotNull(), F.col("closing.at_ms"))).alias("end_ms"),
        F.col("generation").alias("before"),
        after.alias("after"),
        F.when(F.col("closing.event") == "emptied", F.lit(0))
        .otherwise(F.col("closing.members"))
        .cast("int")
        .alias("members"),
        F.coalesce(client_reason(F.col("reason")), F.when(leaving, F.col("leaver.reason"))).alias("said"),
        "file",
        "line",
    )
    return rows.transform(_finish(marked))


def epoch_rebalances(told: DataFrame, events: DataFrame) -> DataFrame:
    """One row a bump of the group epoch: its end is the last acknowledgement before the next bump."""
    behind = _group().rowsBetween(Window.unboundedPreceding, -1)
    event = F.col("event")
    trigger = epoch_trigger(event, F.col("reason"))
    # A static member that comes back bumps nothing unless it asks for other topics, and then at once.
    within = F.when(event == "static_rejoins", _AT_ONCE_MS).otherwise(_CAUSE_WINDOW_MS)
    # The bumps are among the causes: what came before the last bump belongs to that one.
    cause = F.when(
        trigger.isNotNull() | (event == "bumped"),
        F.struct(
            trigger.alias("trigger"), "member", "instance", "at_ms", "reason", within.alias("within_ms")
        ),
    )
    # A group that was a classic one in between counts on from its last generation.
    earlier = F.when(event.isin("bumped", "stabilized", "emptied"), F.coalesce("epoch", "generation"))
    marked = (
        told.withColumn("caused", F.last(cause, ignorenulls=True).over(behind))
        .withColumn("earlier", F.last(earlier, ignorenulls=True).over(behind))
        .withColumn(
            "target",
            F.last(F.when(event == "computed", F.struct("epoch", "at_ms")), ignorenulls=True).over(_ahead()),
        )
        .withColumn(
            "next_bump_ms", F.last(F.when(event == "bumped", F.col("at_ms")), ignorenulls=True).over(_ahead())
        )
    )
    fresh = F.col("caused.trigger").isNotNull() & (
        F.col("at_ms") - F.col("caused.at_ms") <= F.col("caused.within_ms")
    )
    rows = marked.filter(event == "bumped").select(
        "path",
        "group",
        "round",
        F.lit("consumer").alias("protocol"),
        F.when(fresh, F.col("caused.trigger")).otherwise("metadata_changed").alias("trigger"),
        F.when(fresh, F.coalesce("caused.member", "caused.instance")).alias("culprit_member"),
        F.coalesce(F.when(fresh, F.col("caused.at_ms")), F.col("at_ms")).alias("start_ms"),
        F.col("target.at_ms").alias("target_ms"),
        "next_bump_ms",
        F.coalesce(F.col("earlier"), F.col("epoch") - 1).alias("before"),
        F.col("epoch").alias("after"),
        F.lit(None).cast("int").alias("members"),
        F.when(fresh, F.col("caused.reason")).alias("said"),
        "file",
        "line",
    )
    return rows.transform(_settled(events)).transform(_finish(marked))


def _settled(events: DataFrame) -> Callable[[DataFrame], DataFrame]:
    """Add ``end_ms``: the last member's acknowledgement between the target and the next bump, else the target."""
    acks = events.filter(
        (F.col("event") == "transitioned") & (F.col("state_to") == "STABLE") & F.col("at_ms").isNotNull()
    ).select("path", "group", F.col("at_ms").alias("ack_ms"))

    def step(rows: DataFrame) -> DataFrame:
        next_bump_ms = F.coalesce("next_bump_ms", F.lit(2**62))
        asked = with_last(rows, acks, _KEYS, at=next_bump_ms, point_at="ack_ms", into="ack", strictly=True)
        own = F.when(F.col("ack.ack_ms") >= F.col("start_ms"), F.col("ack.ack_ms"))
        return asked.withColumn("end_ms", F.greatest(own, F.col("target_ms"))).drop(
            "ack", "target_ms", "next_bump_ms"
        )

    return step


def with_round(told: DataFrame) -> DataFrame:
    """Add ``round``: to which rebalance of the group a line belongs.

    A line inside a join phase belongs to it; one outside to the next rebalance, which it causes.
    """
    before = _group().rowsBetween(Window.unboundedPreceding, -1)
    upto = _group().rowsBetween(Window.unboundedPreceding, Window.currentRow)
    event = F.col("event")
    opens = event.isin("preparing", "bumped")
    phase = F.last(
        F.when(opens | event.isin("stabilized", "emptied", "upgraded"), event), ignorenulls=True
    ).over(before)
    inside = F.coalesce(phase == "preparing", F.lit(False))
    return told.withColumn(
        "round", F.sum(opens.cast("int")).over(upto) + F.when(opens | inside, 0).otherwise(1)
    )


def _finish(marked: DataFrame) -> Callable[[DataFrame], DataFrame]:
    """Add duration, and the names of those that joined, left and expired in the round."""
    event = F.col("event")
    # A classic member of a consumer group "joins" each time it re-joins; a new one is given an id first.
    # A static member that returns in time joins no rebalance (where it causes one, it is the culprit).
    again = ((event == "joins") & (F.col("protocol") == "classic")) | (event == "static_rejoins")
    moves = (
        marked.filter(event.isin(*_JOINED, *_LEFT, *_EXPIRED) & ~again)
        .groupBy("path", "group", "round")
        .agg(
            F.sort_array(F.collect_set(F.when(event.isin(*_JOINED), F.col("name")))).alias("joined"),
            F.sort_array(F.collect_set(F.when(event.isin(*_LEFT), F.col("name")))).alias("left"),
            F.sort_array(F.collect_set(F.when(event.isin(*_EXPIRED), F.col("name")))).alias("expired"),
            F.collect_list(F.when(event.isin(*_EXPIRED), F.struct("at_ms", "name", "member"))).alias(
                "expiries"
            ),
        )
    )
    none = F.array().cast("array<string>")

    def step(rows: DataFrame) -> DataFrame:
        joined = rows.join(moves, ["path", "group", "round"], "left")
        for name in ("joined", "left", "expired"):
            joined = joined.withColumn(name, F.coalesce(F.col(name), none))
        return joined.withColumn("duration_ms", F.col("end_ms") - F.col("start_ms")).drop("round")

    return step
