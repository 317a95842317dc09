"""What a right answer to the public case looks like, as a small table: the hint between problem and solution."""

from __future__ import annotations

from rebalance_kit.exercises.task import Row, Task

SHOWN = 12


def expected(task: Task) -> str:
    """The true rows of the public case, the first ``SHOWN`` of them, in the order of their keys.

    Made from the truth, so it never holds what a solution happens to answer.
    """
    rows = sorted(task.truth(task.public), key=lambda row: [_sortable(row[name]) for name in task.key])
    table = [list(task.columns), *([_told(row, name) for name in task.columns] for row in rows[:SHOWN])]
    widths = [max(len(line[place]) for line in table) for place in range(len(task.columns))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in table
    ]
    more = len(rows) - SHOWN
    return "\n".join([*lines, f"... and {more} more rows"] if more > 0 else lines) + "\n"


def _told(row: Row, name: str) -> str:
    return "null" if row[name] is None else str(row[name])


def _sortable(value: object) -> str:
    return f"{value:020}" if isinstance(value, int) else str(value)
