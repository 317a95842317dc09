"""The instructor's folder of a course: every attempt of every learner, as files.

``COURSE/course.json`` names the course and the rooms of its polls, ``COURSE/submissions/LEARNER/N/`` holds attempt N: ``EXERCISE/answer.py``,
``work.json`` (votes, answered questions, notes). Nothing in it is ever imported or executed by this process.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rebalance_kit.classroom.handed_in import entries, file_name, learner_of, printable, read_entry
from rebalance_kit.classroom.submissions import ANSWER, Submission, sorted_out
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.files import draft_folder, write_atomically
from rebalance_kit.quiz.sittings.poll import known_room

_COURSE = "course.json"
_WORK = "work.json"


@dataclass(frozen=True, slots=True)
class StoredAttempt:
    """One attempt of a learner in the course's folder: files of its answers by exercise, the rest of the work, and when it was handed in."""

    learner: str
    number: int
    answers: dict[str, Path]
    votes: tuple[str, ...]
    questions: tuple[str, ...]
    notes: tuple[str, ...]
    digest: str
    at: datetime | None = None


class Course:
    """A course's folder."""

    def __init__(self, folder: Path, name: str, rooms: Sequence[str] = ()) -> None:
        self.folder, self.name, self.rooms = folder, name, tuple(rooms)

    @classmethod
    def begin(cls, folder: Path, name: str | None = None) -> Course:
        """Open the course in a folder, or begin one; raises ``DataError`` for a name that is not the folder's own."""
        if not (folder / _COURSE).exists():
            if folder.exists() and any(folder.iterdir()):
                raise DataError(f"{folder}: holds other files; expected a new folder or one of a course")
            folder.mkdir(parents=True, exist_ok=True)
            cls(folder, name or "rebalance-kit").save()
        course = cls.open(folder)
        if name not in {None, course.name}:
            raise DataError(f"{folder} is of the course {course.name!r}; {name!r} received")
        return course

    @classmethod
    def open(cls, folder: Path) -> Course:
        """Open the course in a folder; raises ``DataError`` where there is none."""
        try:
            course = json.loads((folder / _COURSE).read_text("utf-8"))
            return cls(folder, str(course["course"]), [str(room) for room in course["rooms"]])
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise DataError(
                f"{folder}: no course; expected a folder made by `rebalance-kit classroom collect`"
            ) from error

    def add_rooms(self, rooms: Sequence[str]) -> None:
        """Count the votes of these polls from now on; raises ``DataError`` for a word that no poll can have."""
        self.rooms = tuple(dict.fromkeys([*self.rooms, *map(known_room, rooms)]))
        self.save()

    def save(self) -> None:
        """Write the course's name and rooms."""
        notes = {"course": self.name, "rooms": self.rooms}
        write_atomically(self.folder / _COURSE, json.dumps(notes, indent=1) + "\n")

    def collect(self, handed_in: Path, at: datetime | None = None) -> tuple[str, ...]:
        """Take in a folder of submissions; a line for each entry. The same work twice is stored once.

        ``at`` is when they were handed in (default: now): what a file says of its own time, its owner can set.
        """
        moment = (at or datetime.now(UTC)).isoformat(timespec="seconds")
        found, odd = entries(handed_in)
        lines = [printable(line) for line in odd]
        taken: dict[str, str] = {}
        for entry in found:
            learner = learner_of(entry)
            if learner in taken:
                lines.append(
                    f"{learner}: {printable(entry.name)} is taken as another attempt beside {taken[learner]}; ask whether both are the learner's"
                )
            taken.setdefault(learner, printable(entry.name))
            try:
                lines.append(self._take(sorted_out(read_entry(entry), self.name), moment))
            except Exception as error:  # noqa: BLE001 - one learner's files stop nobody else's
                lines.append(f"{learner}: not collected ({printable(f'{type(error).__name__}: {error}')})")
        return tuple(lines)

    def attempts(self) -> tuple[StoredAttempt, ...]:
        """Every attempt, by learner and number."""
        return tuple(
            _stored(folder)
            for learner in _folders(self._submissions)
            for folder in sorted(_numbered(learner), key=lambda path: int(path.name))
        )

    @property
    def _submissions(self) -> Path:
        return self.folder / "submissions"

    def _take(self, work: Submission, at: str) -> str:
        home = self._submissions / file_name(work.learner)
        before = [_stored(folder) for folder in _numbered(home)]
        notes = "".join(f"\n  {note}" for note in work.notes)
        if any(attempt.digest == work.digest for attempt in before):
            return f"{work.learner}: nothing new{notes}"
        number = 1 + max((attempt.number for attempt in before), default=0)
        with draft_folder(home) as draft:
            for name, answer in work.answers.items():
                (draft / name).mkdir()
                (draft / name / ANSWER).write_bytes(answer)
            for name, notebook in work.notebooks.items():
                (draft / name).write_bytes(notebook)
            rest = {
                "learner": work.learner,
                "digest": work.digest,
                "at": at,
                "votes": work.votes,
                "questions": work.questions,
                "notes": work.notes,
            }
            (draft / _WORK).write_text(json.dumps(rest, indent=1) + "\n", "utf-8")
            draft.rename(home / str(number))
        return f"{work.learner}: attempt {number}, {_count(len(work.answers), 'exercise')}, {_count(len(work.votes), 'vote')}, {_count(len(work.questions), 'answered question')}{notes}"


def _folders(home: Path) -> list[Path]:
    if not home.is_dir():
        return []
    return sorted(path for path in home.iterdir() if path.is_dir() and not path.name.startswith("."))


def _numbered(home: Path) -> list[Path]:
    """Folders of attempts; what else lies there, such as a folder of an editor, is nobody's attempt."""
    return [path for path in _folders(home) if path.name.isascii() and path.name.isdecimal()]


def _stored(folder: Path) -> StoredAttempt:
    try:
        work: Any = json.loads((folder / _WORK).read_text("utf-8"))
        votes, questions, notes = (tuple(map(str, work[name])) for name in ("votes", "questions", "notes"))
        answers = {path.parent.name: path for path in sorted(folder.glob(f"*/{ANSWER}"))}
        learner = str(work.get("learner", folder.parent.name))
        at = datetime.fromisoformat(work["at"]) if "at" in work else None
        return StoredAttempt(
            learner, int(folder.name), answers, votes, questions, notes, str(work["digest"]), at
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(
            f"{folder}: no attempt that can be read ({error}); expected one stored by `collect`"
        ) from error


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
