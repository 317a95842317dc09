"""Grading: a question and an answer in, a verdict out. Pure; a widget or a terminal only shows it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.item import Choice, Numeric, Question

Answer = str | float | Iterable[str]
_NUMBER = re.compile(r"\s*([-+]?\d+(?:[.,]\d+)?)\s*(.*?)\s*")


@dataclass(frozen=True, slots=True)
class Remark:
    """What is said of one option (or one number): was it chosen, was it right, why, which belief."""

    option: str
    text: str
    chosen: bool
    right: bool
    why: str
    misconception: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Verdict:
    """The outcome: all right or not, credit from 0 to 1, the key, a remark for every option, beliefs shown.

    It prints as the feedback a learner reads, in a notebook too.
    """

    item: str
    right: bool
    credit: float
    given: tuple[str, ...]
    key: tuple[str, ...]
    remarks: tuple[Remark, ...]
    misconceptions: tuple[str, ...] = ()

    def __repr__(self) -> str:
        lines = ["Right." if self.right else f"Not right; the answer is {', '.join(self.key)}."]
        for remark in self.remarks:
            mark = "right" if remark.right else "wrong"
            chosen = ", chosen" if remark.chosen else ""
            label = f"{remark.option}) " if remark.option else ""
            lines.append(f"  {label}{remark.text} [{mark}{chosen}]\n     {' '.join(remark.why.split())}")
        return "\n".join(lines)


def grade(question: Question, answer: Answer) -> Verdict:
    """Judge an answer: option ids (``"a"``, ``"a c"``, ``["a", "c"]``) or a number (``4``, ``"4.5 s"``).

    Credit of a multiple item is right choices less wrong ones over the number of right options, at
    least 0. Raises ``DataError`` for an answer that is none, such as a letter without an option.
    """
    return _grade_number(question, answer) if isinstance(question, Numeric) else _grade_choice(question, answer)


def _grade_choice(question: Choice, answer: Answer) -> Verdict:
    given = _letters(question, answer)
    key = question.key
    chosen = set(given)
    hits = len(chosen & set(key))
    credit = max(0.0, (hits - (len(chosen) - hits)) / len(key))
    remarks = tuple(
        Remark(option.id, option.text, option.id in chosen, option.right, option.why, option.misconception) for option in question.options
    )
    beliefs = tuple(remark.misconception for remark in remarks if remark.chosen and remark.misconception)
    return Verdict(question.head.id, chosen == set(key), credit, given, key, remarks, beliefs)


def _letters(question: Choice, answer: Answer) -> tuple[str, ...]:
    ids = [option.id for option in question.options]
    parts = re.split(r"[\s,;]+", answer.strip()) if isinstance(answer, str) else [] if isinstance(answer, (int, float)) else list(answer)
    given = [str(part).strip().lower().rstrip(")") for part in parts if str(part).strip()]
    unknown = [part for part in given if part not in ids]
    if unknown or not given or (len(set(given)) > 1 and not question.many):
        number = "one or more" if question.many else "one"
        raise DataError(f"answer {answer!r} received, expected {number} of {', '.join(ids)}")
    return tuple(one for one in ids if one in given)


def _grade_number(question: Numeric, answer: Answer) -> Verdict:
    given = _number(question, answer)
    right = abs(given - question.key) <= question.tolerance + 1e-9
    key = f"{_show(question.key)} {question.unit}".strip()
    remarks = [Remark("", key, right, True, question.why)]
    beliefs = []
    for wrong in question.wrong:
        chosen = not right and abs(given - wrong.value) <= max(question.tolerance, 1e-9)
        remarks.append(Remark("", f"{_show(wrong.value)} {question.unit}".strip(), chosen, False, wrong.why, wrong.misconception))
        beliefs += [wrong.misconception] if chosen else []
    return Verdict(question.head.id, right, float(right), (_show(given),), (key,), tuple(remarks), tuple(beliefs))


def _number(question: Numeric, answer: Answer) -> float:
    if isinstance(answer, (int, float)) and not isinstance(answer, bool) and math.isfinite(answer):
        return float(answer)
    found = _NUMBER.fullmatch(answer) if isinstance(answer, str) else None
    if found is None or found[2].lower() not in {"", question.unit.lower()}:
        raise DataError(f"answer {answer!r} received, expected a number of {question.unit}")
    return float(found[1].replace(",", "."))


def _show(number: float) -> str:
    return f"{number:g}" if abs(number) < 1e6 else f"{number:.0f}"
