"""A learner's guess before a run, and what the run says beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rebalance_kit.model.errors import DataError
from rebalance_kit.notebook.text import Folded, columns

Answer = float | str | bool
Options = Sequence[str] | Mapping[str, Sequence[str]]
Within = float | Mapping[str, float]


class Guess:
    """What a learner expects of a run; shown, it says what kind of answer each question takes.

    ``answers`` has a question for each answer (None: not answered). A number is right within ``within``, a word
    is one of ``options``; both may be given for each question by its name.
    """

    def __init__(
        self, answers: Mapping[str, Answer | None], within: Within = 0, options: Options = ()
    ) -> None:
        self.answers = dict(answers)
        self._within = within
        self._options = options

    def within(self, question: str) -> float:
        """How far a right number may be from the run's."""
        return self._within.get(question, 0) if isinstance(self._within, Mapping) else self._within

    def options(self, question: str) -> tuple[str, ...]:
        """The words that a question takes; none: it takes a number."""
        listed = self._options.get(question, ()) if isinstance(self._options, Mapping) else self._options
        return tuple(listed)

    def __repr__(self) -> str:
        width = max(map(len, self.answers))
        return "\n".join(f"{question:<{width}}  {self._takes(question)}" for question in self.answers)

    def _takes(self, question: str) -> str:
        if options := self.options(question):
            return f"choose from: {', '.join(options)}"
        within = self.within(question)
        return f"a number, right within {within:g}" if within else "a whole number"

    def beside(self, truth: Mapping[str, Answer]) -> Folded:
        """The guess beside what the run says; folded while nothing is guessed.

        Raises ``DataError`` when the questions are not those of the guess.
        """
        if set(truth) != set(self.answers):
            raise DataError(f"answers to {sorted(truth)}; expected answers to {sorted(self.answers)}")
        rows = [
            (question, _shown(self.answers[question]), _shown(seen), self._judged(question, seen))
            for question, seen in truth.items()
        ]
        told = Folded(columns([("", "your guess", "the run", ""), *rows]))
        told.opened = any(answer is not None for answer in self.answers.values())
        told.summary = "Your guess beside the run"
        return told

    def _judged(self, question: str, seen: Answer) -> str:
        answer, options = self.answers[question], self.options(question)
        if answer is None:
            return ""
        if options:
            if _plain(answer) not in map(_plain, options):
                return f"choose from: {', '.join(options)}"
            return "right" if _plain(answer) == _plain(seen) else "no: read on"
        if isinstance(answer, str):
            return "write a number"
        within = self.within(question)
        if abs(float(answer) - float(seen)) <= within + 1e-9:
            return f"right (within {within:g})" if within and answer != seen else "right"
        return "no: read on"


def predict(answers: Mapping[str, Answer | None], *, within: Within = 0, options: Options = ()) -> Guess:
    """Take down a guess: write an answer in place of each None before the next cell is run."""
    return Guess(answers, within, options)


def _plain(answer: Answer) -> str:
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    return " ".join(str(answer).lower().split())


def _shown(answer: Answer | None) -> str:
    if answer is None:
        return "-"
    if isinstance(answer, bool):
        return _plain(answer)
    return f"{answer:.3g}" if isinstance(answer, float) else str(answer)
