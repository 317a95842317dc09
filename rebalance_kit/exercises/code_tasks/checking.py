"""Check an answer to a code exercise: a line per case, with points, words that teach, and a link into the lab."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rebalance_kit.exercises.answers import Answer
from rebalance_kit.exercises.asking import UNREADABLE
from rebalance_kit.exercises.code_tasks.task import CodeCase, CodeExercise, CodeTask, Failed, Mark, Outputs
from rebalance_kit.exercises.task import NotYet
from rebalance_kit.simulation.permalink import LinkError, write_link

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
