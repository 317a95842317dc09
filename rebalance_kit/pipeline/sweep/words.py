"""A sweep as text: the median and the middle half over the seeds for every protocol and combination of values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rebalance_kit.analysis.draws import Distribution
from rebalance_kit.analysis.metrics import ABSENT, aligned

#: The columns of the summary and their headings.
SHOWN = (
    ("crash_detect_s", "crash found after s"),
    ("false_alarms", "false alarms"),
    ("rebalances", "rebalances"),
    ("group_gap_s", "whole-group gap s"),
    ("unread_partition_s", "unread partition-seconds"),
    ("handovers", "hand-overs"),
    ("partitions_moved", "elsewhere at the end"),
)

Row = Mapping[str, Any]


def by_setting(rows: Sequence[Row], names: Sequence[str]) -> dict[tuple[Any, ...], list[Row]]:
    """Successful rows by scenario, protocol and values, in the order of the grid."""
    settings: dict[tuple[Any, ...], list[Row]] = {}
    for row in sorted(rows, key=lambda row: int(row["run"])):
        if row["error"] is None:
            setting = (row["scenario"], row["protocol"], *(row[name] for name in names))
            settings.setdefault(setting, []).append(row)
    return settings


def describe_sweep(rows: Sequence[Row], names: Sequence[str]) -> str:
    """The table of medians with their middle halves (means for false alarms, most of which are 0), and the errors of failed runs."""
    head = ["scenario", "protocol", *names, "runs", *(heading for _, heading in SHOWN)]
    body = [
        [
            *(ABSENT if value is None else str(value) for value in setting),
            str(len(runs)),
            *(_middle(runs, column) for column, _ in SHOWN),
        ]
        for setting, runs in by_setting(rows, names).items()
    ]
    errors = Counter(row["error"] for row in rows if row["error"] is not None)
    failures = [
        f"{count} runs failed: {error}"
        for error, count in sorted(errors.items(), key=lambda item: (-item[1], item[0]))
    ]
    return "\n".join([*([aligned([head, *body])] if body else []), *failures])


def _middle(rows: Sequence[Row], column: str) -> str:
    values = [float(row[column]) for row in rows if row[column] is not None]
    if not values:
        return ABSENT
    if column == "false_alarms":
        return f"{sum(values) / len(values):.2f}"
    drawn = Distribution(tuple(sorted(values)))
    low, high = drawn.middle_half
    middle = f"{drawn.median:.1f}"
    return middle if f"{low:.1f}" == f"{high:.1f}" == middle else f"{middle} ({low:.1f}–{high:.1f})"
