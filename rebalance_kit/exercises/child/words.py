"""What a learner's code raised, in a learner's words: what, at which line of their code, and what to try."""

from __future__ import annotations

import re
import traceback
from types import FrameType

#: What Spark's error conditions mean for somebody who writes the function.
_NEXT_STEPS = {
    "UNRESOLVED_COLUMN": "There is no column of that name at that point: print `.columns` one step before.",
    "AMBIGUOUS_REFERENCE": "After a join two columns have that name: join by name (`on=[...]`) or drop one of them before.",
    "CAST_INVALID_INPUT": "An empty or foreign text cannot be cast: use `try_cast`, or filter the rows first.",
    "CANNOT_PARSE_TIMESTAMP": "Some text is not in your pattern: filter the lines first, or use `try_to_timestamp`.",
    "MISSING_GROUP_BY": "A column is neither grouped by nor aggregated.",
    "MISSING_AGGREGATION": "A column is neither grouped by nor aggregated.",
    "DATATYPE_MISMATCH": "A function got a column of a type it does not take: print `printSchema()` one step before.",
    "UNSUPPORTED_STREAMING_OPERATION_WITHOUT_WATERMARK": "An aggregation in append mode needs to know when a window is over: call `withWatermark` on the event time, before `groupBy`.",
    "STREAMING_OUTPUT_MODE": "An aggregation in append mode needs to know when a window is over: call `withWatermark` on the event time, before `groupBy`.",
    "Queries with streaming sources must be executed": "`collect`, `count`, `show` and `first` ask a stream for its end. Return the DataFrame; the check starts the query.",
    "EOF when reading a line": "Nobody answers `input()` while an answer is checked: take the values from the DataFrame.",
    "Cannot call methods on a stopped SparkContext": "Leave out `stop()`: the session is the check's.",
    "Network is unreachable": "An answer has no network: what it needs is in its arguments.",
    "gaierror": "An answer has no network: what it needs is in its arguments.",
    "Read-only file system": "An answer writes to its own folder alone (the one that it starts in).",
    "No such file or directory": "An answer sees its inputs and Python's packages, and none of your files.",
    "SystemExit": "Leave out `exit()`: return the DataFrame.",
}

UNWRITTEN = (
    "not written yet: the function still raises NotImplementedError. Write its body, then check again."
)
OUT_OF_TIME = "no answer within"
_MOST_LETTERS = 400
_WORKERS_TRACE = re.compile(
    r"Traceback \(most recent call last\):\n.*?\n(?=[A-Za-z_.]*(?:Error|Exception|Exit)\b)", re.DOTALL
)
"""The way to an error inside one of Spark's workers; what it was stands behind it."""


def words_of(error: BaseException, file: str) -> str:
    """An error in words; ``file`` is the name that the learner's code was compiled under."""
    if isinstance(error, NotImplementedError):
        return UNWRITTEN
    if isinstance(error, MemoryError):
        return f"{_at(_line_of(error, file))}MemoryError: more memory than an answer gets. Leave the rows in Spark: no `collect()`, no `toPandas()`."
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: Python cannot read this: {error.msg}"
    text = _WORKERS_TRACE.sub("", _text_of(error))
    what = re.split(r"\n\n|\n== |SQLSTATE|;\n| JVM stacktrace", text)[0].strip()
    what = re.sub(r"\s+", " ", what)[:_MOST_LETTERS]
    whole = f"{type(error).__name__} {text}"
    step = next((words for mark, words in _NEXT_STEPS.items() if mark in whole), "")
    return f"{_at(_line_of(error, file))}{type(error).__name__}: {what} {step}".strip()


def busy_at(frame: FrameType | None, file: str) -> str:
    """Where in the learner's file a thread is, as `` (at line 7)``; empty where it is not in there."""
    while frame is not None:
        if frame.f_code.co_filename == file:
            return f" (at line {frame.f_lineno})"
        frame = frame.f_back
    return ""


def no_answer_within(limit_s: float, where: str = "") -> str:
    """What an answer is told that took too long."""
    return f"{OUT_OF_TIME} {limit_s:g} s{where}. Is there a loop without an end? Or a join without a key (every row with every row)?"


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as problem:  # noqa: BLE001 - the learner's own exception class
        return f"an error whose text raises {type(problem).__name__}"


def _at(line: int | None) -> str:
    return f"line {line}: " if line else ""


def _line_of(error: BaseException, file: str) -> int | None:
    """The last line of the learner's file that the error passed, or that Spark names as the column's origin."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    if lines:
        return lines[-1]
    named = re.findall(re.escape(file) + r":(\d+)", _text_of(error)) if file else []
    return int(named[-1]) if named else None
