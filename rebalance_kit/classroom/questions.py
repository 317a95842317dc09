"""Answered questions and votes, graded anew against the bank: what a learner's file says of its own marks counts nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.quiz.items.bank import Bank, read_bank
from rebalance_kit.quiz.items.blueprint import blueprint, compose, exams
from rebalance_kit.quiz.items.item import Question
from rebalance_kit.quiz.proof.generate import question
from rebalance_kit.quiz.proof.run_book import RunBook
from rebalance_kit.quiz.sittings.grade import grade
from rebalance_kit.quiz.sittings.poll import read_code

MOST_LINES = 2000
_MOST_SEED = 1000
_BOOK = RunBook()


@dataclass(frozen=True, slots=True)
class QuestionMark:
    """One answered question: in which sitting (``exam ID``, ``quiz``, ``vote 1``), credit from 0 to 1, beliefs shown."""

    sitting: str
    item: str
    credit: float
    beliefs: tuple[str, ...]


def mark_questions(
    lines: Iterable[str], votes: Iterable[str], rooms: Sequence[str] = ()
) -> tuple[tuple[QuestionMark, ...], tuple[str, ...]]:
    """Grade exported answers and votes; also notes about lines that hold none, and about claims that the key refuses.

    ``rooms`` are words of the polls whose votes count. A question answered twice in one sitting counts as it was
    answered last.
    """
    marks: dict[tuple[str, str], QuestionMark] = {}
    refused, claims = 0, 0
    for line in list(dict.fromkeys(lines))[:MOST_LINES]:
        try:
            answered = _answered(line)
            mark = _graded(answered)
        except (RebalanceKitError, ValueError, KeyError, TypeError, RecursionError, OverflowError):
            refused += 1
            continue
        claims += answered.get("credit") != mark.credit
        marks[mark.sitting, mark.item] = mark
    foreign = 0
    for code in dict.fromkeys(votes):
        vote = _vote(code, rooms)
        if vote is None:
            foreign += 1
        else:
            marks[vote.sitting, vote.item] = vote
    notes = []
    if refused:
        notes.append(f"{refused} lines hold no answer to a question of this kit's bank; not counted")
    if foreign:
        notes.append(
            f"{foreign} votes are of no room of this course (`collect --room WORD` names one); not counted"
        )
    if claims:
        notes.append(f"{claims} answered questions claim another credit than the key gives; the key counts")
    return tuple(marks.values()), tuple(notes)


@dataclass(frozen=True, slots=True)
class ExamMark:
    """A whole mock exam as a learner reports it: which one, and the share of credit in percent. Nobody watched it."""

    paper: str
    percent: float


def exam_marks(lines: Iterable[str]) -> tuple[tuple[ExamMark, ...], tuple[str, ...]]:
    """The mark of each paper of the kit's exams from exported answers, by the first whole sitting; and notes about sittings that do not count.

    A sitting is whole where it holds each question of the paper that its seed draws, and no other.
    """
    sittings: dict[str, dict[tuple[str, int], tuple[float, float]]] = {}
    for line in list(dict.fromkeys(lines))[:MOST_LINES]:
        try:
            answered = _answered(line)
            if answered.get("mode") != "exam":
                continue
            place = str(answered["item"]), int(answered["seed"])
            sitting = sittings.setdefault(str(answered["exam"])[:40], {})
            sitting[place] = float(answered["at"]), _graded(answered).credit
        except (RebalanceKitError, ValueError, KeyError, TypeError, RecursionError, OverflowError):
            continue  # `mark_questions` counts these lines
    first: dict[str, ExamMark] = {}
    notes = []
    for name, sitting in sorted(sittings.items(), key=lambda entry: min(at for at, _ in entry[1].values())):
        paper = _paper_of(frozenset(sitting))
        if paper is None:
            notes.append(
                f"exam {name}: {len(sitting)} questions, which are no whole paper of this kit; not counted"
            )
        elif paper in first:
            notes.append(f"exam {name}: {paper} was sat before; the first sitting counts")
        else:
            first[paper] = ExamMark(paper, 100 * sum(credit for _, credit in sitting.values()) / len(sitting))
    return tuple(first.values()), tuple(notes)


def _paper_of(asked: frozenset[tuple[str, int]]) -> str | None:
    """The paper that holds these questions, drawn by these seeds, and no other; None where there is none."""
    seeds = {seed for _, seed in asked}
    seed = min(seeds)
    if len(seeds) != 1 or not 0 < seed <= _MOST_SEED:
        return None
    return next((f"{name} {seed}" for name in exams() if _paper(name, seed) == asked), None)


@lru_cache(maxsize=64)
def _paper(name: str, seed: int) -> frozenset[tuple[str, int]]:
    return frozenset((entry.item, entry.seed) for entry in compose(blueprint(name), bank(), seed).asked)


def _answered(line: str) -> dict[str, Any]:
    answered = json.loads(line)
    if not isinstance(answered, dict):
        raise TypeError(answered)
    return answered


def _graded(answered: dict[str, Any]) -> QuestionMark:
    sitting = f"exam {str(answered['exam'])[:40]}" if answered.get("mode") == "exam" else "quiz"
    item, seed, given = str(answered["item"]), int(answered["seed"]), str(answered["given"])
    if not given.strip():
        return QuestionMark(sitting, item, 0.0, ())
    return _mark(sitting, f"{item}~{seed}", given)


def _vote(code: str, rooms: Sequence[str]) -> QuestionMark | None:
    """The mark of a vote in one of the rooms; None for a code that fits none of them."""
    for room in rooms:
        try:
            ballot = read_code(code, room)
            return _mark(f"vote {ballot.round}", ballot.poll, ballot.answer)
        except RebalanceKitError:
            continue
    return None


def _mark(sitting: str, name: str, given: str) -> QuestionMark:
    item, _, seed = name.partition("~")
    verdict = grade(_question(item, int(seed or 1)), given)
    return QuestionMark(sitting, item, verdict.credit, verdict.misconceptions)


@lru_cache(maxsize=1)
def bank() -> Bank:
    """The kit's own bank, read once."""
    return read_bank()


@lru_cache(maxsize=2000)
def _question(item: str, seed: int) -> Question:
    return question(bank().item(item), seed, _BOOK)
