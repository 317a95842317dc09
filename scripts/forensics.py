#!/usr/bin/env python
"""Write docs/forensics.md: what the pipeline says of every recorded run, judged by what was done in it.

The runs come from the pack in data/recorded, or from folders given on the command line (then the table
is printed only).  The text around the tables is in scripts/forensics-head.md.

    python scripts/forensics.py [FOLDER ...]
"""

from __future__ import annotations

import io
import json
import re
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rebalance_kit.model.files import write_atomically
from rebalance_kit.pipeline.command import run_logs
from rebalance_kit.recordings.expected import expectations, judge
from rebalance_kit.recordings.folder import unpack

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "docs" / "forensics.md"
HEAD = HERE / "forensics-head.md"

Record = dict[str, Any]


def main(folders: Sequence[str]) -> int:
    """Read the runs, judge them, and write or print the page; 0 when at least 95 % are right."""
    with tempfile.TemporaryDirectory() as place:
        if not folders:
            unpack(Path(place))
        records = read([Path(name) for name in folders] or [Path(place)])
        rows = [judged(record) for record in records if (Path(record["path"]) / "run.json").exists()]
    right = sum(row["right"] for row in rows)
    text = "\n".join(
        [*table(rows), "", f"**{right} of {len(rows)} runs right.**", "", *findings_table(records)]
    )
    if folders:
        print(text)
    else:
        write_atomically(TARGET, HEAD.read_text("utf-8") + "\n" + text + "\n")
        print(f"wrote {TARGET}: {right} of {len(rows)} runs right")
    return 0 if right >= 0.95 * len(rows) else 1


def read(folders: Iterable[Path]) -> list[Record]:
    """The JSON lines of all runs under the folders."""
    out = io.StringIO()
    if run_logs(list(folders), as_json=True, out=out) != 0:
        raise SystemExit(2)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    return [line for line in lines if line["kind"] == "group"]


def judged(record: Record) -> Record:
    """A record with what was done in its run, what is wrong, and whether the counts agree."""
    run = json.loads((Path(record["path"]) / "run.json").read_text("utf-8"))
    wrong = judge(run, record)
    counts = run["summary"]["groups"].get(record["group"])
    if counts:
        truth = {
            "generations": [generation for generation, _ in counts["stabilized"]],
            "epochs": counts["epochs"],
            "targets": len(counts["targets"]),
            "expired": counts["failed"] + counts["fenced"],
        }
        wrong += [
            f"{name}: {record[name]}, truly {value}" for name, value in truth.items() if record[name] != value
        ]
    return {
        "run": Path(record["path"]).name,
        "steps": "; ".join(one.step for one in expectations(run)) or "start and end only",
        "said": said(record),
        "wrong": "; ".join(wrong),
        "right": not wrong,
    }


def said(record: Record) -> str:
    """The causes after the start-up, and the findings, shortly."""
    rows = [row for row in record["rebalances"] if row["before"] not in {0, 1} or row["trigger"] != "join"]
    causes = [f"{row['trigger']} {row['culprit'] or ''}".strip() for row in rows]
    found = sorted({f"*{row['finding']}* {row['who'] or ''}".strip() for row in record["findings"]})
    return ", ".join(dict.fromkeys(causes + found))


def table(rows: Iterable[Record]) -> list[str]:
    """The runs, one a line."""
    lines = ["| run | done in it | said of it: triggers, *findings* | wrong |", "|---|---|---|---|"]
    lines += [f"| {row['run']} | {row['steps']} | {row['said']} | {row['wrong'] or '-'} |" for row in rows]
    return lines


def findings_table(records: Iterable[Record]) -> list[str]:
    """Every kind of finding that showed in the runs, with an example."""
    first: dict[str, tuple[str, Record]] = {}
    for record in records:
        for row in record["findings"]:
            first.setdefault(row["finding"], (Path(record["path"]).name, row))
    lines = [
        "## Findings in the recorded runs",
        "",
        "| finding | for example | in | read on |",
        "|---|---|---|---|",
    ]
    for code, (run, row) in sorted(first.items()):
        sentence = re.sub(r"\s+", " ", row["sentence"]).replace("|", "\\|")
        lines.append(f"| {code} | {sentence} | {run}, {row['file']}:{row['line']} | {row['source']} |")
    return lines


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
