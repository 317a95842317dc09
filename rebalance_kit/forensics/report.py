"""The report a person reads on the terminal, and the same as JSON lines."""

from __future__ import annotations

import json
import textwrap
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rebalance_kit.model.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

    from rebalance_kit.forensics.tables import Row, Tables

#: How wide the report is at most.
_WIDTH = 120

#: How many rejected lines are shown; the table has them all.
_SHOWN_REJECTS = 10


def print_json(result: Tables, out: TextIO) -> None:
    """One JSON object a line for each run and group, ordered by path and group; ASCII, so that no text breaks a line."""
    for row in result.rows("groups"):
        print(json.dumps(group_record(row)), file=out)


def group_record(row: dict[str, Any]) -> dict[str, Any]:
    """The JSON form of a row of ``groups``: absent lists are empty lists."""
    keys = (
        "path",
        "group",
        "generations",
        "epochs",
        "targets",
        "expired",
        "expired_members",
        "rebalances",
        "causes",
        "findings",
    )
    return {key: [] if row.get(key) is None else row[key] for key in keys}


def print_report(result: Tables, out: TextIO) -> None:
    """What happened, group by group, then the books of lines, file by file."""
    rows = [group_record(row) for row in result.rows("groups")]
    for record in rows:
        _print_group(record, out)
    if not rows:
        print("No consumer group is told of in these files.", file=out)
    books = result.rows("lines")
    _print_books(books, out)
    _print_rejects(result, books, out)
    for path, why in result.passed_over:
        print(f"passed over {path}: {why}", file=out)


def _print_group(record: dict[str, Any], out: TextIO) -> None:
    print(f"== {record['path']}  group {record['group']}", file=out)
    counts = [f"{len(record['rebalances'])} rebalances"]
    if record["generations"]:
        counts.append("generations " + _span(record["generations"]))
    if record["epochs"]:
        counts.append(f"epochs {_span(record['epochs'])}, {record['targets']} target assignments")
    if record["expired"]:
        counts.append(f"{record['expired']} expired: {', '.join(record['expired_members'])}")
    print("   " + "; ".join(counts), file=out)
    for row in record["rebalances"]:
        _print_rebalance(row, out)
    if record["findings"]:
        print("   Findings, and what to do:", file=out)
    for finding in record["findings"]:
        _print_finding(finding, out)
    print(file=out)


def _print_rebalance(row: dict[str, Any], out: TextIO) -> None:
    lasted = "unfinished" if row["duration_ms"] is None else f"{row['duration_ms'] / 1000:.1f} s"
    step = f"{row['before']} -> {row['after'] if row['after'] is not None else '?'}"
    moved = f"; {len(row['moved'])} partitions moved" if row.get("moved") else ""
    head = f"   {row['number']:>3}  {_clock(row['start_ms'])}  {lasted:>10}  {step:<9} "
    print(_wrapped(head, f"{row['cause']}{moved}"), file=out)


def _print_finding(finding: dict[str, Any], out: TextIO) -> None:
    at = f"{_clock(finding['at_ms'])} " if finding["at_ms"] is not None else ""
    print(_wrapped("   * ", f"{finding['sentence']}"), file=out)
    print(_wrapped("     do: ", finding["do"]), file=out)
    print(f"     {at}{finding['file']}:{finding['line']} ({finding['source']})", file=out)


def _clock(at_ms: int) -> str:
    """Date and time of day in UTC, to the tenth of a second."""
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d %H:%M:%S}.{at_ms % 1000 // 100}"


def _wrapped(head: str, text: str) -> str:
    """The text behind its head, further lines below its beginning."""
    return textwrap.fill(text, _WIDTH, initial_indent=head, subsequent_indent=" " * len(head))


def _span(numbers: Sequence[int]) -> str:
    return ", ".join(str(number) for number in numbers)


def _print_books(books: Sequence[Row], out: TextIO) -> None:
    print("Lines: parsed + ignored + rejected = lines", file=out)
    for row in books:
        path, file = row["path"], row["file"]
        place = file if path == file else f"{path}/{file}" if not file.startswith(path) else file
        told = f"   ({row['note']})" if row["note"] else ""
        print(
            f"   {row['parsed']} + {row['ignored']} + {row['rejected']} = {row['lines']}   {place}{told}",
            file=out,
        )
    sums = [sum(row[name] for row in books) for name in ("parsed", "ignored", "rejected", "lines")]
    print(f"   {sums[0]} + {sums[1]} + {sums[2]} = {sums[3]}   all {len(books)} files", file=out)


def _print_rejects(result: Tables, books: Sequence[Row], out: TextIO) -> None:
    rejects = sum(row["rejected"] for row in books)
    if not rejects:
        return
    print(f"Rejected lines ({rejects}; the first {min(rejects, _SHOWN_REJECTS)}):", file=out)
    for row in result.rows("rejected")[:_SHOWN_REJECTS]:
        print(f"   {row['file']}:{row['line']}: {row['why']}: {row['text'][:100]!r}", file=out)


def require_balance(books: Sequence[Row]) -> None:
    """Raise ``DataError`` unless parsed + ignored + rejected = lines for every row of the table ``lines``."""
    wrong = [
        f"{row['path']} {row['file']}: {row['lines']} lines, but {row['parsed']} parsed + {row['ignored']} ignored "
        f"+ {row['rejected']} rejected"
        for row in books
        if row["parsed"] + row["ignored"] + row["rejected"] != row["lines"]
    ]
    if wrong:
        raise DataError(
            "lines were lost or made up (did a file change while it was read?): " + "; ".join(wrong[:5])
        )
