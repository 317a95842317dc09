"""From text to columns: lines of a recorded client log."""

import re

from rebalance_kit.exercises.case_runs import recorded
from rebalance_kit.exercises.task import Case, Task, check, need, need_none
from rebalance_kit.recordings.folder import parse_line, read_file


def truth(case):
    """The kit's own reader of recorded runs, line by line."""
    rows = []
    lines = read_file(case.runs[0].record, case.facts["file"]).decode("utf-8").splitlines()
    for number, text in enumerate(lines, start=1):
        line = parse_line(text)
        if line is not None and text.startswith("["):
            logger = re.search(r"\(([\w.$]+)\)$", text)
            rows.append(
                {"line": number, "at_ms": line.t, "level": line.level, "logger": logger and logger[1]}
            )
    return rows


@check("lines without a time are not events")
def only_events(seen):
    need_none(
        seen.extra(),
        "line {line} is a row, but carries no time: it continues the event above (a config block, a stack trace). Filter with the pattern first.",
    )


@check("times keep their milliseconds")
def milliseconds(seen):
    need(
        not seen.rows or any(row["at_ms"] is not None and row["at_ms"] % 1000 for row in seen.rows),
        "every time ends in 000: the milliseconds after the comma were cut off. Put `,SSS` into the pattern and use `unix_millis`.",
    )


@check("the logger is the class in the last brackets")
def loggers(seen):
    named = [row for row in seen.rows if row["logger"] is not None]
    need_none(
        [row for row in named if row["logger"] == ""],
        "in line {line} a logger is the empty text: `regexp_extract` gives that where nothing fits. A line without a logger has null: `F.nullif(..., F.lit(''))`.",
    )
    need_none(
        [row for row in named if not row["logger"].startswith(("org.", "io.", "java", "kafka"))],
        "`{logger}` in line {line} is no class name: messages hold brackets too, the logger stands in the *last* ones. Anchor the pattern at the end with `$`.",
    )


TASK = Task(
    title="From text to columns",
    minutes=15,
    level="easy",
    function="log_events",
    columns={"line": "bigint", "at_ms": "bigint", "level": "string", "logger": "string"},
    key=("line",),
    public=Case(recorded("crash.eager.4.3.1"), {"file": "c1.log"}),
    inputs=lambda given, case: (given.lines(case.runs, [case.facts["file"].removesuffix(".log")]),),
    truth=truth,
    checks=(only_events, milliseconds, loggers),
    next_step="Look at that line in the file: what does your pattern make of it?",
)
