"""Grading: a question and an answer in, a verdict out. Pure; a widget or a terminal only shows it."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.item import Choice, Matching, Numeric, Ordering, Question, Short

Answer = str | float | Iterable[str] | Mapping[str, str]
LONGEST = 200
_NUMBER = re.compile(r"\s*([-+]?\d+(?:[.,]\d+)?)\s*(.*?)\s*")


@dataclass(frozen=True, slots=True)
class Remark:
    """Feedback on one option (or one number): whether it was chosen, whether it is right, why, and the belief behind it."""

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
    """Judge an answer: option ids (``"a"``, ``"a c"``), a number (``4``, ``"4.5 s"``), words, pairs (``"1b 2a"``), an order (``"b a c"``).

    Credit of a multiple item is right choices less wrong ones over the number of right options, at
    least 0; of matching the share of right pairs; of ordering the share of pairs of steps that stand in
    the right order. Raises ``DataError`` for an answer that is none, such as a letter without an option.
    """
    if isinstance(answer, str) and len(answer) > LONGEST:
        raise DataError(f"an answer of {len(answer)} characters received, expected at most {LONGEST}")
    return GRADERS[type(question)](question, answer)


def short_of(question: Question, answer: Answer) -> int:
    """How many options an answer to a *choose N* question still lacks, below 0 how many it has too many; 0 for other kinds.

    Raises ``DataError`` for an answer that is none.
    """
    if not isinstance(question, Choice) or not question.many:
        return 0
    return len(question.key) - len(_letters(question, answer))


def require_all_chosen(question: Question, answer: Answer) -> None:
    """Raise ``DataError`` unless an answer to a *choose N* question names exactly N options."""
    lacking = short_of(question, answer)
    if lacking and isinstance(question, Choice):
        ids = " ".join(option.id for option in question.options[: len(question.key)])
        raise DataError(
            f"{len(question.key) - lacking} chosen, expected exactly {len(question.key)}, as in {ids}"
        )


def unanswered(question: Question) -> Verdict:
    """The verdict on a question that nobody answered, once an exam is over: key and reasons, no credit."""
    key = question.key
    verdict = grade(question, key if isinstance(key, (str, tuple)) else float(key))
    remarks = tuple(replace(remark, chosen=False) for remark in verdict.remarks)
    return replace(verdict, right=False, credit=0.0, given=(), remarks=remarks, misconceptions=())


def _grade_choice(question: Choice, answer: Answer) -> Verdict:
    letters = _letters(question, answer)
    key = question.key
    chosen = set(letters)
    hits = len(chosen & set(key))
    credit = max(0.0, (hits - (len(chosen) - hits)) / len(key))
    remarks = tuple(
        Remark(option.id, option.text, option.id in chosen, option.right, option.why, option.misconception)
        for option in question.options
    )
    beliefs = tuple(remark.misconception for remark in remarks if remark.chosen and remark.misconception)
    return Verdict(question.head.id, chosen == set(key), credit, letters, key, remarks, beliefs)


def _letters(question: Choice, answer: Answer) -> tuple[str, ...]:
    ids = [option.id for option in question.options]
    letters = _parts(str(answer) if question.form and isinstance(answer, int) else answer)
    if question.many and len(letters) == 1 and set(letters[0]) <= set(ids):
        letters = list(letters[0])  # "ac" for "a c"
    unknown = [part for part in letters if part not in ids]
    if unknown or not letters or (len(set(letters)) > 1 and not question.many):
        number = "one or more" if question.many else "one"
        raise DataError(f"answer {answer!r} received, expected {number} of {', '.join(ids)}")
    return tuple(letter for letter in ids if letter in letters)


def _grade_number(question: Numeric, answer: Answer) -> Verdict:
    number = _number(question, answer)
    right = abs(number - question.key) <= question.tolerance + 1e-9
    key = question.amount(question.key)
    remarks = [Remark("", key, right, True, question.why)]
    beliefs = []
    for wrong in question.wrong:
        chosen = not right and abs(number - wrong.value) <= max(question.tolerance, 1e-9)
        remarks.append(
            Remark("", question.amount(wrong.value), chosen, False, wrong.why, wrong.misconception)
        )
        beliefs += [wrong.misconception] if chosen and wrong.misconception else []
    return Verdict(
        question.head.id, right, float(right), (_show(number),), (key,), tuple(remarks), tuple(beliefs)
    )


def _number(question: Numeric, answer: Answer) -> float:
    if isinstance(answer, (int, float)) and not isinstance(answer, bool) and math.isfinite(answer):
        return float(answer)
    match = _NUMBER.fullmatch(answer) if isinstance(answer, str) else None
    if match is None or match[2].lower() not in {"", question.unit.lower(), question.unit_of_one.lower()}:
        raise DataError(f"answer {answer!r} received, expected a number of {question.unit}")
    return float(match[1].replace(",", "."))


def _show(number: float) -> str:
    return f"{number:g}" if abs(number) < 1e6 else f"{number:.0f}"


def plain(text: str) -> str:
    """Reduce a short answer to what counts: its letters and digits, in lower case.

    >>> plain("`UNKNOWN_MEMBER_ID`.") == plain("unknown member id")
    True
    """
    return "".join(sign for sign in unicodedata.normalize("NFKC", text).casefold() if sign.isalnum())


def _grade_text(question: Short, answer: Answer) -> Verdict:
    words = str(answer).strip() if isinstance(answer, (str, int, float)) else ""
    if not plain(words):
        raise DataError(f"answer {answer!r} received, expected a word or two")
    right = plain(words) in {plain(accepted) for accepted in question.accept}
    remarks = [Remark("", question.key, right, True, question.why)]
    beliefs = []
    for wrong in question.wrong:
        chosen = not right and plain(words) == plain(wrong.text)
        remarks.append(Remark("", wrong.text, chosen, False, wrong.why, wrong.misconception))
        beliefs += [wrong.misconception] if chosen and wrong.misconception else []
    return Verdict(
        question.head.id, right, float(right), (words,), (question.key,), tuple(remarks), tuple(beliefs)
    )


def _grade_pairs(question: Matching, answer: Answer) -> Verdict:
    pairs = _pairs(question, answer)
    texts = dict(question.options)
    remarks = []
    for prompt in question.prompts:
        chosen = pairs[prompt.id]
        correction = "" if chosen == prompt.key else f" (you: {texts[chosen]})"
        remarks.append(
            Remark(
                prompt.id,
                f"{prompt.text}: {texts[prompt.key]}{correction}",
                chosen == prompt.key,
                True,
                prompt.why,
                prompt.beliefs.get(chosen),
            )
        )
    right = sum(pairs[prompt.id] == prompt.key for prompt in question.prompts)
    beliefs = tuple(remark.misconception for remark in remarks if remark.misconception)
    letters = tuple(prompt.id + pairs[prompt.id] for prompt in question.prompts)
    return Verdict(
        question.head.id,
        right == len(pairs),
        right / len(pairs),
        letters,
        question.key,
        tuple(remarks),
        beliefs,
    )


def _pairs(question: Matching, answer: Answer) -> dict[str, str]:
    prompts = [prompt.id for prompt in question.prompts]
    letters = [letter for letter, _ in question.options]
    if isinstance(answer, Mapping):
        parts = [(str(key).strip(), str(letter).strip().lower()) for key, letter in answer.items()]
    else:
        parts = [(part[:-1], part[-1]) for part in _parts(answer)]
        if parts and all(not number for number, _ in parts) and len(parts) == len(prompts):
            parts = [(number, letter) for number, (_, letter) in zip(prompts, parts, strict=True)]
    pairs = dict(parts)
    if sorted(number for number, _ in parts) != sorted(prompts) or not set(pairs.values()) <= set(letters):
        raise DataError(
            f"answer {answer!r} received, expected a letter of {', '.join(letters)} for each of {', '.join(prompts)}, as in {prompts[0]}{letters[0]}"
        )
    return pairs


def _grade_order(question: Ordering, answer: Answer) -> Verdict:
    order = _order(question, answer)
    key = question.key
    concordant = [order.index(earlier) < order.index(later) for earlier, later in combinations(key, 2)]
    remarks = [
        Remark(step.id, f"{number}. {step.text}", order[number - 1] == step.id, True, step.why)
        for number, step in enumerate(question.steps, start=1)
    ]
    remarks.append(Remark("", " ".join(key), order == key, True, question.why))
    beliefs = []
    for wrong in question.wrong:
        remarks.append(
            Remark("", " ".join(wrong.order), order == wrong.order, False, wrong.why, wrong.misconception)
        )
        beliefs += [wrong.misconception] if order == wrong.order and wrong.misconception else []
    credit = 1.0 if order == key else sum(concordant) / len(concordant)
    return Verdict(question.head.id, order == key, credit, order, key, tuple(remarks), tuple(beliefs))


def _order(question: Ordering, answer: Answer) -> tuple[str, ...]:
    parts = _parts(answer)
    order = tuple(parts[0]) if len(parts) == 1 else tuple(parts)
    if sorted(order) != sorted(question.key):
        raise DataError(
            f"answer {answer!r} received, expected each of {', '.join(sorted(question.key))} once, in order"
        )
    return order


def _parts(answer: Answer) -> list[str]:
    parts = (
        re.split(r"[\s,;>=-]+", answer.strip())
        if isinstance(answer, str)
        else []
        if isinstance(answer, (int, float))
        else list(answer)
    )
    return [str(part).strip().lower().rstrip(").") for part in parts if str(part).strip().rstrip(").")]


GRADERS: Mapping[type, Callable[[Any, Answer], Verdict]] = MappingProxyType(
    {
        Choice: _grade_choice,
        Numeric: _grade_number,
        Short: _grade_text,
        Matching: _grade_pairs,
        Ordering: _grade_order,
    }
)
