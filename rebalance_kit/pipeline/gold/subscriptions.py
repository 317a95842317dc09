"""Whose call of ``subscribe`` lay behind a rebalance: the coordinator's line does not name it.

A classic member gives a reason when it joins again (librdkafka none); a KIP-848 coordinator bumps its
epoch without a word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from rebalance_kit.pipeline.findings.evidence import evidence
from rebalance_kit.pipeline.gold.topic_causes import KEYS, with_since

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: A KIP-848 member asks for other topics in its next heartbeat; the default interval is 5 s.
_BEAT_MS = 6_000

#: More than any step is away: a bump after which the caller took no step comes last.
_FAR = 1_000_000_000


def with_subscriptions(rebalances: DataFrame, events: DataFrame) -> DataFrame:
    """Tell apart who subscribed anew, what a pattern matched anew, and what changed by itself.

    Adds ``resubscribed``: who else did so while a classic rebalance was on its way, which takes it in.
    """
    calls = later_calls(events)
    placed = rebalances.transform(with_since)
    asked = _silent() & (F.col("protocol") == "classic")
    latest = F.col("topics_ms").isNull() | (F.col("called_ms") > F.col("topics_ms"))
    classic = (
        placed.filter(asked)
        .join(calls, ["path", "group"], "inner")
        .filter((F.col("called_ms") > F.col("since_ms")) & (F.col("called_ms") <= F.col("start_ms")))
        .filter((F.col("caller") == F.col("culprit")) & latest)
        .select(*KEYS, "called_ms", "caller")
    )
    callers = (
        classic.unionByName(_bumped(placed, calls, events, latest))
        .groupBy(*KEYS)
        .agg(F.max(F.struct("called_ms", "caller")).alias("call"))
    )
    called = F.col("call").isNotNull()
    # A pattern that matches a new topic reads "subscription has changed" though nobody called subscribe.
    matched = (F.col("trigger") == "subscription_changed") & F.coalesce(
        F.col("topics").contains("new topic ") | F.col("topics").contains("deleted topic "), F.lit(False)
    )
    trigger = (
        F.when(called, "subscription_changed").when(matched, "regex_changed").otherwise(F.col("trigger"))
    )
    return (
        rebalances.join(callers, KEYS, "left")
        .withColumn("trigger", trigger)
        .withColumn("culprit", F.when(called, F.col("call.caller")).otherwise(F.col("culprit")))
        .withColumn("topics", F.when(~called, F.col("topics")))
        .drop("call", "topics_ms")
        .join(_taken_in(placed, calls), KEYS, "left")
    )


def _silent() -> Column:
    """Re-joins that tell no reason: librdkafka's way."""
    return (F.col("trigger") == "rejoin") & F.col("said").isNull()


def _bumped(placed: DataFrame, calls: DataFrame, events: DataFrame, latest: Column) -> DataFrame:
    """Calls of KIP-848 members, each with the one bump that its next heartbeat caused.

    A bump names nobody.  The caller's next step tells: it carries the epoch that the answer gave it, or,
    where partitions had to be given up first, follows the bump at once.
    """
    steps = events.filter(
        (F.col("event") == "transitioned") & (F.col("state_from") == "STABLE") & F.col("client").isNotNull()
    ).select(
        "path",
        "group",
        F.col("client").alias("caller"),
        F.col("at_ms").alias("step_ms"),
        F.col("epoch").alias("step_epoch"),
    )
    stepped = (
        calls.join(steps, ["path", "group", "caller"], "left")
        .filter(F.col("step_ms").isNull() | (F.col("step_ms") >= F.col("called_ms")))
        .groupBy("path", "group", "caller", "called_ms")
        .agg(F.min(F.struct("step_ms", "step_epoch")).alias("step"))
    )
    # A caller without a later step is asked for by its time alone.
    known = calls.join(stepped, ["path", "group", "caller", "called_ms"], "left")
    open_question = (F.col("trigger") == "metadata_changed") & (F.col("protocol") == "consumer")
    in_time = (F.col("called_ms") <= F.col("start_ms")) & (
        (F.col("called_ms") > F.col("since_ms")) | (F.col("start_ms") - F.col("called_ms") <= _BEAT_MS)
    )
    own = F.coalesce(F.col("step.step_epoch") == F.col("after"), F.lit(False))
    past = F.col("step.step_ms") - F.col("start_ms")
    nearness = F.when(own, -1).when(past >= 0, past).otherwise(F.col("start_ms") - F.col("called_ms") + _FAR)
    pairs = placed.filter(open_question).join(known, ["path", "group"], "inner").filter(in_time & latest)
    mine = Window.partitionBy("path", "group", "caller", "called_ms").orderBy(nearness, "start_ms")
    return (
        pairs.withColumn("place", F.row_number().over(mine))
        .filter(F.col("place") == 1)
        .select(*KEYS, "called_ms", "caller")
    )


def _taken_in(placed: DataFrame, calls: DataFrame) -> DataFrame:
    """Who subscribed anew between the end of the rebalance before and that of a classic one, besides its culprit."""
    in_order = Window.partitionBy("path", "group").orderBy("number")
    ended = F.coalesce(F.lag("end_ms").over(in_order), F.col("since_ms"))
    inside = (F.col("called_ms") > F.col("ended_ms")) & (F.col("called_ms") <= F.col("end_ms"))
    return (
        placed.withColumn("ended_ms", ended)
        .filter(F.col("protocol") == "classic")
        .join(calls, ["path", "group"], "inner")
        .filter(inside & ~F.col("caller").eqNullSafe(F.col("culprit")))
        .groupBy(*KEYS)
        .agg(F.sort_array(F.collect_set("caller")).alias("resubscribed"))
    )


def later_calls(events: DataFrame) -> DataFrame:
    """Calls of subscribe that were not the first of their process: who, when, and what from and to."""
    mine = Window.partitionBy("path", "group", "client", "file").orderBy("at_ms", "block", "row")
    lives = events.filter(
        F.col("event").isin("process_started", "process_closed", "subscribed") & F.col("client").isNotNull()
    )
    before = F.lag(F.struct("event", "detail")).over(mine)
    return (
        lives.withColumn("before", before)
        .filter((F.col("event") == "subscribed") & (F.col("before.event") == "subscribed"))
        # To ask for the same topics again changes nothing (librdkafka does not say which).
        .filter(~F.coalesce(F.col("detail") == F.col("before.detail"), F.lit(False)))
        .select(
            "path",
            "group",
            F.col("client").alias("caller"),
            F.col("at_ms").alias("called_ms"),
            F.col("before.detail").alias("earlier"),
            F.col("detail").alias("later"),
            evidence().alias("first"),
        )
    )
