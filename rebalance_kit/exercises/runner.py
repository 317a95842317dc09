"""Run a learner's answer in a process of its own, and take nothing from it but rows.

Three processes take part. This one makes the inputs, knows the truth and gives the verdict; the answer never enters
it. Java holds the inputs as views. The third one (``rebalance_kit.exercises.child``) runs the answer with limits of
CPU time, memory and file size, without network beyond this machine, and writes its rows to a file. That file is read
as JSON, and each value is checked against the type of its column.

Whoever marks other people's answers calls ``check_answer`` with ``FromFile``, or ``run_answer`` for the rows alone.
"""

from __future__ import annotations

import base64
import json
import os
import select
import signal
import stat
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from rebalance_kit.exercises.answers import Answer, Code
from rebalance_kit.exercises.child.collecting import MOST_ROWS
from rebalance_kit.exercises.child.words import no_answer_within
from rebalance_kit.exercises.spark_bench import SparkBench
from rebalance_kit.exercises.task import Row, Task
from rebalance_kit.exercises.verdict import NotYet

LIMIT_S = 60.0
"""Seconds that one call may take."""

_START_S = 120.0
"""Seconds until the process stands ready; it needs less than two."""
_GRACE_S = 5.0
"""Seconds that a process gets beyond its limit to say where it was."""
_MEMORY = 4 << 30
_FILE_SIZE = 64 << 20
_MOST_PRINTED = 20_000
_PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Attempted:
    """Outcome of a call: its rows, or why there are none (``problem``); and what the answer printed."""

    rows: tuple[Row, ...] = ()
    problem: str | None = None
    printed: str = ""


def run_answer(
    task: Task, answer: Answer, inputs: Sequence[Any], bench: SparkBench, limit_s: float = LIMIT_S
) -> Attempted:
    """Run an answer on these DataFrames; whatever it does, the outcome says it in words.

    ``task`` gives the name of the function and the columns, ``inputs`` are what ``task.inputs`` made on ``bench``.
    After a call that stopped Spark the bench begins another session.
    """
    tag = f"exercise_{uuid.uuid4().hex}"
    try:
        code = answer.code()
    except NotYet as words:
        return Attempted(problem=str(words))
    with tempfile.TemporaryDirectory(prefix="rebalance-kit-answer-") as scratch:
        folder = Path(scratch)
        try:
            with bench.lent(inputs, tag) as (views, variables):
                order = _order(task, code, views, tag, folder, limit_s)
                problem = run_child(order, variables, folder, limit_s)
        finally:
            stopped = bench.clean_up(tag)
        printed = printed_text(folder / "printed")
        if stopped:
            return Attempted(problem=_STOPPED, printed=printed)
        return _attempted(task, folder / "out", problem, printed)


_STOPPED = (
    "your code stopped Spark. Leave out `stop()` and `exit`: the session is the check's, and others need it."
)


def _order(
    task: Task, code: Code, views: Sequence[str], tag: str, folder: Path, limit_s: float
) -> dict[str, Any]:
    """What the process is told: the code, the names of its inputs, the columns, its limits; nothing of the truth."""
    return {
        **code_of(code),
        "function": task.function,
        "columns": dict(task.columns),
        "views": list(views),
        "tag": tag,
        "out": str(folder / "out"),
        "stream": str(folder) if task.streaming else None,
        "limit_s": limit_s,
        "cpu_s": int(2 * limit_s) + 60,
    }


def code_of(code: Code) -> dict[str, Any]:
    """The part of every order that a process needs to load the code and to bind itself."""
    return {
        "text": code.text,
        "pickled": None if code.pickled is None else base64.b64encode(code.pickled).decode("ascii"),
        "file": code.file,
        "memory": _MEMORY,
        "file_size": _FILE_SIZE,
        "secret": _secret_folders(),
    }


def _secret_folders() -> list[str]:
    """Folders that hold truth: the exercises themselves, the recorded runs, and the code that judges."""
    from rebalance_kit.exercises.catalogue import home
    from rebalance_kit.recordings.runs.pack import RECORDED

    return [str(home().parent), str(home()), str(RECORDED), str(_PACKAGE / "exercises")]


def run_child(
    order: dict[str, Any],
    variables: Mapping[str, str],
    folder: Path,
    limit_s: float,
    module: str = "rebalance_kit.exercises.child",
) -> str | None:
    """Start the process of that module with the order, wait until it ends or its time is over, and leave none of it behind; a problem in words."""
    ready, tell_ready = os.pipe()
    try:
        file = folder / "order.json"
        file.write_text(json.dumps({**order, "ready": tell_ready}), "utf-8")
        with (folder / "printed").open("wb") as printed:
            process = subprocess.Popen(
                [sys.executable, "-m", module, str(file)],
                env=_environment(variables),
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.DEVNULL,
                pass_fds=(tell_ready,),
                start_new_session=True,
            )
        os.close(tell_ready)
        tell_ready = -1
        try:
            if not select.select([ready], [], [], _START_S)[0] or not os.read(ready, 1):
                return (
                    "the process for your answer did not start. `rebalance-kit doctor` says what is missing."
                )
            return _ended(process.wait(limit_s + _GRACE_S), limit_s)
        except subprocess.TimeoutExpired:
            return no_answer_within(limit_s)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    finally:
        os.close(ready)
        if tell_ready >= 0:
            os.close(tell_ready)


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    """This process's, less what tells a learner's seed, with the way to Java and to the kit."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("REBALANCE_KIT_")}
    paths = [str(_PACKAGE.parent), *filter(None, [kept.get("PYTHONPATH")])]
    return {**kept, **variables, "PYTHONPATH": os.pathsep.join(paths), "PYTHONIOENCODING": "utf-8"}


def _ended(status: int, limit_s: float) -> str | None:
    """What the status of an ended process means; None where it ended as it should."""
    if status == -signal.SIGXCPU:
        return f"your code used more CPU time than {limit_s:g} s of waiting allow. Is there a loop without an end?"
    if status < 0:
        name = signal.Signals(-status).name
        return f"your code ended its process ({name}) before it gave an answer: out of memory, or a crash in a library."
    return None if status == 0 else f"your code ended its process with status {status}. {_LEAVE_EXIT_OUT}"


_LEAVE_EXIT_OUT = "Leave out `exit()` and `os._exit()`: let your code return."
_NOTHING = f"your code ended its process before it gave an answer. {_LEAVE_EXIT_OUT}"
UNREADABLE = "what your code left in place of its answer cannot be read. Return what the README asks for, and write no files."


def _attempted(task: Task, out: Path, problem: str | None, printed: str) -> Attempted:
    """The rows that the process wrote, or the problem."""
    answered, problem = written(out, problem)
    if problem is not None:
        return Attempted(problem=problem, printed=printed)
    try:
        return Attempted(rows=_rows(task, answered), printed=printed)
    except (TypeError, KeyError, ValueError, OverflowError):
        return Attempted(problem=UNREADABLE, printed=printed)


def written(out: Path, problem: str | None) -> tuple[Any, str | None]:
    """What the process wrote, and the problem that it tells or ended with; a file that is there counts, whatever the end."""
    try:
        answered = json.loads(_read(out, _FILE_SIZE))
    except FileNotFoundError:
        return None, problem or _NOTHING
    except (OSError, ValueError, RecursionError):
        return None, UNREADABLE
    if problem is None and isinstance(answered, dict) and isinstance(answered.get("problem"), str):
        problem = answered["problem"]
    return answered, problem


def _rows(task: Task, answered: Any) -> tuple[Row, ...]:
    """Rows with each value of the type of its column; raises for anything else."""
    rows = answered["rows"]
    if not isinstance(rows, list) or len(rows) > MOST_ROWS:
        raise TypeError("no list of rows")
    readers = [(name, _READERS[kind]) for name, kind in task.columns.items()]
    return tuple(
        {
            name: None if value is None else read(value)
            for (name, read), value in zip(readers, row, strict=True)
        }
        for row in rows
    )


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise TypeError(value)
    return value


def _number(value: Any) -> float:
    if type(value) not in {int, float}:
        raise TypeError(value)
    return float(value)


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError(value)
    return value


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "int": _whole,
    "bigint": _whole,
    "double": _number,
    "string": _text,
    "timestamp": lambda value: datetime.fromisoformat(_text(value)),
}
"""How a value of each type that exercises ask for is read."""


def _read(path: Path, most: int) -> bytes:
    """A regular file's bytes, or nothing beyond the bound; a link or a pipe in its place raises OSError."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(f"{path}: no file")
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(handle)


def lines_of(path: Path) -> list[str]:
    """Lines that a process wrote to standard output, as many as the file may hold."""
    try:
        return _read(path, _FILE_SIZE).decode("utf-8", "replace").splitlines()
    except OSError:
        return []


def printed_text(path: Path) -> str:
    """What the answer wrote to standard output, cut to a length that can be read."""
    try:
        data = _read(path, _MOST_PRINTED + 1)
    except OSError:
        return ""
    text = data[:_MOST_PRINTED].decode("utf-8", "replace").strip()
    return text if len(data) <= _MOST_PRINTED else f"{text}\n... (cut after {_MOST_PRINTED:,} bytes)"
