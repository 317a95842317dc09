"""Files that marking leaves in a course's folder: gradebook, feedback per learner, the report as text and as a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rebalance_kit.classroom.class_report import as_page, as_text, sections
from rebalance_kit.classroom.course import Course
from rebalance_kit.classroom.gradebook import PLATFORMS, feedback, feedback_page, gradebook
from rebalance_kit.classroom.handed_in import file_name
from rebalance_kit.classroom.marking import Checker, CourseMarks, Report, mark_course
from rebalance_kit.classroom.questions import bank
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.files import write_atomically


def mark_and_write(
    course: Course, check: Checker, asked: Sequence[str], tell: Callable[[str], object], at_once: int = 1
) -> CourseMarks:
    """Mark the course and write ``gradebook.csv``, ``asked.txt`` and ``feedback/LEARNER.txt`` and ``.html``; with a roster the platforms' tables, too."""
    marks = mark_course(course, check, asked, tell, at_once)
    write_atomically(course.folder / "gradebook.csv", gradebook(marks))
    write_atomically(course.folder / "asked.txt", "".join(f"{name}\n" for name in asked))
    (course.folder / "feedback").mkdir(exist_ok=True)
    for learner in marks.learners:
        target = course.folder / "feedback" / file_name(learner.learner)
        write_atomically(f"{target}.txt", feedback(learner, marks))
        write_atomically(f"{target}.html", feedback_page(learner, marks))
    if marks.terms.roster:
        for name, table in PLATFORMS.items():
            write_atomically(course.folder / name, table(marks))
    return marks


def write_report(course: Course) -> str:
    """Write ``report.txt`` and ``report.html`` from the marks given, and return the text.

    Raises ``DataError`` where something is not marked yet.
    """

    def refuse(name: str, answer: object, _seed: int) -> Report:
        raise DataError(
            f"{answer}: {name} is not marked yet; expected `rebalance-kit classroom mark {course.folder}` before"
        )

    try:
        asked = (course.folder / "asked.txt").read_text("utf-8").split()
    except OSError as error:
        raise DataError(
            f"{course.folder}: not marked yet; expected `rebalance-kit classroom mark {course.folder}` before"
        ) from error
    marks = mark_course(course, refuse, asked)
    parts = sections(marks, bank().beliefs)
    text = as_text(marks, parts)
    write_atomically(course.folder / "report.txt", text)
    write_atomically(course.folder / "report.html", as_page(marks, parts))
    return text
