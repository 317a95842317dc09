"""What a class needs next: which exercise stalls and where, which beliefs are held, which answers to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from statistics import median

from rebalance_kit.classroom.gradebook import STYLE
from rebalance_kit.classroom.marking import CourseMarks, LearnerMarks
from rebalance_kit.model.html import policy

MOST_BELIEFS = 10


@dataclass(frozen=True, slots=True)
class Section:
    """One heading with a table below it, or with words where there is nothing to tell."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    nothing: str


def sections(marks: CourseMarks, beliefs: Mapping[str, str]) -> tuple[Section, ...]:
    """The parts of the report; ``beliefs`` are the bank's sentences by id."""
    noted = tuple((learner.learner, note) for learner in marks.learners for note in learner.notes)
    pairs = tuple(
        (pair.exercise, f"look at these two: {pair.first}, {pair.second}", f"{pair.share:.0%}")
        for pair in marks.pairs
    )
    return (
        Section(
            "Exercises, the hardest first",
            ("exercise", "handed in", "all checks", "median", "most stall at"),
            _exercises(marks),
            "No exercise was handed in.",
        ),
        Section(
            "Beliefs that answers show",
            ("learners", "belief", "sentence"),
            _beliefs(marks.learners, beliefs),
            "No wrong answer that shows a belief.",
        ),
        Section(
            "Votes: right before and after the discussion",
            ("question", "first vote", "second vote"),
            _votes(marks.learners),
            "No votes.",
        ),
        Section(
            "Answers that resemble each other (a hint, no verdict)",
            ("exercise", "learners", "the same"),
            pairs,
            "No two answers are alike beyond what the exercise asks for.",
        ),
        Section("Notes", ("learner", "note"), noted, "No notes."),
    )


def _exercises(marks: CourseMarks) -> tuple[tuple[str, ...], ...]:
    rows = []
    for name in marks.exercises:
        best = [learner.best[name] for learner in marks.learners if name in learner.best]
        stalls = Counter(mark.stalled_at for mark in best if mark.stalled_at)
        title, number = stalls.most_common(1)[0] if stalls else ("", 0)
        green = sum(mark.points == 100 for mark in best)
        points = median(mark.points for mark in best) if best else 0
        row = (
            name,
            f"{len(best)} of {len(marks.learners)}",
            str(green),
            f"{points:g}",
            f"{title} ({number})" if title else "",
        )
        rows.append((green / len(best) if best else 0.0, points, row))
    return tuple(row for _, _, row in sorted(rows))


def _beliefs(learners: Iterable[LearnerMarks], sentences: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    counted = Counter(
        belief
        for learner in learners
        for belief in sorted({belief for mark in learner.questions for belief in mark.beliefs})
    )
    return tuple(
        (str(number), belief, sentences.get(belief, ""))
        for belief, number in counted.most_common(MOST_BELIEFS)
    )


def _votes(learners: Iterable[LearnerMarks]) -> tuple[tuple[str, ...], ...]:
    counted: dict[str, dict[str, list[float]]] = {}
    for learner in learners:
        for mark in learner.questions:
            if mark.sitting.startswith("vote "):
                counted.setdefault(mark.item, {}).setdefault(mark.sitting, []).append(mark.credit)
    return tuple(
        (item, *(_right(rounds.get(sitting, [])) for sitting in ("vote 1", "vote 2")))
        for item, rounds in sorted(counted.items())
    )


def _right(credits_given: Sequence[float]) -> str:
    return f"{sum(credit == 1 for credit in credits_given)} of {len(credits_given)}" if credits_given else ""


def as_text(marks: CourseMarks, parts: Sequence[Section]) -> str:
    """The report for a terminal."""
    lines = [f"Course {marks.course}: {len(marks.learners)} learners, {len(marks.exercises)} exercises"]
    for part in parts:
        lines += ["", part.title]
        if not part.rows:
            lines.append(f"  {part.nothing}")
            continue
        table = [part.head, *part.rows]
        widths = [max(len(row[column]) for row in table) for column in range(len(part.head))]
        lines += [
            "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in table
        ]
    return "\n".join(lines) + "\n"


def as_page(marks: CourseMarks, parts: Sequence[Section]) -> str:
    """The report as a page of its own, without scripts; whatever a learner wrote is escaped."""
    title = f"Course {escape(marks.course)}"
    body = "".join(f"<h2>{escape(part.title)}</h2>{_table(part)}" for part in parts)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8">{policy()}<title>{title}</title><style>{STYLE}</style>'
        f"<h1>{title}</h1><p>{len(marks.learners)} learners, {len(marks.exercises)} exercises</p>{body}</html>\n"
    )


def _table(part: Section) -> str:
    if not part.rows:
        return f"<p>{escape(part.nothing)}</p>"
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in part.head)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in part.rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
