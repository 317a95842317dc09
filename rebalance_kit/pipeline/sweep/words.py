"""A sweep in words: for every protocol and combination of values the median over the seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from rebalance_kit.analysis.comparison import ABSENT, aligned

#: What the summary shows: column, heading.
SHOWN = (
    ("crash_detect_s", "crash found after s"),
    ("false_alarms", "false alarms"),
    ("rebalances", "rebalances"),
    ("group_gap_s", "all stopped s"),
    ("unread_partition_s", "partition-seconds stopped"),
    ("partitions_moved", "moved"),
)

Row = Mapping[str, Any]


def by_setting(rows: Sequence[Row], names: Sequence[str]) -> dict[tuple[Any, ...], list[Row]]:
    """Rows without an error by scenario, protocol and values, in the order in which they were asked for."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in sorted(rows, key=lambda one: int(one["run"])):
        if row["error"] is None:
            found.setdefault((row["scenario"], row["protocol"], *(row[name] for name in names)), []).append(
                row
            )
    return found


def describe_sweep(rows: Sequence[Row], names: Sequence[str]) -> str:
    """The table of medians (means of counts of false alarms, which are mostly 0), and what went wrong."""
    head = ["scenario", "protocol", *names, "runs", *(heading for _, heading in SHOWN)]
    body = [
        [
            *(ABSENT if one is None else str(one) for one in key),
            str(len(held)),
            *(_middle(held, column) for column, _ in SHOWN),
        ]
        for key, held in by_setting(rows, names).items()
    ]
    errors: dict[str, int] = {}
    for row in rows:
        if row["error"] is not None:
            errors[row["error"]] = errors.get(row["error"], 0) + 1
    told = [
        f"{count} runs failed: {error}"
        for error, count in sorted(errors.items(), key=lambda one: (-one[1], one[0]))
    ]
    return "\n".join([*([aligned([head, *body])] if body else []), *told])


def _middle(rows: Sequence[Row], column: str) -> str:
    values = [float(row[column]) for row in rows if row[column] is not None]
    if not values:
        return ABSENT
    return f"{sum(values) / len(values):.2f}" if column == "false_alarms" else f"{median(values):.1f}"
