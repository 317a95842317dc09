"""Answered questions and votes, graded anew against the bank: what a learner's file says of its own marks counts nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.quiz.items.bank import Bank, read_bank
from rebalance_kit.quiz.items.item import Question
from rebalance_kit.quiz.proof.generate import question
from rebalance_kit.quiz.proof.run_book import RunBook
from rebalance_kit.quiz.sittings.ballot import read_code
from rebalance_kit.quiz.sittings.grade import grade

MOST_LINES = 2000
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


def exam_percent(marks: Iterable[QuestionMark]) -> float | None:
    """Share of credit, in percent, of the best exam; None without one."""
    by_exam: dict[str, list[float]] = {}
    for mark in marks:
        if mark.sitting.startswith("exam "):
            by_exam.setdefault(mark.sitting, []).append(mark.credit)
    return max((100 * sum(credit) / len(credit) for credit in by_exam.values()), default=None)


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
