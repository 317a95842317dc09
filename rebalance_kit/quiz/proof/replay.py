"""The runs behind an answered question, as links that open them in the lab at the moment that decides it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rebalance_kit.quiz.items.bank import Bank
from rebalance_kit.quiz.items.item import NOTHING, Choice, Drawn, Generated, Item, Proof, RunSpec, Shown
from rebalance_kit.quiz.proof.generate import drawn, run_seed
from rebalance_kit.quiz.proof.run_book import RunBook, scenario_of
from rebalance_kit.quiz.sittings.progress import MOST, Progress, run_name, runs_of
from rebalance_kit.simulation.permalink import Link, LinkError, write_link
from rebalance_kit.simulation.scenario import expansion as moments
from rebalance_kit.simulation.scenario.scenario import Scenario

LEAD_MS = 1000
"""How long before the moment the lab opens, so that what happens is seen happening."""


@dataclass(frozen=True, slots=True)
class Replay:
    """A run: its name as a learner calls it, and the token that ``Lab.from_link`` opens at its moment."""

    name: str
    link: str
    at_ms: int


def replays(item: Item, seed: int, book: RunBook) -> tuple[Replay, ...]:
    """The runs that decide the variant of an item that ``seed`` gives, in the item's order; none where no run does.

    The moment is the first that the expression of the key names (``at=30s``, ``removed_ms(...)``), else the
    scenario's first action. Raises ``DataError`` for a run that cannot be made.
    """
    runs, values, made_with = _runs(item, seed, book)
    moments: dict[str, int] = {}
    for expression in _deciding(item):
        for run, at_ms in book.moments(expression, runs, made_with, values):
            moments.setdefault(run, at_ms)
    candidates = (
        _replay(spec, made_with, moments.get(name))
        for name, spec in runs.items()
        if book.refusal(spec, made_with) is None
    )
    return tuple(candidate for candidate in candidates if candidate is not None)


def to_replay(report: Progress, bank: Bank) -> tuple[Replay, ...]:
    """The first runs that a report advises to replay, one an item, each once."""
    book = RunBook()
    by_link: dict[str, Replay] = {}
    for name, seed in report.weak:
        if len(by_link) >= MOST:
            break
        for run in replays(bank.item(name), seed, book)[:1]:
            by_link.setdefault(run.name, run)
    return tuple(by_link.values())


def _runs(item: Item, seed: int, book: RunBook) -> tuple[Mapping[str, RunSpec], Mapping[str, Any], int]:
    """The runs of a variant, the values drawn for it, and the seed that they are simulated with."""
    if isinstance(item, Generated):
        _, values, runs = drawn(item, seed, book)
        return runs, values, seed
    runs = runs_of(item)
    if not runs and isinstance(item.head.exhibit, Shown):
        runs = {"run": item.head.exhibit.run}
    return runs, NOTHING, run_seed(item.proof, seed)


def _deciding(item: Item) -> Iterator[Any]:
    """The expressions whose values make the key right."""
    if isinstance(item, Generated):
        yield item.key.value
        return
    proof: Proof | None = item.proof
    if proof is None:
        return
    if proof.value is not None:
        yield proof.value
    options = item.options if isinstance(item, Choice) else item.marks if isinstance(item, Drawn) else ()
    right = {option.id for option in options if option.right}
    yield from (claim for name, claim in proof.claims.items() if not right or name in right)


def _replay(spec: RunSpec, seed: int, moment: int | None) -> Replay | None:
    scenario = scenario_of(spec)
    at_ms = max(0, (_first_event(moments.drawn(scenario, seed)) if moment is None else moment) - LEAD_MS)
    try:
        link = write_link(Link(scenario, at_ms, protocol=spec.protocol, seed=seed))
    except LinkError:  # a scenario too large for a link is still told by its name
        return None
    return Replay(run_name(spec), link, at_ms)


def _first_event(scenario: Scenario) -> int:
    """The first action, or the last start of a member where nothing is done to the group."""
    acted = min((action.at_ms for action in scenario.actions), default=None)
    return max((spec.start_ms or 0 for spec in scenario.members), default=0) if acted is None else acted
