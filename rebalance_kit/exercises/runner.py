"""Run a learner's answer behind a wall, and take nothing from it but values.

This process knows the truth and gives the verdict; the answer never enters it, nor does anything that knows the truth go behind the
wall. Behind it (``exercises.wall``) a process of ``exercises.child`` gets the code and the inputs, and replies with rows or shares as
JSON. Each value is checked against the type of its column.

Whoever marks other people's answers calls ``check_answer`` with ``FromFile``, or ``run_answer`` for the rows alone.
"""

from __future__ import annotations

import ast
import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from rebalance_kit.exercises.case_runs import Made
from rebalance_kit.exercises.child.attempt import MOST_ROWS, UNWRITTEN
from rebalance_kit.exercises.spark_bench import SparkBench
from rebalance_kit.exercises.task import NotYet, Row, Task
from rebalance_kit.exercises.wall.begin import UNREADABLE, Reply
from rebalance_kit.model.files import read_regular

# A learner's answer as it is handed to the process that runs it: the text of a file, or a function of a notebook.
#
# Nothing here runs the learner's code: what can be said about a file is read from its syntax tree.


MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Code:
    """Code to run: its text or a pickled function, and the name of the file that errors are told with."""

    file: str
    text: str | None = None
    pickled: bytes | None = None


class Answer(Protocol):
    """Where an answer comes from."""

    def code(self) -> Code:
        """The code as it is now; raises ``NotYet`` for what is no answer yet, without running it."""


class FromFile:
    """An answer in a learner's file, read afresh each time."""

    def __init__(self, path: Path, function: str) -> None:
        self._path, self._function = path, function

    def code(self) -> Code:
        """The file's text; raises ``NotYet`` for what is no file, no Python, without the function, or unwritten."""
        text = self._text()
        try:
            tree = ast.parse(text, str(self._path))
        except SyntaxError as error:
            raise NotYet(f"line {error.lineno}: Python cannot read this: {error.msg}") from error
        except (RecursionError, MemoryError) as error:
            raise NotYet(f"{self._path.name} is nested too deeply for Python to read.") from error
        except ValueError as error:
            raise NotYet(f"{self._path.name}: Python cannot read this: {error}") from error
        if not _mentions(tree, self._function):
            raise NotYet(
                f"{self._path.name} has no function {self._function}. Keep the name that the stub had."
            )
        if _is_unwritten(tree, self._function):
            raise NotYet(UNWRITTEN)
        return Code(str(self._path), text=text)

    def _text(self) -> str:
        name = self._path.name
        try:
            return _bytes_of(self._path).decode("utf-8-sig")
        except FileNotFoundError as problem:
            raise NotYet(f"there is no {name}. `rebalance-kit exercise start` puts one there.") from problem
        except OSError as problem:
            raise NotYet(f"{name} cannot be read: {problem.strerror}.") from problem
        except UnicodeDecodeError as problem:
            raise NotYet(f"{name} is no text in UTF-8 (byte {problem.start}). Save it as UTF-8.") from problem


class FromCell:
    """A function that was written in a notebook."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def code(self) -> Code:
        """The function as Spark would send it to its workers; raises ``NotYet`` where it cannot be sent."""
        from rebalance_kit.pipeline.spark.shared_java import pickled

        if not callable(self._function):
            raise NotYet(f"a {type(self._function).__name__} was given, expected a function")
        try:
            data = pickled(self._function)
        except Exception as error:
            raise NotYet(
                f"the function uses something of the notebook that cannot be sent to the process where answers run ({type(error).__name__}: {str(error)[:200]}). "
                "Take the session from its argument (`.sparkSession`), and define what else it needs inside it."
            ) from error
        code = getattr(self._function, "__code__", None)
        return Code(code.co_filename if code is not None else "", pickled=data)


def _bytes_of(path: Path) -> bytes:
    """A regular file's bytes; a pipe, a device or a folder is refused before anything waits for it."""
    data = read_regular(path, MOST_BYTES + 1)
    if data is None:
        raise NotYet(f"{path.name} is no file. Save your answer as a file of text.")
    if len(data) > MOST_BYTES:
        raise NotYet(f"{path.name} has more than {MOST_BYTES:,} bytes. Is it the right file?")
    return data


def _mentions(tree: ast.Module, function: str) -> bool:
    """Whether the name is defined, assigned or imported anywhere, or may be (``from x import *``)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == function:
            return True
        if isinstance(node, ast.Name) and node.id == function and isinstance(node.ctx, ast.Store):
            return True
        if isinstance(node, ast.alias) and (node.asname or node.name) in {function, "*"}:
            return True
    return False


def _is_unwritten(tree: ast.Module, function: str) -> bool:
    """Whether the last definition only raises NotImplementedError (behind its docstring)."""
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function]
    if not found:
        return False
    body = [
        node
        for node in found[-1].body
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    if len(body) != 1 or not isinstance(body[0], ast.Raise):
        return False
    raised = body[0].exc
    called = raised.func if isinstance(raised, ast.Call) else raised
    return isinstance(called, ast.Name) and called.id == "NotImplementedError"


LIMIT_S = 60.0
"""Seconds that one call may take."""

_MEMORY = 4 << 30
_FILE_SIZE = 64 << 20


@dataclass(frozen=True, slots=True)
class Attempted:
    """Outcome of a call: its rows, or why there are none (``problem``); and what the answer printed."""

    rows: tuple[Row, ...] = ()
    problem: str | None = None
    printed: str = ""


def run_answer(
    task: Task, answer: Answer, inputs: Sequence[Made], bench: SparkBench, limit_s: float = LIMIT_S
) -> Attempted:
    """Run an answer on these inputs; whatever it does, the outcome says it in words.

    ``task`` gives the name of the function and the columns, ``inputs`` are what ``task.inputs`` made of ``bench.given``.
    After a call that broke Spark the bench begins another one.
    """
    try:
        code = answer.code()
    except NotYet as words:
        return Attempted(problem=str(words))
    return rows_of(task, bench.attempt(_order(task, code, inputs, limit_s), limit_s))


def rows_of(task: Task, done: Reply) -> Attempted:
    """The rows that a process replied with, or the problem that it told or that its rows are."""
    if done.problem is not None:
        return Attempted(problem=done.problem, printed=done.printed)
    try:
        return Attempted(rows=_rows(task, done.answered), printed=done.printed)
    except (TypeError, KeyError, ValueError, OverflowError):
        return Attempted(problem=UNREADABLE, printed=done.printed)


def _order(task: Task, code: Code, inputs: Sequence[Made], limit_s: float) -> dict[str, Any]:
    """What the process is told: the code, how its inputs are made, the columns, its limits; nothing of the truth."""
    return {
        **code_of(code),
        "function": task.function,
        "columns": dict(task.columns),
        "inputs": list(inputs),
        "streaming": task.streaming,
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
    }


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
