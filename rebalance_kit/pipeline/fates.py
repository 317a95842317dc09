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
    from collections.abc import Callable

    from pyspark.sql import Column, DataFrame

#: A client's own line about its leaving is written at most this long after the coordinator's.
_JUST_AFTER_MS = 500

#: Topics whose partitions Kafka itself makes while a group starts.
_INTERNAL_TOPIC = "__"


def with_fates(rebalances: DataFrame, events: DataFrame) -> DataFrame:
    """Correct ``trigger`` and add ``fate`` and ``fate_ms`` (when the culprit was heard of again), from client logs.

    ``fate`` is ``frozen``, ``restarted``, ``closed`` (static members say nothing then), ``gone`` or
    null when the culprit's log is not there or the trigger asks for none.
    """
    keys = ["path", "group", "number"]
    theirs = events.filter(
        (F.col("side") != "broker") & F.col("at_ms").isNotNull() & F.col("client").isNotNull()
    )
    seen = theirs.select(
        "path",
        F.col("client").alias("culprit"),
        F.col("event").alias("seen"),
        F.col("at_ms").alias("seen_ms"),
        _begins_anew().alias("anew"),
    )
    gap = F.col("seen_ms") - F.col("start_ms")
    later = F.when(gap > 0, F.struct("seen_ms", "seen"))
    sooner = F.when(gap <= 0, F.struct("seen_ms", "seen"))
    stalled = F.when(
        F.col("seen").isin("poll_timeout", "rd_poll_timeout") & (gap <= _JUST_AFTER_MS), F.col("seen_ms")
    )
    joined = F.when(F.col("anew") & (gap <= 0), F.col("seen_ms"))
    around = (
        rebalances.select(*keys, "culprit", "start_ms")
        .join(seen, ["path", "culprit"], "inner")
        .groupBy(*keys)
        .agg(
            F.min(later).alias("next"),
            F.max(sooner).alias("last"),
            (F.max(stalled) > F.coalesce(F.max(joined), F.lit(0))).alias("stalled"),
        )
    )
    return (
        rebalances.join(around, keys, "left")
        .withColumn(
            "trigger",
            F.when((F.col("trigger") == "leave") & F.col("stalled"), "poll_timeout").otherwise(
                F.col("trigger")
            ),
        )
        .withColumn("fate", F.when(F.col("trigger") == "session_expired", _fate()))
        .withColumn("fate_ms", F.when(F.col("fate").isin("frozen", "restarted"), F.col("next.seen_ms")))
        .withColumn("stalled", F.coalesce(F.col("stalled"), F.lit(False)))
        .drop("next", "last")
    )


def _begins_anew() -> Column:
    """Lines with which a member begins a new membership: a poll timeout before them is over."""
    event = F.col("event")
    return (
        event.isin("process_started", "subscribed", "joining", "rd_joining")
        | ((event == "transitioned") & (F.col("state_to") == "JOINING"))
        | ((event == "rd_epoch_heartbeat") & (F.col("epoch") == 0))
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
    topic = F.coalesce(F.col("topic"), F.lit(""))
    # A restarted broker writes its whole metadata again: only the first mention is a change.
    changes = (
        events.filter(
            F.col("event").isin("partition_created", "topic_created", "topic_deleted")
            & ~topic.startswith(_INTERNAL_TOPIC)
        )
        .groupBy("path", "topic", F.col("event").alias("change"))
        .agg(F.min("at_ms").alias("changed_ms"))
    )
    keys = ["path", "group", "number"]
    kinds = {
        "topic_created": "new topic ",
        "topic_deleted": "deleted topic ",
        "partition_created": "new partition ",
    }
    sets = [
        F.sort_array(F.collect_set(F.when(F.col("change") == kind, F.col("topic")))).alias(kind)
        for kind in kinds
    ]
    between = (
        rebalances.transform(_with_since)
        .filter(F.col("trigger").isin("metadata_changed", "subscription_changed", "regex_changed"))
        .select(*keys, "start_ms", "since_ms")
        .join(changes, "path", "inner")
        .filter((F.col("changed_ms") > F.col("since_ms")) & (F.col("changed_ms") <= F.col("start_ms")))
        .groupBy(*keys)
        .agg(*sets)
        # The partitions of a new topic are no news beside it.
        .withColumn("partition_created", F.filter("partition_created", _of_an_old_topic))
    )
    words = F.concat(*[F.transform(kind, _after(word)) for kind, word in kinds.items()])
    told = between.select(*keys, F.nullif(F.array_join(words, ", "), F.lit("")).alias("topics"))
    return rebalances.join(told, keys, "left")


def _after(word: str) -> Callable[[Column], Column]:
    return lambda name: F.concat(F.lit(word), name)


def _of_an_old_topic(partition: Column) -> Column:
    topic = F.regexp_replace(partition, r"-\d+$", "")
    return ~F.array_contains("topic_created", topic)


def _with_since(rebalances: DataFrame) -> DataFrame:
    """Add ``since_ms``: when the group's rebalance before began (0 for the first)."""
    in_order = Window.partitionBy("path", "group").orderBy("number")
    return rebalances.withColumn("since_ms", F.coalesce(F.lag("start_ms").over(in_order), F.lit(0)))


def with_subscriptions(rebalances: DataFrame, events: DataFrame) -> DataFrame:
    """Name the subscriber behind a KIP-848 bump that no topic change explains."""
    calls = events.filter((F.col("event") == "subscribed") & F.col("group").isNotNull()).select(
        "path", "group", F.col("client").alias("caller"), F.col("at_ms").alias("called_ms")
    )
    keys = ["path", "group", "number"]
    open_question = (
        (F.col("trigger") == "metadata_changed")
        & (F.col("protocol") == "consumer")
        & F.col("topics").isNull()
    )
    callers = (
        rebalances.transform(_with_since)
        .filter(open_question)
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
    earlier = (
        Window.partitionBy("path", "group", "culprit")
        .orderBy("number")
        .rowsBetween(Window.unboundedPreceding, -1)
    )
    again = (F.col("trigger") == "join") & (F.count("*").over(earlier) > 0)
    enforced = (F.col("trigger") == "enforced") & (F.col("said") != "rebalance enforced by user")
    fates = {
        "frozen": (
            "; its process lived on, silent (long pause, freeze or lost network), and was back ",
            back_s,
            " s later",
        ),
        "restarted": ("; its process had died and a new one started ", back_s, " s later"),
        "closed": (
            "; it had been closed, which a static member does not tell the group, and did not return",
        ),
        "gone": ("; its process had died: its log ends before",),
    }
    more = F.when(
        (F.col("trigger") == "session_expired") & F.col("stalled"),
        F.lit("; it had exceeded max.poll.interval.ms"),
    )
    for fate, words in fates.items():
        said = F.concat(*[F.lit(word) if isinstance(word, str) else word for word in words])
        more = more.when(F.col("fate") == fate, said)
    more = (
        more.when(F.col("topics").isNotNull(), F.concat(F.lit(": "), "topics"))
        .when(enforced, F.concat(F.lit(": "), "said"))
        .when(again, F.lit(" again"))
        .otherwise(F.lit(""))
    )
    return rebalances.withColumn(
        "cause", F.concat(sentence(F.col("trigger"), F.col("culprit")), more, _meanwhile())
    ).drop("stalled")


def _meanwhile() -> Column:
    """Who else joined, left or expired in the same rebalance, in words; empty for nobody."""
    told = []
    for column, verb in (("joined", "joined"), ("left", "left"), ("expired", "expired")):
        others = F.array_except(F.col(column), F.array(F.coalesce("culprit", F.lit(""))))
        told.append(
            F.when(F.size(others) > 0, F.concat(F.array_join(others, ", "), F.lit(f" {verb} meanwhile")))
        )
    words = F.concat_ws(", ", *told)
    return F.when(words != "", F.concat(F.lit("; "), words)).otherwise(F.lit(""))
