"""What an exercise is made of, as values: cases of data, the truth about them, and checks that teach.

A folder of ``exercises/spark`` holds one exercise; its ``task.py`` has a ``TASK``, its ``hidden.py`` the
cases that only ``cases(seed)`` knows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rebalance_kit.exercises.bench import Bench
    from rebalance_kit.exercises.runs import Run

Row = Mapping[str, Any]
NOTHING: Mapping[str, Any] = {}


class NotYet(Exception):
    """A check's verdict: the answer is not right yet, and these words say why and what to try."""


@dataclass(frozen=True, slots=True)
class Case:
    """One set of data: runs whose logs are read; ``facts`` is what else the exercise wants to know of it."""

    runs: tuple[Run, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a check looks at: the rows of the answer, the true rows, the case, and the DataFrame itself."""

    rows: tuple[Row, ...]
    truth: tuple[Row, ...]
    case: Case
    frame: Any

    def by(self, *columns: str) -> dict[tuple[Any, ...], Row]:
        """Rows of the answer by the values of some columns (the last one where several share them)."""
        return {tuple(row[name] for name in columns): row for row in self.rows}

    def values(self, column: str) -> list[Any]:
        """One column of the answer, in the order of its rows."""
        return [row[column] for row in self.rows]


@dataclass(frozen=True, slots=True)
class Check:
    """One sentence that holds of a right answer, and how to look; ``look`` raises ``NotYet`` when it does not."""

    title: str
    look: Callable[[Seen], None]


def _events(bench: Bench, case: Case) -> Sequence[Any]:
    return (bench.events(case.runs),)


def _collected(frame: Any, bench: Bench) -> list[Row]:
    return [row.asDict(recursive=True) for row in frame.limit(MOST_ROWS + 1).collect()]


MOST_ROWS = 20_000


@dataclass(frozen=True, slots=True)
class Task:
    """An exercise: the function asked for, its columns, the public case, the truth, and the checks.

    ``columns`` are names with Spark's simple type strings, ``key`` names a row; ``inputs`` makes what
    the function is called with (default: the events of the case's runs), ``rows`` how its answer is
    collected. ``truth`` answers from the engine's trace or from the record, never by Spark.
    """

    title: str
    minutes: int
    level: str
    function: str
    columns: Mapping[str, str]
    key: tuple[str, ...]
    public: Case
    truth: Callable[[Case], Sequence[Row]]
    checks: tuple[Check, ...] = ()
    inputs: Callable[[Bench, Case], Sequence[Any]] = _events
    rows: Callable[[Any, Bench], list[Row]] = _collected
    next_step: str = (
        "Look at the lines of that run in the log, by hand, and at what your function makes of them."
    )
    per_learner: bool = False


def need(holds: object, words: str) -> None:
    """Raise ``NotYet`` with these words unless it holds."""
    if not holds:
        raise NotYet(words)


def shown(row: Row, names: Sequence[str]) -> str:
    """Some columns of a row in words: ``run=a, rebalances=3``."""
    return ", ".join(f"{name}={row[name]}" for name in names)
