"""Gold: the tables of all groups, from one grouped pass over the events.

Each group's events go to one Python worker, which folds them as the local engine does (``group_tables``); many
groups use many cores.  Lines of no group (a broker's start, a change of topics, a client's settings) are few
and go to every group of their run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import Window
from pyspark.sql import functions as F

from rebalance_kit.forensics.event import Event
from rebalance_kit.forensics.group_tables import group_tables
from rebalance_kit.forensics.tables import EVENTS, GOLD
from rebalance_kit.model.collector import uncollected
from rebalance_kit.pipeline.arrow_types import arrow_type

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

#: Whose pass an event takes part in: a run, a group of it (null: none), and whether that is the only one.
_KEYS = ("key_path", "key_group", "alone")

#: What a worker gets of an event.
_FIELDS = tuple(name for name in EVENTS if name != "at")


def gold_tables(events: DataFrame) -> dict[str, DataFrame]:
    """The tables of ``tables.GOLD`` by name."""
    columns = ", ".join(f"`{name}` {_struct(name)}" for name in GOLD)
    told = (
        events.transform(_with_steps_back)
        .transform(_by_group)
        .groupBy(*_KEYS)
        .applyInArrow(_fold, f"`table` string, {columns}")
        .localCheckpoint()
    )
    return {name: told.filter(F.col("table") == name).select(f"{name}.*") for name in GOLD}


def _struct(table: str) -> str:
    return "struct<" + ",".join(f"`{name}`:{kind}" for name, kind in GOLD[table].items()) + ">"


def _with_steps_back(events: DataFrame) -> DataFrame:
    """Add ``back_ms``: by how much the line before it in its file is later."""
    in_file = Window.partitionBy("path", "file").orderBy("row")
    upto = in_file.rowsBetween(Window.unboundedPreceding, -1)
    back_ms = F.last("at_ms", ignorenulls=True).over(upto) - F.col("at_ms")
    return events.select(*_FIELDS, F.when(back_ms > 0, back_ms).alias("back_ms"))


def _by_group(events: DataFrame) -> DataFrame:
    """Every event under the keys of its group; one of no group under those of all groups of its run."""
    groups = events.filter(F.col("group").isNotNull()).select("path", "group").distinct()
    counted = groups.groupBy("path").agg(F.collect_set("group").alias("groups"))
    alone = F.coalesce(F.size("groups") == 1, F.lit(False))
    # Where there is not exactly one group, the events of no group come once more by themselves.
    nobody = F.array(F.lit(None).cast("string"))
    everybody = F.coalesce("groups", F.array().cast("array<string>"))
    shared = F.when(alone, everybody).otherwise(F.concat(everybody, nobody))
    keys = F.when(F.col("group").isNotNull(), F.array("group")).otherwise(shared)
    return (
        events.join(F.broadcast(counted), "path", "left")
        .withColumn("alone", alone)
        .withColumn("key_path", F.col("path"))
        .withColumn("key_group", F.explode(keys))
        .drop("groups")
    )


def _fold(key: tuple[pa.Scalar, ...], table: pa.Table) -> pa.Table:
    """The rows of all tables of one group, each in the column of its table."""
    import pyarrow as pa

    path, group, alone = (part.as_py() for part in key)
    with uncollected():
        told = group_tables(group, _events(table), alone=alone)
    names: list[str] = []
    columns: dict[str, list[Any]] = {name: [] for name in GOLD}
    for name in GOLD:
        rows = [{"path": path, "group": group, **row} for row in getattr(told, name)]
        names += [name] * len(rows)
        for other in GOLD:
            columns[other] += rows if other == name else [None] * len(rows)
    arrays = [pa.array(column, arrow_type(_struct(name))) for name, column in columns.items()]
    return pa.table([pa.array(names, pa.string()), *arrays], names=["table", *GOLD])


def _events(table: pa.Table) -> list[Event]:
    import pyarrow.compute as pc

    told: list[dict[str, Any]] = [{} for _ in range(table.num_rows)]
    for name in (*_FIELDS, "back_ms"):
        column = table.column(name)
        if column.null_count == 0:
            for fields, value in zip(told, column.to_pylist(), strict=True):
                fields[name] = value
        elif column.null_count < table.num_rows:
            # Most columns are nearly empty.
            places = pc.indices_nonzero(pc.is_valid(column)).to_pylist()
            for place, value in zip(places, column.drop_null().to_pylist(), strict=True):
                told[place][name] = value
    return [Event(fields) for fields in told]
