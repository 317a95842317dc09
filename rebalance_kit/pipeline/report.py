"""The report for the terminal, and the same content as JSON lines."""

from __future__ import annotations

import json
import textwrap
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

    from rebalance_kit.pipeline.forensics import Forensics
    from rebalance_kit.pipeline.lines.accounting import LineCount

#: The greatest width of the report.
_WIDTH = 120

#: How many rejected lines are printed; the table has them all.
_SHOWN_REJECTS = 10


def print_json(result: Forensics, out: TextIO) -> None:
    """One line of ASCII JSON per run and group, ordered by path and group."""
    for row in result.groups.orderBy("path", "group").collect():
        print(json.dumps(group_record(row.asDict(recursive=True))), file=out)


def group_record(row: dict[str, Any]) -> dict[str, Any]:
    """A row of ``groups`` for JSON, with empty lists for absent ones."""
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


def print_report(result: Forensics, counts: Sequence[LineCount], out: TextIO) -> None:
    """Print what happened, group by group, then the line counts, file by file."""
    rows = [
        group_record(row.asDict(recursive=True)) for row in result.groups.orderBy("path", "group").collect()
    ]
    for record in rows:
        _print_group(record, out)
    if not rows:
        print("These files mention no consumer group.", file=out)
    _print_counts(counts, out)
    _print_rejected(result, counts, out)
    for path, why in result.survey.passed_over:
        print(f"passed over {path}: {why}", file=out)


def _print_group(record: dict[str, Any], out: TextIO) -> None:
    print(f"== {record['path']}  group {record['group']}", file=out)
    totals = [f"{len(record['rebalances'])} rebalances"]
    if record["generations"]:
        totals.append("generations " + _span(record["generations"]))
    if record["epochs"]:
        totals.append(f"epochs {_span(record['epochs'])}, {record['targets']} target assignments")
    if record["expired"]:
        totals.append(f"{record['expired']} expired: {', '.join(record['expired_members'])}")
    print("   " + "; ".join(totals), file=out)
    for row in record["rebalances"]:
        _print_rebalance(row, out)
    if record["findings"]:
        print("   Findings, and what to do:", file=out)
    for finding in record["findings"]:
        _print_finding(finding, out)
    print(file=out)


def _print_rebalance(row: dict[str, Any], out: TextIO) -> None:
    duration = "unfinished" if row["duration_ms"] is None else f"{row['duration_ms'] / 1000:.1f} s"
    step = f"{row['before']} -> {row['after'] if row['after'] is not None else '?'}"
    moved = f"; {len(row['moved'])} partitions moved" if row.get("moved") else ""
    head = f"   {row['number']:>3}  {_clock(row['start_ms'])}  {duration:>10}  {step:<9} "
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
    """The text after its head, with further lines indented to the head's width."""
    return textwrap.fill(text, _WIDTH, initial_indent=head, subsequent_indent=" " * len(head))


def _span(numbers: Sequence[int]) -> str:
    return ", ".join(str(number) for number in numbers)


def _print_counts(counts: Sequence[LineCount], out: TextIO) -> None:
    print("Lines: parsed + ignored + rejected = lines", file=out)
    for count in counts:
        note = f"   ({count.note})" if count.note else ""
        print(
            f"   {count.parsed} + {count.ignored} + {count.rejected} = {count.lines}   {_place(count)}{note}",
            file=out,
        )
    parsed, ignored, rejected, lines = (
        sum(getattr(count, column) for count in counts)
        for column in ("parsed", "ignored", "rejected", "lines")
    )
    print(f"   {parsed} + {ignored} + {rejected} = {lines}   all {len(counts)} files", file=out)


def _place(count: LineCount) -> str:
    return count.file if count.file.startswith(count.path) else f"{count.path}/{count.file}"


def _print_rejected(result: Forensics, counts: Sequence[LineCount], out: TextIO) -> None:
    rejected = sum(count.rejected for count in counts)
    if not rejected:
        return
    print(f"Rejected lines ({rejected}; the first {min(rejected, _SHOWN_REJECTS)}):", file=out)
    for row in result.rejected.orderBy("path", "file", "line").limit(_SHOWN_REJECTS).collect():
        print(f"   {row['file']}:{row['line']}: {row['why']}: {row['text'][:100]!r}", file=out)
