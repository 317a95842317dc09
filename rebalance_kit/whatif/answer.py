"""The answer to a night: how well it is understood, what each alternative would have cost, and what to change for a target."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import sqrt
from statistics import median

from rebalance_kit.analysis.draws import Distribution, pairs
from rebalance_kit.model.errors import DataError
from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.whatif.alternatives import Alternative, alternatives, together
from rebalance_kit.whatif.measures import MEASURES, Cost, Measure, cost_of
from rebalance_kit.whatif.understanding import shown

_TARGET = re.compile(r"\s*(.+?)\s*<=?\s*(\d+(?:\.\d+)?)\s*(s|ms|min)?\s*$")
_UNITS = {"ms": 0.001, "s": 1.0, "min": 60.0, None: 1.0}
MOST_OFTEN = 0.9
"""A target is met by what meets it in at least so many of the draws."""


@dataclass(frozen=True, slots=True)
class Target:
    """``longest gap < 10 s``: a measure and what it has to stay below."""

    measure: Measure
    below: float

    def met(self, costs: Sequence[Cost]) -> float:
        """The share of draws that stay below."""
        return sum(self.measure.of(cost) < self.below for cost in costs) / max(1, len(costs))


def target_of(text: str) -> Target:
    """Read a target; raises ``DataError`` that names the measures there are.

    >>> target_of("longest gap < 10 s").below
    10.0
    """
    found = _TARGET.match(text)
    words = [each.words.removesuffix(", s") for each in MEASURES]
    if found:
        for each, known in zip(MEASURES, words, strict=True):
            if known.startswith(found[1].lower()) or found[1].lower() in known:
                return Target(each, float(found[2]) * _UNITS[found[3]])
    raise DataError(
        f"the target {text!r} cannot be read; expected one of {', '.join(words)}, then < and a number, as in 'longest gap < 10 s'"
    )


@dataclass(frozen=True, slots=True)
class Difference:
    """A measure of an alternative beside the night as it was: median and middle half, and the paired difference with its interval."""

    words: str
    shown: str
    median: float
    by: float
    interval: tuple[float, float]
    #: less, more, or same: what the sign test over the pairs supports.
    verdict: str


@dataclass(slots=True)
class Answered:
    """One alternative, drawn."""

    alternative: Alternative
    costs: tuple[Cost, ...]
    differences: tuple[Difference, ...]
    meets: float | None = None


@dataclass(slots=True)
class Answer:
    """All alternatives of a night, with the same draws."""

    base: tuple[Cost, ...]
    answered: list[Answered] = field(default_factory=list)
    seconds: float = 0.0
    target: Target | None = None
    #: What meets the target with the fewest keys; None where nothing does, or nothing was asked.
    cheapest: Answered | None = None


def ask(
    scenario: Scenario,
    base: Sequence[Cost],
    *,
    target: Target | None = None,
    seconds: float = 60.0,
    on_done: Callable[[str], object] = lambda _: None,
) -> Answer:
    """Draw every alternative with the seeds of ``base``, and with a target pairs of alternatives as well.

    After ``seconds`` the alternatives that are left have fewer draws (at least 20), so that each has an answer.
    """
    begun = time.monotonic()
    answer = Answer(tuple(base), target=target)
    plain = alternatives(scenario)
    for number, each in enumerate(plain):
        left = seconds - (time.monotonic() - begun)
        answer.answered.append(
            _answered(scenario, each, base, max(0.0, left) / (len(plain) - number), target)
        )
        on_done(each.name)
    if target is not None:
        reached = _cheapest(answer.answered, target)
        if reached is None:
            best = sorted(answer.answered, key=lambda one: -(one.meets or 0.0))[:4]
            for pair in together(scenario, [one.alternative for one in best]):
                answer.answered.append(_answered(scenario, pair, base, 2.0, target))
                on_done(pair.name)
        answer.cheapest = _cheapest(answer.answered, target)
    answer.seconds = time.monotonic() - begun
    return answer


def _cheapest(answered: Sequence[Answered], target: Target) -> Answered | None:
    meeting = [one for one in answered if target.met(one.costs) >= MOST_OFTEN]
    return min(meeting, key=lambda one: (len(one.alternative.parts), len(one.alternative.keys)), default=None)


def _answered(
    scenario: Scenario, each: Alternative, base: Sequence[Cost], seconds: float, target: Target | None
) -> Answered:
    changed, begun = each.change(scenario), time.monotonic()
    costs: list[Cost] = []
    for seed in range(1, len(base) + 1):
        costs.append(cost_of(changed, seed))
        if seed >= 20 and time.monotonic() - begun > seconds:
            break
    differences = tuple(difference(one, base[: len(costs)], costs) for one in MEASURES)
    return Answered(each, tuple(costs), differences, None if target is None else target.met(costs))


def difference(measure: Measure, base: Sequence[Cost], costs: Sequence[Cost]) -> Difference:
    """A measure beside the same draws of the night as it was; the interval covers the median difference in 95 of 100 nights."""
    before, after = [measure.of(cost) for cost in base], [measure.of(cost) for cost in costs]
    steps = sorted(late - early for early, late in zip(before, after, strict=True))
    reach = round(0.98 * sqrt(len(steps)))
    middle = len(steps) // 2
    low, high = steps[max(0, middle - reach)], steps[min(len(steps) - 1, middle + reach)]
    compared = pairs(after, before)
    verdict = (
        "less"
        if compared.beyond_chance(len(MEASURES))
        else "more"
        if pairs(before, after).beyond_chance(len(MEASURES))
        else "same"
    )
    each = Distribution(tuple(sorted(after)))
    return Difference(
        measure.words, shown(each, measure.digits), each.median, median(steps), (low, high), verdict
    )
