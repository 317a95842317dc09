"""The whole report in words: every finding and every rebalance."""

from __future__ import annotations

import textwrap
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rebalance_kit.forensics.words import counted, lasted
from rebalance_kit.model.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

    from rebalance_kit.forensics.tables import Row, Tables

#: How wide the report is at most.
_WIDTH = 108

#: How many rejected lines are shown with the books, and without; the table has them all.
_SHOWN_REJECTS, _FEW_REJECTS = 10, 3

#: How many groups the summary names, how many members a line names, and how many numbers it lists.
_SUMMARY, _NAMED, _NUMBERS = 8, 6, 12


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


def print_report(result: Tables, out: TextIO, books: bool = False) -> None:
    """A summary of ten lines, the groups by what their rebalances cost, and whether every line is accounted for.

    ``books`` adds the count of every file, what was passed over, and rejected lines.
    """
    unread = _unread(result.rows("gaps"))
    records = sorted(
        (group_record(row) for row in result.rows("groups")),
        key=lambda record: (*_trouble(record, unread), record["path"], record["group"]),
    )
    nobody = [row for row in result.rows("findings") if row["group"] is None]
    _print_summary(records, unread, out)
    for record in records:
        if record["rebalances"] or record["findings"]:
            _print_group(record, out)
    quiet = [record["group"] for record in records if not record["rebalances"] and not record["findings"]]
    if quiet:
        print(_wrapped("Named, without a rebalance to tell of: ", ", ".join(quiet)), file=out)
    if nobody:
        print("Of lines that name no group:", file=out)
        _print_findings(nobody, out)
    if not records and not nobody:
        print("No line of these files names a consumer group.", file=out)
    counts = result.rows("lines")
    (_print_books if books else _print_sums)(counts, out)
    _print_rejects(result, counts, out, books=books)
    for one in result.passed_over:
        if one.damaged:
            print(_wrapped("not all is read: ", f"{one.path} {one.why}"), file=out)
        elif books:
            print(f"passed over {one.path}: {one.why}", file=out)
    others = sum(not one.damaged for one in result.passed_over)
    if others and not books:
        print(f"passed over {others} files that are no logs by their names", file=out)


def _unread(gaps: Sequence[Row]) -> Counter[tuple[str, str]]:
    """Unread partition-milliseconds of each group of a run."""
    sums: Counter[tuple[str, str]] = Counter()
    for row in gaps:
        sums[row["path"], row["group"]] += max(0, row["duration_ms"])
    return sums


def _trouble(record: dict[str, Any], unread: Counter[tuple[str, str]]) -> tuple[int, int, int]:
    """What orders groups: those whose partitions nobody read longest come first."""
    cost = unread[record["path"], record["group"]]
    return -cost, -record["expired"], -len(record["findings"]) - len(record["rebalances"])


def _print_summary(records: Sequence[dict[str, Any]], unread: Counter[tuple[str, str]], out: TextIO) -> None:
    if len(records) < 2:
        return
    print(f"Summary: {len(records)} groups, those that cost most first", file=out)
    for record in records[:_SUMMARY]:
        rows = record["rebalances"]
        told = [counted(len(rows), "rebalance")]
        if rows:
            trigger, times = Counter(row["trigger"] for row in rows).most_common(1)[0]
            told[0] += f" since {clock(rows[0]['start_ms'])} ({trigger} x {times})"
        cost = unread[record["path"], record["group"]]
        told += [f"unread {cost / 1000:,.1f} partition-s"] if cost else []
        told += [f"{record['expired']} expired"] if record["expired"] else []
        told += [counted(len(record["findings"]), "finding")] if record["findings"] else []
        print(_wrapped("   ", f"{record['group']} ({record['path']}): {', '.join(told)}"), file=out)
    if len(records) > _SUMMARY:
        print(f"   and {len(records) - _SUMMARY} more, below", file=out)
    print(file=out)


def _print_group(record: dict[str, Any], out: TextIO) -> None:
    print(f"== {record['path']}  group {record['group']}", file=out)
    rows = record["rebalances"]
    counts = [counted(len(rows), "rebalance") if rows else "no rebalance to tell of"]
    if record["generations"]:
        counts.append("generations " + _span(record["generations"]))
    if record["epochs"]:
        counts.append(f"epochs {_span(record['epochs'])}, {counted(record['targets'], 'target assignment')}")
    if record["expired"]:
        who = Counter(record["expired_members"])
        names = [name if times == 1 else f"{name} x {times}" for name, times in who.most_common(_NAMED)]
        more = f" and {len(who) - _NAMED} more" if len(who) > _NAMED else ""
        counts.append(f"{record['expired']} expired: {', '.join(names)}{more}")
    print(_wrapped("   ", "; ".join(counts)), file=out)
    if record["findings"]:
        costs = any(row["unread_ms"] for row in record["findings"])
        print(f"   Findings{', those that cost most first' if costs else ''}, and what to do:", file=out)
        _print_findings(by_cost(record["findings"]), out)
    shared = _shared_names(rows)
    if rows:
        print("   Rebalances:", file=out)
    for row in rows:
        _print_rebalance(row, shared, out)
    print(file=out)


def by_cost(findings: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Findings by the unread partition-time around them, the most first; of equal cost in order of time."""
    return sorted(findings, key=lambda row: -(row["unread_ms"] or 0))


def _shared_names(rows: Sequence[dict[str, Any]]) -> set[str]:
    """Names that several member ids go by: a client.id need not be one process's."""
    ids: dict[str, set[str]] = {}
    for row in rows:
        if row["culprit"] and row["culprit_member"]:
            ids.setdefault(row["culprit"], set()).add(row["culprit_member"])
    return {name for name, members in ids.items() if len(members) > 1}


def _print_rebalance(row: dict[str, Any], shared: set[str], out: TextIO) -> None:
    took = lasted(row) or ("no end here" if row["duration_ms"] is None else "not measured")
    step = " -> ".join("?" if row[name] is None else str(row[name]) for name in ("before", "after"))
    moved = f"; {len(row['moved'])} partitions moved" if row.get("moved") else ""
    which = f" [{row['culprit_member']}]" if row["culprit"] in shared else ""
    head = f"   {row['number']:>3}  {clock(row['start_ms'])}  {took:>15}  {step:<9} "
    print(_wrapped(head, f"{row['cause']}{moved}{which} ({row['file']}:{row['line']})"), file=out)


def _print_findings(findings: Sequence[dict[str, Any]], out: TextIO) -> None:
    """Findings, equal ones about several members together."""
    kinds: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in findings:
        kinds.setdefault((row["finding"], row["do"]), []).append(row)
    for (_, do), rows in kinds.items():
        first = rows[0]
        others = [row["who"] or f"{row['file']}:{row['line']}" for row in rows[1:]]
        more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
        same = f" (of the same kind: {', '.join(others[:_NAMED])}{more})" if others else ""
        print(_wrapped("   * ", f"{first['sentence']}{same}"), file=out)
        print(_wrapped("     do: ", do), file=out)
        at = f"{clock(first['at_ms'])} " if first["at_ms"] is not None else ""
        cost = (
            f"unread meanwhile {first['unread_ms'] / 1000:,.1f} partition-s; " if first["unread_ms"] else ""
        )
        print(_wrapped("     ", f"{cost}{at}{first['file']}:{first['line']} ({first['source']})"), file=out)


def clock(at_ms: int) -> str:
    """Date and time of day in UTC, to the tenth of a second; a whole second without one, as it may be told to the second."""
    told = f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d %H:%M:%S}"
    return f"{told}.{at_ms % 1000 // 100}" if at_ms % 1000 else told


def _wrapped(head: str, text: str) -> str:
    """The text behind its head, further lines below its beginning."""
    return textwrap.fill(text, _WIDTH, initial_indent=head, subsequent_indent=" " * len(head))


def _span(numbers: Sequence[int]) -> str:
    """Numbers in words: all of a few, first and last of many."""
    if len(numbers) <= _NUMBERS:
        return ", ".join(str(number) for number in numbers)
    return f"{numbers[0]}, {numbers[1]} ... {numbers[-1]} ({len(numbers)})"


def _print_sums(counts: Sequence[Row], out: TextIO) -> None:
    parsed, ignored, rejected, lines = (
        sum(row[name] for row in counts) for name in ("parsed", "ignored", "rejected", "lines")
    )
    print(
        f"Lines: {parsed} parsed + {ignored} ignored + {rejected} rejected = {lines}, of {len(counts)} files "
        "(--books: file by file)",
        file=out,
    )
    for row in counts:
        if row["note"]:
            print(f"   {_place(row)}: {row['note']}", file=out)


def _print_books(counts: Sequence[Row], out: TextIO) -> None:
    print("Lines: parsed + ignored + rejected = lines", file=out)
    for row in counts:
        note = f"   ({row['note']})" if row["note"] else ""
        print(
            f"   {row['parsed']} + {row['ignored']} + {row['rejected']} = {row['lines']}   {_place(row)}{note}",
            file=out,
        )
    sums = [sum(row[name] for row in counts) for name in ("parsed", "ignored", "rejected", "lines")]
    print(f"   {sums[0]} + {sums[1]} + {sums[2]} = {sums[3]}   all {len(counts)} files", file=out)


def _place(row: Row) -> str:
    return str(row["file"]) if row["file"].startswith(row["path"]) else f"{row['path']}/{row['file']}"


def _print_rejects(result: Tables, counts: Sequence[Row], out: TextIO, *, books: bool) -> None:
    rejects = sum(row["rejected"] for row in counts)
    if not rejects:
        return
    shown = _SHOWN_REJECTS if books else _FEW_REJECTS
    print(f"Rejected lines ({rejects}; the first {min(rejects, shown)}):", file=out)
    for row in result.rows("rejected")[:shown]:
        print(f"   {_place(row)}:{row['line']}: {row['why']}: {row['text'][:100]!r}", file=out)


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
