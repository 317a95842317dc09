"""Findings that need several lines of members: offsets, assignments, notices, settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from rebalance_kit.pipeline.findings.evidence import evidence, finding_row, first_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: A leader that takes longer than this for an assignment is reported.
SLOW_LEADER_MS = 2_000

#: The same notice so often before one re-join is reported: one a heartbeat, so three are six seconds or more.
NOTICES = 3

_PLACE = ("at_ms", "file", "block", "row")
_NOTICE = "group is already rebalancing"


def offsets(events: DataFrame) -> DataFrame:
    """Partitions whose committed offset went down, or vanished, between two owners."""
    by_partition = Window.partitionBy("path", "group", "topic").orderBy(*_PLACE)
    before = by_partition.rowsBetween(Window.unboundedPreceding, -1)
    rows = (
        events.filter(F.col("event").isin("offset_set", "offset_missing") & F.col("client").isNotNull())
        .withColumn("highest", F.max("offset").over(before))
        .withColumn("missing", F.col("event") == "offset_missing")
        .filter(F.col("highest").isNotNull() & (F.col("missing") | (F.col("offset") < F.col("highest"))))
    )
    grouped = rows.groupBy("path", "group", "missing").agg(
        first_line().alias("first"),
        F.count("*").alias("times"),
        F.min_by(F.struct("topic", "offset", "highest", "client"), "at_ms").alias("one"),
    )
    one = F.col("one")
    lost = F.concat(
        F.lit("the committed offset of "),
        one["topic"],
        F.lit(" was gone when "),
        one["client"],
        F.lit(" asked for it, though it had been there before"),
    )
    rewound = F.concat(
        F.lit("the committed offset of "),
        one["topic"],
        F.lit(" went back from "),
        one["highest"].cast("string"),
        F.lit(" to "),
        one["offset"].cast("string"),
        F.lit(": its records came again"),
    )
    named = grouped.withColumn("who", one["client"])
    return finding_row(
        named.filter("missing"),
        "offsets_lost",
        lost,
        "Deleted with their topic, or expired: offsets.retention.minutes counts from when the group became empty. "
        "auto.offset.reset decides where reading begins.",
        "KIP-211; offsets.retention.minutes",
    ).unionByName(
        finding_row(
            named.filter(~F.col("missing")),
            "offset_rewound",
            rewound,
            "A late acknowledgement was committed after a newer one (or somebody reset the group): drop pending "
            "acknowledgements in onPartitionsRevoked.",
            "OffsetCommit compares nothing; ConsumerRebalanceListener",
        )
    )


def assignments(events: DataFrame, rebalances: DataFrame) -> DataFrame:
    """Final assignments in which members got nothing, or one got far more than its share."""
    passing = (
        rebalances.filter(F.col("trigger") == "follow_up")
        .select("path", "group", F.col("before").alias("generation"))
        .distinct()
    )
    # Sets in "{c1-uuid=Assignment(partitions=[orders-0, orders-1]), ...}"; userData may follow them.
    sets = F.regexp_extract_all("detail", F.lit(r"Assignment\(partitions=\[([^\]]*)\]"), 1)
    sizes = F.transform(sets, lambda one: F.when(one == "", 0).otherwise(F.size(F.split(one, ", "))))
    rows = (
        events.filter((F.col("event") == "assignment_finished") & F.col("group").isNotNull())
        .join(passing, ["path", "group", "generation"], "left_anti")
        .withColumn("sizes", sizes)
        .withColumn("idle", F.size(F.filter("sizes", lambda size: size == 0)))
        .withColumn("highest", F.array_max("sizes"))
        .withColumn("lowest", F.array_min("sizes"))
        .withColumn("who", F.lit(None).cast("string"))
    )
    total = F.aggregate("sizes", F.lit(0), lambda one, other: one + other)
    skewed = rows.filter(
        (F.col("highest") - F.col("lowest") >= 3) & (F.col("highest") >= 2 * total / F.size("sizes"))
    )
    summed = [first_line().alias("first"), F.count("*").alias("times")]
    worst = F.max_by(F.struct("idle", F.size("sizes").alias("members"), "highest", "lowest"), "at_ms").alias(
        "one"
    )
    one = F.col("one")
    idle = rows.filter(F.col("idle") > 0).groupBy("path", "group", "who").agg(*summed, worst)
    uneven = skewed.groupBy("path", "group", "who").agg(*summed, worst)
    return finding_row(
        idle,
        "idle_members",
        F.concat(
            one["idle"].cast("string"),
            F.lit(" of "),
            one["members"].cast("string"),
            F.lit(" members own no partition: there are more members than partitions they can share"),
        ),
        "Run as many members as there are partitions, or add partitions; each idle one still makes the group rebalance "
        "when it comes and goes.",
        "Kafka documentation, Consumers: a partition has one owner in a group",
    ).unionByName(
        finding_row(
            uneven,
            "skewed_assignment",
            F.concat(
                F.lit("one member was given "),
                one["highest"].cast("string"),
                F.lit(" partitions and another "),
                one["lowest"].cast("string"),
            ),
            "The range assignor gives the remainder of every topic to the same members: use cooperative-sticky, "
            "roundrobin or uniform, or partition counts that the number of members divides.",
            "RangeAssignor",
        )
    )


def client_steps(events: DataFrame) -> DataFrame:
    """Members that were told again and again that the group rebalances, and leaders that took long."""
    mine = Window.partitionBy("path", "group", "client", "file").orderBy("at_ms", "block", "row")
    upto = mine.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    event = F.col("event")
    notice = (event == "rejoin_requested") & F.col("reason").startswith(_NOTICE)
    steps = (
        events.filter(
            (event.isin("joining", "joined", "assignment_finished") | notice) & F.col("client").isNotNull()
        )
        .withColumn("joins", F.count_if(event == "joining").over(upto))
        .withColumn("joined_ms", F.max(F.when(event == "joined", F.col("at_ms"))).over(upto))
        .withColumn("who", F.col("client"))
    )
    repeated = (
        steps.filter(notice)
        .groupBy("path", "group", "who", "joins")
        .agg(first_line().alias("first"), F.count("*").alias("times"))
        .filter(F.col("times") >= NOTICES)
        .groupBy("path", "group", "who")
        .agg(F.min("first").alias("first"), F.max("times").alias("times"))
    )
    took = F.col("at_ms") - F.col("joined_ms")
    slow = (
        steps.filter((event == "assignment_finished") & (took > SLOW_LEADER_MS))
        .groupBy("path", "group", "who")
        .agg(first_line().alias("first"), F.count("*").alias("times"), F.max(took).alias("worst"))
    )
    return finding_row(
        repeated,
        "repeated_notice",
        F.concat(
            "who",
            F.lit(" was told "),
            F.col("times").cast("string"),
            F.lit(
                " heartbeats in a row that its group is rebalancing and did not come: everybody waited for it"
            ),
        ),
        "Its application does not poll or sits in a callback: take a thread dump of that process. The line itself is a normal notice.",
        "AbstractCoordinator.HeartbeatResponseHandler; REBALANCE_IN_PROGRESS",
    ).unionByName(
        finding_row(
            slow,
            "slow_leader",
            F.concat(
                "who",
                F.lit(" (the leader) took "),
                F.format_number(F.col("worst") / 1000, 1),
                F.lit(" s to work out an assignment; everybody waited in SyncGroup"),
            ),
            "Use a cheaper assignor or fewer partitions a group, a session well above it, or group.protocol=consumer.",
            "KAFKA-10122; ConsumerCoordinator.onLeaderElected",
        )
    )


def timeouts_too_close(events: DataFrame) -> DataFrame:
    """Classic members whose session is shorter than three heartbeat intervals."""
    keys = {
        "heartbeat.interval.ms": "beat_ms",
        "session.timeout.ms": "session_ms",
        "group.protocol": "chosen",
    }
    picks = [F.max(F.when(F.col("key") == key, F.col("value"))).alias(name) for key, name in keys.items()]
    beats = F.when(F.col("key") == "heartbeat.interval.ms", evidence())
    each = (
        events.filter((F.col("event") == "config") & F.col("key").isin(*keys))
        .groupBy("path", "group", "file", F.col("client").alias("who"))
        .agg(*picks, F.min(beats).alias("first"))
        .withColumn("beat_ms", F.col("beat_ms").try_cast("long"))
        .withColumn("session_ms", F.col("session_ms").try_cast("long"))
        .filter(F.lower(F.coalesce("chosen", F.lit("classic"))) == "classic")
        .filter(F.col("session_ms") < 3 * F.col("beat_ms"))
        .withColumn("times", F.lit(1).cast("long"))
    )
    sentence = F.concat(
        F.coalesce("who", F.lit("a member")),
        F.lit(" heartbeats every "),
        F.col("beat_ms").cast("string"),
        F.lit(" ms in a session of "),
        F.col("session_ms").cast("string"),
        F.lit(" ms: two lost heartbeats and it is out"),
    )
    return finding_row(
        each.drop("file"),
        "heartbeat_too_slow",
        sentence,
        "Keep heartbeat.interval.ms at a third of session.timeout.ms or less, so that one may be lost and one be late.",
        "consumer config heartbeat.interval.ms",
    )
