"""Findings about the logs themselves: clocks that disagree, files given twice, two groups of one name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from rebalance_kit.pipeline.findings.evidence import evidence, finding_row, first_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: A client cannot learn of a generation before its coordinator has made it; more than this is no rounding.
CLOCK_MS = 500

#: A line this much earlier than the one before it in its file.
BACK_MS = 2_000

#: Two files share this many coordinator's lines, to the millisecond: one is a copy.
_SHARED = 3


def sources(events: DataFrame) -> DataFrame:
    """All findings of this file."""
    return (
        clocks(events)
        .unionByName(one_name(events))
        .unionByName(copies(events))
        .unionByName(backwards(events))
    )


def clocks(events: DataFrame) -> DataFrame:
    """Clients that told of a generation before their coordinator's clock had made it."""
    made = (
        events.filter((F.col("event") == "stabilized") & F.col("group").isNotNull())
        .groupBy("path", "group", "generation")
        .agg(F.min("at_ms").alias("made_ms"), F.count_distinct("file").alias("files"))
        .filter(F.col("files") == 1)
    )
    early = F.col("made_ms") - F.col("at_ms")
    rows = (
        events.filter((F.col("event") == "joined") & F.col("client").isNotNull())
        .join(made, ["path", "group", "generation"])
        .withColumn("early_ms", early)
        .filter(F.col("early_ms") > CLOCK_MS)
        .groupBy("path", "group", F.col("client").alias("who"))
        .agg(first_line().alias("first"), F.count("*").alias("times"), F.max("early_ms").alias("worst"))
    )
    sentence = F.concat(
        F.lit("the clock of "),
        F.col("who"),
        F.lit(" is at least "),
        F.format_number(F.col("worst") / 1000, 1),
        F.lit(" s behind the coordinator's: it joined a generation before that was made"),
    )
    return finding_row(
        rows,
        "clocks_disagree",
        sentence,
        "Give its logs an offset, or synchronise the hosts (NTP); times across files are only as good as the clocks.",
        "GroupMetadataManager: Stabilized comes before any answer to JoinGroup",
    )


def one_name(events: DataFrame) -> DataFrame:
    """Groups whose generation was made twice, at different times, in different files: two groups of one name."""
    rows = (
        events.filter(F.col("event").isin("stabilized", "bumped") & F.col("group").isNotNull())
        .withColumn("made", F.coalesce("generation", "epoch"))
        .groupBy("path", "group", "event", "made")
        .agg(
            first_line().alias("first"),
            F.count_distinct("file").alias("files"),
            F.count_distinct("at_ms").alias("moments"),
        )
        .filter((F.col("files") > 1) & (F.col("moments") > 1))
        .groupBy("path", "group")
        .agg(F.min("first").alias("first"), F.count("*").alias("times"))
        .filter(F.col("times") >= 2)
        .withColumn("who", F.lit(None).cast("string"))
    )
    return finding_row(
        rows,
        "one_name_two_groups",
        F.concat(
            F.lit("two groups of the name "),
            F.col("group"),
            F.lit(" are in these files (two clusters?): their rebalances are told as one"),
        ),
        "Read the logs of each cluster by themselves: one folder a cluster.",
        "a group.id is unique within a cluster only",
    )


def copies(events: DataFrame) -> DataFrame:
    """Files that hold the same lines of a coordinator as another one."""
    lines = events.filter((F.col("side") == "broker") & F.col("at_ms").isNotNull())
    twice = (
        lines.groupBy("path", "at_ms", "text")
        .agg(
            F.sort_array(F.collect_set("file")).alias("files"),
            F.min("group").alias("group"),
            F.min(evidence()).alias("first"),
        )
        .filter(F.size("files") > 1)
        .groupBy("path", F.get("files", F.lit(0)).alias("one"), F.get("files", F.lit(1)).alias("other"))
        .agg(F.min("group").alias("group"), F.min("first").alias("first"), F.count("*").alias("times"))
        .filter(F.col("times") >= _SHARED)
        .withColumn("who", F.lit(None).cast("string"))
    )
    return finding_row(
        twice,
        "same_log_twice",
        F.concat(
            F.col("other"),
            F.lit(" holds the same lines as "),
            F.col("one"),
            F.lit(": what is in both is counted twice"),
        ),
        "Leave one of the two out.",
        "the two files themselves",
    )


def backwards(events: DataFrame) -> DataFrame:
    """Files in which time goes back."""
    in_file = Window.partitionBy("path", "file").orderBy("block", "row")
    # The line at which it goes back may be of no group: any group that the file tells of is concerned.
    of_file = F.min("group").over(Window.partitionBy("path", "file"))
    rows = (
        events.filter(F.col("at_ms").isNotNull())
        .withColumn("group", F.coalesce("group", of_file))
        .withColumn("back_ms", F.lag("at_ms").over(in_file) - F.col("at_ms"))
        .filter(F.col("back_ms") > BACK_MS)
        .groupBy("path", "group", F.col("file").alias("who"))
        .agg(first_line().alias("first"), F.count("*").alias("times"), F.max("back_ms").alias("worst"))
    )
    sentence = F.concat(
        F.lit("time goes back by "),
        F.format_number(F.col("worst") / 1000, 1),
        F.lit(" s within "),
        F.col("who"),
        F.lit(" (a clock that was set, summer time, or files strung together)"),
    )
    return finding_row(
        rows,
        "time_goes_back",
        sentence,
        "Log in UTC; put rotated files beside each other rather than into one in the wrong order.",
        "log4j2 %d{UTC}",
    )
