"""Does the engine agree? Every claim is asked of simulated runs, with several seeds.

A key that a run contradicts and a wrong option that a run bears out are both problems: an item whose
answer hangs on luck fails as well as one whose key is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.item import (
    Choice,
    Drawn,
    Generated,
    Item,
    Matching,
    Numeric,
    Ordering,
    Proof,
    Question,
    Short,
    Shown,
)
from rebalance_kit.quiz.items.reading import Problem
from rebalance_kit.quiz.proof.generate import drawn, question
from rebalance_kit.quiz.proof.run_book import RunBook
from rebalance_kit.quiz.sittings.grade import grade, plain

VARIANTS = 5


def is_verified(item: Item) -> bool:
    """Whether the engine decides the item: it has a proof, or its key is computed."""
    return isinstance(item, Generated) or item.proof is not None


def contradictions(item: Item, book: RunBook, variants: int = VARIANTS) -> Iterator[Problem]:
    """Everything in which the engine and the item differ."""
    check = _of_recipe(item, book, variants) if isinstance(item, Generated) else _of_proof(item, book)
    try:
        for message in check:
            yield Problem(item.head.where, "verify", message, item.head.id)
    except DataError as error:
        yield Problem(item.head.where, "verify", str(error), item.head.id)


def _of_proof(item: Question | Drawn, book: RunBook) -> Iterator[str]:
    if item.proof is None:
        if isinstance(item, Drawn) or isinstance(item.head.exhibit, Shown):
            question(item, 1, book)
        return
    for number, seed in enumerate(item.proof.seeds, start=1):
        variant = question(item, number, book)
        assert variant.proof is not None
        yield from CHECKS[type(variant)](variant, variant.proof, seed, book)


def _of_options(item: Choice, proof: Proof, seed: int, book: RunBook) -> Iterator[str]:
    for option in item.options:
        if option.id not in proof.claims:  # a line or row that is no answer of anybody's
            continue
        claim = proof.claims[option.id]
        truth = book.work_out(claim, proof.runs, seed)
        if not isinstance(truth, bool):
            yield f"claim {option.id} ({claim}) gives {truth!r}, expected true or false"
        elif truth != option.right:
            called = "right" if option.right else "wrong"
            yield f"option {option.id} is called {called}, but its claim ({claim}) is {str(truth).lower()} in the run with seed {seed}"


def _of_number(item: Numeric, proof: Proof, seed: int, book: RunBook) -> Iterator[str]:
    truth = book.work_out(proof.value, proof.runs, seed)
    if isinstance(truth, bool) or not isinstance(truth, (int, float)):
        yield f"{proof.value} gives {truth!r}, expected a number"
    elif not grade(item, float(truth)).right:
        yield f"the key is {item.key:g} {item.unit} (± {item.tolerance:g}), but {proof.value} is {truth:g} in the run with seed {seed}"
    for wrong in item.wrong:
        if grade(item, wrong.value).right:
            yield f"the wrong number {wrong.value:g} lies within {item.tolerance:g} of the key {item.key:g}, expected it outside"


def _of_text(item: Short, proof: Proof, seed: int, book: RunBook) -> Iterator[str]:
    truth = book.work_out(proof.value, proof.runs, seed)
    if not isinstance(truth, (str, int, float)) or not grade(item, _spell(truth)).right:
        yield f"the key is {item.key}, but {proof.value} is {truth!r} in the run with seed {seed}"
    for wrong in item.wrong:
        if grade(item, wrong.text).right:
            yield f"the wrong answer {wrong.text!r} is accepted, expected another one"


def _of_pairs(item: Matching, proof: Proof, seed: int, book: RunBook) -> Iterator[str]:
    texts = dict(item.options)
    for prompt in item.prompts:
        truth = book.work_out(proof.claims[prompt.id], proof.runs, seed)
        fitting = [letter for letter, text in texts.items() if plain(text) == plain(_spell(truth))]
        if fitting != [prompt.key]:
            yield f"prompt {prompt.id} has the option {prompt.key} ({texts[prompt.key]}), but {proof.claims[prompt.id]} is {_spell(truth)!r} in the run with seed {seed}"


def _of_order(item: Ordering, proof: Proof, seed: int, book: RunBook) -> Iterator[str]:
    moments = [(step.id, book.work_out(proof.claims[step.id], proof.runs, seed)) for step in item.steps]
    for (earlier, first), (later, second) in pairwise(moments):
        if not isinstance(first, (int, float)) or not isinstance(second, (int, float)):
            yield f"the moments of {earlier} and {later} are {first!r} and {second!r} in the run with seed {seed}, expected two times"
        elif first >= second:
            yield f"step {earlier} stands before {later}, but happens at {first} ms and {later} at {second} ms in the run with seed {seed}"


def _spell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return ", ".join(map(_spell, value)) if isinstance(value, (list, tuple)) else str(value)


CHECKS: Mapping[type, Callable[[Any, Proof, int, RunBook], Iterator[str]]] = MappingProxyType(
    {Choice: _of_options, Numeric: _of_number, Short: _of_text, Matching: _of_pairs, Ordering: _of_order}
)


def _of_recipe(item: Generated, book: RunBook, variants: int) -> Iterator[str]:
    for seed in range(1, variants + 1):
        variant, values, runs = drawn(item, seed, book)
        if item.proof is None:
            continue
        if item.form == "numeric" and isinstance(variant, Numeric):
            values = {**values, "value": variant.key}
        if book.work_out(item.proof, runs, seed, values) is not True:
            shown = ", ".join(f"{name}={value}" for name, value in values.items())
            yield f"its proof ({item.proof}) does not hold for variant {seed} ({shown})"
