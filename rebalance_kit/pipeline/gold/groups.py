"""Gold: one row a group of a run, the figures that are compared with what the brokers counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from rebalance_kit.pipeline.gold.member_names import with_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, DataFrame


def groups(events: DataFrame, rebalances: DataFrame, findings: DataFrame, names: DataFrame) -> DataFrame:
    """Generations stabilized, epochs bumped, targets computed, members expired, and the lists of gold.

    Columns: path, group, generations, epochs, targets, expired, expired_members, rebalances,
    causes, findings; lists are in order of time.
    """
    event = F.col("event")
    told = events.filter(F.col("group").isNotNull())
    broker = F.col("side") == "broker"
    failed = broker & event.isin("member_failed", "session_expired")
    counted = (
        with_name(told, names, "member", "name")
        .groupBy("path", "group")
        .agg(
            _in_order(F.when(broker & (event == "stabilized"), F.col("generation"))).alias("generations"),
            _in_order(F.when(broker & (event == "bumped"), F.col("epoch"))).alias("epochs"),
            F.count_if(broker & (event == "computed")).alias("targets"),
            F.count_if(failed).alias("expired"),
            (F.count_if(broker) > 0).alias("coordinated"),
            _in_order(F.when(failed, F.col("name"))).alias("expired_members"),
        )
    )
    row = F.struct(
        "number",
        "protocol",
        "trigger",
        "cause",
        "culprit",
        "start_ms",
        "end_ms",
        "duration_ms",
        "before",
        "after",
        "members",
        "joined",
        "left",
        "expired",
        "fate",
        "moved",
        "revoked",
        "waited_for",
        "waited_ms",
    )
    causes = rebalances.groupBy("path", "group").agg(F.sort_array(F.collect_list(row)).alias("rebalances"))
    finding = F.struct("at_ms", "finding", "who", "sentence", "do", "source", "file", "line", "evidence")
    told_of = (
        findings.filter(F.col("group").isNotNull())
        .groupBy("path", "group")
        .agg(F.sort_array(F.collect_list(finding)).alias("findings"))
    )
    # Without a coordinator's log: what the members themselves reported.
    felt = {"generations": "classic", "epochs": "consumer"}
    felt_lists = {}
    for name, protocol in felt.items():
        told_by_members = F.filter("rebalances", _of(protocol))["after"]
        counted_first = F.when(F.col("coordinated") | F.col("rebalances").isNull(), F.col(name))
        felt_lists[name] = F.coalesce(counted_first, told_by_members)
    return (
        counted.join(causes, ["path", "group"], "left")
        .join(told_of, ["path", "group"], "left")
        .withColumns(felt_lists)
        .drop("coordinated")
        .withColumn("causes", F.coalesce(F.col("rebalances.cause"), F.array().cast("array<string>")))
    )


def _in_order(value: Column) -> Column:
    """The values that are there, in order of time."""
    placed = F.struct("at_ms", "file", "block", "row", value.alias("value"))
    return F.sort_array(F.collect_list(F.when(value.isNotNull(), placed)))["value"]


def _of(protocol: str) -> Callable[[Column], Column]:
    return lambda row: row["protocol"] == protocol
