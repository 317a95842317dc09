"""Recipes become questions: parameters drawn by a seed, key and distractors computed.

A draw whose options coincide, or whose ``where`` does not hold, is drawn again; the same recipe and
seed always give the same question.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.item import (
    SEEDS,
    Choice,
    Drawn,
    Generated,
    Head,
    Item,
    Numeric,
    Option,
    Proof,
    Question,
    RunSpec,
    Shown,
    WorkedOption,
    WrongNumber,
)
from rebalance_kit.quiz.proof.rendered import draw, with_exhibit
from rebalance_kit.quiz.proof.run_book import RunBook

DRAWS = 200
_SLOT = re.compile(r"\{([a-z][a-z0-9_]*)(:words)?\}")
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def question(item: Item, seed: int, book: RunBook | None = None) -> Question:
    """The item as it can be shown: itself, the recipe's variant for that seed, or what it draws of a run.

    Authored items that show a run are drawn with one of the seeds that their check covers.
    """
    book = book or RunBook()
    if isinstance(item, Generated):
        return variant(item, seed, book)
    if isinstance(item, Drawn):
        return draw(item, run_seed(item.proof, seed), book)
    if isinstance(item.head.exhibit, Shown):
        return replace(item, head=with_exhibit(item.head, run_seed(item.proof, seed), book))
    return item


def run_seed(proof: Proof | None, seed: int) -> int:
    """The seed of the run to show: one of those with which the item is checked."""
    seeds = SEEDS if proof is None else proof.seeds
    return seeds[(seed - 1) % len(seeds)]


def variant(item: Generated, seed: int, book: RunBook) -> Question:
    """One variant of a recipe; raises ``DataError`` when no draw gives distinct options."""
    return drawn(item, seed, book)[0]


def drawn(
    item: Generated, seed: int, book: RunBook
) -> tuple[Question, Mapping[str, Any], Mapping[str, RunSpec]]:
    """A variant with the values behind it and the runs it was asked of."""
    stream = random.Random(f"{item.head.id}/{seed}")
    for _ in range(DRAWS):
        values: dict[str, Any] = {name: _plain(stream.choice(pool)) for name, pool in item.draw.items()}
        runs = _runs(item, values)
        for name, expression in item.let.items():
            values[name] = _plain(book.work_out(expression, runs, seed, values))
            runs = runs or _runs(item, values)
        if item.where is not None and not book.work_out(item.where, runs, seed, values):
            continue
        made = [
            (candidate, book.work_out(candidate.value, runs, seed, values))
            for candidate in (item.key, *item.distractors)
        ]
        if _distinct(item, made):
            build = _choice if item.form == "single" else _numeric
            return build(_head(item, seed, values, book), item, made, values, stream), values, runs
    raise DataError(
        f"{item.head.where}: {item.head.id}: {DRAWS} draws gave no variant with distinct options; expected other parameters"
    )


def _runs(item: Generated, values: Mapping[str, Any]) -> dict[str, RunSpec]:
    """The recipe's runs once every slot has a value; none before."""
    known = {*values, "value"}
    wanted = set(slots(str([(spec.scenario, spec.protocol) for spec in item.runs.values()])))
    if wanted - known and wanted <= {*known, *item.let}:
        return {}
    return {name: _filled_run(spec, values) for name, spec in item.runs.items()}


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _distinct(item: Generated, made: Sequence[tuple[WorkedOption, Any]]) -> bool:
    if item.form == "single":
        return len({_show(value) for _, value in made}) == len(made)
    key = made[0][1]
    return len({value for _, value in made}) == len(made) and all(
        abs(value - key) > item.tolerance for _, value in made[1:]
    )


def _choice(
    head: Head,
    item: Generated,
    made: Sequence[tuple[WorkedOption, Any]],
    values: Mapping[str, Any],
    stream: random.Random,
) -> Choice:
    del item
    order = list(range(len(made)))
    stream.shuffle(order)
    options = []
    for letter, index in zip("abcdef", order, strict=False):
        made_option, value = made[index]
        known = {**values, "value": value}
        text = fill(made_option.text if made_option.text is not None else "{value}", known)
        options.append(
            Option(letter, text, fill(made_option.why, known), index == 0, made_option.misconception)
        )
    return Choice(head, tuple(options))


def _numeric(
    head: Head,
    item: Generated,
    made: Sequence[tuple[WorkedOption, Any]],
    values: Mapping[str, Any],
    stream: random.Random,
) -> Numeric:
    del stream
    (key, right), *others = made
    wrong = tuple(
        WrongNumber(
            _plain(value), candidate.misconception or "", fill(candidate.why, {**values, "value": value})
        )
        for candidate, value in others
    )
    why = fill(key.why, {**values, "value": right})
    return Numeric(head, _plain(right), item.unit, why, wrong, item.tolerance)


def _head(item: Generated, seed: int, values: Mapping[str, Any], book: RunBook) -> Head:
    head = replace(item.head, id=f"{item.head.id}~{seed}", stem=fill(item.head.stem, values))
    if isinstance(head.exhibit, Shown):
        shown = replace(head.exhibit, run=_filled_run(head.exhibit.run, values))
        return with_exhibit(replace(head, exhibit=shown), seed, book)
    return head if head.exhibit is None else replace(head, exhibit=fill(head.exhibit, values))


def fill(text: str, values: Mapping[str, Any]) -> str:
    """Put values into ``{name}`` slots; raises ``DataError`` for a name that was not drawn.

    >>> fill("{owned} after {seconds} s", {"owned": ["a-0", "a-1"], "seconds": 3.0})
    'a-0, a-1 after 3 s'
    >>> fill("{size:words} of {all:words}", {"size": 3, "all": 12})
    'three of 12'
    """

    def put(slot: re.Match[str]) -> str:
        if slot[1] not in values:
            raise DataError(f"{slot[0]} in {text[:60]!r}: no such value; expected one of {', '.join(values)}")
        return _in_words(values[slot[1]]) if slot[2] else _show(values[slot[1]])

    return _SLOT.sub(put, text)


def _show(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_show, value)) if value else "none"
    return str(_plain(value))


def _in_words(value: Any) -> str:
    """A whole number up to ten as a word, anything else as it is shown."""
    number = _plain(value)
    in_words = isinstance(number, int) and 0 <= number < len(_WORDS)
    return _WORDS[number] if in_words else _show(value)


def _filled_run(spec: RunSpec, values: Mapping[str, Any]) -> RunSpec:
    scenario = spec.scenario if isinstance(spec.scenario, str) else dict(_filled(spec.scenario, values))
    protocol = fill(spec.protocol, values) if spec.protocol else None
    return RunSpec(
        fill(scenario, values) if isinstance(scenario, str) else scenario, protocol, spec.kafka_version
    )


def _filled(value: Any, values: Mapping[str, Any]) -> Any:
    """A scenario with its slots filled; a text that is one slot becomes the value itself."""
    if isinstance(value, Mapping):
        return {name: _filled(part, values) for name, part in value.items()}
    if isinstance(value, list):
        return [_filled(part, values) for part in value]
    if not isinstance(value, str):
        return value
    whole = _SLOT.fullmatch(value)
    return values[whole[1]] if whole and whole[1] in values else fill(value, values)


def slots(text: str) -> Iterator[str]:
    """The names in a text's slots."""
    return (match[1] for match in _SLOT.finditer(text))
