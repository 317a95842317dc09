"""Gold: findings, plain sentences with the line that proves them.

Most come from ``finding_rules``; those that need more than one line (a callback that takes long, a
rolling restart, an instance id used twice) have a step of their own here.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from rebalance_kit.pipeline.findings.client_rules import RULES
from rebalance_kit.pipeline.findings.evidence import FINDINGS, evidence, finding_row, first_line
from rebalance_kit.pipeline.findings.input_quality import sources
from rebalance_kit.pipeline.findings.patterns import rebalance_patterns, static_members, storms_told
from rebalance_kit.pipeline.findings.several_lines import (
    assignments,
    client_steps,
    offsets,
    timeouts_too_close,
)
from rebalance_kit.pipeline.findings.topics import recreated, resubscribed, unlike_subscriptions
from rebalance_kit.pipeline.gold.member_names import with_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from rebalance_kit.pipeline.findings.rule import Rule

#: A callback that takes longer is reported; healthy ones take a few milliseconds.
SLOW_CALLBACK_MS = 1_000

#: Members that leave and return within this time of each other make a rolling restart.
RETURN_WITHIN_MS = 60_000

#: What a sentence may quote from its line, and what it says where the line has none.
_UNTOLD = {
    "instance": "(not named)",
    "reason": "no reason given",
    "detail": "no detail given",
    "cause": "no cause given",
    "said": "no reason given",
    "topics": "which, the brokers' logs do not say",
    "topic": "a partition",
    "partitions": "(not named)",
    "over_ms": "some",
}

_STATIC_DOC = "KIP-345 (static membership)"


#: A finding of the first kind says nothing beside one of the others about the same member (or group).
_UNLESS = {
    "coordinator_lost": ("member_frozen",),
    "static_return": ("duplicate_instance_id", "instance_id_shared", "instances_take_turns"),
    "instance_id_shared": ("duplicate_instance_id",),
    "repeated_notice": ("deleted_topic_commit",),
    "rebalance_held_up": ("slow_callback", "deleted_topic_commit"),
}

#: Of these, one about anybody in the group is enough.
_OF_THE_GROUP = ("duplicate_instance_id", "instance_id_shared", "instances_take_turns")


def findings(events: DataFrame, rebalances: DataFrame, storms: DataFrame, names: DataFrame) -> DataFrame:
    """All findings of all groups, earliest first within a group."""
    named = named_events(events, names)
    caused = _with_others_lost(rebalances.withColumn("who", F.col("culprit")))
    tables = {
        "events": named,
        "rebalances": caused.withColumn("at_ms", F.col("start_ms")).withColumn("text", F.col("cause")),
    }
    parts = [_by_rules(tables[table], [rule for rule in RULES if rule.table == table]) for table in tables]
    parts += [
        slow_callbacks(events),
        rolling_restarts(named),
        shared_instances(events),
        eager_by_default(events),
        offsets(events),
        assignments(events, rebalances),
        client_steps(events),
        unlike_subscriptions(events),
        resubscribed(events),
        recreated(events),
        timeouts_too_close(events),
        storms_told(storms, rebalances),
        rebalance_patterns(rebalances),
        static_members(named),
        sources(events),
    ]
    return (
        reduce(lambda one, other: one.unionByName(other), parts).select(*FINDINGS).transform(_without_echoes)
    )


def _with_others_lost(caused: DataFrame) -> DataFrame:
    """A further row for each member that expired while another's rebalance ran: it is no cause, but has a fate."""
    lost = F.col("lost")
    others = (
        caused.withColumn("lost", F.explode("meanwhile"))
        .withColumn("who", lost["name"])
        .withColumn("fate", lost["fate"])
        .withColumn("trigger", F.lit(None).cast("string"))
        .drop("lost")
    )
    return caused.unionByName(others)


def _without_echoes(told_of: DataFrame) -> DataFrame:
    """Drop findings that another one explains (``_UNLESS``)."""
    rows = told_of.localCheckpoint()
    pairs = [(echo, cause, cause in _OF_THE_GROUP) for echo, causes in _UNLESS.items() for cause in causes]
    rules = F.array(
        *[
            F.struct(
                F.lit(echo).alias("finding"), F.lit(cause).alias("cause"), F.lit(any_who).alias("any_who")
            )
            for echo, cause, any_who in pairs
        ]
    )
    reasons = (
        rows.select("path", "group", F.col("who").alias("blamed"), F.col("finding").alias("cause"))
        .distinct()
        .withColumn("rule", F.explode(F.filter(rules, lambda rule: rule["cause"] == F.col("cause"))))
        .select("path", "group", "blamed", "rule.finding", "rule.any_who")
        .withColumnsRenamed({"path": "p", "group": "g", "finding": "f"})
    )
    same = (
        (F.col("path") == F.col("p"))
        & F.col("group").eqNullSafe(F.col("g"))
        & (F.col("finding") == F.col("f"))
    )
    return rows.join(
        reasons, same & (F.col("any_who") | F.col("who").eqNullSafe(F.col("blamed"))), "left_anti"
    )


def named_events(events: DataFrame, names: DataFrame) -> DataFrame:
    """Events with ``who``, and with the run's group where the run has one group only.

    A process that died before it had a client id is called by its file.
    """
    member = F.coalesce(F.nullif(F.col("member"), F.lit("")), "instance")
    only = (
        events.filter(F.col("group").isNotNull())
        .groupBy("path")
        .agg(F.collect_set("group").alias("groups"))
        .select("path", F.when(F.size("groups") == 1, F.get("groups", F.lit(0))).alias("only_group"))
    )
    file_name = F.regexp_replace(
        F.substring_index("file", "/", -1), r"(\.log|\.txt|\.out)?(\.\d+)?(\.gz)?$", ""
    )
    theirs = F.col("side") != "broker"
    return (
        with_name(events.withColumn("_member", member), names, "_member", "_name")
        .join(F.broadcast(only), "path", "left")
        .withColumn("group", F.coalesce("group", "only_group"))
        .withColumn("who", F.coalesce(F.when(theirs, F.col("client")), "_name", F.when(theirs, file_name)))
        .drop("_member", "_name", "only_group")
    )


def _by_rules(rows: DataFrame, rules: list[Rule]) -> DataFrame:
    """One finding a rule, group and culprit, with the first line that shows it."""
    facts = [
        F.struct(
            F.lit(rule.code).alias("finding"),
            F.lit(rule.sentence).alias("sentence"),
            F.lit(rule.do).alias("do"),
            F.lit(rule.source).alias("source"),
        )
        for rule in rules
    ]
    matching = F.filter(
        F.array(*[F.when(F.expr(rule.condition), fact) for rule, fact in zip(rules, facts, strict=True)]),
        lambda fact: fact.isNotNull(),
    )
    names = [name for name in _UNTOLD if name in rows.columns]
    hits = rows.withColumn("fact", F.explode(matching))
    quoted = [
        F.array_join(name, ", ").alias(name)
        if name == "partitions"
        else F.col(name).cast("string").alias(name)
        for name in names
    ]
    first = F.min_by(
        F.struct("at_ms", "file", "line", F.col("text").alias("evidence"), *quoted),
        F.struct("at_ms", "line", "file"),
    )
    grouped = hits.groupBy("path", "group", "who", "fact").agg(
        first.alias("first"), F.count("*").alias("times")
    )
    sentence = F.replace(F.col("fact.sentence"), F.lit("{who}"), F.coalesce("who", F.lit("a member")))
    sentence = F.replace(sentence, F.lit("{n}"), F.col("times").cast("string"))
    for name in names:
        sentence = F.replace(
            sentence, F.lit("{" + name + "}"), F.coalesce(F.col("first")[name], F.lit(_UNTOLD[name]))
        )
    return grouped.select(
        "path",
        "group",
        "fact.finding",
        "who",
        "first.at_ms",
        "times",
        sentence.alias("sentence"),
        "fact.do",
        "fact.source",
        "first.file",
        "first.line",
        "first.evidence",
    )


def slow_callbacks(events: DataFrame) -> DataFrame:
    """Members whose rebalance callback took longer than ``SLOW_CALLBACK_MS``: until their next own step."""
    event = F.col("event")
    steps = event.isin(
        "revoked", "assigned", "lost", "joining", "transitioned", "leaving", "rejoin_requested", "left_group"
    )
    # The heartbeat thread goes on during a callback; its lines do not end it.
    beside = (event == "rejoin_requested") & F.col("reason").startswith("group is already rebalancing")
    mine = Window.partitionBy("path", "group", "client", "file").orderBy("at_ms", "block", "row")
    ended = (
        events.filter(
            (F.col("side") == "java")
            & steps
            & ~beside
            & F.col("client").isNotNull()
            & F.col("at_ms").isNotNull()
        )
        .withColumn("next", F.lead(F.struct("event", "at_ms", "state_from")).over(mine))
        .withColumn("took_ms", F.col("next.at_ms") - F.col("at_ms"))
    )
    # What must follow a callback at once; "assigned" is followed by an acknowledgement under KIP-848 only.
    closes = (
        (
            (event == "revoked")
            & F.col("next.event").isin("joining", "rejoin_requested", "assigned", "leaving", "transitioned")
        )
        | (
            (event == "assigned")
            & (F.col("next.event") == "transitioned")
            & (F.col("next.state_from") == "RECONCILING")
        )
        | ((event == "lost") & F.col("next.event").isin("joining", "transitioned"))
    )
    slow = ended.filter(closes & (F.col("took_ms") > SLOW_CALLBACK_MS))
    worst = F.format_number(F.max("took_ms") / 1000, 1)
    rows = slow.groupBy("path", "group", F.col("client").alias("who")).agg(
        first_line().alias("first"), F.count("*").alias("times"), worst.alias("worst")
    )
    sentence = F.concat(
        F.col("who"),
        F.lit(" spent "),
        F.col("worst"),
        F.lit(" s in a rebalance callback: others wait for it"),
    )
    return finding_row(
        rows,
        "slow_callback",
        sentence,
        "Do less in the callback (commit, hand over, return); under the classic protocol everybody waits for the slowest member.",
        "ConsumerRebalanceListener",
    )


def rolling_restarts(events: DataFrame) -> DataFrame:
    """Groups in which two or more dynamic members left and came back one after the other."""
    comings = events.filter(
        (F.col("side") == "broker")
        & F.col("event").isin("member_added", "joins", "left", "epoch_left")
        & F.col("instance").isNull()
    )
    kind = F.when(F.col("event").isin("left", "epoch_left"), "left").otherwise("joined")
    mine = Window.partitionBy("path", "group", "who").orderBy("at_ms", "line")
    back = (
        comings.withColumn("kind", kind)
        .withColumn("next", F.lead(F.struct("kind", "at_ms")).over(mine))
        .filter((F.col("kind") == "left") & (F.col("next.kind") == "joined"))
        .filter(F.col("next.at_ms") - F.col("at_ms") <= RETURN_WITHIN_MS)
    )
    rows = (
        back.groupBy("path", "group")
        .agg(
            first_line().alias("first"),
            F.count("*").alias("times"),
            F.array_join(F.sort_array(F.collect_set("who")), ", ").alias("all"),
            F.count_distinct("who").alias("n"),
        )
        .filter(F.col("n") >= 2)
        .withColumn("who", F.lit(None).cast("string"))
    )
    sentence = F.concat(
        F.lit("rolling restart without static membership: "),
        F.col("all"),
        F.lit(" left and came back, each time with rebalances"),
    )
    return finding_row(
        rows,
        "rolling_restart",
        sentence,
        "Give each process a stable group.instance.id and a session longer than its restart: then a restart needs no rebalance.",
        _STATIC_DOC,
    )


def shared_instances(events: DataFrame) -> DataFrame:
    """Instance ids that two clients used, the later while the earlier one lived (it wrote again afterwards)."""
    used = (
        events.filter(
            (F.col("side") == "java")
            & F.col("instance").isNotNull()
            & F.col("client").isNotNull()
            & F.col("at_ms").isNotNull()
        )
        .groupBy("path", "group", "instance", "client")
        .agg(F.min("at_ms").alias("from_ms"), F.max("at_ms").alias("to_ms"), first_line().alias("first"))
    )
    earlier = used.select(
        "path",
        "group",
        "instance",
        F.col("client").alias("owner"),
        F.col("from_ms").alias("owner_from"),
        F.col("to_ms").alias("owner_to"),
    )
    rows = (
        used.join(earlier, ["path", "group", "instance"], "inner")
        .filter(
            (F.col("client") != F.col("owner"))
            & F.col("from_ms").between(F.col("owner_from") + 1, F.col("owner_to"))
        )
        .withColumn("who", F.col("client"))
        .withColumn("times", F.lit(1).cast("long"))
    )
    sentence = F.concat(
        F.col("client"),
        F.lit(" uses the group.instance.id "),
        F.col("instance"),
        F.lit(" of "),
        F.col("owner"),
        F.lit(", which was still running"),
    )
    return finding_row(
        rows,
        "duplicate_instance_id",
        sentence,
        "Give every process its own group.instance.id (for instance from the ordinal of a StatefulSet).",
        _STATIC_DOC,
    )


def eager_by_default(events: DataFrame) -> DataFrame:
    """Members with Java's default assignor list, which runs EAGER although cooperative-sticky is in it."""
    default = (
        (F.col("key") == "partition.assignment.strategy")
        & F.col("value").contains("RangeAssignor")
        & F.col("value").contains("CooperativeStickyAssignor")
    )
    classic = (
        events.filter((F.col("event") == "joined") & (F.col("assignor") == "range"))
        .select("path", "file")
        .distinct()
    )
    first = F.min_by(evidence(), F.struct("line", "file"))  # these lines have no time
    rows = (
        events.filter((F.col("event") == "config") & default)
        .join(classic, ["path", "file"], "left_semi")
        .groupBy("path", "group")
        .agg(
            first.alias("first"),
            F.count("*").alias("times"),
            F.array_join(F.sort_array(F.collect_set("client")), ", ").alias("all"),
        )
        .withColumn("who", F.lit(None).cast("string"))
    )
    sentence = F.concat(
        F.col("all"),
        F.lit(
            ": the assignor list [range, cooperative-sticky] runs the eager protocol; every rebalance stops every partition"
        ),
    )
    return finding_row(
        rows,
        "eager_by_default",
        sentence,
        "Set partition.assignment.strategy to CooperativeStickyAssignor alone (one more rolling bounce), or use group.protocol=consumer.",
        "KIP-429; ConsumerConfig partition.assignment.strategy",
    )
