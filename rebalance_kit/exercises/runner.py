"""Run a learner's answer behind a wall, and take nothing from it but values.

This process knows the truth and gives the verdict; the answer never enters it, nor does anything that knows the truth go behind the
wall. Behind it (``exercises.wall``) a process of ``exercises.child`` gets the code and the inputs, and replies with rows or shares as
JSON. Each value is checked against the type of its column.

Whoever marks other people's answers calls ``check_answer`` with ``FromFile``, or ``run_answer`` for the rows alone.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rebalance_kit.exercises.answers import Answer, Code
from rebalance_kit.exercises.asking import UNREADABLE, Reply
from rebalance_kit.exercises.child.collecting import MOST_ROWS
from rebalance_kit.exercises.given import Made
from rebalance_kit.exercises.spark_bench import SparkBench
from rebalance_kit.exercises.task import NotYet, Row, Task

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
