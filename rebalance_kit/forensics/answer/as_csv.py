"""A table of the answer as CSV, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from rebalance_kit.forensics.tables import TABLES

if TYPE_CHECKING:
    from typing import Any, TextIO

    from rebalance_kit.forensics.tables import Tables

#: What makes a spreadsheet take a text for a formula.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")

#: Tables that CSV can hold: lists of records cannot.
CSV_TABLES = ("findings", "rebalances", "gaps", "storms", "members", "lines", "rejected")


def print_csv(result: Tables, name: str, out: TextIO) -> None:
    """The rows of a table with a head; lists are joined by ``; ``, and a text that begins as a formula gets a quote before it."""
    columns = list(TABLES[name])
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in result.rows(name):
        writer.writerow([_cell(row[column]) for column in columns])


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        value = "; ".join(map(str, value))
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULAS) else value
