"""The answer for programs: JSON lines, and a table as CSV.

The whole answer as JSON lines: one per run and group, one of findings without a group per run, and a summary.

A table of the answer as CSV, safe to open in a spreadsheet.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rebalance_kit.forensics.answer.severity import SEVERITIES, gravest
from rebalance_kit.forensics.answer.verdict import FOUND, NOT_UNDERSTOOD, NOTHING_WRONG, totals
from rebalance_kit.forensics.tables import GOLD, LINES, TABLES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TextIO

    from rebalance_kit.forensics.answer.happenings import Happening
    from rebalance_kit.forensics.answer.selected import Selected
    from rebalance_kit.forensics.answer.verdict import Verdict
    from rebalance_kit.forensics.tables import Row, Tables


#: Where the schema stands, and its version, which every line carries.
SCHEMA, VERSION = "docs/logs.schema.json", 1

#: The lists of a group that come from tables of their own.
_LISTS = ("gaps", "storms", "members")


def print_lines(
    result: Selected, said: Verdict, status: int, out: TextIO, happenings: Sequence[Happening] = ()
) -> None:
    """One JSON object per line, ASCII: groups in order, what no group is named for, the summary last."""
    parts: dict[str, dict[tuple[str, str | None], list[Row]]] = {}
    for name in (*_LISTS, "findings"):
        by_group = parts[name] = defaultdict(list)
        for row in result.rows(name):
            by_group[row["path"], row["group"]].append(row)
    for row in result.rows("groups"):
        key = row["path"], row["group"]
        print(json.dumps(group_line(row, {name: parts[name][key] for name in _LISTS})), file=out)
    nobody = sorted({path for path, group in parts["findings"] if group is None})
    for path in nobody:
        findings = [_bare(row) for row in parts["findings"][path, None]]
        print(json.dumps(_line("no group", path, None, findings)), file=out)
    told = {"events": [{"at_ms": one.at_ms, "text": one.text} for one in happenings]}
    print(json.dumps(_summary(result, said, status) | told), file=out)


def group_line(row: Row, lists: Mapping[str, Sequence[Row]]) -> dict[str, Any]:
    """The line of a group; absent lists are empty lists."""
    told = {
        key: [] if row.get(key) is None else row[key]
        for key in GOLD["groups"]
        if key not in {"path", "group"}
    }
    told |= {name: [_bare(one) for one in rows] for name, rows in lists.items()}
    told["unread"] = totals(lists["gaps"], told["findings"])
    told["severity"] = gravest([one["severity"] for one in told["findings"]])
    return {"version": VERSION, "kind": "group", "path": row["path"], "group": row["group"], **told}


def _bare(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in {"path", "group"}}


def _line(kind: str, path: str | None, group: str | None, findings: Sequence[Row]) -> dict[str, Any]:
    severity = gravest([one["severity"] for one in findings])
    return {
        "version": VERSION,
        "kind": kind,
        "path": path,
        "group": group,
        "findings": list(findings),
        "severity": severity,
    }


def _summary(result: Selected, said: Verdict, status: int) -> dict[str, Any]:
    known = said.understood
    return {
        "version": VERSION,
        "kind": "summary",
        "path": None,
        "group": None,
        "verdict": said.sentence,
        "severity": said.severity,
        "status": status,
        "since_ms": result.since_ms,
        "until_ms": result.until_ms,
        "files": result.rows("lines"),
        "about": known.about,
        "unclear": known.unclear,
        "by_words": known.by_words,
        "passed_over": [
            {"path": str(one.path), "why": one.why, "damaged": one.damaged} for one in result.passed_over
        ],
    }


_TYPES: Mapping[str, Any] = MappingProxyType(
    {
        "string": {"type": ["string", "null"]},
        "bigint": {"type": ["integer", "null"]},
        "int": {"type": ["integer", "null"]},
        "double": {"type": ["number", "null"]},
        "boolean": {"type": ["boolean", "null"]},
        "array<string>": {"type": ["array", "null"], "items": {"type": "string"}},
        "array<bigint>": {"type": ["array", "null"], "items": {"type": "integer"}},
    }
)


def schema() -> dict[str, Any]:
    """The JSON Schema of a line, made from the tables."""
    lists = {name: _objects(name, GOLD[name]) for name in (*_LISTS, "findings", "rebalances")}
    severity = {"enum": [*SEVERITIES, None]}
    common = {"version": {"const": VERSION}, "severity": severity}
    unread = _object(
        {
            "unread_ms": "bigint",
            "longest_ms": "bigint",
            "longest": "string",
            "at_least": "boolean",
            "at_most": "boolean",
        }
    )
    group = {
        **common, "kind": {"const": "group"}, "path": {"type": "string"}, "group": {"type": "string"},
        **{name: _TYPES[kind] for name, kind in GOLD["groups"].items() if kind in _TYPES and name not in {"path", "group"}},
        **lists, "unread": unread,
    }  # fmt: skip
    nobody = {
        **common, "kind": {"const": "no group"}, "path": {"type": "string"}, "group": {"type": "null"},
        "findings": lists["findings"],
    }  # fmt: skip
    over = _object({"path": "string", "why": "string", "damaged": "boolean"})
    number = {"type": "integer", "minimum": 0}
    summary = {
        **common, "kind": {"const": "summary"}, "path": {"type": "null"}, "group": {"type": "null"},
        "verdict": {"type": "string"}, "status": {"enum": [NOTHING_WRONG, FOUND, NOT_UNDERSTOOD]},
        "since_ms": _TYPES["bigint"], "until_ms": _TYPES["bigint"],
        "files": {"type": "array", "items": _object(LINES)},
        "about": number, "unclear": number, "by_words": number,
        "passed_over": {"type": "array", "items": over},
        "events": {"type": "array", "items": _object({"at_ms": "bigint", "text": "string"})},
    }  # fmt: skip
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://rebalance-kit/logs.schema.json",
        "title": f"A line of rebalance-kit logs --json, version {VERSION}",
        "oneOf": [
            {"type": "object", "properties": one, "required": sorted(one), "additionalProperties": False}
            for one in (group, nobody, summary)
        ],
    }


def _objects(name: str, columns: Mapping[str, str]) -> dict[str, Any]:
    from rebalance_kit.forensics.group_row import SHOWN

    names = (
        SHOWN
        if name == "rebalances"
        else tuple(column for column in columns if column not in {"path", "group"})
    )
    return {
        "type": "array",
        "items": _object({column: columns[column] for column in names}, name == "findings"),
    }


def _object(columns: Mapping[str, str], loose: bool = False) -> dict[str, Any]:
    """An object of these columns, all of them there; ``loose``: some may be left out."""
    required = {} if loose else {"required": sorted(columns)}
    return {
        "type": "object", "properties": {name: _TYPES[kind] for name, kind in columns.items()},
        **required, "additionalProperties": False,
    }  # fmt: skip


#: What makes a spreadsheet take a text for a formula.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


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
