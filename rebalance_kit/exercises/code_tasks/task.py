"""Parts of a code exercise as values: cases, what an answer earned in each, and how it is run.

A folder of ``exercises/code`` holds one exercise; its ``task.py`` has a ``TASK``, its ``hidden.py`` the cases that
only ``cases(seed)`` knows.

The code exercises that come with the kit: where they lie, their names, and how one is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from rebalance_kit.exercises.answers import Answer, Code
from rebalance_kit.exercises.catalogue import hints_of, module_of
from rebalance_kit.exercises.task import NotYet
from rebalance_kit.model.errors import DataError
from rebalance_kit.simulation.permalink import Link

NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class CodeCase:
    """One situation: ``data`` goes to the process that runs the answer, ``facts`` stay with the judge.

    ``link`` opens the situation in the lab; ``points`` are what a right answer earns.
    """

    title: str
    data: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    facts: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    link: Link | None = None
    points: int = 2


@dataclass(frozen=True, slots=True)
class Mark:
    """What an answer earned in a case: ``share`` of its points (1.0: all), else the words that say what is missing.

    ``at_ms`` is the moment at which it shows; ``link`` stands in for the case's own where the answer decides the run.
    """

    share: float
    words: str = ""
    at_ms: int | None = None
    link: Link | None = None


FULL = Mark(1.0)


class Failed(NotYet):
    """The answer earns nothing in this case; ``at_ms`` is the moment in the run at which that shows."""

    def __init__(self, words: str, at_ms: int | None = None) -> None:
        super().__init__(words)
        self.at_ms = at_ms


@dataclass(frozen=True, slots=True)
class Outputs:
    """What an answer gave, case by case, or the problem in words; and what it printed."""

    outputs: Sequence[Any] = ()
    problem: str | None = None
    printed: str = ""


class Kind(Protocol):
    """A kind of answer: what its file has to hold, and how it gives its outputs."""

    def code(self, answer: Answer, name: str) -> Code:
        """The code to run or read; raises ``NotYet`` for what is no answer yet."""

    def run(self, code: Code, name: str, cases: Sequence[CodeCase], limit_s: float) -> Outputs:
        """One output per case; the answer never enters this process."""


@dataclass(frozen=True, slots=True)
class CodeTask:
    """An exercise: the name asked for (``function``), the kind of its answer, its public cases and their judge.

    ``judge(case, output)`` returns a ``Mark`` or raises ``NotYet``; it may run the engine, never the answer.
    """

    title: str
    minutes: int
    level: str
    function: str
    kind: Kind
    public: Sequence[CodeCase]
    judge: Callable[[CodeCase, Any], Mark]
    limit_s: float = 30.0


_HERE = Path(__file__).resolve().parents[1]
_HOMES = (_HERE / "code", _HERE.parents[1] / "exercises" / "code")
"""Inside an installed package, or in a checkout."""


@dataclass(frozen=True, slots=True)
class CodeExercise:
    """One exercise: its name (``c1-range``), folder and task."""

    name: str
    folder: Path
    task: CodeTask

    def text(self, file: str) -> str:
        """A file of the exercise as text (README.md, answer.py, solution.py)."""
        return (self.folder / file).read_text("utf-8")

    @property
    def hints(self) -> tuple[str, ...]:
        """The hints, each one step further."""
        return hints_of(self.text("hints.md"))

    def hidden(self, seed: int) -> Sequence[CodeCase]:
        """The cases that no learner sees, drawn for one learner."""
        cases: Callable[[int], Sequence[CodeCase]] = module_of(self.folder / "hidden.py").cases
        return cases(seed)


def home() -> Path:
    """The folder of the code exercises; raises ``DataError`` where there is none."""
    for folder in _HOMES:
        if folder.is_dir():
            return folder
    raise DataError(f"the code exercises are missing; expected them in one of {', '.join(map(str, _HOMES))}")


def names() -> tuple[str, ...]:
    """Names of the code exercises, easy to hard."""
    return tuple(sorted(path.parent.name for path in home().glob("*/task.py")))


@lru_cache(maxsize=16)
def load(name: str) -> CodeExercise:
    """Read a code exercise by its whole name; raises ``DataError`` naming those there are."""
    if name not in names():
        raise DataError(f"no exercise is called {name!r}; expected one of {', '.join(names())}")
    folder = home() / name
    return CodeExercise(name, folder, module_of(folder / "task.py").TASK)
