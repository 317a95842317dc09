"""The code exercises that come with the kit: where they lie, their names, and how one is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rebalance_kit.exercises.catalogue import hints_of, module_of
from rebalance_kit.exercises.code_tasks.task import CodeCase, CodeTask
from rebalance_kit.model.errors import DataError

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
