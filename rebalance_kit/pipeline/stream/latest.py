"""The last rebalances of a stream, quickly: from the coordinator's log, without the clients' side."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from rebalance_kit.pipeline.gold.member_names import member_names
from rebalance_kit.pipeline.gold.rebalances import rebalances
from rebalance_kit.pipeline.gold.triggers import sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rebalance_kit.pipeline.forensics import Events

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
    Causes come from the coordinator's log alone; the tables add what the clients' own logs say.
    """

    files: int
    lines: int
    rebalances: int
    settled_before: str | None
    rows: tuple[Mapping[str, Any], ...]


def latest(silver: Events, lines: int, settled_before: str | None, limit: int) -> Latest:
    """The ``limit`` newest rebalances in silver tables; ``settled_before`` is the watermark (ISO, UTC)."""
    table = rebalances(silver.events, member_names(silver.events))
    explained = table.withColumn("cause", sentence(F.col("trigger"), F.col("culprit")))
    shown = explained.select(*_SHOWN).localCheckpoint()
    newest = shown.orderBy(F.desc("start_ms"), "path", "group", F.desc("number")).limit(limit).collect()
    mark = -1.0 if settled_before is None else datetime.fromisoformat(settled_before).timestamp() * 1000
    rows = tuple({**row.asDict(), "settled": row.end_ms is not None and row.end_ms < mark} for row in newest)
    return Latest(len(silver.survey.files), lines, shown.count(), settled_before, rows)
