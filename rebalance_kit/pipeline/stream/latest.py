"""The last rebalances of a stream."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from rebalance_kit.pipeline.gold import gold_tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rebalance_kit.pipeline.inquiry import Events

_SHOWN = (
    "path",
    "group",
    "number",
    "protocol",
    "start_ms",
    "end_ms",
    "trigger",
    "cause",
    "culprit",
    "before",
    "after",
    "members",
)


@dataclass(frozen=True, slots=True)
class Latest:
    """A snapshot of a running stream: the last rebalances, newest first, and up to when they are settled.

    Rows hold path, group, number, start_ms, end_ms (None: not ended), trigger, cause, before, after,
    members and ``settled``: whether the watermark has passed its end, so that no line can change it.
    """

    files: int
    lines: int
    rebalances: int
    settled_before: str | None
    rows: tuple[Mapping[str, Any], ...]


def latest(silver: Events, lines: int, settled_before: str | None, limit: int) -> Latest:
    """The ``limit`` newest rebalances in silver tables; ``settled_before`` is the watermark (ISO, UTC)."""
    shown = gold_tables(silver.kept, silver.blocks)["rebalances"].select(*_SHOWN)
    newest = shown.orderBy(F.desc("start_ms"), "path", "group", F.desc("number")).limit(limit).collect()
    mark = -1.0 if settled_before is None else datetime.fromisoformat(settled_before).timestamp() * 1000
    rows = tuple({**row.asDict(), "settled": row.end_ms is not None and row.end_ms < mark} for row in newest)
    return Latest(len(silver.survey.files), lines, shown.count(), settled_before, rows)
