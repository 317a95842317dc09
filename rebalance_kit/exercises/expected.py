"""Output of a right answer to the public case, as a small table: the hint between problem and solution."""

from __future__ import annotations

from rebalance_kit.exercises.task import Task, in_order, told

SHOWN = 12


def expected(task: Task) -> str:
    """The true rows of the public case, the first ``SHOWN`` of them, in the order of their keys.

    Made from the truth, so it never holds what a solution happens to answer.
    """
    rows = in_order(task.truth(task.public), task.key)
    table = [list(task.columns), *([told(row[name]) for name in task.columns] for row in rows[:SHOWN])]
    widths = [max(len(line[column]) for line in table) for column in range(len(task.columns))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in table
    ]
    more = len(rows) - SHOWN
    return "\n".join([*lines, f"... and {more} more rows"] if more > 0 else lines) + "\n"
