"""How well a night is understood: its scenario is drawn and compared with the logs, before any counterfactual is answered."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rebalance_kit.analysis.draws import Distribution
from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.whatif.measures import Cost, cost_of
from rebalance_kit.whatif.night import Night

DRAWS = 200
NEAR, NEAR_S = 0.2, 1.0
"""The median of a duration is near what the logs say within a fifth or a second."""
BOUND = 0.75
"""Below this share of compared measures no counterfactual is answered; rebalances have to be among those that agree."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One measure of the back-test: what the logs say, the median and middle half of the draws, whether they agree."""

    words: str
    logs: str
    drawn: str
    agrees: bool


@dataclass(frozen=True, slots=True)
class Understanding:
    """The back-test of a night."""

    compared: tuple[Compared, ...]
    costs: tuple[Cost, ...]
    seconds: float
    missing: tuple[str, ...]

    @property
    def share(self) -> float:
        """The share of measures that agree."""
        return sum(one.agrees for one in self.compared) / max(1, len(self.compared))

    @property
    def enough(self) -> bool:
        """Whether counterfactuals are answered."""
        return bool(self.compared) and self.compared[0].agrees and self.share >= BOUND

    @property
    def sentence(self) -> str:
        """How well the night is understood, and what that allows."""
        agree, count = sum(one.agrees for one in self.compared), len(self.compared)
        odd = ", ".join(one.words for one in self.compared if not one.agrees)
        said = (
            f"{agree} of {count} measures of the logs are repeated by {len(self.costs)} draws of the scenario"
        )
        said += f" (not: {odd})." if odd else "."
        if self.enough:
            return f"The night is understood: {said}"
        wanted = (
            "; ".join(self.missing)
            or "nothing is known to be missing: compare the scenario's deeds with what you know, correct it, and run it"
        )
        return f"The night is not understood well enough for a counterfactual: {said} Missing: {wanted}."


def back_test(
    night: Night,
    scenario: Scenario,
    draws: int = DRAWS,
    *,
    seconds: float = 30.0,
    on_draw: Callable[[int], object] = lambda _: None,
) -> Understanding:
    """Draw the reconstructed night up to ``draws`` times (at least twice; no draw begins after ``seconds``) and compare."""
    begun = time.monotonic()
    costs: list[Cost] = []
    for seed in range(1, draws + 1):
        costs.append(cost_of(scenario, seed))
        on_draw(seed)
        if seed >= 2 and time.monotonic() - begun > seconds:
            break
    return Understanding(
        tuple(_compared(night, costs)), tuple(costs), time.monotonic() - begun, tuple(night.missing)
    )


def _compared(night: Night, costs: Sequence[Cost]) -> list[Compared]:
    seen = night.observed
    found = [_number("rebalances", seen.rounds, [cost.rebalances for cost in costs], 0)]
    if night.removals_known:
        equal = sum(cost.removals == seen.removals for cost in costs) / len(costs)
        told = ", ".join(f"{who} {how}" for who, how in seen.removals) or "nobody"
        found.append(Compared("who left, who was expelled", told, f"the same in {equal:.0%}", equal >= 0.5))
    if night.gaps_known:
        found += [
            _number(
                "partitions unread", seen.partitions_unread, [cost.partitions_unread for cost in costs], 0
            ),
            _number("longest gap, s", seen.longest_gap_s, [cost.longest_gap_s for cost in costs], 1),
            _number(
                "unread partition-seconds",
                seen.unread_partition_s,
                [cost.unread_partition_s for cost in costs],
                1,
            ),
        ]
    return found


def _number(words: str, logs: float, drawn: Sequence[float], digits: int) -> Compared:
    each = Distribution(tuple(sorted(drawn)))
    near = abs(each.median - logs) <= max(NEAR_S, NEAR * logs)
    within = each.quantile(0.05) <= logs <= each.quantile(0.95)
    return Compared(words, f"{logs:.{digits}f}", shown(each, digits), near or within)


def shown(each: Distribution, digits: int) -> str:
    """Median and middle half, or one number where they agree.

    >>> shown(Distribution((1.0, 2.0, 3.0)), 1)
    '2.0 (1.5–2.5)'
    """
    low, high = each.middle_half
    middle, *ends = (f"{value:.{digits}f}" for value in (each.median, low, high))
    return middle if ends == [middle, middle] else f"{middle} ({ends[0]}–{ends[1]})"
