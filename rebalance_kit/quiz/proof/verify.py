"""Does the engine agree? Every claim is asked of simulated runs, with several seeds.

A key that a run contradicts and a wrong option that a run bears out are both problems: an item whose
answer hangs on luck fails as well as one whose key is wrong.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from rebalance_kit.analysis.draws import default_draws
from rebalance_kit.analysis.metrics import STARTING_MS
from rebalance_kit.model.collector import without_collector
from rebalance_kit.model.errors import DataError, RebalanceKitError
from rebalance_kit.model.trace import Trace
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
    RunSpec,
    Short,
    Shown,
)
from rebalance_kit.quiz.items.reading import Problem
from rebalance_kit.quiz.proof.generate import drawn, question
from rebalance_kit.quiz.proof.run_book import RunBook, run_name, scenario_of
from rebalance_kit.quiz.sittings.grade import grade, plain
from rebalance_kit.simulation.scenario.expansion import has_windows
from rebalance_kit.simulation.scenario.scenario import MemberSpec, Scenario

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


# Does a key hold whatever the phases are? Runs of the items with the moment of their actions drawn.
#
# A scenario of the items stands at fixed seconds, because stems and claims name them. What no rule decides is how these
# lie between heartbeats, polls, commits and metadata refreshes, so a draw lets everything after the start of the group come
# later by one phase, and lets members start apart. Facts of such a run count from the phase, so a claim about ``30s``
# still speaks of the action.


DRAWS = 100
"""Draws of a key in which a time or a number of records stands."""
FEW_DRAWS = 20
"""Draws of any other key: what it counts depends on phases hardly ever."""
SOFT_SHARE = 0.95
"""The share of draws in which a key has to hold whose stem says ``usually``, ``about`` or ``at most``."""
_SOFT = re.compile(r"\b(usually|about|at most)\b", re.IGNORECASE)
_TIMES = re.compile(r"\d(ms|s|m)\b|_ms\(|\b(gap|longest_gap|gaps_over|redelivered|lost|metric)\(")
PHASE_MS = 15_000
"""Heartbeats of 3 s and of 5 s, and commits of 5 s, stand to each other as before after so long."""
START_MS, CONSUMER_START_MS = 500, 4_000
"""Members start within so long: classic ones together, so that the first join phase still takes all of them."""


class DrawnBook(RunBook):
    """The runs of one draw: whatever seed is asked for, phases and latencies are those of the draw.

    ``scenarios`` are kept from draw to draw.
    """

    def __init__(self, number: int, scenarios: dict[str, Scenario]) -> None:
        super().__init__()
        self._number, self._scenarios = number, scenarios

    def _scenario(self, spec: RunSpec) -> Scenario:
        name = run_name(replace(spec, protocol=None), 0)
        if name not in self._scenarios:
            self._scenarios[name] = super()._scenario(spec)
        return self._scenarios[name]

    def _simulated(self, scenario: Scenario, seed: int, protocol: str | None) -> Trace:
        """The run, told as if its actions came when the scenario says."""
        del seed
        phased, later_ms = with_phase(scenario, self._number, protocol)
        trace = super()._simulated(phased, self._number, protocol)
        if not later_ms:
            return trace
        rows = tuple(row._replace(at_ms=row.at_ms - later_ms) for row in trace.rows)
        return replace(trace, rows=rows, end_ms=trace.end_ms - later_ms)


def with_phase(scenario: Scenario, number: int, protocol: str | None = None) -> tuple[Scenario, int]:
    """The scenario of a draw, and how much later than written its actions come (ms).

    A scenario that says under ``moments`` which of them matter, whose moments are pinned, or that has windows of its own
    stays as it is.
    """
    if scenario.moments or has_windows(scenario) or any(spec.lives for spec in scenario.members):
        return scenario, 0
    stream = random.Random(f"{number}/phase")
    later_ms = int(stream.random() * PHASE_MS) if scenario.actions else 0
    kip848 = (protocol or scenario.protocol) == "consumer"
    apart_ms = CONSUMER_START_MS if kip848 else START_MS
    members = tuple(_phased(spec, later_ms, int(stream.random() * apart_ms)) for spec in scenario.members)
    actions = tuple(replace(action, at_ms=action.at_ms + later_ms) for action in scenario.actions)
    return replace(scenario, members=members, actions=actions, end_ms=scenario.end_ms + later_ms), later_ms


def _phased(spec: MemberSpec, later_ms: int, start_ms: int) -> MemberSpec:
    if spec.start_ms is None:
        return spec
    return replace(spec, start_ms=spec.start_ms + (start_ms if spec.start_ms < STARTING_MS else later_ms))


def is_drawn(item: Item) -> bool:
    """Whether the item is about runs in general: it shows none, and the engine decides it by runs that can be drawn."""
    if isinstance(item, Generated | Drawn) or isinstance(item.head.exhibit, Shown) or item.proof is None:
        return False
    return bool(item.proof.runs) and not any(map(_is_large, item.proof.runs.values()))


def _is_large(spec: RunSpec) -> bool:
    try:
        return default_draws(scenario_of(spec)) < DRAWS
    except RebalanceKitError:
        return False


def is_timed(item: Item) -> bool:
    """Whether a time or a number of records stands in the claims of the item's key."""
    proof = None if isinstance(item, Generated) else item.proof
    return proof is not None and any(
        _TIMES.search(str(claim)) for claim in (*proof.claims.values(), proof.value)
    )


def contradictions_in_draws(items: Sequence[Item], draws: int = DRAWS) -> Iterator[Problem]:
    """Every item whose key does not hold in all draws (``SOFT_SHARE``), with how many they are and what the first one says.

    Keys with a time are asked of ``draws`` draws, all others of at most ``FEW_DRAWS``.
    """
    few = min(draws, FEW_DRAWS)
    asked = [(item, draws if is_timed(item) else few) for item in items if is_drawn(item)]
    said: dict[str, list[str]] = defaultdict(list)
    scenarios: dict[str, Scenario] = {}
    with without_collector() as tick:
        for number in range(1, draws + 1):
            book = DrawnBook(number, scenarios)
            for item, wanted in asked:
                first = next(_contradictions(item, number, book), None) if number <= wanted else None
                if first is not None:
                    said[item.head.id].append(first)
            tick()
    for item, wanted in asked:
        messages = said[item.head.id]
        if len(messages) > _may_fail(item, wanted):
            what = f"the key does not hold in {len(messages)} of {wanted} draws of the phases; first: {messages[0]}"
            yield Problem(item.head.where, "verify", what, item.head.id)


def _may_fail(item: Item, draws: int) -> int:
    return round((1 - SOFT_SHARE) * draws) if _SOFT.search(item.head.stem) else 0


def _contradictions(item: Item, number: int, book: DrawnBook) -> Iterator[str]:
    assert not isinstance(item, Generated | Drawn)
    assert item.proof is not None
    try:
        yield from CHECKS[type(item)](item, item.proof, number, book)
    except DataError as error:
        yield str(error)
