"""Small traces written by hand, to know every number before it is computed."""

from __future__ import annotations

from typing import Any

from rebalance_kit.model.topology import parse_partition
from rebalance_kit.model.trace import Trace, TraceRow

Row = tuple[int, str, str, str | None, dict[str, Any]]


def trace(
    *rows: Row,
    end: int = 60_000,
    label: str = "eager",
    topics: dict[str, int] | None = None,
    protocol: str = "classic",
    **meta: Any,
) -> Trace:
    """Rows as (at, actor, kind, partition or None, detail); ``generation`` and ``member_id`` may stand in the detail."""
    made = []
    for seq, (at, actor, kind, partition, detail) in enumerate(rows):
        held = {"group": "g", **detail}
        generation, member_id = held.pop("generation", None), held.pop("member_id", None)
        tp = parse_partition(partition) if partition else None
        made.append(
            TraceRow(
                at,
                seq,
                actor,
                kind,
                held.pop("protocol", protocol),
                generation,
                member_id,
                tp.topic if tp else None,
                tp.partition if tp else None,
                held,
            )
        )
    return Trace(
        "made", label, 1, end, tuple(made), meta={"scenario": "made", "topics": topics or {"t": 2}, **meta}
    )


def flows(*stretches: tuple[str, str, int, int | None]) -> list[Row]:
    """Rows of (partition, member, from, to) in order of time; a stretch without an end lasts until the run ends."""
    rows: list[Row] = []
    for partition, member, begin, end in stretches:
        rows.append(
            (begin, member, "fetch_resumed", partition, {"position": 0, "log_end": 0, "committed": 0})
        )
        if end is not None:
            rows.append(
                (
                    end,
                    member,
                    "fetch_stopped",
                    partition,
                    {"position": 0, "log_end": 0, "committed": 0, "reason": "revoke"},
                )
            )
    return sorted(rows, key=lambda row: row[0])


def state(at: int, to: str) -> Row:
    return (
        at,
        "coordinator",
        "group_state",
        None,
        {"from": "", "to": to, "reason": "", "trigger": "", "culprit": None},
    )
