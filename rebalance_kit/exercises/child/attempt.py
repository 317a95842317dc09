"""One attempt of a learner's code inside the process that runs it: loaded, limited in time, its outcome written down."""

from __future__ import annotations

import base64
import ctypes
import json
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from rebalance_kit.exercises.child.lock import REPLY, bound_by

# What a learner's code raised, in a learner's words: what, at which line of their code, and what to try.


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


# The rows of an answer as plain values: called, looked at, and collected.


MOST_ROWS = 20_000
_DRAINED_S = 50
"""A stream ends by itself once its files are read; a learner's never should take so long."""


class NoAnswer(Exception):
    """The function gave nothing that can be compared; these words say why and what to try."""


def rows_of(
    frame: Any, function: str, columns: Mapping[str, str], kind: type, stream: Path | None
) -> list[list[Any]]:
    """The values of the columns asked for, row by row; raises ``NoAnswer`` for anything but such a DataFrame.

    ``kind`` is the class of Spark's DataFrames, ``stream`` a folder for a streaming answer's output.
    """
    if frame is None:
        raise NoAnswer(f"{function} returned None. Did the last line lose its `return`?")
    if not isinstance(frame, kind):
        raise NoAnswer(
            f"{function} returned a {type(frame).__name__}, expected a Spark DataFrame. "
            "Leave out `collect()`, `toPandas()` and `show()`: return the DataFrame itself."
        )
    given: Any = frame
    _require_columns(columns, {field.name: field.dataType.simpleString() for field in given.schema.fields})
    rows = given.limit(MOST_ROWS + 1).collect() if stream is None else _drained(given, stream)
    if len(rows) > MOST_ROWS:
        raise NoAnswer(
            f"more than {MOST_ROWS:,} rows: a join that multiplies rows? Check that its keys name one row on one side."
        )
    return [[_plain(row[name]) for name in columns] for row in rows]


def _require_columns(columns: Mapping[str, str], got: Mapping[str, str]) -> None:
    missing = [name for name in columns if name not in got]
    if missing:
        raise NoAnswer(
            f"column {missing[0]!r} is missing; your columns are {', '.join(got)}, expected {', '.join(columns)}. Rename with `.alias(...)`."
        )
    for name, wanted in columns.items():
        if got[name] != wanted:
            raise NoAnswer(
                f"column {name!r} is of type {got[name]}, expected {wanted}. Say so with `.cast({wanted!r})`."
            )


def _drained(frame: Any, folder: Path) -> Sequence[Any]:
    """All rows that a streaming answer puts out (append mode) until its files are read."""
    out, mark = folder / "stream", folder / "stream-mark"
    query = (
        frame.writeStream.format("parquet")
        .outputMode("append")
        .option("checkpointLocation", str(mark))
        .trigger(availableNow=True)
        .start(str(out))
    )
    try:
        if not query.awaitTermination(_DRAINED_S):
            raise NoAnswer(f"the stream was not read to its end within {_DRAINED_S} s")
    finally:
        _apart(query.stop)
    found: Sequence[Any] = frame.sparkSession.read.parquet(str(out)).collect()
    return found


def _apart(stop: Callable[[], None]) -> None:
    """Call it from a thread, which has a connection of its own: an interrupted one is still waiting for an answer."""
    thread = threading.Thread(target=stop, daemon=True)
    thread.start()
    thread.join(5)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


class TimeIsUp(BaseException):
    """Raised inside the learner's code when the limit is over; its text says where the code was."""


def attempted(work: Callable[[], Mapping[str, Any]], file: str, limit_s: float) -> Mapping[str, Any]:
    """What the work returns, or ``{"problem": words}`` for whatever it raises and for a time limit that is over."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    alarm = _alarm if hasattr(signal, "setitimer") else _watch
    try:
        with alarm(file, limit_s):
            found = work()
    except TimeIsUp as where:
        found = {"problem": no_answer_within(limit_s, str(where))}
    except NoAnswer as words:
        found = {"problem": str(words)}
    except BaseException as error:  # noqa: BLE001 - whatever a learner's code raises becomes words
        found = {"problem": words_of(error, file)}
    return found


@contextmanager
def _alarm(file: str, limit_s: float) -> Iterator[None]:
    """Let the system ring when the time is over, and each second from then on."""

    def ring(_signal: int, frame: FrameType | None) -> None:
        raise TimeIsUp(busy_at(frame, file))

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, limit_s, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def _watch(file: str, limit_s: float) -> Iterator[None]:
    """The same by a thread, for a system without such alarms; code that never comes back to Python is ended by the parent."""
    over, runs = threading.Event(), threading.get_ident()

    def ring() -> None:
        wait = limit_s
        while not over.wait(wait):
            words = busy_at(sys._current_frames().get(runs), file)  # noqa: SLF001 - Python offers no public name
            raised = type("TimeIsUp", (TimeIsUp,), {"__str__": lambda _, words=words: words})
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(runs), ctypes.py_object(raised))
            wait = 1.0

    threading.Thread(target=ring, daemon=True).start()
    try:
        yield
    finally:
        over.set()


def function_of(order: Mapping[str, Any]) -> Callable[..., Any]:
    """Run the learner's file and take the function (or class) out of it, or take the function of a cell."""
    if order["pickled"] is not None:
        from rebalance_kit.pipeline.spark.shared_java import unpickled

        return unpickled(base64.b64decode(order["pickled"]))
    code: CodeType = compile(order["text"], order["file"], "exec")
    names: dict[str, Any] = {"__name__": "answer", "__file__": order["file"]}
    exec(code, names)  # noqa: S102 - the learner's own file, in a process of its own
    answer: object = names.get(order["function"])
    if not callable(answer):
        raise NoAnswer(f"the file has no function {order['function']}. Keep the name that the stub had.")
    return answer


def next_order() -> Mapping[str, Any]:
    """The next line of standard input, read as JSON; the process ends where there is none."""
    line = sys.stdin.readline()
    if not line:
        os._exit(0)
    order: Mapping[str, Any] = json.loads(line)
    return order


def reply(words: Mapping[str, Any]) -> None:
    """Write one line of JSON to whoever asked."""
    try:
        text = json.dumps(words)
    except (TypeError, ValueError, RecursionError) as error:
        text = json.dumps({"problem": f"your rows hold a value that is no number, text or time ({error})"})
    left = memoryview(text.encode() + b"\n")
    while left:
        left = left[os.write(REPLY, left) :]


def give(answered: Mapping[str, Any]) -> None:
    """Reply with the outcome, and end at once: neither the answer's ``atexit`` nor its threads see the end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # noqa: BLE001, S112 - the answer may have closed or replaced it
            continue
    reply(answered)
    os._exit(0)


def limit_resources(cpu_s: int, memory: int, file_size: int) -> None:
    """Bound CPU seconds, bytes of memory and bytes of a file, for good, as far as the system does that."""
    for name, bound in (
        ("RLIMIT_CPU", cpu_s),
        ("RLIMIT_AS", memory),
        ("RLIMIT_FSIZE", file_size),
        ("RLIMIT_CORE", 0),
    ):
        bound_by(name, bound)
    if hasattr(signal, "SIGXFSZ"):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
