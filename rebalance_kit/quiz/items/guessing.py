"""Five learners who know nothing and follow a rule of thumb: none of them may do better than chance.

A strategy gives each option of an item a number and takes the largest; equal options share the point. Chance
is one over the number of options, its error that of so many independent guesses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from types import MappingProxyType

from rebalance_kit.quiz.items.item import Choice, Item, Option
from rebalance_kit.quiz.items.reading import Problem

ERRORS = 2
"""Standard errors above chance that a strategy may reach."""
FROM = 40
"""Items from which on a bank is judged."""

_HEDGE = re.compile(
    r"\b(may|might|can|could|usually|about|some|up to|at most|if|until|unless|only|as long as|while|likely|often|mostly|within|at least)\b",
    re.IGNORECASE,
)
Strategy = Callable[[Choice, Option], float]


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower()))


def _oddness(item: Choice, option: Option) -> float:
    """How little an option shares with the others, in words."""
    own = _words(option.text)
    others = [_words(other.text) for other in item.options if other is not option]
    return -sum(len(own & words) / max(1, len(own | words)) for words in others)


def _length(_item: Choice, option: Option) -> float:
    return len(option.text)


def _brevity(_item: Choice, option: Option) -> float:
    return -len(option.text)


def _hedges(_item: Choice, option: Option) -> float:
    return len(_HEDGE.findall(option.text))


def _place(letter: str) -> Strategy:
    return lambda _item, option: float(option.id == letter)


STRATEGIES: Mapping[str, tuple[Strategy, ...]] = MappingProxyType(
    {
        "longest": (_length,),
        "shortest": (_brevity,),
        "most hedged": (_hedges,),
        "odd one out": (_oddness,),
        "position": tuple(_place(letter) for letter in "abcd"),
    }
)
"""What each guesser looks at; the one that goes by position is the best of its four letters."""


@dataclass(frozen=True, slots=True)
class Guesser:
    """What a strategy scores over single-choice items, and what chance gives with its error, in items."""

    name: str
    items: int
    score: float
    chance: float
    error: float

    @property
    def limit(self) -> float:
        """The most that counts as luck."""
        return self.chance + ERRORS * self.error


def guessers(items: Sequence[Item]) -> list[Guesser]:
    """Every strategy over the single-choice items of a bank."""
    choices = [item for item in items if isinstance(item, Choice) and not item.many]
    odds = [1 / len(item.options) for item in choices]
    chance, error = sum(odds), sqrt(sum(odd * (1 - odd) for odd in odds))
    return [
        Guesser(name, len(choices), max(_score(choices, strategy) for strategy in strategies), chance, error)
        for name, strategies in STRATEGIES.items()
    ]


def _score(choices: Sequence[Choice], strategy: Strategy) -> float:
    score = 0.0
    for item in choices:
        values = [strategy(item, option) for option in item.options]
        best = [option for option, value in zip(item.options, values, strict=True) if value == max(values)]
        score += sum(option.right for option in best) / len(best)
    return score


def no_lucky_guesser(items: Sequence[Item]) -> Iterator[Problem]:
    """No strategy does better than chance and two standard errors."""
    for guesser in guessers(items):
        if guesser.items >= FROM and guesser.score > guesser.limit:
            yield Problem(
                "the bank",
                "guessing",
                f"{guesser.name} answers {guesser.score:.1f} of {guesser.items} items, expected at most {guesser.limit:.1f}",
            )


def guessing_table(items: Sequence[Item]) -> str:
    """The guessers as a table in Markdown."""
    rows = [
        f"| {guesser.name} | {guesser.score:.1f} | {guesser.score / max(1, guesser.items):.1%} | {guesser.limit:.1f} |"
        for guesser in guessers(items)
    ]
    return "\n".join(
        ["| strategy | items right | share | chance + 2 standard errors |", "|---|---|---|---|", *rows]
    )
