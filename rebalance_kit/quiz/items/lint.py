"""Rules of good items that a machine can check: give-aways, doubles, uneven key positions.

Each rule is a function from the bank's items to problems; ``LINTS`` is the list. Why each rule exists
is told in docs/items.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb, sqrt
from statistics import median
from types import MappingProxyType

from rebalance_kit.quiz.items.form import evidence, facts, option_counts, pairs_in_order, premises, vocabulary
from rebalance_kit.quiz.items.item import (
    Choice,
    Drawn,
    Generated,
    Item,
    Matching,
    Numeric,
    Option,
    Ordering,
    Short,
)
from rebalance_kit.quiz.items.reading import Problem
from rebalance_kit.quiz.proof.generate import slots
from rebalance_kit.quiz.sittings.grade import plain

# Learners who know nothing and follow a rule of thumb: none of them may do better than chance.
#
# A strategy gives each option of an item a number and takes the largest, as many as are asked for; equal options share the
# point. Chance is one over the number of such choices, its error that of so many independent guesses. Items with one right
# option and items with several are judged apart and together.


ERRORS = 2
"""Standard errors above chance that a strategy may reach."""
FROM = 40
"""Items from which on a bank is judged."""

_HEDGE = re.compile(
    r"\b(may|might|can|could|usually|about|some|up to|at most|if|until|unless|only|as long as|while|likely|often|mostly|within|at least)\b",
    re.IGNORECASE,
)
Strategy = Callable[[Choice, Option], float]


def _words_of(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower()))


def _oddness(item: Choice, option: Option) -> float:
    """How little an option shares with the others, in words."""
    own = _words_of(option.text)
    others = [_words_of(other.text) for other in item.options if other is not option]
    return -sum(len(own & words) / max(1, len(own | words)) for words in others)


def _commonness(item: Choice, option: Option) -> float:
    """How much an option shares with the others, in words."""
    return -_oddness(item, option)


def _partner(item: Choice, option: Option) -> float:
    """How much an option shares with the one most like it: a pair stands out."""
    own = _words_of(option.text)
    others = [_words_of(other.text) for other in item.options if other is not option]
    return max(len(own & words) / max(1, len(own | words)) for words in others)


def _echo(item: Choice, option: Option) -> float:
    """How many words of the question an option repeats."""
    return len(_words_of(option.text) & _words_of(item.head.stem))


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
        "most in common": (_commonness,),
        "pair alike": (_partner,),
        "words of the stem": (_echo,),
        "position": tuple(_place(letter) for letter in "abcd"),
    }
)
"""What each guesser looks at; the one that goes by position is the best of its four letters."""


@dataclass(frozen=True, slots=True)
class Guesser:
    """What a strategy scores over the items of a kind, and what chance gives with its error, in items."""

    name: str
    kind: str
    items: int
    score: float
    chance: float
    error: float

    @property
    def limit(self) -> float:
        """The most that counts as luck."""
        return self.chance + ERRORS * self.error


def guessers(items: Sequence[Item]) -> list[Guesser]:
    """Every strategy over the items of a bank with one right option, those with several, and both."""
    choices = [item for item in items if isinstance(item, Choice)]
    kinds = {
        "single": [item for item in choices if not item.many],
        "multiple": [item for item in choices if item.many],
        "both": choices,
    }
    return [
        guesser
        for kind, some in kinds.items()
        for name, strategies in STRATEGIES.items()
        for guesser in [_guesser(name, kind, some, strategies)]
        if some and (kind == "single" or name != "position")
    ]


def _guesser(name: str, kind: str, choices: Sequence[Choice], strategies: Sequence[Strategy]) -> Guesser:
    odds = [1 / comb(len(item.options), len(item.key)) for item in choices]
    score = max(_score(choices, strategy) for strategy in strategies)
    return Guesser(name, kind, len(choices), score, sum(odds), sqrt(sum(odd * (1 - odd) for odd in odds)))


def _score(choices: Sequence[Choice], strategy: Strategy) -> float:
    return sum(_hit(item, {option.id: strategy(item, option) for option in item.options}) for item in choices)


def _hit(item: Choice, values: Mapping[str, float]) -> float:
    """The odds that the largest values, as many as there are right options, are those of the right ones."""
    least = sorted(values.values(), reverse=True)[len(item.key) - 1]
    sure = {letter for letter, value in values.items() if value > least}
    equal = {letter for letter, value in values.items() if value == least}
    rest = set(item.key) - sure
    if not (sure <= set(item.key) and rest <= equal):
        return 0.0
    return 1 / comb(len(equal), len(rest))


def no_lucky_guesser(items: Sequence[Item]) -> Iterator[Problem]:
    """No strategy does better than chance and two standard errors, for any kind."""
    for guesser in guessers(items):
        if guesser.items >= FROM and guesser.score > guesser.limit:
            yield Problem(
                "the bank",
                "guessing",
                f"{guesser.name} answers {guesser.score:.1f} of {guesser.items} items ({guesser.kind}), expected at most {guesser.limit:.1f}",
            )


def guessing_table(items: Sequence[Item]) -> str:
    """The guessers as a table in Markdown: a row per strategy, items right and the limit of each kind."""
    found = {(guesser.name, guesser.kind): guesser for guesser in guessers(items)}
    kinds = list(dict.fromkeys(guesser.kind for guesser in found.values()))
    sizes = {kind: next(one.items for one in found.values() if one.kind == kind) for kind in kinds}
    head = " | ".join(f"{kind} ({sizes[kind]}): right | limit" for kind in kinds)
    rows = [
        f"| {name} | " + " | ".join(_cells(found.get((name, kind))) for kind in kinds) + " |"
        for name in STRATEGIES
    ]
    return "\n".join([f"| strategy | {head} |", "|---|" + "---|---|" * len(kinds), *rows])


def _cells(guesser: Guesser | None) -> str:
    return f"{guesser.score:.1f} | {guesser.limit:.1f}" if guesser else "– | –"


Lint = Callable[[Sequence[Item]], Iterator[Problem]]
ALIKE = 0.8
LONG_STEM = 90
"""Words of a stem that has no exhibit, at most."""
EVEN_FROM = 12
"""Key positions are judged from this many items of one size on."""

_CATCH_ALL = re.compile(
    r"\b(all|none|both|any|either|neither) of the above\b|^(both|neither)\W*$|^(all|none|both|neither) of (these|those)\W*$|\b[A-F] (and|or) [A-F]\b",
    re.IGNORECASE,
)
_NEGATIVE = re.compile(r"\b(NOT|EXCEPT|LEAST)\b|\b[Ww]hich .{0,40}\b(is|are|does|do) not\b")
_ABSOLUTE = re.compile(r"\b(always|never)\b", re.IGNORECASE)
_HOW_MANY = re.compile(r"\b(two|three|four|2|3|4)\b", re.IGNORECASE)
_MARKUP = re.compile(r"<\s*/?\s*[a-z!]", re.IGNORECASE)


def _problem(item: Item, rule: str, message: str) -> Problem:
    return Problem(item.head.where, rule, message, item.head.id)


def _choices(items: Sequence[Item]) -> Iterator[Choice]:
    return (item for item in items if isinstance(item, Choice))


def catch_alls(items: Sequence[Item]) -> Iterator[Problem]:
    """No "all of the above", no "A and C": several right ones are a multiple item."""
    for item in _choices(items):
        for option in item.options:
            if _CATCH_ALL.search(option.text):
                yield _problem(
                    item,
                    "catch-all",
                    f"option {option.id} stands for other options ({option.text!r}), expected a statement of its own",
                )


def negative_stems(items: Sequence[Item]) -> Iterator[Problem]:
    """The stem asks for what is so."""
    for item in items:
        if word := _NEGATIVE.search(item.head.stem):
            yield _problem(
                item,
                "negative-stem",
                f"the stem asks by denial ({word[0]!r}), expected a question for what holds",
            )


def long_stems(items: Sequence[Item]) -> Iterator[Problem]:
    """What takes more words than this to tell is shown in an exhibit."""
    for item in items:
        words = len(item.head.stem.split())
        if words > LONG_STEM and not item.head.exhibit and not isinstance(item, Drawn):
            yield _problem(
                item,
                "long-stem",
                f"the stem has {words} words and no exhibit, expected at most {LONG_STEM} or an exhibit",
            )


def absolutes(items: Sequence[Item]) -> Iterator[Problem]:
    """Always and never give the wrong options away."""
    for item in _choices(items):
        for option in item.options:
            if word := _ABSOLUTE.search(option.text):
                yield _problem(
                    item,
                    "absolute",
                    f"option {option.id} says {word[0]!r}, expected the condition in the stem",
                )


def lengths(items: Sequence[Item]) -> Iterator[Problem]:
    """The key is not the one long option."""
    for item in _choices(items):
        if item.many:
            continue
        size = {option.id: len(option.text) for option in item.options}
        (key,) = item.key
        others = [size[option.id] for option in item.options if option.id != key]
        if size[key] > 24 and size[key] > 1.34 * median(size.values()) and size[key] > max(others):
            yield _problem(
                item,
                "length",
                f"the key has {size[key]} characters, the other options {min(others)} to {max(others)}; expected alike lengths",
            )


def equal_options(items: Sequence[Item]) -> Iterator[Problem]:
    """No two options of an item say the same."""
    for item in _choices(items):
        seen: dict[str, str] = {}
        for option in item.options:
            first = seen.setdefault(_words(option.text), option.id)
            if first != option.id:
                yield _problem(
                    item,
                    "equal-options",
                    f"options {first} and {option.id} say the same, expected different answers",
                )
    for question in items:
        if isinstance(question, (Short, Matching, Ordering)):
            texts = _answers(question)
            if len({plain(text) for text in texts}) < len(texts):
                yield _problem(
                    question,
                    "equal-options",
                    f"two answers say the same ({', '.join(texts)[:120]}), expected each once",
                )
        if isinstance(question, Numeric) and len(
            {wrong.value for wrong in question.wrong} | {question.key}
        ) <= len(question.wrong):
            yield _problem(question, "equal-options", "two numbers are equal, expected each once")


def numbers_in_order(items: Sequence[Item]) -> Iterator[Problem]:
    """Options that are numbers ascend."""
    for item in _choices(items):
        numbers = [
            re.fullmatch(r"(?:about )?(\d+(?:\.\d+)?)\b[\w %]*", option.text) for option in item.options
        ]
        values = [float(match[1]) for match in numbers if match]
        if len(values) == len(item.options) and values != sorted(values):
            yield _problem(item, "order", f"options are the numbers {values}, expected them to ascend")


def how_many(items: Sequence[Item]) -> Iterator[Problem]:
    """A multiple item says how many options are right."""
    words = {2: ("two", "2"), 3: ("three", "3"), 4: ("four", "4")}
    for item in _choices(items):
        if item.many and not {word.lower() for word in _HOW_MANY.findall(item.head.stem)} & set(
            words.get(len(item.key), ())
        ):
            yield _problem(
                item, "how-many", f"{len(item.key)} options are right, expected the stem to say so"
            )


def duplicates(items: Sequence[Item]) -> Iterator[Problem]:
    """No item nearly repeats another one."""
    seen: list[tuple[Item, frozenset[str]]] = []
    for item in items:
        words = frozenset(_words(_text(item)).split())
        for other, others in seen:
            if len(words & others) >= ALIKE * len(words | others):
                yield _problem(
                    item,
                    "duplicate",
                    f"nearly the same as {other.head.id} ({other.head.where}), expected another question",
                )
        seen.append((item, words))


def positions(items: Sequence[Item]) -> Iterator[Problem]:
    """Over the bank, keys stand at every position about equally often (half to twice its share)."""
    for size in range(3, 7):
        choices = [
            item
            for item in _choices(items)
            if not item.many and len(item.options) == size and not _numeric_options(item)
        ]
        if len(choices) < EVEN_FROM:
            continue
        at = Counter(item.key[0] for item in choices)
        for letter in "abcdef"[:size]:
            share = at[letter] * size / len(choices)
            if not 0.5 <= share <= 1.75:
                fair = len(choices) / size
                yield Problem(
                    "the bank",
                    "positions",
                    f"{at[letter]} of {len(choices)} keys with {size} options are {letter}, expected about {fair:.0f}",
                )


def _numeric_options(item: Choice) -> bool:
    return all(option.text[:1].isdigit() for option in item.options)


def unfilled_slots(items: Sequence[Item]) -> Iterator[Problem]:
    """Every slot of a recipe has a value."""
    for item in items:
        if not isinstance(item, Generated):
            continue
        known = {*item.draw, *item.let, "value"}
        for text in (
            item.head.stem,
            _exhibit(item),
            item.key.why,
            *(distractor.why for distractor in item.distractors),
        ):
            for name in slots(text):
                if name not in known:
                    yield _problem(
                        item, "slot", f"{{{name}}} has no value, expected one of {', '.join(sorted(known))}"
                    )


def markup(items: Sequence[Item]) -> Iterator[Problem]:
    """Text is text: nothing in it looks like HTML."""
    for item in items:
        if tag := _MARKUP.search(_text(item) + _exhibit(item)):
            yield _problem(item, "markup", f"{tag[0]!r} looks like HTML, expected plain text")


def explanations(items: Sequence[Item]) -> Iterator[Problem]:
    """Every answer is explained in words of its own: no explanation stands twice in an item, or repeats the answer."""
    for item in items:
        seen: dict[str, int] = Counter()
        for text, why in _whys(item):
            words = _words(why)
            seen[words] += 1
            if words == _words(text) or seen[words] == 2:
                yield _problem(
                    item,
                    "explanation",
                    f"{why[:60]!r} explains nothing of {text[:40]!r} by itself, expected a reason for this answer alone",
                )


def _whys(item: Item) -> list[tuple[str, str]]:
    if isinstance(item, Choice):
        return [(option.text, option.why) for option in item.options]
    if isinstance(item, Drawn):
        return [(mark.match or mark.id, mark.why) for mark in item.marks]
    if isinstance(item, Matching):
        return [(prompt.text, prompt.why) for prompt in item.prompts]
    if isinstance(item, Ordering):
        return [(step.text, step.why) for step in item.steps]
    if isinstance(item, Generated):
        return [(str(made.value), made.why) for made in (item.key, *item.distractors)]
    return [("", item.why), *(("", wrong.why) for wrong in item.wrong)]


def _answers(item: Short | Matching | Ordering) -> list[str]:
    if isinstance(item, Short):
        return [*item.accept[:1], *(wrong.text for wrong in item.wrong)]
    return (
        [text for _, text in item.options]
        if isinstance(item, Matching)
        else [step.text for step in item.steps]
    )


def _text(item: Item) -> str:
    options: list[str] = []
    if isinstance(item, Choice):
        options = [option.text for option in item.options]
    elif isinstance(item, (Short, Matching, Ordering)):
        options = _answers(item)
    if isinstance(item, Matching):
        options += [prompt.text for prompt in item.prompts]
    return " ".join([item.head.stem, *options])


def _exhibit(item: Item) -> str:
    return item.head.exhibit if isinstance(item.head.exhibit, str) else ""


def _words(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


LINTS: tuple[Lint, ...] = (
    catch_alls,
    negative_stems,
    long_stems,
    absolutes,
    lengths,
    equal_options,
    numbers_in_order,
    how_many,
    duplicates,
    positions,
    unfilled_slots,
    markup,
    explanations,
    option_counts,
    pairs_in_order,
    premises,
    facts,
    evidence,
    vocabulary,
    no_lucky_guesser,
)
