"""The exercises that come with the kit: where they lie, their names, and how one is read."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from rebalance_kit.exercises.task import Case, Task
from rebalance_kit.model.errors import DataError, require_kind

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
