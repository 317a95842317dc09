"""What was handed in, sorted by what it answers: exercises by folder or by function, votes, answers to questions."""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath

from rebalance_kit.classroom.handed_in import HandedIn, cells_alone, printable
from rebalance_kit.classroom.notebook_answers import code_of_notebook
from rebalance_kit.exercises.workspace import all_names, find
from rebalance_kit.model import __version__
from rebalance_kit.quiz.sittings.poll import CODE

ANSWER = "answer.py"


@dataclass(frozen=True, slots=True)
class Submission:
    """One learner's work of one day: answers by exercise, codes of votes, lines of answered questions, notes."""

    learner: str
    answers: Mapping[str, bytes]
    votes: tuple[str, ...]
    questions: tuple[str, ...]
    notes: tuple[str, ...]
    notebooks: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Equal for equal work: the same work handed in again is no other attempt."""
        parts = [(name, hashlib.sha256(text).hexdigest()) for name, text in sorted(self.answers.items())]
        whole = json.dumps([parts, self.votes, self.questions, self.notes])
        return hashlib.sha256(whole.encode()).hexdigest()


def sorted_out(handed_in: HandedIn, course: str) -> Submission:
    """Find out what each file answers; a file that answers nothing is noted by its name."""
    candidates, notes = _candidates(handed_in, course)
    answers: dict[str, bytes] = {}
    for name, files in sorted(candidates.items()):
        path, answers[name] = _best(name, files)
        if (path.name, path.parent.name) != (ANSWER, name):
            notes.append(f"{path}: taken as the answer to {name}; expected {name}/{ANSWER}")
    votes = _lines(handed_in, ".vote", CODE.findall)
    questions = _lines(handed_in, ".jsonl", str.splitlines)
    if not (answers or votes or questions):
        notes.append("no work found: no answer, no vote, no answered question")
    told = tuple(printable(note) for note in (*handed_in.notes, *notes))
    return Submission(handed_in.learner, answers, votes, questions, told, _notebooks(handed_in))


def _notebooks(handed_in: HandedIn) -> Mapping[str, bytes]:
    """The notebooks as they are safe to open: their cells alone."""
    found = [path for path in handed_in.files if path.suffix == ".ipynb"]
    bare = ((path, cells_alone(handed_in.files[path])) for path in found)
    return {f"notebook-{at}.ipynb": cells for at, (_, cells) in enumerate(bare, start=1) if cells is not None}


def _candidates(
    handed_in: HandedIn, course: str
) -> tuple[dict[str, list[tuple[PurePosixPath, bytes]]], list[str]]:
    """Files that may answer an exercise, by its name, and notes."""
    notes: list[str] = []
    candidates: dict[str, list[tuple[PurePosixPath, bytes]]] = {}
    for path, data in handed_in.files.items():
        if path.suffix == ".ipynb":
            code, problem = code_of_notebook(data, set(_by_function()))
            notes += [f"{path}: {problem}"] if problem else []
            for function, text in code.items():
                candidates.setdefault(_by_function()[function], []).append((path, text.encode()))
        elif path.suffix == ".py":
            name = _exercise_of(path, data)
            if name is None:
                notes.append(f"{path}: answers no exercise; expected NAME-OF-EXERCISE/{ANSWER}")
            else:
                candidates.setdefault(name, []).append((path, data))
        elif path.name == "workspace.json":
            notes += _notes_of_workspace(path, data, handed_in.learner, course)
    return candidates, notes


@lru_cache(maxsize=1)
def _by_function() -> Mapping[str, str]:
    """Exercises by the function asked for; a function that two ask for names none."""
    asked: dict[str, list[str]] = {}
    for name in all_names():
        asked.setdefault(find(name).task.function, []).append(name)
    return {function: exercises[0] for function, exercises in asked.items() if len(exercises) == 1}


def _exercise_of(path: PurePosixPath, data: bytes) -> str | None:
    """By the folder's name, else by the one exercise whose function the file defines."""
    for part in reversed(path.parts[:-1]):
        if part in all_names():
            return part
    named = {_by_function()[function] for function in defined(data) if function in _by_function()}
    return named.pop() if len(named) == 1 else None


def defined(data: bytes) -> frozenset[str]:
    """Functions that a file defines at its top; none for what Python cannot read."""
    text = data.decode("utf-8", "replace")
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset(re.findall(r"^def (\w+)", text, re.MULTILINE))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def _best(name: str, files: list[tuple[PurePosixPath, bytes]]) -> tuple[PurePosixPath, bytes]:
    """The file called as asked for, else one that has the function, else the first."""
    function = find(name).task.function
    return min(files, key=lambda file: (file[0].name != ANSWER, function not in defined(file[1]), file[0]))


def _notes_of_workspace(path: PurePosixPath, data: bytes, learner: str, course: str) -> list[str]:
    """Differences between the workspace's own notes and whose work this is said to be."""
    try:
        written = json.loads(data)
    except (ValueError, RecursionError):
        return [f"{path}: no JSON; it is not needed for marking"]
    if not isinstance(written, dict):
        return [f"{path}: no notes of a workspace; it is not needed for marking"]
    notes = []
    if written.get("learner", learner) != learner:
        notes.append(
            f"{path}: begun as {str(written['learner'])[:60]!r}; marked with the data of {learner!r}, whose submission it is"
        )
    if written.get("course", course) != course:
        notes.append(f"{path}: begun in course {str(written['course'])[:60]!r}; marked in course {course!r}")
    if written.get("kit", __version__) != __version__:
        notes.append(f"{path}: begun with version {str(written['kit'])[:20]}; marked with {__version__}")
    return notes


def _lines(handed_in: HandedIn, suffix: str, cut: Callable[[str], list[str]]) -> tuple[str, ...]:
    files = handed_in.files.items()
    texts = (data.decode("utf-8", "replace") for path, data in files if path.suffix == suffix)
    return tuple(line for text in texts for line in cut(text) if line.strip())
