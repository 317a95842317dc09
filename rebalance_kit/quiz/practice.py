"""A practice: questions one after another, feedback at once. What a widget and a terminal both show.

Nothing in ``page()`` or ``text()`` tells a key before its question is answered.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.bank import Bank, read_bank
from rebalance_kit.quiz.generate import question
from rebalance_kit.quiz.grade import Answer, Verdict, grade
from rebalance_kit.quiz.item import Choice, Question
from rebalance_kit.quiz.runs import RunBook

WIDTH = 100


def pick_questions(
    tag: str | None = None, ids: Sequence[str] = (), seed: int = 1, bank: Bank | None = None, count: int | None = None
) -> tuple[Question, ...]:
    """The first ``count`` questions of a tag (all when None), or those with the given ids, recipes as their variant for ``seed``.

    Raises ``DataError`` for a tag or id the bank does not have.
    """
    bank = bank or read_bank()
    items = [bank.item(name) for name in ids] if ids else bank.tagged(tag) if tag is not None else bank.items
    book = RunBook()
    return tuple(question(item, seed, book) for item in items[:count])


def public(asked: Question) -> dict[str, Any]:
    """A question as somebody may see it who has not answered: no key, no explanation, no belief."""
    shown: dict[str, Any] = {"id": asked.head.id, "kind": asked.kind, "stem": asked.head.stem, "exhibit": asked.head.exhibit or ""}
    if isinstance(asked, Choice):
        return {**shown, "options": [{"id": option.id, "text": option.text} for option in asked.options]}
    return {**shown, "unit": asked.unit}


@dataclass(slots=True)
class Practice:
    """Where somebody is in a row of questions."""

    title: str
    questions: tuple[Question, ...]
    place: int = 0
    verdicts: dict[int, Verdict] = field(default_factory=dict)

    def answer(self, given: Answer) -> Verdict:
        """Answer the question shown, or the next one when that is answered; raises ``DataError`` for no answer."""
        if self.place in self.verdicts and not self.forward():
            raise DataError(f"all {len(self.questions)} questions of {self.title!r} are answered; expected no further answer")
        verdict = grade(self.questions[self.place], given)
        self.verdicts[self.place] = verdict
        return verdict

    def forward(self) -> bool:
        """Show the next question; False when this was the last."""
        if self.place + 1 >= len(self.questions):
            return False
        self.place += 1
        return True

    @property
    def right(self) -> int:
        """Questions answered right so far."""
        return sum(verdict.right for verdict in self.verdicts.values())

    def page(self) -> dict[str, Any]:
        """What a screen shows now, as plain JSON: the question, and the verdict once it is answered."""
        verdict = self.verdicts.get(self.place)
        return {
            "title": self.title,
            "number": self.place + 1,
            "of": len(self.questions),
            "question": public(self.questions[self.place]),
            "verdict": None if verdict is None else asdict(verdict),
            "last": self.place + 1 == len(self.questions),
            "right": self.right,
            "answered": len(self.verdicts),
        }

    def text(self) -> str:
        """The practice in words: every question, and the feedback on those answered."""
        lines = [f"Quiz {self.title}: {len(self.questions)} questions, {len(self.verdicts)} answered, {self.right} right"]
        for place, asked in enumerate(self.questions):
            lines += ["", *question_lines(asked, place + 1)]
            if place in self.verdicts:
                lines.append(str(self.verdicts[place]))
        return "\n".join(lines)


def question_lines(asked: Question, number: int) -> list[str]:
    """A question as lines of text, its exhibit unbroken, without its key."""
    lines = _wrapped(f"{number}. ", asked.head.stem)
    if asked.head.exhibit:
        lines += ["", *(f"    {line}" for line in asked.head.exhibit.rstrip().splitlines()), ""]
    if isinstance(asked, Choice):
        for option in asked.options:
            lines += _wrapped(f"   {option.id}) ", option.text)
    else:
        lines.append(f"   (a number of {asked.unit})")
    return lines


def _wrapped(mark: str, text: str) -> list[str]:
    blocks = [" ".join(block.split()) for block in text.split("\n\n")]
    inner = " " * len(mark)
    found = [line for block in blocks for line in textwrap.wrap(block, WIDTH, initial_indent=inner, subsequent_indent=inner, break_on_hyphens=False)]
    return [mark + found[0][len(mark) :], *found[1:]] if found else [mark]


def beliefs_shown(verdicts: Iterable[Verdict]) -> tuple[str, ...]:
    """Misconceptions behind the wrong answers, each once, the most frequent first."""
    found: dict[str, int] = {}
    for verdict in verdicts:
        for belief in verdict.misconceptions:
            found[belief] = found.get(belief, 0) + 1
    return tuple(sorted(found, key=lambda one: (-found[one], one)))
