"""Parts of a code exercise as values: cases, what an answer earned in each, and how it is run.

A folder of ``exercises/code`` holds one exercise; its ``task.py`` has a ``TASK``, its ``hidden.py`` the cases that
only ``cases(seed)`` knows.

The code exercises that come with the kit: where they lie, their names, and how one is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from rebalance_kit.exercises.runner import Answer, Code
from rebalance_kit.exercises.task import NotYet, hints_of, module_of
from rebalance_kit.exercises.wall.begin import UNREADABLE
from rebalance_kit.model.errors import DataError
from rebalance_kit.simulation.permalink import Link, LinkError, write_link

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


_HERE = Path(__file__).resolve().parent
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


# Check an answer to a code exercise: a line per case, with points, words that teach, and a link into the lab.


LEAD_MS = 1000
"""How long before the moment the lab opens, so that what happens is seen happening."""


@dataclass(frozen=True, slots=True)
class CaseLine:
    """One case: its title, what it earned of its points, and for a failing one the words and the lab's link.

    ``passed`` None: not looked at.
    """

    title: str
    passed: bool | None
    earned: float
    points: int
    words: str = ""
    link: str = ""

    def __str__(self) -> str:
        mark = {True: "passed ", False: "to do  ", None: "  -    "}[self.passed]
        said = f"\n    {self.words}" if self.words else ""
        opened = f"\n    open it: rebalance-kit lab {self.link}" if self.link else ""
        return f"{mark} {self.title} ({self.earned:g}/{self.points} points){said}{opened}"


@dataclass(frozen=True, slots=True)
class CodeReport:
    """The checks of one answer; ``hidden`` is empty unless they were asked for and the public ones pass."""

    exercise: str
    public: tuple[CaseLine, ...]
    hidden: tuple[CaseLine, ...] = ()
    printed: str = ""

    @property
    def green(self) -> bool:
        """Whether every check that is here passed."""
        return all(line.passed for line in (*self.public, *self.hidden))

    @property
    def earned(self) -> float:
        """Points of all cases together."""
        return sum(line.earned for line in (*self.public, *self.hidden))

    @property
    def points(self) -> int:
        """Points that a right answer earns."""
        return sum(line.points for line in (*self.public, *self.hidden))

    def __str__(self) -> str:
        lines = [f"Your code printed:\n{self.printed}\n"] if self.printed else []
        lines += [str(line) for line in self.public]
        lines.append(f"{self.exercise}: public checks {_count(self.public)} passed")
        if self.hidden:
            lines += [f"on cases you have not seen: {line}" for line in self.hidden if not line.passed]
            lines.append(f"{self.exercise}: hidden checks {_count(self.hidden)} passed")
        return "\n".join([*lines, f"{self.exercise}: {self.earned:g} of {self.points} points"])


def _count(lines: Sequence[CaseLine]) -> str:
    return f"{sum(line.passed is True for line in lines)}/{len(lines)}"


def check_code(
    exercise: CodeExercise, answer: Answer, *, seed: int | None = None, limit_s: float | None = None
) -> CodeReport:
    """Check the public cases and, once any of them passes and a learner's ``seed`` is given, the hidden ones.

    The answer runs in a process of its own or is read as data; what it gave is judged in this one.
    """
    task = exercise.task
    limit_s = task.limit_s if limit_s is None else limit_s
    public, printed = _look(task, task.public, answer, limit_s)
    if seed is None or not any(line.passed for line in public):
        return CodeReport(exercise.name, public, printed=printed)
    hidden, _ = _look(task, exercise.hidden(seed), answer, limit_s)
    return CodeReport(exercise.name, public, hidden, printed)


def _look(
    task: CodeTask, cases: Sequence[CodeCase], answer: Answer, limit_s: float
) -> tuple[tuple[CaseLine, ...], str]:
    """The line of every case, and what the answer printed."""
    try:
        done = task.kind.run(task.kind.code(answer, task.function), task.function, cases, limit_s)
    except NotYet as words:
        done = Outputs(problem=str(words))
    if done.problem is not None:
        first, *others = cases
        lines = [CaseLine(first.title, False, 0, first.points, done.problem)]
        return (*lines, *(CaseLine(case.title, None, 0, case.points) for case in others)), done.printed
    pairs = zip(cases, done.outputs, strict=True)
    return tuple(_line(task, case, output) for case, output in pairs), done.printed


def _line(task: CodeTask, case: CodeCase, output: object) -> CaseLine:
    try:
        mark = task.judge(case, output)
    except Failed as failed:
        mark = Mark(0.0, str(failed), failed.at_ms)
    except NotYet as words:
        mark = Mark(0.0, str(words))
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError):
        mark = Mark(0.0, UNREADABLE)
    if mark.share >= 1:
        return CaseLine(case.title, True, case.points, case.points)
    earned = round(case.points * max(mark.share, 0.0), 1)
    return CaseLine(case.title, False, earned, case.points, mark.words, _link(case, mark))


def _link(case: CodeCase, mark: Mark) -> str:
    """The token that opens the case in the lab, a moment before it fails."""
    link = mark.link or case.link
    if link is None:
        return ""
    at_ms = link.at_ms if mark.at_ms is None else max(0, mark.at_ms - LEAD_MS)
    try:
        return write_link(replace(link, at_ms=at_ms))
    except LinkError:  # a scenario too large for a link is still told by its title
        return ""
