"""Does the engine agree? Every claim is asked of real runs, with several seeds.

A key that a run contradicts and a wrong option that a run bears out are both problems: an item whose
answer hangs on luck fails as well as one whose key is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.generate import drawn
from rebalance_kit.quiz.grade import grade
from rebalance_kit.quiz.item import Choice, Generated, Item, Numeric, Proof
from rebalance_kit.quiz.reading import Problem
from rebalance_kit.quiz.runs import RunBook

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


def _of_proof(item: Choice | Numeric, book: RunBook) -> Iterator[str]:
    if item.proof is None:
        return
    for seed in item.proof.seeds:
        yield from _of_options(item, item.proof, seed, book) if isinstance(item, Choice) else _of_number(item, item.proof, seed, book)


def _of_options(item: Choice, proof: Proof, seed: int, book: RunBook) -> Iterator[str]:
    for option in item.options:
        claim = proof.claims[option.id]
        found = book.work_out(claim, proof.runs, seed)
        if not isinstance(found, bool):
            yield f"claim {option.id} ({claim}) gives {found!r}, expected true or false"
        elif found != option.right:
            called = "right" if option.right else "wrong"
            yield f"option {option.id} is called {called}, but its claim ({claim}) is {str(found).lower()} in the run with seed {seed}"


def _of_number(item: Numeric, proof: Proof, seed: int, book: RunBook) -> Iterator[str]:
    found = book.work_out(proof.value, proof.runs, seed)
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        yield f"{proof.value} gives {found!r}, expected a number"
    elif not grade(item, float(found)).right:
        yield f"the key is {item.key:g} {item.unit} (± {item.tolerance:g}), but {proof.value} is {found:g} in the run with seed {seed}"
    for wrong in item.wrong:
        if grade(item, wrong.value).right:
            yield f"the wrong number {wrong.value:g} lies within {item.tolerance:g} of the key {item.key:g}, expected it outside"


def _of_recipe(item: Generated, book: RunBook, variants: int) -> Iterator[str]:
    for seed in range(1, variants + 1):
        question, values, runs = drawn(item, seed, book)
        if item.proof is None:
            continue
        if item.form == "numeric" and isinstance(question, Numeric):
            values = {**values, "value": question.key}
        if book.work_out(item.proof, runs, seed, values) is not True:
            shown = ", ".join(f"{name}={value}" for name, value in values.items())
            yield f"its proof ({item.proof}) does not hold for variant {seed} ({shown})"
