"""A learner's own folder: answers that are never overwritten, hints taken so far, and whose it is.

``<folder>/<exercise>/`` holds README.md, answer.py and workspace.json (learner, course, version of the kit, hints taken, whether the solution was looked at); of a PySpark
exercise also expected.txt and the logs of the public case under data/.
"""

from __future__ import annotations

import getpass
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rebalance_kit.exercises import FOLDER, code_task
from rebalance_kit.exercises.case_runs import place_logs
from rebalance_kit.exercises.checking import AnswerReport, check_answer
from rebalance_kit.exercises.code_task import CodeExercise, CodeReport, check_code
from rebalance_kit.exercises.runner import LIMIT_S, FromCell, FromFile
from rebalance_kit.exercises.spark_bench import SparkBench
from rebalance_kit.exercises.task import Exercise, load, matched, names
from rebalance_kit.exercises.wall import kinds
from rebalance_kit.model import __version__
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.files import write_atomically

_NOTES = "workspace.json"


@dataclass(frozen=True, slots=True)
class Identity:
    """Who learns, and in which course; together with an exercise they decide what data are drawn."""

    learner: str
    course: str = "rebalance-kit"

    def seed(self, item: str) -> int:
        """The seed of this learner's variant of an item: the same on every machine."""
        digest = hashlib.sha256(f"{self.course}\n{self.learner}\n{item}".encode()).digest()
        return int.from_bytes(digest[:6], "big")


def whoever() -> Identity:
    """``REBALANCE_KIT_LEARNER`` and ``REBALANCE_KIT_COURSE``, else the name of the user."""
    try:
        learner = os.environ.get("REBALANCE_KIT_LEARNER") or getpass.getuser()
    except (KeyError, OSError) as error:
        raise DataError(
            f"the user has no name here ({error}); expected one in the variable REBALANCE_KIT_LEARNER"
        ) from error
    return Identity(learner, os.environ.get("REBALANCE_KIT_COURSE", "rebalance-kit"))


AnyExercise = Exercise | CodeExercise


def all_names() -> tuple[str, ...]:
    """Names of the PySpark exercises, then those of the code exercises."""
    return (*names(), *code_task.names())


def find(name: str) -> AnyExercise:
    """An exercise of either sort by its name, its number or a part of it; raises ``DataError`` naming those there are."""
    whole = matched(name, all_names())
    return code_task.load(whole) if whole in code_task.names() else load(whole)


class Workspace:
    """A folder of exercises in work."""

    def __init__(self, folder: str | Path = FOLDER, identity: Identity | None = None) -> None:
        self.folder = Path(folder)
        self._identity = identity
        self._taken: dict[str, int] = {}

    def answer_file(self, exercise: AnyExercise) -> Path:
        """Where the learner's answer to an exercise is (or will be)."""
        return self.folder / exercise.name / "answer.py"

    def start(self, name: str) -> str:
        """Copy an exercise here, its logs too, and say where it is; an answer that is there stays as it is.

        Raises ``DataError`` for a folder that cannot be written to.
        """
        exercise = find(name)
        target, answer = self.folder / exercise.name, self.answer_file(exercise)
        answered = answer.exists()
        try:
            self._copy(exercise, target)
        except OSError as problem:
            raise DataError(
                f"{self.folder}: cannot be written to ({problem.strerror}); expected a folder of your own"
            ) from problem
        self._note(exercise, {})
        words = "your answer was kept" if answered else "write your answer"
        return f"{exercise.name} · {exercise.task.title}\nRead {target / 'README.md'}; {words} in {answer}."

    def _copy(self, exercise: AnyExercise, target: Path) -> None:
        target.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(exercise.folder / "README.md", target / "README.md")
        if isinstance(exercise, Exercise):
            shutil.copyfile(exercise.folder / "expected.txt", target / "expected.txt")
            place_logs(exercise.task.public.runs, target / "data")
        if not (target / "answer.py").exists():
            shutil.copyfile(exercise.folder / "answer.py", target / "answer.py")

    def check(
        self,
        name: str,
        bench: SparkBench,
        answer: Callable[..., Any] | None = None,
        *,
        hidden: bool = True,
        limit_s: float | None = None,
    ) -> AnswerReport | CodeReport:
        """Check the file here, or a function given; the hidden checks follow once the public ones pass.

        ``limit_s`` replaces the exercise's own limit of one call; a code exercise leaves the bench alone.
        """
        exercise = find(name)
        handed_in = (
            FromFile(self.answer_file(exercise), exercise.task.function)
            if answer is None
            else FromCell(answer)
        )
        seed = self.identity(exercise).seed(exercise.name) if hidden else None
        if isinstance(exercise, CodeExercise):
            return check_code(exercise, handed_in, seed=seed, limit_s=limit_s)
        return check_answer(exercise, handed_in, bench, seed=seed, limit_s=limit_s or LIMIT_S)

    def without_wall(self, name: str) -> str:
        """Words for a learner whose machine has no wall, the first time in an exercise's folder; empty otherwise."""
        exercise = find(name)
        if kinds.best() != kinds.NONE or self._notes(exercise).get("told of no wall"):
            return ""
        self._note(exercise, {"told of no wall": True})
        return (
            "This machine has no wall to run code behind: your answer runs as you, and can do what you can."
        )

    def hint(self, name: str, number: int | None = None) -> str:
        """The next hint (or one by its number), with how many there are; raises ``DataError`` for a number beyond."""
        exercise = find(name)
        hints = exercise.hints
        if number is not None and not 1 <= number <= len(hints):
            raise DataError(f"hint {number} of {exercise.name}; expected a number from 1 to {len(hints)}")
        taken = max(self._taken.get(exercise.name, 0), int(self._notes(exercise).get("hints", 0)))
        wanted = min(taken + 1, len(hints)) if number is None else number
        self._taken[exercise.name] = max(taken, wanted)
        self._note(exercise, {"hints": max(taken, wanted)})
        return f"Hint {wanted} of {len(hints)}: {hints[wanted - 1]}"

    def solution(self, name: str) -> str:
        """The kit's own answer, as text; that it was looked at is noted where the exercise was begun.

        Raises ``DataError`` in an installation that was handed out without solutions.
        """
        exercise = find(name)
        if not (exercise.folder / "solution.py").is_file():
            raise DataError(
                f"{exercise.name} has no solution here; expected a kit that was not handed out without solutions"
            )
        if self.answer_file(exercise).parent.is_dir():
            self._note(exercise, {"solution": True})
        return exercise.text("solution.py")

    def has_seen_solution(self, name: str) -> bool:
        """Whether the kit's own answer was looked at from this folder."""
        return bool(self._notes(find(name)).get("solution"))

    def listing(self) -> str:
        """All exercises, a line each: name, level, minutes, title, whether begun here."""
        rows = [find(name) for name in all_names()]
        return "\n".join(
            f"{exercise.name:26} {exercise.task.level:7} {exercise.task.minutes:3} min  {exercise.task.title}{'  (begun)' if self.answer_file(exercise).exists() else ''}"
            for exercise in rows
        )

    def identity(self, exercise: AnyExercise) -> Identity:
        """Who this workspace belongs to: as given, as noted when the exercise was begun, or whoever is logged in."""
        notes = self._notes(exercise)
        if self._identity is None and "learner" in notes:
            return Identity(str(notes["learner"]), str(notes.get("course", "rebalance-kit")))
        return self._identity or whoever()

    def _notes(self, exercise: AnyExercise) -> Mapping[str, Any]:
        try:
            notes = json.loads((self.folder / exercise.name / _NOTES).read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return notes if isinstance(notes, dict) else {}

    def _note(self, exercise: AnyExercise, more: Mapping[str, Any]) -> None:
        """Write the notes beside and rename; a workspace without the exercise's folder keeps none."""
        folder = self.folder / exercise.name
        if not folder.is_dir():
            return
        who = self.identity(exercise)
        notes = {
            "learner": who.learner,
            "course": who.course,
            "kit": __version__,
            **self._notes(exercise),
            **more,
        }
        write_atomically(folder / _NOTES, json.dumps(notes, indent=1) + "\n")
