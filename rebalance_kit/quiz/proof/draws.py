"""Does a key hold whatever the phases are? Runs of the items with the moment of their actions drawn.

A scenario of the items stands at fixed seconds, because stems and claims name them. What no rule decides is how these
lie between heartbeats, polls, commits and metadata refreshes, so a draw lets everything after the start of the group come
later by one phase, and lets members start apart. Facts of such a run count from the phase, so a claim about ``30s``
still speaks of the action.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rebalance_kit.analysis.collector import without_collector
from rebalance_kit.analysis.draws import default_draws
from rebalance_kit.analysis.metrics import STARTING_MS
from rebalance_kit.model.errors import DataError, RebalanceKitError
from rebalance_kit.model.trace import Trace
from rebalance_kit.quiz.items.item import Drawn, Generated, Item, RunSpec, Shown
from rebalance_kit.quiz.items.reading import Problem
from rebalance_kit.quiz.proof.run_book import RunBook, run_name, scenario_of
from rebalance_kit.quiz.proof.verify import CHECKS
from rebalance_kit.simulation.scenario.expansion import has_windows
from rebalance_kit.simulation.scenario.scenario import MemberSpec, Scenario

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
