"""Marks as tables: the gradebook, what learning platforms import, and what each learner reads.

A cell is empty where nothing was handed in, and 0 where what was handed in earns nothing.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from html import escape

from rebalance_kit.classroom.marking import CourseMarks, LearnerMarks, Mark
from rebalance_kit.classroom.terms import Asked, Comment, Learner, Terms
from rebalance_kit.model.html import policy

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
STYLE = "body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}table{border-collapse:collapse}th,td{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0;border-bottom:1px solid #8886}pre{white-space:pre-wrap;overflow-wrap:anywhere}"


def gradebook(marks: CourseMarks) -> str:
    """One row per learner as CSV: attempts, points per exercise (empty where nothing was handed in), their weighted mean, exam, notes.

    The mean is over what was set; it is left out where nothing says what was set. A text that a spreadsheet would
    take for a formula gets an apostrophe in front.
    """
    head = ["learner", "name", "attempts", *marks.exercises, "mean", "not handed in", "late"]
    return _csv(
        [*head, "exam", "exam % (self-reported)", "notes"],
        (_row(marks, learner) for learner in marks.learners),
    )


def _row(marks: CourseMarks, learner: LearnerMarks) -> list[object]:
    given = {name: learner.best.get(name) for name in marks.exercises}
    exam = learner.exams[0] if learner.exams else None
    mean = mean_of(learner, marks)
    return [
        _cell(learner.learner),
        _cell(_known(marks.terms, learner).name),
        learner.attempts,
        *("" if mark is None else mark.points for mark in given.values()),
        "" if mean is None else f"{mean:.1f}",
        "; ".join(name for name, mark in given.items() if mark is None),
        "; ".join(f"{name} {mark.days_late} d" for name, mark in given.items() if mark and mark.days_late),
        *(("", "") if exam is None else (exam.paper, f"{exam.percent:.1f}")),
        _cell("; ".join(learner.notes)),
    ]


def mean_of(learner: LearnerMarks, marks: CourseMarks) -> float | None:
    """The mean over what was set, by weight; what was not handed in counts 0. None where nothing was set, or weighs anything."""
    weights = {name: marks.terms.exercises.get(name, Asked()).weight for name in marks.were_set}
    if not sum(weights.values()):
        return None
    points = {name: learner.best[name].points if name in learner.best else 0 for name in weights}
    return sum(points[name] * weights[name] for name in weights) / sum(weights.values())


def moodle(marks: CourseMarks) -> str:
    """Columns that Moodle's import of grades maps by itself: e-mail address, ID number, a column per exercise and its feedback."""
    heads = [head for name in marks.exercises for head in (name, f"{name} (feedback)")]
    rows = []
    for learner in marks.learners:
        known = _known(marks.terms, learner)
        cells = []
        for name in marks.exercises:
            mark = learner.best.get(name)
            cells += ["", ""] if mark is None else [str(mark.points), _cell(mark.stalled_at)]
        rows.append([_cell(known.email), _cell(known.id), _cell(learner.learner), *cells])
    return _csv(["Email address", "ID number", "Username", *heads], rows)


def canvas(marks: CourseMarks) -> str:
    """Rows that Canvas' import of grades takes: its five columns of a student, a column per exercise, points possible first."""
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *marks.exercises]
    possible: list[object] = ["    Points Possible", "", "", "", "", *(100 for _ in marks.exercises)]
    rows: list[Sequence[object]] = [possible]
    for learner in marks.learners:
        known = _known(marks.terms, learner)
        points = (learner.best[name].points if name in learner.best else "" for name in marks.exercises)
        names = (known.name or learner.learner, "", known.id, known.email or learner.learner, known.section)
        rows.append([*map(_cell, names), *points])
    return _csv(head, rows)


PLATFORMS: dict[str, Callable[[CourseMarks], str]] = {
    "gradebook-moodle.csv": moodle,
    "gradebook-canvas.csv": canvas,
}


def _known(terms: Terms, learner: LearnerMarks) -> Learner:
    return terms.roster.get(learner.learner, Learner(learner.learner))


def _csv(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    csv.writer(out).writerows([head, *rows])
    return out.getvalue()


def _cell(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text


def feedback(learner: LearnerMarks, marks: CourseMarks) -> str:
    """What the learner reads: the report of the best attempt per exercise, words by hand, and notes."""
    return "\n\n".join("\n".join(part) for part in _told(learner, marks)) + "\n"


def feedback_page(learner: LearnerMarks, marks: CourseMarks) -> str:
    """The same as a page of its own, without scripts; whatever a learner or an answer wrote is escaped."""
    (head, *_), *parts = _told(learner, marks)
    body = "".join(
        f"<h2>{escape(title)}</h2><pre>{escape(chr(10).join(rest))}</pre>" for title, *rest in parts
    )
    title = f"{escape(head)} · {escape(marks.course)}"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">{policy()}<meta name="viewport" content="width=device-width">'
        f"<title>{title}</title><style>{STYLE}</style></head><body><h1>{title}</h1>{body}</body></html>\n"
    )


def _told(learner: LearnerMarks, marks: CourseMarks) -> list[list[str]]:
    """Parts of the feedback, each a title and lines."""
    comments = marks.terms.comments.get(learner.learner, ())
    parts = [[f"{learner.learner}: {learner.attempts} handed in"]]
    for name in marks.exercises:
        mark = learner.best.get(name)
        parts.append([_title(name, mark), *_by_hand(comments, name), *([mark.feedback] if mark else [])])
    if mean := mean_of(learner, marks):
        parts.append([f"Mean of what was set: {mean:.1f} of 100"])
    return (
        parts + [[words] for words in _by_hand(comments, "")] + [[f"Note: {note}"] for note in learner.notes]
    )


def _title(name: str, mark: Mark | None) -> str:
    if mark is None:
        return f"{name}: not handed in"
    late = f", {mark.days_late} days late" if mark.days_late else ""
    hand = ", by hand" if mark.by_hand else ""
    return f"{name}: {mark.points} of 100 (attempt {mark.attempt}{late}{hand})"


def _by_hand(comments: Sequence[Comment], exercise: str) -> list[str]:
    return [f"Comment: {one.words}" for one in comments if one.exercise == exercise and one.words]
