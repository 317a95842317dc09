"""Gold: the tables of all groups, from one grouped pass over the events.

The groups of a run are dealt to bundles; the packets of a bundle go to one Python worker, which folds one group after the
other as the local engine does (``tables_of_groups``), so that many groups use many cores.  Events of no group (a broker's
start, a change of topics, a client's settings) go to every bundle of their run.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from rebalance_kit.forensics.event import Event
from rebalance_kit.forensics.group_tables import GroupTables, tables_of_groups
from rebalance_kit.forensics.tables import GOLD
from rebalance_kit.model.collector import uncollected
from rebalance_kit.pipeline.arrow_types import arrow_type
from rebalance_kit.pipeline.lines.packets import EVENTS_OF_GROUP, unpacked
from rebalance_kit.pipeline.lines.tables import PLACES, places_of, small_table, with_places

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from rebalance_kit.pipeline.lines.packets import Blocks

#: A run has at most so many bundles, and Spark so many partitions of them.
BUNDLES, PARTITIONS = 16, 16

#: What a row of the grouped pass is grouped by: a run, a bundle of its groups, and how many groups the run has.
_KEYS = ("key_path", "bundle", "groups")

#: What a worker gets of a packet.
_NEEDED = (*PLACES, "of_group", "data")


def gold_tables(packets: DataFrame, blocks: Blocks) -> dict[str, DataFrame]:
    """The tables of ``tables.GOLD`` by name."""
    runs = {place.path: len(blocks.groups.get(place.path, ())) for place in blocks.places}
    keys = sum(_bundles(groups) for groups in runs.values())
    folded = (
        _by_bundle(packets, blocks, runs)
        .repartition(max(1, min(keys, PARTITIONS)), *_KEYS)
        .groupBy(*_KEYS)
        .applyInArrow(_fold, f"`table` string, {FOLDED}")
        .localCheckpoint()
    )
    return tables_in(folded)


def tables_in(folded: DataFrame) -> dict[str, DataFrame]:
    """The tables by name, out of rows that hold each its own in the column of its table."""
    return {name: folded.filter(F.col("table") == name).select(f"{name}.*") for name in GOLD}


def _bundles(groups: int) -> int:
    return max(1, min(groups, BUNDLES))


def struct_of(table: str) -> str:
    """The rows of a table as a type in Spark's words."""
    return "struct<" + ",".join(f"`{name}`:{kind}" for name, kind in GOLD[table].items()) + ">"


#: The columns of folded rows, after the name of each row's table.
FOLDED = ", ".join(f"`{name}` {struct_of(name)}" for name in GOLD)


def _by_bundle(packets: DataFrame, blocks: Blocks, runs: dict[str, int]) -> DataFrame:
    """Every packet under the key of its bundle; one of no group under those of all bundles of its run."""
    rows = [
        {"key_path": path, "groups": groups, "bundles": _bundles(groups)} for path, groups in runs.items()
    ]
    counted = small_table(
        packets.sparkSession, rows, {"key_path": "string", "groups": "bigint", "bundles": "bigint"}
    )
    of_group = F.coalesce("group", F.when(F.col("theirs"), F.col("file_group")))
    everywhere = F.sequence(F.lit(0).cast("bigint"), F.col("bundles") - 1)
    own = F.array(F.pmod(F.xxhash64("of_group"), F.col("bundles")))
    return (
        with_places(packets.filter(F.col("kind") == EVENTS_OF_GROUP), blocks)
        .withColumn("key_path", F.col("path"))
        .join(F.broadcast(counted), "key_path", "inner")
        .withColumn("of_group", of_group)
        .withColumn("bundle", F.explode(F.when(F.col("of_group").isNull(), everywhere).otherwise(own)))
        .select(*_KEYS, *_NEEDED)
    )


def _fold(key: tuple[pa.Scalar, ...], table: pa.Table) -> pa.Table:
    """The rows of all tables of the groups of a bundle, each in the column of its table."""
    import pyarrow as pa

    path, bundle, groups = (part.as_py() for part in key)
    with uncollected():
        own, shared = _groups(table)
        told = tables_of_groups(own, shared, alone=groups == 1, unnamed=bundle == 0)
        names, columns = folded_columns(path, told)
    return pa.table({"table": pa.array(names, pa.string()), **columns})


def folded_columns(
    path: str, tables: Iterable[tuple[str | None, GroupTables]]
) -> tuple[list[str], dict[str, pa.Array]]:
    """The rows of all tables of some groups: the name of each row's table, and a column for each table."""
    import pyarrow as pa

    names: list[str] = []
    columns: dict[str, list[Any]] = {name: [] for name in GOLD}
    for group, told in tables:
        for name in GOLD:
            rows = [{"path": path, "group": group, **row} for row in getattr(told, name)]
            names += [name] * len(rows)
            for other in GOLD:
                columns[other] += rows if other == name else [None] * len(rows)
    return names, {name: pa.array(column, arrow_type(struct_of(name))) for name, column in columns.items()}


def _groups(table: pa.Table) -> tuple[Iterator[tuple[str, list[Event]]], list[Event]]:
    """The events of each group in a bundle, unpacked one group after the other, and those of no group."""
    parts: dict[str | None, list[Any]] = defaultdict(list)
    columns = table.column("of_group").to_pylist(), table.column("data").to_pylist(), places_of(table)
    for group, *packet in zip(*columns, strict=True):
        parts[group].append(packet)
    shared = _unpacked(parts.pop(None, ()))
    names = sorted(name for name in parts if name is not None)
    return ((group, _unpacked(parts.pop(group))) for group in names), shared


def _unpacked(packets: Iterable[Any]) -> list[Event]:
    return [Event(fields) for packet in packets for fields in unpacked(*packet)]
