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
from rebalance_kit.quiz.item import (
    Choice,
    Generated,
    Item,
    Made,
    Numeric,
    Option,
    Question,
    RunSpec,
    WrongNumber,
)
from rebalance_kit.quiz.runs import RunBook

DRAWS = 200
_SLOT = re.compile(r"\{([a-z][a-z0-9_]*)\}")


def question(item: Item, seed: int, book: RunBook | None = None) -> Question:
    """The item as it can be shown: itself, or the recipe's variant for that seed."""
    return variant(item, seed, book or RunBook()) if isinstance(item, Generated) else item


def variant(item: Generated, seed: int, book: RunBook) -> Question:
    """One variant of a recipe; raises ``DataError`` when no draw gives distinct options."""
    return drawn(item, seed, book)[0]


def drawn(item: Generated, seed: int, book: RunBook) -> tuple[Question, Mapping[str, Any], Mapping[str, RunSpec]]:
    """A variant with the values behind it and the runs it was asked of."""
    stream = random.Random(f"{item.head.id}/{seed}")
    for _ in range(DRAWS):
        values: dict[str, Any] = {name: _plain(stream.choice(held)) for name, held in item.draw.items()}
        runs = {name: _filled_run(spec, values) for name, spec in item.runs.items()}
        for name, expression in item.let.items():
            values[name] = _plain(book.work_out(expression, runs, seed, values))
        if item.where is not None and not book.work_out(item.where, runs, seed, values):
            continue
        made = [(one, book.work_out(one.value, runs, seed, values)) for one in (item.key, *item.distractors)]
        if _distinct(item, made):
            build = _choice if item.form == "single" else _numeric
            return build(item, seed, made, values, stream), values, runs
    raise DataError(f"{item.head.where}: {item.head.id}: {DRAWS} draws gave no variant with distinct options; expected other parameters")


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _distinct(item: Generated, made: Sequence[tuple[Made, Any]]) -> bool:
    if item.form == "single":
        return len({_show(value) for _, value in made}) == len(made)
    key = made[0][1]
    return len({value for _, value in made}) == len(made) and all(abs(value - key) > item.tolerance for _, value in made[1:])


def _choice(item: Generated, seed: int, made: Sequence[tuple[Made, Any]], values: Mapping[str, Any], stream: random.Random) -> Choice:
    order = list(range(len(made)))
    stream.shuffle(order)
    options = []
    for letter, place in zip("abcdef", order, strict=False):
        one, value = made[place]
        known = {**values, "value": value}
        text = fill(one.text if one.text is not None else "{value}", known)
        options.append(Option(letter, text, fill(one.why, known), place == 0, one.misconception))
    return Choice(_head(item, seed, values), tuple(options))


def _numeric(item: Generated, seed: int, made: Sequence[tuple[Made, Any]], values: Mapping[str, Any], stream: random.Random) -> Numeric:
    del stream
    (key, right), *others = made
    wrong = tuple(WrongNumber(_plain(value), one.misconception or "", fill(one.why, {**values, "value": value})) for one, value in others)
    why = fill(key.why, {**values, "value": right})
    return Numeric(_head(item, seed, values), _plain(right), item.unit, why, wrong, item.tolerance)


def _head(item: Generated, seed: int, values: Mapping[str, Any]) -> Any:
    exhibit = fill(item.head.exhibit, values) if item.head.exhibit is not None else None
    return replace(item.head, id=f"{item.head.id}~{seed}", stem=fill(item.head.stem, values), exhibit=exhibit)


def fill(text: str, values: Mapping[str, Any]) -> str:
    """Put values into ``{name}`` slots; raises ``DataError`` for a name that was not drawn.

    >>> fill("{owned} after {seconds} s", {"owned": ["a-0", "a-1"], "seconds": 3.0})
    'a-0, a-1 after 3 s'
    """

    def put(slot: re.Match[str]) -> str:
        if slot[1] not in values:
            raise DataError(f"{slot[0]} in {text[:60]!r}: no such value; expected one of {', '.join(values)}")
        return _show(values[slot[1]])

    return _SLOT.sub(put, text)


def _show(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_show, value)) if value else "none"
    return str(_plain(value))


def _filled_run(spec: RunSpec, values: Mapping[str, Any]) -> RunSpec:
    scenario = spec.scenario if isinstance(spec.scenario, str) else dict(_filled(spec.scenario, values))
    protocol = fill(spec.protocol, values) if spec.protocol else None
    return RunSpec(fill(scenario, values) if isinstance(scenario, str) else scenario, protocol, spec.kafka_version)


def _filled(value: Any, values: Mapping[str, Any]) -> Any:
    """A scenario with its slots filled; a text that is one slot becomes the value itself."""
    if isinstance(value, Mapping):
        return {name: _filled(held, values) for name, held in value.items()}
    if isinstance(value, list):
        return [_filled(held, values) for held in value]
    if not isinstance(value, str):
        return value
    whole = _SLOT.fullmatch(value)
    return values[whole[1]] if whole and whole[1] in values else fill(value, values)


def slots(text: str) -> Iterator[str]:
    """The names in a text's slots."""
    return (match[1] for match in _SLOT.finditer(text))
