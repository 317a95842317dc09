"""Call a learner's function with a time limit, and say in words what became of it.

The function runs in a thread of its own. When the limit is over, its Spark jobs are interrupted and the
thread is told to end, so that an endless loop costs a message and not a session.
"""

from __future__ import annotations

import ctypes
import re
import threading
import traceback
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

from rebalance_kit.exercises.spark_bench import SparkBench
from rebalance_kit.exercises.task import MOST_ROWS, Row, Task
from rebalance_kit.exercises.verdict import NotYet

LIMIT_S = 60.0

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
}


class TimeIsUp(BaseException):
    """Raised inside the learner's thread when the limit is over."""


@dataclass(frozen=True, slots=True)
class Attempted:
    """Outcome of calling a function: its rows, or why there are none (``problem``)."""

    rows: tuple[Row, ...] = ()
    problem: str | None = None


def attempt(
    task: Task,
    find: Callable[[], Callable[..., Any]],
    inputs: Sequence[Any],
    bench: SparkBench,
    limit_s: float = LIMIT_S,
) -> Attempted:
    """Find the function, call it, collect its answer; whatever happens, the outcome says it in words."""
    outcomes: list[Attempted] = []
    tag = f"exercise-{uuid.uuid4().hex}"

    def work() -> None:
        try:
            bench.mark(tag)
            outcomes.append(_answer(task, find, inputs, bench))
        except TimeIsUp:
            pass
        except NotYet as words:
            outcomes.append(Attempted(problem=str(words)))
        except BaseException as error:  # noqa: BLE001 - whatever a learner's code raises becomes words
            outcomes.append(Attempted(problem=words_of(error, find)))

    thread = threading.Thread(target=work, name=tag, daemon=True)
    thread.start()
    thread.join(limit_s)
    if thread.is_alive():
        bench.interrupt(tag)
        where = _busy_at(thread, find)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident or 0), ctypes.py_object(TimeIsUp)
        )
        thread.join(5)
        return Attempted(
            problem=f"no answer within {limit_s:g} s{where}. Is there a loop without an end, or a join without a key (every row with every row)?"
        )
    return outcomes[0] if outcomes else Attempted(problem="no answer: the function ended its own thread")


def before_spark(find: Callable[[], Callable[..., Any]]) -> str | None:
    """Problem of an answer that shows without data: no file, no Python, no function, nothing written; else None."""
    try:
        code = getattr(find(), "__code__", None)
    except NotYet as words:
        return str(words)
    except BaseException as error:  # noqa: BLE001 - as above
        return words_of(error, find)
    return _UNWRITTEN if code is not None and code.co_names == ("NotImplementedError",) else None


_UNWRITTEN = (
    "not written yet: the function still raises NotImplementedError. Write its body, then check again."
)


def _answer(
    task: Task, find: Callable[[], Callable[..., Any]], inputs: Sequence[Any], bench: SparkBench
) -> Attempted:
    frame = find()(*inputs)
    if frame is None:
        raise NotYet(f"{task.function} returned None. Did the last line lose its `return`?")
    if not (hasattr(frame, "schema") and hasattr(frame, "isStreaming")):
        raise NotYet(
            f"{task.function} returned a {type(frame).__name__}, expected a Spark DataFrame. "
            "Leave out `collect()`, `toPandas()` and `show()`: return the DataFrame itself."
        )
    _require_columns(task, {field.name: field.dataType.simpleString() for field in frame.schema.fields})
    rows = task.rows(frame, bench)
    if len(rows) > MOST_ROWS:
        raise NotYet(
            f"more than {MOST_ROWS:,} rows: a join that multiplies rows? Check that its keys name one row on one side."
        )
    return Attempted(tuple(rows))


def _require_columns(task: Task, got: dict[str, str]) -> None:
    missing = [name for name in task.columns if name not in got]
    if missing:
        raise NotYet(
            f"column {missing[0]!r} is missing; your columns are {', '.join(got)}, expected {', '.join(task.columns)}. Rename with `.alias(...)`."
        )
    for name, wanted in task.columns.items():
        if got[name] != wanted:
            raise NotYet(
                f"column {name!r} is of type {got[name]}, expected {wanted}. Say so with `.cast({wanted!r})`."
            )


def words_of(error: BaseException, find: Callable[[], Any]) -> str:
    """An error in a learner's words: what, at which line of their code, and what to try."""
    file = str(getattr(find, "file", ""))
    if isinstance(error, NotImplementedError):
        return _UNWRITTEN
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: Python cannot read this: {error.msg}"
    what = re.split(r"\n\n|\n== |SQLSTATE|;\n| JVM stacktrace", str(error))[0].strip()
    what = re.sub(r"\s+", " ", what)[:400]
    line = _line_of(error, file)
    where = f"line {line}: " if line else ""
    step = next((words for mark, words in _NEXT_STEPS.items() if mark in str(error)), "")
    return f"{where}{type(error).__name__}: {what} {step}".strip()


def _line_of(error: BaseException, file: str) -> int | None:
    """The last line of the learner's file that the error passed, or that Spark names as the column's origin."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    if lines:
        return lines[-1]
    named = re.findall(re.escape(file) + r":(\d+)", str(error)) if file else []
    return int(named[-1]) if named else None


def _busy_at(thread: threading.Thread, find: Callable[[], Any]) -> str:
    import sys

    file = str(getattr(find, "file", ""))
    frame = sys._current_frames().get(thread.ident or 0)  # noqa: SLF001 - the one way to see where a thread is
    while frame is not None:
        if frame.f_code.co_filename == file:
            return f" (at line {frame.f_lineno})"
        frame = frame.f_back
    return ""


class FromFile:
    """Finds the function in a learner's file, fresh each time."""

    def __init__(self, path: Path, function: str) -> None:
        self.file, self._path, self._function = str(path), path, function

    def __call__(self) -> Callable[..., Any]:
        """Read and run the file, and return the function; raises ``NotYet`` when there is none."""
        try:
            if self._path.exists() and not self._path.is_file():
                raise NotYet(f"{self._path.name} is no file. Save your answer as a file of text.")
            text = self._path.read_text("utf-8-sig")
        except FileNotFoundError as problem:
            raise NotYet(
                f"there is no {self._path.name}. `rebalance-kit exercise start` puts one there."
            ) from problem
        except OSError as problem:
            raise NotYet(f"{self._path.name} cannot be read: {problem.strerror}.") from problem
        except UnicodeDecodeError as problem:
            raise NotYet(
                f"{self._path.name} is no text in UTF-8 (byte {problem.start}). Save it as UTF-8."
            ) from problem
        code: CodeType = compile(text, self.file, "exec")
        names: dict[str, Any] = {"__name__": "answer", "__file__": self.file}
        exec(code, names)  # noqa: S102 - the learner's own file, on the learner's own machine
        answer: object = names.get(self._function)
        if not callable(answer):
            raise NotYet(
                f"{self._path.name} has no function {self._function}. Keep the name that the stub had."
            )
        return answer


class FromCell:
    """Holds a function that was written in a notebook."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.file = function.__code__.co_filename if hasattr(function, "__code__") else ""

    def __call__(self) -> Callable[..., Any]:
        """Return the function."""
        return self._function
