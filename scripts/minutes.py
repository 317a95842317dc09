"""How long each notebook takes, measured by reading it; ``--write`` puts the numbers into the sources.

Prose is read at 130 words a minute. A code cell that is not folded takes 20 seconds, a figure a minute and a half,
a lab five minutes, and every question (predicted, checked or asked by a quiz) one minute. Exercises count apart, with
their own minutes. Minutes are stated in the first cell, rounded up to the next five:
``**25 minutes**`` or ``**40 minutes**, and 75 for its exercises``.
"""

from __future__ import annotations

import importlib.util
import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import nbformat

from rebalance_kit.model.files import write_atomically
from rebalance_kit.quiz.sittings.practice import pick_items

ROOT = Path(__file__).resolve().parent.parent
WORDS_A_MINUTE = 130
EXAM = "16"
"""This notebook states the minutes of its exam, which are the exam's own."""
CODE, FIGURE, LAB, QUESTION = 1 / 3, 1.5, 5.0, 1.0
STATED = re.compile(r"\*\*(?P<minutes>\d+) minutes\.?\*\*(?:, and (?P<exercises>\d+) for its exercises)?")
_FIGURES = re.compile(r"\b(?:flow|chart|one_clock|messages|state_machine|show|show_logs|Poll)\(")
_LAB = re.compile(r"^(?:\w+ = )?Lab\(.*\)$", re.MULTILINE)
_QUIZ = re.compile(r"\bQuiz\((?P<given>[^)]*)\)")
_PREDICT = re.compile(r"\bpredict\(")
_MARKUP = re.compile(r"<[^>]+>|^```.*$|^\|[-:| ]+\|$", re.MULTILINE)
_EXERCISE = re.compile(r"\bExercise\(\"(?P<name>[^\"]+)\"")
_ASKED = re.compile(r"<summary>\s*Answers?", re.IGNORECASE)
"""A question of the text itself has a folded answer below it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What there is to do in a notebook, and how long that takes."""

    words: int = 0
    code_cells: int = 0
    figures: int = 0
    labs: int = 0
    questions: int = 0
    exercise_minutes: int = 0
    quiz_questions: int = 0
    """Those of ``questions`` that a quiz asks."""

    @property
    def minutes(self) -> int:
        """Rounded up to the next five."""
        return 5 * math.ceil(self.exact / 5)

    @property
    def exact(self) -> float:
        """Everything that the notebook asks for, not rounded."""
        return self.without_labs_and_quizzes + self.labs * LAB + self.quiz_questions * QUESTION

    @property
    def without_labs_and_quizzes(self) -> float:
        """Reading, predicting, running and looking."""
        asked = self.questions - self.quiz_questions
        return self.words / WORDS_A_MINUTE + self.code_cells * CODE + self.figures * FIGURE + asked * QUESTION

    @property
    def stated(self) -> str:
        """How the first cell says it."""
        exercises = f", and {self.exercise_minutes} for its exercises" if self.exercise_minutes else ""
        return f"**{self.minutes} minutes**{exercises}"


def reading(notebook: nbformat.NotebookNode) -> Reading:
    """Count what a notebook asks of its reader."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    prose = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    shown = [cell for cell in code if "hide-input" not in cell.metadata.get("tags", [])]
    source = "\n".join(cell.source for cell in code)
    in_quizzes = sum(map(_quiz_questions, _QUIZ.findall(source)))
    questions = in_quizzes
    questions += len(_PREDICT.findall(source))
    questions += sum(len(_ASKED.findall(text)) for text in prose)
    return Reading(
        words=sum(map(_words, prose)),
        code_cells=len(shown),
        figures=len(_FIGURES.findall(source)),
        labs=len(_LAB.findall(source)),
        questions=questions,
        exercise_minutes=sum(map(_exercise_minutes, _EXERCISE.findall(source))),
        quiz_questions=in_quizzes,
    )


def _words(text: str) -> int:
    """Words that are read: marks of Markdown and HTML are none."""
    return sum(any(sign.isalnum() for sign in word) for word in _MARKUP.sub(" ", text).split())


def _quiz_questions(given: str) -> int:
    tag = re.match(r"\"([^\"]+)\"", given)
    count = re.search(r"count=(\d+)", given)
    if count:
        return int(count[1])
    ids = re.findall(r"\"([^\"]+)\"", given.partition("ids=")[2])
    return len(ids) or len(pick_items(tag[1] if tag else None))


def _exercise_minutes(name: str) -> int:
    """The minutes that the exercise's own README states."""
    (readme,) = (ROOT / "exercises").glob(f"*/{name}/README.md")
    stated = re.search(r"(\d+) minutes", readme.read_text("utf-8"))
    if stated is None:
        raise ValueError(f"{readme} states no minutes")
    return int(stated[1])


PATHS: Mapping[str, tuple[str, bool]] = {
    "three hours": (r"0[01358]-|14-", False),
    "exam": (r"0\d|14-|15b-", True),
    "everything": (r"\d\d", True),
}
"""Which notebooks a path of notebook 00 has, and whether their labs and quizzes count; the exam of 16 counts apart."""
_ROW = r"(\| \*\*{name}\*\* \|.*\| )\d+( \|)"


def path_minutes() -> dict[str, int]:
    """The minutes of each path, rounded to whole ones."""
    making = _making()
    read = {path.stem: reading(making.read_source(path)) for path in making.sources_of(ROOT / "notebooks")}
    return {
        name: round(
            sum(
                each.exact if whole else each.without_labs_and_quizzes
                for stem, each in read.items()
                if re.match(pattern, stem) and not stem.startswith(EXAM)
            )
        )
        for name, (pattern, whole) in PATHS.items()
    }


def with_paths(text: str) -> str:
    """The source of notebook 00 with the minutes of its paths."""
    for name, minutes in path_minutes().items():
        text = re.sub(_ROW.format(name=name), rf"\g<1>{minutes}\g<2>", text)
    return text


def _making() -> ModuleType:
    spec = importlib.util.spec_from_file_location("making", Path(__file__).with_name("notebooks.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(arguments: list[str]) -> int:
    """Print, and with ``--write`` set, the minutes of every numbered notebook whose source states some."""
    making = _making()
    for path in making.sources_of(ROOT / "notebooks"):
        text = path.read_text("utf-8")
        if path.stem[:2] in {EXAM, "I-"} or not STATED.search(text):
            continue
        counted = reading(making.read_source(path))
        print(f"{path.stem:28} {counted.stated:55} {counted}")
        if "--write" in arguments:
            write_atomically(path, STATED.sub(counted.stated, text, count=1))
    if "--write" in arguments:
        (start,) = (ROOT / "notebooks" / "src").rglob("00-*.py")
        write_atomically(start, with_paths(start.read_text("utf-8")))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
