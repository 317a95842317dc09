"""The last rebalances of a stream, quickly: the coordinator's own word, without the clients' side of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from rebalance_kit.pipeline.gold import member_names as names
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
    """What a look at a running stream tells: the last rebalances, newest first, and how far they are settled.

    Rows hold path, group, number, start_ms, end_ms (None: not ended), trigger, cause, before, after,
    members and ``settled``: whether the watermark has passed its end, so that no line can change it.
    Causes are the coordinator's word; the tables add what the clients' own logs say.
    """

    files: int
    lines: int
    rebalances: int
    settled_before: str | None
    rows: tuple[Mapping[str, Any], ...]


def latest(silver: Events, lines: int, settled_before: str | None, limit: int) -> Latest:
    """The ``limit`` newest rebalances in silver tables; ``settled_before`` is the watermark (ISO, UTC)."""
    known = names.member_names(silver.events)
    told = rebalances(silver.events, known).withColumn("cause", sentence(F.col("trigger"), F.col("culprit")))
    found = told.select(*_SHOWN).localCheckpoint()
    newest = found.orderBy(F.desc("start_ms"), "path", "group", F.desc("number")).limit(limit).collect()
    mark = -1.0 if settled_before is None else datetime.fromisoformat(settled_before).timestamp() * 1000
    rows = tuple({**row.asDict(), "settled": row.end_ms is not None and row.end_ms < mark} for row in newest)
    return Latest(len(silver.survey.files), lines, found.count(), settled_before, rows)
