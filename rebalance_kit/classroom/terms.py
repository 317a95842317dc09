"""The terms of a class, as the instructor writes them beside what was handed in: who belongs to it, what was set, until when.

``COURSE/class.yaml`` holds exercises with ``due`` and ``weight``, the rule for late work, and how many attempts count;
``COURSE/roster.csv`` the learners; ``COURSE/comments.csv`` words by hand. Each of the three may be missing.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from math import ceil
from pathlib import Path
from typing import Any

from rebalance_kit.exercises.workspace import find
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.files import refuse_no_file
from rebalance_kit.quiz.items.reading import Document, read_document

TERMS, ROSTER, COMMENTS = "class.yaml", "roster.csv", "comments.csv"
_MOST_BYTES = 2_000_000


@dataclass(frozen=True, slots=True)
class Asked:
    """An exercise that was set: until when (None: no date), and how much it weighs in the mean."""

    due: datetime | None = None
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Learner:
    """A row of the roster: the name that submissions have, and what a learning platform knows the learner by."""

    learner: str
    name: str = ""
    email: str = ""
    id: str = ""
    section: str = ""


@dataclass(frozen=True, slots=True)
class Comment:
    """Words by hand for a learner, about one exercise or (empty) the whole; ``points`` replaces the mark."""

    exercise: str
    words: str
    points: int | None = None


@dataclass(frozen=True, slots=True)
class Terms:
    """What was set; percent taken off per day late that has begun, and the days after which nothing counts; attempts that count."""

    exercises: Mapping[str, Asked] = field(default_factory=dict)
    percent_per_day: float = 0.0
    most_days: int | None = None
    attempts: int | None = None
    roster: Mapping[str, Learner] = field(default_factory=dict)
    comments: Mapping[str, Sequence[Comment]] = field(default_factory=dict)

    def days_late(self, exercise: str, at: datetime | None) -> int:
        """Days begun after the exercise was due; 0 where there is no date, or the moment is not known."""
        due = self.exercises.get(exercise, Asked()).due
        if due is None or at is None or at <= due:
            return 0
        return ceil((at - due).total_seconds() / 86_400)

    def after_late(self, points: int, days: int) -> int:
        """Points that are left of a mark that many days late."""
        if not days:
            return points
        if self.most_days is not None and days > self.most_days:
            return 0
        return round(points * max(0.0, 1 - days * self.percent_per_day / 100))


def read_terms(course: Path) -> Terms:
    """The terms in a course's folder; raises ``DataError`` with file, line and what was expected."""
    roster = {row.learner: row for row in _roster(course / ROSTER)}
    comments = _comments(course / COMMENTS)
    if not (course / TERMS).exists():
        return Terms(roster=roster, comments=comments)
    document = read_document(course / TERMS)
    raw = _mapping(document, (), document.value, {"exercises", "late", "attempts"})
    late = _mapping(document, ("late",), raw.get("late") or {}, {"percent_per_day", "most_days"})
    exercises = raw.get("exercises") or {}
    if not isinstance(exercises, Mapping):
        raise _odd(document, ("exercises",), f"{exercises!r}", "exercises by name, each with due and weight")
    return Terms(
        {find(str(name)).name: _asked(document, str(name), entry) for name, entry in exercises.items()},
        _number(document, ("late", "percent_per_day"), late.get("percent_per_day", 0), 100),
        _whole(document, ("late", "most_days"), late.get("most_days"), least=0),
        _whole(document, ("attempts",), raw.get("attempts"), least=1),
        roster,
        comments,
    )


def _asked(document: Document, name: str, entry: Any) -> Asked:
    place = ("exercises", name)
    raw = _mapping(document, place, entry or {}, {"due", "weight"})
    weight = _number(document, (*place, "weight"), raw.get("weight", 1), 1000)
    return Asked(_moment(document, (*place, "due"), raw.get("due")), weight)


def moment_of(text: str) -> datetime:
    """A moment as ISO writes it; a day alone is its end, and one without a zone is of this machine's. Raises ``ValueError``."""
    if len(text) == len("2026-12-01"):
        return datetime.combine(date.fromisoformat(text), time(23, 59, 59)).astimezone()
    return datetime.fromisoformat(text).astimezone(UTC)


def _moment(document: Document, place: tuple[str, ...], value: Any) -> datetime | None:
    if value is None:
        return None
    try:
        return moment_of(str(value))
    except ValueError as error:
        raise _odd(document, place, repr(value), "a moment such as 2026-12-01 or 2026-12-01T18:00") from error


def _number(document: Document, place: tuple[str, ...], value: Any, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise _odd(document, place, repr(value), f"a number from 0 to {most:g}")
    return float(value)


def _whole(document: Document, place: tuple[str, ...], value: Any, *, least: int) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise _odd(document, place, repr(value), f"a whole number from {least} on")
    return value


def _mapping(document: Document, place: tuple[str, ...], raw: Any, keys: set[str]) -> Mapping[str, Any]:
    if not isinstance(raw, Mapping) or set(raw) - keys:
        odd = ", ".join(sorted(map(str, set(raw) - keys))) if isinstance(raw, Mapping) else repr(raw)
        raise _odd(document, place, odd, ", ".join(sorted(keys)))
    return raw


def _odd(document: Document, place: tuple[str, ...], received: str, expected: str) -> DataError:
    return DataError(
        f"{document.path}:{document.line(place)}: {'.'.join(place)} {received} received; expected {expected}"
    )


def _roster(path: Path) -> list[Learner]:
    rows = [Learner(**row) for row in _rows(path, {"learner"}, {"name", "email", "id", "section"})]
    twice = sorted({row.learner for row in rows if [one.learner for one in rows].count(row.learner) > 1})
    if twice:
        raise DataError(f"{path}: {twice[0]!r} stands there twice; expected each learner once")
    return rows


def _comments(path: Path) -> Mapping[str, Sequence[Comment]]:
    found: dict[str, list[Comment]] = {}
    for row in _rows(path, {"learner", "comment"}, {"exercise", "points"}):
        points = row.get("points", "")
        if points and not (
            points.isascii() and points.isdecimal() and len(points) < 4 and int(points) <= 100
        ):
            raise DataError(
                f"{path}: points {points!r} of {row['learner']}; expected a whole number to 100, or none"
            )
        exercise = find(row["exercise"]).name if row.get("exercise") else ""
        found.setdefault(row["learner"], []).append(
            Comment(exercise, row["comment"], int(points) if points else None)
        )
    return found


def _rows(path: Path, needed: set[str], more: set[str]) -> list[dict[str, str]]:
    """Rows of a CSV file by the names of its columns; none where there is no file."""
    if not path.exists():
        return []
    refuse_no_file(path, "a CSV file")
    if path.stat().st_size > _MOST_BYTES:
        raise DataError(f"{path}: more than {_MOST_BYTES:,} bytes; expected the list of a class")
    try:
        reader = csv.DictReader(io.StringIO(path.read_text("utf-8-sig"), newline=""), strict=True)
        rows = list(reader)
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(f"{path}: {error}; expected CSV in UTF-8") from error
    head = set(reader.fieldnames or ())
    if not needed <= head or head - needed - more:
        raise DataError(
            f"{path}: columns {', '.join(map(str, reader.fieldnames or ()))} received; expected {', '.join(sorted(needed))}, "
            f"and if you like {', '.join(sorted(more))}"
        )
    return [{key: (row[key] or "").strip() for key in head} for row in rows if (row["learner"] or "").strip()]
