"""What had become of the culprit: its own log tells more than the coordinator can know.

The coordinator only sees that heartbeats stopped.  Whether the process died, was frozen or had been
closed shows in the client's file: what it wrote last before, and what first after.  The same holds
for a leave without a reason (librdkafka, KIP-848), which may be a poll timeout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from rebalance_kit.pipeline.causes import sentence

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: A client notices its poll timeout, or a topic change, at most this long before the group does.
_JUST_BEFORE_MS = 5_000

#: Topics whose partitions Kafka itself makes while a group starts.
_INTERNAL_TOPIC = "__"


def with_fates(rebalances: DataFrame, events: DataFrame) -> DataFrame:
    """Correct ``trigger`` and add ``fate`` and ``fate_ms`` (when the culprit was heard of again), from client logs.

    ``fate`` is ``frozen``, ``restarted``, ``closed`` (static members say nothing then), ``gone`` or
    null when the culprit's log is not there or the trigger asks for none.
    """
    keys = ["path", "group", "number"]
    theirs = events.filter((F.col("side") != "broker") & F.col("at_ms").isNotNull() & F.col("client").isNotNull())
    seen = theirs.select(
        "path", F.col("client").alias("culprit"), F.col("event").alias("seen"), F.col("at_ms").alias("seen_ms")
    )
    gap = F.col("seen_ms") - F.col("start_ms")
    later = F.when(gap > 0, F.struct("seen_ms", "seen"))
    sooner = F.when(gap <= 0, F.struct("seen_ms", "seen"))
    stalled = F.col("seen").isin("poll_timeout", "rd_poll_timeout") & gap.between(-_JUST_BEFORE_MS, 500)
    around = (
        rebalances.select(*keys, "culprit", "start_ms")
        .join(seen, ["path", "culprit"], "inner")
        .groupBy(*keys)
        .agg(
            F.min(later).alias("next"),
            F.max(sooner).alias("last"),
            F.max(stalled).alias("stalled"),
        )
    )
    return (
        rebalances.join(around, keys, "left")
        .withColumn(
            "trigger",
            F.when((F.col("trigger") == "leave") & F.col("stalled"), "poll_timeout").otherwise(F.col("trigger")),
        )
        .withColumn("fate", F.when(F.col("trigger") == "session_expired", _fate()))
        .withColumn("fate_ms", F.when(F.col("fate").isin("frozen", "restarted"), F.col("next.seen_ms")))
        .drop("next", "last", "stalled")
    )


def _fate() -> Column:
    return (
        F.when(F.col("last").isNull() & F.col("next").isNull(), F.lit(None))
        .when(F.col("last.seen") == "process_closed", "closed")
        .when(F.col("next").isNull(), "gone")
        .when(F.col("next.seen").isin("process_started", "subscribed"), "restarted")
        .otherwise("frozen")
    )


def with_topics(rebalances: DataFrame, events: DataFrame) -> DataFrame:
    """Add ``topics``: what the brokers wrote about topics since the group's last rebalance began."""
    changes = events.filter(
        F.col("event").isin("partition_created", "topic_created", "topic_deleted")
        & ~F.coalesce(F.col("topic"), F.lit("")).startswith(_INTERNAL_TOPIC)
    ).select("path", F.col("event").alias("change"), "topic", F.col("at_ms").alias("changed_ms"))
    words = F.when(F.col("change") == "partition_created", F.concat(F.lit("new partition "), "topic")).otherwise(
        F.concat(F.when(F.col("change") == "topic_created", "new topic ").otherwise("deleted topic "), "topic")
    )
    in_order = Window.partitionBy("path", "group").orderBy("number")
    keys = ["path", "group", "number"]
    since = rebalances.withColumn("since_ms", F.coalesce(F.lag("start_ms").over(in_order), F.lit(0)))
    between = (
        since.filter(F.col("trigger").isin("metadata_changed", "subscription_changed", "regex_changed"))
        .select(*keys, "start_ms", "since_ms")
        .join(changes, "path", "inner")
        .filter((F.col("changed_ms") > F.col("since_ms")) & (F.col("changed_ms") <= F.col("start_ms")))
        .groupBy(*keys)
        .agg(F.array_join(F.sort_array(F.collect_set(words)), ", ").alias("topics"))
    )
    return rebalances.join(between, keys, "left")


def with_subscriptions(rebalances: DataFrame, events: DataFrame) -> DataFrame:
    """Name the subscriber behind a KIP-848 bump that no topic change explains."""
    calls = events.filter((F.col("event") == "subscribed") & F.col("group").isNotNull()).select(
        "path", "group", F.col("client").alias("caller"), F.col("at_ms").alias("called_ms")
    )
    keys = ["path", "group", "number"]
    in_order = Window.partitionBy("path", "group").orderBy("number")
    since = rebalances.withColumn("since_ms", F.coalesce(F.lag("start_ms").over(in_order), F.lit(0)))
    open_question = (F.col("trigger") == "metadata_changed") & (F.col("protocol") == "consumer") & F.col("topics").isNull()
    callers = (
        since.filter(open_question)
        .select(*keys, "start_ms", "since_ms")
        .join(calls, ["path", "group"], "inner")
        .filter((F.col("called_ms") > F.col("since_ms")) & (F.col("called_ms") <= F.col("start_ms")))
        .groupBy(*keys)
        .agg(F.max(F.struct("called_ms", "caller")).alias("call"))
    )
    called = F.col("call").isNotNull()
    return (
        rebalances.join(callers, keys, "left")
        .withColumn("trigger", F.when(called, "subscription_changed").otherwise(F.col("trigger")))
        .withColumn("culprit", F.when(called, F.col("call.caller")).otherwise(F.col("culprit")))
        .drop("call")
    )


def with_cause(rebalances: DataFrame) -> DataFrame:
    """Add ``cause``: the trigger as a sentence, with what is known of the culprit's fate."""
    back_s = F.format_number((F.col("fate_ms") - F.col("start_ms")) / 1000, 1)
    earlier = Window.partitionBy("path", "group", "culprit").orderBy("number").rowsBetween(Window.unboundedPreceding, -1)
    again = (F.col("trigger") == "join") & (F.count("*").over(earlier) > 0)
    more = (
        F.when(
            F.col("fate") == "frozen",
            F.concat(F.lit("; its process lived on, silent (long pause, freeze or lost network), and was back "), back_s, F.lit(" s later")),
        )
        .when(F.col("fate") == "restarted", F.concat(F.lit("; its process had died and a new one started "), back_s, F.lit(" s later")))
        .when(F.col("fate") == "closed", F.lit("; it had been closed, which a static member does not tell the group, and did not return"))
        .when(F.col("fate") == "gone", F.lit("; its process had died: its log ends before"))
        .when(F.col("topics").isNotNull(), F.concat(F.lit(": "), "topics"))
        .when((F.col("trigger") == "enforced") & (F.col("said") != "rebalance enforced by user"), F.concat(F.lit(": "), "said"))
        .when(again, F.lit(" again"))
        .otherwise(F.lit(""))
    )  # fmt: skip
    return rebalances.withColumn("cause", F.concat(sentence(F.col("trigger"), F.col("culprit")), more))
