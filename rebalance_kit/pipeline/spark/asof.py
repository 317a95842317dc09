"""As-of joins: the last row before a moment or the first after it, found by one sort instead of by every pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame


def with_last(
    rows: DataFrame,
    points: DataFrame,
    keys: Sequence[str],
    *,
    at: Column,
    point_at: str,
    into: str,
    strictly: bool = False,
) -> DataFrame:
    """Add ``into``: the last of ``points`` (a struct) at or before ``at`` (before it: ``strictly``) with the same keys.

    Null where there is none; null keys match nothing.  Among points at one moment the greatest counts.
    """
    return _nearest(rows, points, keys, at, point_at, into, forward=False, strictly=strictly)


def with_next(
    rows: DataFrame,
    points: DataFrame,
    keys: Sequence[str],
    *,
    at: Column,
    point_at: str,
    into: str,
    strictly: bool = False,
) -> DataFrame:
    """Add ``into``: the first of ``points`` (a struct) at or after ``at`` (after it: ``strictly``) with the same keys.

    Null where there is none; null keys match nothing.  Among points at one moment the least counts.
    """
    return _nearest(rows, points, keys, at, point_at, into, forward=True, strictly=strictly)


def _nearest(
    rows: DataFrame,
    points: DataFrame,
    keys: Sequence[str],
    at: Column,
    point_at: str,
    into: str,
    *,
    forward: bool,
    strictly: bool,
) -> DataFrame:
    row, point = F.struct(*rows.columns), F.struct(*points.columns)
    both = rows.select(*keys, at.alias("_at"), row.alias("_row")).unionByName(
        points.dropna(subset=[*keys, point_at]).select(
            *keys, F.col(point_at).alias("_at"), point.alias("_point")
        ),
        allowMissingColumns=True,
    )
    asks = F.col("_row").isNotNull()
    order: list[Column] = [F.col("_at"), asks != strictly, F.col("_point")]
    if forward:
        order = [F.col("_at").desc(), asks != strictly, F.col("_point").desc()]
    upto = Window.partitionBy(*keys).orderBy(*order).rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return (
        both.withColumn("_point", F.last("_point", ignorenulls=True).over(upto))
        .filter(asks)
        .select("_row.*", F.when(F.col("_at").isNotNull(), F.col("_point")).alias(into))
    )
