"""Findings about how a group's rebalances follow each other, and about its static members."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from rebalance_kit.pipeline.findings.evidence import finding_row, first_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: So many second steps in a row, and a cooperative group is going round in circles.
FOLLOW_UPS = 5

#: An instance id that changes hands so often within a quarter of an hour is used by several.
TURNS = 3
_TURNS_WITHIN_MS = 15 * 60_000

#: A spell of growing and shrinking is judged by this many changes of direction within half an hour.
SWINGS = 3
_SWINGS_WITHIN_MS = 30 * 60_000

#: Expiries at such even gaps, and so far apart, follow a clock.
PERIODS = 3
_LEAST_PERIOD_MS = 5 * 60_000
_EVEN = 0.05


def storms_told(storms: DataFrame, rebalances: DataFrame) -> DataFrame:
    """One finding a storm, with the cause of its first rebalance as evidence."""
    lines = rebalances.select("path", "group", "file", "line", F.col("cause").alias("evidence"))
    rows = (
        storms.join(lines, ["path", "group", "file", "line"], "left")
        .withColumn("first", F.struct(F.col("from_ms").alias("at_ms"), "file", "line", "evidence"))
        .withColumn("times", F.col("rebalances").cast("long"))
        .withColumn("who", F.lit(None).cast("string"))
    )
    sentence = F.concat(
        F.lit("a storm: "),
        F.col("rebalances").cast("string"),
        F.lit(" rebalances in "),
        F.format_number(F.col("duration_ms") / 1000, 0),
        F.lit(" s ("),
        F.array_join("triggers", ", "),
        F.lit("), by "),
        F.coalesce(F.nullif(F.array_join("culprits", ", "), F.lit("")), F.lit("nobody known")),
    )
    return finding_row(
        rows,
        "rebalance_storm",
        sentence,
        "Treat the most frequent trigger first: poll timeouts want smaller batches, leaves and joins a deployment with "
        "static membership, expiries a look at the processes. Cooperative rebalances make each round cheaper.",
        "KIP-429; KIP-345; KIP-848",
    )


def rebalance_patterns(rebalances: DataFrame) -> DataFrame:
    """Who held up a rebalance; groups that never settle, swing with their autoscaler, or expire by the clock."""
    rows = rebalances.withColumn("at_ms", F.col("start_ms")).withColumn("text", F.col("cause"))
    return (
        _held_up(rows)
        .unionByName(_never_settling(rows))
        .unionByName(_swinging(rows))
        .unionByName(_periodic(rows))
    )


def _held_up(rows: DataFrame) -> DataFrame:
    held = (
        rows.filter(F.col("waited_for").isNotNull())
        .groupBy("path", "group", F.col("waited_for").alias("who"))
        .agg(first_line().alias("first"), F.count("*").alias("times"), F.max("waited_ms").alias("worst"))
    )
    sentence = F.concat(
        F.lit("everybody waited up to "),
        F.format_number(F.col("worst") / 1000, 1),
        F.lit(" s for "),
        F.col("who"),
        F.lit(" to join the rebalance"),
    )
    return finding_row(
        held,
        "rebalance_held_up",
        sentence,
        "Look at what it did then: a long batch, a revoke callback that drains, an application that does not poll. "
        "A classic rebalance is as slow as its slowest member.",
        "AbstractCoordinator.onJoinPrepare; consumer config max.poll.interval.ms",
    )


def _never_settling(rows: DataFrame) -> DataFrame:
    in_order = Window.partitionBy("path", "group").orderBy("number")
    upto = in_order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    runs = (
        rows.withColumn("run", F.count_if(F.col("trigger") != "follow_up").over(upto))
        .filter(F.col("trigger") == "follow_up")
        .groupBy("path", "group", "run")
        .agg(first_line().alias("first"), F.count("*").alias("times"))
        .filter(F.col("times") >= FOLLOW_UPS)
        .withColumn("who", F.lit(None).cast("string"))
    )
    sentence = F.concat(
        F.col("times").cast("string"),
        F.lit(
            " cooperative rebalances followed each other without anybody coming or going: it does not settle"
        ),
    )
    return finding_row(
        runs,
        "cooperative_never_settles",
        sentence,
        "A defect of the assignor: update (librdkafka 2.6.1, Java 3.5.1 or later); stopping all members once is first aid.",
        "KAFKA-15106; confluentinc/librdkafka#4783",
    )


def _swinging(rows: DataFrame) -> DataFrame:
    """Members that come for the first time and others that go for good, in turn: no restart, a scaler."""
    coming = rows.filter(F.col("trigger") == "join").select(
        "path", "group", F.explode("joined").alias("name"), "number"
    )
    lives = coming.groupBy("path", "group", "name").agg(F.count("*").alias("comes"))
    in_order = Window.partitionBy("path", "group").orderBy("number")
    moves = (
        rows.filter(F.col("trigger").isin("join", "leave") & F.col("culprit").isNotNull())
        .join(lives.withColumnRenamed("name", "culprit"), ["path", "group", "culprit"], "left")
        .filter(F.coalesce("comes", F.lit(1)) == 1)
        .withColumn("turn", F.lag("trigger").over(in_order) != F.col("trigger"))
        .filter("turn")
        .withColumn("third_ms", F.lead("start_ms", SWINGS - 1).over(in_order))
        .filter(F.col("third_ms") - F.col("start_ms") <= _SWINGS_WITHIN_MS)
        .groupBy("path", "group")
        .agg(first_line().alias("first"), (F.count("*") + SWINGS - 1).alias("times"))
        .withColumn("who", F.lit(None).cast("string"))
    )
    sentence = F.concat(
        F.lit("the group grew and shrank in turn ("),
        F.col("times").cast("string"),
        F.lit(" changes of direction): a scaler may be chasing the rebalances that it causes itself"),
    )
    return finding_row(
        moves,
        "scaling_to_and_fro",
        sentence,
        "Make the scaler's stabilisation window longer than a rebalance and the catching up after it; larger steps; "
        "scale on rate, not on lag alone.",
        "Kubernetes HPA stabilizationWindowSeconds; KEDA Kafka scaler",
    )


def _periodic(rows: DataFrame) -> DataFrame:
    in_order = Window.partitionBy("path", "group").orderBy("number")
    gaps = (
        rows.filter(F.col("trigger") == "session_expired")
        .withColumn("gap_ms", F.col("start_ms") - F.lag("start_ms").over(in_order))
        .groupBy("path", "group")
        .agg(
            first_line().alias("first"),
            F.count("*").alias("times"),
            F.count("gap_ms").alias("gaps"),
            F.avg("gap_ms").alias("mean"),
            F.stddev_pop("gap_ms").alias("spread"),
        )
        .filter((F.col("gaps") >= PERIODS) & (F.col("mean") >= _LEAST_PERIOD_MS))
        .filter(F.col("spread") <= _EVEN * F.col("mean"))
        .withColumn("who", F.lit(None).cast("string"))
    )
    sentence = F.concat(
        F.lit("members are lost by the clock, every "),
        F.format_number(F.col("mean") / 60_000, 1),
        F.lit(" minutes"),
    )
    return finding_row(
        gaps,
        "periodic_expiry",
        sentence,
        "Look for what has that period: the life of a token or certificate (connections.max.reauth.ms), a scheduled job.",
        "KIP-368; connections.max.reauth.ms",
    )


def static_members(events: DataFrame) -> DataFrame:
    """Instance ids that change hands all the time, and ids that never return while others appear."""
    return _turns(events).unionByName(_new_names(events))


def _turns(events: DataFrame) -> DataFrame:
    mine = Window.partitionBy("path", "group", "instance").orderBy("at_ms", "line")
    turns = (
        events.filter(
            F.col("event").isin("static_replaced", "static_rejoins") & F.col("instance").isNotNull()
        )
        .withColumn("third_ms", F.lead("at_ms", TURNS - 1).over(mine))
        .filter(F.col("third_ms") - F.col("at_ms") <= _TURNS_WITHIN_MS)
        .groupBy("path", "group", F.col("instance").alias("who"))
        .agg(first_line().alias("first"), (F.count("*") + TURNS - 1).alias("times"))
    )
    sentence = F.concat(
        F.lit("group.instance.id "),
        F.col("who"),
        F.lit(" changed hands "),
        F.col("times").cast("string"),
        F.lit(" times: several consumers use it and fence each other in turn"),
    )
    return finding_row(
        turns,
        "instances_take_turns",
        sentence,
        "An instance id belongs to one consumer, not to a host: add a suffix for each thread or subscription.",
        "KIP-345",
    )


def _new_names(events: DataFrame) -> DataFrame:
    """At least two ids that were lost for good, with as many new ones come before (a session earlier at least)."""
    broker = events.filter((F.col("side") == "broker") & F.col("group").isNotNull())
    came = (
        broker.filter(F.col("event") == "static_added")
        .groupBy("path", "group", "instance")
        .agg(
            F.min("at_ms").alias("came_ms"), F.max("at_ms").alias("last_ms"), F.max("member").alias("member")
        )
    )
    # A classic coordinator names the member only; its id begins with the instance.
    lost = broker.filter(F.col("event") == "member_failed").select(
        "path", "group", "member", F.col("at_ms").alias("lost_ms"), "file", "line", "text", "at_ms"
    )
    gone = came.join(lost, ["path", "group", "member"]).filter(F.col("lost_ms") > F.col("last_ms"))
    fresh = came.select("path", "group", F.col("came_ms").alias("fresh_ms"), F.col("instance").alias("fresh"))
    pairs = (
        gone.join(fresh, ["path", "group"])
        .filter((F.col("fresh_ms") > F.col("came_ms") + 10_000) & (F.col("fresh_ms") < F.col("lost_ms")))
        .groupBy("path", "group")
        .agg(
            first_line().alias("first"),
            F.count_distinct("instance").alias("times"),
            F.count_distinct("fresh").alias("new"),
            F.array_join(F.sort_array(F.collect_set("instance")), ", ").alias("old"),
        )
        .filter((F.col("times") >= 2) & (F.col("new") >= 2))
        .withColumn("who", F.lit(None).cast("string"))
    )
    sentence = F.concat(
        F.lit("static members "),
        F.col("old"),
        F.lit(" never came back, while "),
        F.col("new").cast("string"),
        F.lit(
            " new instance ids appeared: the ids change with each rollout, and the old ones held their partitions for a session"
        ),
    )
    return finding_row(
        pairs,
        "static_ids_change",
        sentence,
        "Take ids from stable names (a StatefulSet's ordinal), or use none; remove leftovers with "
        "AdminClient.removeMembersFromConsumerGroup.",
        "KIP-345",
    )
