"""What lay behind a change of topics, which the coordinator's line does not name.

Two sources: the controller's lines about topics and, since librdkafka gives the coordinator no reason,
its own words about why it joins again.  (``subscriptions``: the clients' calls of ``subscribe``.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from rebalance_kit.pipeline.spark.asof import with_last, with_next

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, DataFrame

#: Topics whose partitions Kafka itself makes while a group starts.
_INTERNAL_TOPIC = "__"

#: librdkafka says why it joins again at most this long before (or after) the coordinator writes of it.
_SAID_BEFORE_MS = 2_000
_SAID_AFTER_MS = 100

#: What a rebalance is known by.
KEYS = ["path", "group", "number"]

#: Triggers that a change of topics may lie behind; a re-join without a reason is librdkafka's way.
_MAY_BE_TOPICS = ("metadata_changed", "subscription_changed", "regex_changed", "rejoin")

_KINDS = {
    "topic_created": "new topic ",
    "topic_deleted": "deleted topic ",
    "partition_created": "new partition ",
}


def with_native_reasons(rebalances: DataFrame, events: DataFrame) -> DataFrame:
    """Correct the trigger of a re-join without a reason by what librdkafka wrote about it."""
    # It also says why it joins again once its partitions are given up; that is no motive.
    motive = F.col("reason").rlike("redistribute previously owned|etadata")
    said = events.filter((F.col("event") == "rd_rejoin") & F.col("client").isNotNull() & motive).select(
        "path",
        "group",
        F.col("client").alias("culprit"),
        F.col("at_ms").alias("told_ms"),
        F.col("reason").alias("told"),
    )
    asked = rebalances.filter((F.col("trigger") == "rejoin") & F.col("said").isNull()).select(
        *KEYS, "culprit", "start_ms"
    )
    until = F.col("start_ms") + _SAID_AFTER_MS
    reasons = (
        with_last(asked, said, ["path", "group", "culprit"], at=until, point_at="told_ms", into="last")
        .filter(F.col("start_ms") - F.col("last.told_ms") <= _SAID_BEFORE_MS)
        .select(*KEYS, "last.told")
    )
    told = F.col("told")
    trigger = (
        F.when(told.contains("redistribute previously owned"), "follow_up")
        .when(told.contains("etadata"), "metadata_changed")
        .otherwise(F.col("trigger"))
    )
    return rebalances.join(reasons, KEYS, "left").withColumn("trigger", trigger).drop("told")


def with_topics(rebalances: DataFrame, events: DataFrame) -> DataFrame:
    """Add ``topics`` (what the controller wrote of the group's topics since its last rebalance) and ``restarting``.

    ``restarting``: no topic changed, but a broker was starting.  A change of a topic that the group
    does not use, as far as its members' logs tell, is no reason.
    """
    sets = [
        F.sort_array(F.collect_set(F.when(F.col("change") == kind, F.col("topic")))).alias(kind)
        for kind in _KINDS
    ]
    changes = _changes(events).unionByName(_starts(events))
    used = used_topics(events)
    asks = F.col("trigger").isin(*_MAY_BE_TOPICS)
    marks = rebalances.select("path", "group", "start_ms", "number", asks.alias("asks"))
    whole = F.when(F.col("change") == "partition_created", _topic_of(F.col("topic"))).otherwise(
        F.col("topic")
    )
    known = F.col("used").isNull() | F.col("by_pattern") | F.array_contains("used", whole)
    for_each = changes.join(marks.filter("asks").select("path", "group").distinct(), "path", "inner")
    between = (
        with_next(
            for_each, marks, ["path", "group"], at=F.col("changed_ms"), point_at="start_ms", into="mark"
        )
        .filter(F.col("mark.asks"))
        .withColumn("number", F.col("mark.number"))
        .join(used, ["path", "group"], "left")
        .filter((F.col("change") == "broker_started") | known)
        .groupBy(*KEYS)
        .agg(
            *sets,
            F.max(F.when(F.col("change") != "broker_started", F.col("changed_ms"))).alias("topics_ms"),
            (F.count_if(F.col("change") == "broker_started") > 0).alias("restarting"),
        )
        # The partitions of a new topic are no news beside it.
        .withColumn("partition_created", F.filter("partition_created", _of_an_old_topic))
    )
    words = F.concat(*[F.transform(kind, _after(word)) for kind, word in _KINDS.items()])
    told = between.select(
        *KEYS, F.nullif(F.array_join(words, ", "), F.lit("")).alias("topics"), "topics_ms", "restarting"
    )
    silent = (F.col("trigger") == "rejoin") & F.col("said").isNull() & F.col("topics").isNotNull()
    starting = F.coalesce(F.col("restarting"), F.lit(False)) & (F.col("trigger") == "metadata_changed")
    return (
        rebalances.join(told, KEYS, "left")
        .withColumn("trigger", F.when(silent, "metadata_changed").otherwise(F.col("trigger")))
        .withColumn("restarting", starting & F.col("topics").isNull())
    )


def _changes(events: DataFrame) -> DataFrame:
    """The first mention of each change of a topic (a restarted broker writes its whole metadata again)."""
    topic = F.coalesce(F.col("topic"), F.lit(""))
    return (
        events.filter(F.col("event").isin(*_KINDS) & ~topic.startswith(_INTERNAL_TOPIC))
        .groupBy("path", "topic", F.col("event").alias("change"))
        .agg(F.min("at_ms").alias("changed_ms"))
    )


def _starts(events: DataFrame) -> DataFrame:
    """When brokers came up, in the columns of ``_changes``."""
    up = events.filter(F.col("event").isin("broker_started", "loaded")).filter(F.col("at_ms").isNotNull())
    return up.select(
        "path",
        F.lit("").alias("topic"),
        F.lit("broker_started").alias("change"),
        F.col("at_ms").alias("changed_ms"),
    )


def used_topics(events: DataFrame) -> DataFrame:
    """Topics that the members of a group subscribed to or were given, and whether any uses a pattern."""
    theirs = events.filter((F.col("side") != "broker") & F.col("group").isNotNull())
    event, text = F.col("event"), F.col("text")
    pattern = (event == "subscribed") & text.rlike("pattern|regular expression")
    lists = F.when(
        (event == "subscribed") & text.contains("Subscribed to topic(s)"), F.split(F.col("detail"), ", *")
    )
    given = F.when(event.isin("assigned", "block_assigned"), F.transform("partitions", _topic_of))
    return (
        theirs.filter(event.isin("subscribed", "assigned", "block_assigned"))
        .select("path", "group", pattern.alias("pattern"), F.coalesce(lists, given).alias("names"))
        .groupBy("path", "group")
        .agg(
            F.array_distinct(F.flatten(F.collect_list("names"))).alias("used"),
            F.bool_or("pattern").alias("by_pattern"),
        )
    )


def with_since(rebalances: DataFrame) -> DataFrame:
    """Add ``since_ms``: when the group's rebalance before began (0 for the first)."""
    in_order = Window.partitionBy("path", "group").orderBy("number")
    return rebalances.withColumn("since_ms", F.coalesce(F.lag("start_ms").over(in_order), F.lit(0)))


def _after(word: str) -> Callable[[Column], Column]:
    return lambda name: F.concat(F.lit(word), name)


def _topic_of(partition: Column) -> Column:
    return F.regexp_replace(partition, r"-\d+$", "")


def _of_an_old_topic(partition: Column) -> Column:
    return ~F.array_contains("topic_created", _topic_of(partition))
