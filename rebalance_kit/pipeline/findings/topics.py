"""Findings about what a group reads: subscriptions that changed or have nothing in common, topics made anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from rebalance_kit.pipeline.findings.evidence import evidence, finding_row
from rebalance_kit.pipeline.gold.subscriptions import later_calls
from rebalance_kit.pipeline.gold.topic_causes import used_topics

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def resubscribed(events: DataFrame) -> DataFrame:
    """Members that called subscribe again with other topics, whichever rebalance took it in."""
    rows = (
        later_calls(events)
        .filter(F.col("later").isNotNull())
        .groupBy("path", "group", F.col("caller").alias("who"))
        .agg(F.min(F.struct("first", "earlier", "later")).alias("one"), F.count("*").alias("times"))
        .select("path", "group", "who", "times", "one.*")
    )
    sentence = F.concat(
        "who",
        F.lit(" changed its subscription from "),
        F.coalesce("earlier", F.lit("another")),
        F.lit(" to "),
        "later",
        F.when(
            F.col("times") > 1,
            F.concat(F.lit(", and "), (F.col("times") - 1).cast("string"), F.lit(" time(s) more")),
        ).otherwise(F.lit("")),
    )
    return finding_row(
        rows,
        "resubscribed",
        sentence,
        "Every change rebalances the whole group: subscribe once, to all topics or to a pattern; use pause() and resume() to hold some back.",
        "KafkaConsumer.subscribe; ConsumerCoordinator.rejoinNeededOrPending",
    )


def recreated(events: DataFrame) -> DataFrame:
    """Topics of a group that were deleted and made again under another id."""
    known = F.col("topic").isNotNull() & F.col("detail").isNotNull()
    said = events.filter(
        F.col("event").isin("topic_created", "topic_deleted") & known & F.col("at_ms").isNotNull()
    )
    # A restarted broker writes its whole metadata again: the first mention of an id counts.
    first = said.groupBy("path", "topic", "event", "detail").agg(F.min(evidence()).alias("first"))
    gone = first.filter(F.col("event") == "topic_deleted").select(
        "path", "topic", F.col("detail").alias("old"), F.col("first.at_ms").alias("gone_ms")
    )
    again = (
        first.filter(F.col("event") == "topic_created")
        .join(gone, ["path", "topic"])
        .filter((F.col("detail") != F.col("old")) & (F.col("first.at_ms") >= F.col("gone_ms")))
        .groupBy("path", "topic", "detail")
        .agg(F.min("first").alias("first"), F.max("gone_ms").alias("gone_ms"))
    )
    rows = (
        used_topics(events)
        .join(again, "path")
        .filter(F.col("by_pattern") | F.array_contains("used", F.col("topic")))
        .groupBy("path", "group", "topic")
        .agg(F.min(F.struct("first", "gone_ms")).alias("one"), F.count("*").alias("times"))
        .select("path", "group", "topic", "times", "one.*", F.lit(None).cast("string").alias("who"))
    )
    sentence = F.concat(
        F.lit("topic "),
        "topic",
        F.lit(" was deleted and "),
        F.format_number((F.col("first.at_ms") - F.col("gone_ms")) / 1000, 1),
        F.lit(" s later made again: of the same name, it is another topic, and its offsets begin anew"),
    )
    return finding_row(
        rows,
        "topic_recreated",
        sentence,
        "Stop the consumers first, or read from a new topic; members that still commit the old one hold up the rebalance.",
        "KIP-516 (topic ids)",
    )


def unlike_subscriptions(events: DataFrame) -> DataFrame:
    """Groups in which two members subscribe to lists of topics that have nothing in common."""
    lists = events.filter(
        (F.col("event") == "subscribed")
        & F.col("text").contains("Subscribed to topic(s)")
        & F.col("client").isNotNull()
    ).select(
        "path",
        "group",
        "client",
        F.sort_array(F.split("detail", ", *")).alias("topics"),
        evidence().alias("first"),
    )
    # The last list of a member counts; a change of mind is no other application.
    last = lists.groupBy("path", "group", "client").agg(
        F.max_by(F.struct("topics", "first"), F.col("first.at_ms")).alias("own")
    )
    each = last.select("path", "group", "client", "own.topics", "own.first")
    other = each.select("path", "group", F.col("client").alias("other"), F.col("topics").alias("others"))
    apart = (
        each.join(other, ["path", "group"])
        .filter((F.col("client") < F.col("other")) & ~F.arrays_overlap("topics", "others"))
        .groupBy("path", "group")
        .agg(
            F.min("first").alias("first"),
            F.count("*").alias("times"),
            F.min(F.struct("client", "other", "topics", "others")).alias("one"),
        )
        .withColumn("who", F.lit(None).cast("string"))
    )
    one = F.col("one")
    sentence = F.concat(
        one["client"],
        F.lit(" reads "),
        F.array_join(one["topics"], ", "),
        F.lit(" and "),
        one["other"],
        F.lit(" reads "),
        F.array_join(one["others"], ", "),
        F.lit(": two applications in one group, and each rebalance stops both"),
    )
    return finding_row(
        apart,
        "unlike_subscriptions",
        sentence,
        "Give every application a group.id of its own.",
        "KafkaConsumer: consumer groups and topic subscriptions",
    )
