"""Parts of an exercise as values: cases of data, the truth about them, and checks that teach.

A folder of ``exercises/spark`` holds one exercise; its ``task.py`` has a ``TASK``, its ``hidden.py`` the
cases that only ``cases(seed)`` knows.

The verdict of a check that an answer does not pass.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from rebalance_kit.model.errors import DataError, require_kind

if TYPE_CHECKING:
    from rebalance_kit.exercises.case_runs import CaseRun, Given, Made


class NotYet(Exception):
    """A check's verdict: the answer is not right yet, and these words say why and what to try."""


Row = Mapping[str, Any]
Pair = tuple[Row, Row]
"""An answered row, and the true row of its key."""
NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Case:
    """One set of data: runs whose logs are read; ``facts`` is what else the exercise wants to know of it."""

    runs: tuple[CaseRun, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True, slots=True)
class CheckInput:
    """Input of a check: the rows of the answer and the true ones, both ``in_order`` of ``key``, and the case."""

    rows: tuple[Row, ...]
    truth: tuple[Row, ...]
    case: Case
    key: tuple[str, ...]

    def pairs(self, where: Callable[[Row, Row], object]) -> list[Pair]:
        """Answered rows, each with the true row of its key, where ``where(got, true)`` holds.

        A row that is missing or extra is in no pair: about it a check of values is silent.
        """
        true = {self._named(row): row for row in self.truth}
        pairs = [(row, true[self._named(row)]) for row in self.rows if self._named(row) in true]
        return [pair for pair in pairs if where(*pair)]

    def missing(self) -> list[Row]:
        """True rows whose key no answered row has."""
        answered = {self._named(row) for row in self.rows}
        return [row for row in self.truth if self._named(row) not in answered]

    def extra(self) -> list[Row]:
        """Answered rows whose key no true row has."""
        true = {self._named(row) for row in self.truth}
        return [row for row in self.rows if self._named(row) not in true]

    def repeated(self) -> list[Row]:
        """Answered rows whose key the row before them has, too."""
        return [row for before, row in pairwise(self.rows) if self._named(before) == self._named(row)]

    def both(self, fold: Callable[[list[Any]], Any], column: str, run: str | None = None) -> tuple[Any, Any]:
        """The ``sum`` or ``max`` of a column in the answer and in the truth (of one run, if named).

        A null counts as 0, and so does a column without rows.
        """
        got, true = (
            fold([row[column] or 0 for row in rows if run is None or row["run"] == run] or [0])
            for rows in (self.rows, self.truth)
        )
        return got, true

    def _named(self, row: Row) -> tuple[Any, ...]:
        return tuple(row[name] for name in self.key)


@dataclass(frozen=True, slots=True)
class Check:
    """One sentence that holds of a right answer, and how to look; ``look`` raises ``NotYet`` when it does not."""

    title: str
    look: Callable[[CheckInput], None]


def check(title: str) -> Callable[[Callable[[CheckInput], None]], Check]:
    """Make a check of the function that follows: ``@check("a sentence that holds of a right answer")``."""
    return lambda look: Check(title, look)


def _events(given: Given, case: Case) -> Sequence[Made]:
    return (given.events(case.runs),)


@dataclass(frozen=True, slots=True)
class Task:
    """An exercise: the function asked for, its columns, the public case, the truth, and the checks.

    ``columns`` are names with Spark's simple type strings, ``key`` names a row; ``inputs`` makes what
    the function is called with (default: the events of the case's runs), ``streaming`` says that its answer is
    a stream. ``truth`` answers from the engine's trace or from the record, never by Spark.
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
    inputs: Callable[[Given, Case], Sequence[Made]] = _events
    streaming: bool = False
    next_step: str = (
        "Look at the lines of that run in the log, by hand, and at what your function makes of them."
    )
    per_learner: bool = False


def need(holds: object, words: str) -> None:
    """Raise ``NotYet`` with these words unless it holds."""
    if not holds:
        raise NotYet(words)


def need_none(wrong: Sequence[Row] | Sequence[Pair], words: str, /, **more: object) -> None:
    """Raise ``NotYet`` about the first of these rows (or pairs), if there is one.

    ``{gaps}`` in the words is that column of the row; of a pair it is the answered row's, and
    ``{true[gaps]}`` is the true row's. ``more`` are other values, by name.
    """
    if not wrong:
        return
    row, true = wrong[0] if isinstance(wrong[0], tuple) else (wrong[0], {})
    raise NotYet(words.format_map({**_in_words(row), "true": _in_words(true), **more}))


def in_order(rows: Iterable[Row], key: Sequence[str]) -> tuple[Row, ...]:
    """Rows by their keys, numbers by size: one order, whatever order Spark gave them in."""
    return tuple(sorted(rows, key=lambda row: [_sortable(row[name]) for name in key]))


def told(value: object) -> str:
    """A value as Spark's tables show it: None is ``null``."""
    return "null" if value is None else str(value)


def shown(row: Row, names: Sequence[str]) -> str:
    """Some columns of a row in words: ``run=a, rebalances=3``."""
    return ", ".join(f"{name}={told(row[name])}" for name in names)


def _in_words(row: Row) -> dict[str, str]:
    return {name: told(value) for name, value in row.items()}


def _sortable(value: object) -> str:
    return f"{value:020}" if isinstance(value, int) else str(value)


# The exercises that come with the kit: where they lie, their names, and how one is read.


_HERE = Path(__file__).resolve().parent
_HOMES = (_HERE / "spark", _HERE.parents[1] / "exercises" / "spark")
"""Inside an installed package, or in a checkout."""


@dataclass(frozen=True, slots=True)
class Exercise:
    """One exercise: its name (``03-count-rebalances``), folder and task."""

    name: str
    folder: Path
    task: Task

    def text(self, file: str) -> str:
        """A file of the exercise as text (README.md, answer.py, solution.py, expected.txt)."""
        return (self.folder / file).read_text("utf-8")

    @property
    def hints(self) -> tuple[str, ...]:
        """The hints, each one step further."""
        return hints_of(self.text("hints.md"))

    def hidden(self, seed: int) -> tuple[Case, ...]:
        """The cases that no learner sees, drawn for one learner."""
        cases: Callable[[int], tuple[Case, ...]] = module_of(self.folder / "hidden.py").cases
        return cases(seed)


def hints_of(text: str) -> tuple[str, ...]:
    """The parts of a ``hints.md``, one per heading."""
    parts = re.split(r"^## .*$", text, flags=re.MULTILINE)
    return tuple(part.strip() for part in parts[1:])


def home() -> Path:
    """The folder of the kit's exercises; raises ``DataError`` where there is none."""
    for folder in _HOMES:
        if folder.is_dir():
            return folder
    raise DataError(f"the kit's exercises are missing; expected them in one of {', '.join(map(str, _HOMES))}")


def names() -> tuple[str, ...]:
    """Names of the exercises, easy to hard."""
    return tuple(sorted(path.parent.name for path in home().glob("*/task.py")))


def load(name: str) -> Exercise:
    """Read an exercise by its name, its number or a part of its name; raises ``DataError`` naming those there are."""
    return _load(matched(name, names()))


def matched(name: str, known: Sequence[str]) -> str:
    """The one of these names that is meant by a name, a number or a part of a name; raises ``DataError`` naming them."""
    require_kind(name, (str, int), "the exercise", "its name, its number or a part of its name")
    name = str(name)
    part = f"{int(name):02}-" if name.isdecimal() and len(name) < 9 else name
    fitting = [candidate for candidate in known if candidate == part] or [
        candidate for candidate in known if part and part in candidate
    ]
    if len(fitting) != 1:
        why = "no exercise is called" if not fitting else "several exercises are called something like"
        raise DataError(f"{why} {name!r}; expected one of {', '.join(fitting or known)}")
    return fitting[0]


@lru_cache(maxsize=64)
def _load(name: str) -> Exercise:
    folder = home() / name
    return Exercise(name, folder, module_of(folder / "task.py").TASK)


def module_of(path: Path) -> ModuleType:
    """Run a Python file of an exercise; raises ``DataError`` where it is none. ``hidden.py`` reads its ``task.py`` so."""
    spec = importlib.util.spec_from_file_location(
        f"exercise_{path.parent.name.replace('-', '_')}_{path.stem}", path
    )
    if spec is None or spec.loader is None:
        raise DataError(f"{path}: cannot be loaded; expected a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
