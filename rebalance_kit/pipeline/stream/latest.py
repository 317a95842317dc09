"""The last rebalances of a stream, quickly: the coordinator's own word, without the clients' side of it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from rebalance_kit.pipeline.gold import member_names as names
from rebalance_kit.pipeline.gold.rebalances import rebalances
from rebalance_kit.pipeline.gold.triggers import sentence
from rebalance_kit.pipeline.stream.watch import Latest

if TYPE_CHECKING:
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


def latest(silver: Events, lines: int, settled_before: str | None, limit: int) -> Latest:
    """The ``limit`` newest rebalances in silver tables; ``settled_before`` is the watermark (ISO, UTC)."""
    known = names.member_names(silver.events)
    told = rebalances(silver.events, known).withColumn("cause", sentence(F.col("trigger"), F.col("culprit")))
    found = told.select(*_SHOWN).localCheckpoint()
    newest = found.orderBy(F.desc("start_ms"), "path", "group", F.desc("number")).limit(limit).collect()
    mark = -1.0 if settled_before is None else datetime.fromisoformat(settled_before).timestamp() * 1000
    rows = tuple({**row.asDict(), "settled": row.end_ms is not None and row.end_ms < mark} for row in newest)
    return Latest(len(silver.survey.files), lines, found.count(), settled_before, rows)
