"""What one draw of a night cost, from its first deed to its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from rebalance_kit.analysis.metrics import metrics
from rebalance_kit.model.trace import Trace
from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.whatif.draws import first_deed, placed
from rebalance_kit.whatif.unread import gaps_in

_HOW = {"leave": "left", "admin": "left"}


@dataclass(frozen=True, slots=True)
class Cost:
    """One draw: partitions unread at all, unread partition-seconds, the longest gap (s), rebalances, records delivered again."""

    partitions_unread: int
    unread_partition_s: float
    longest_gap_s: float
    rebalances: int
    delivered_again: int
    removals: tuple[tuple[str, str], ...] = ()


class Measure(NamedTuple):
    """A row of the tables: its words, its value, how many digits are shown."""

    words: str
    of: Callable[[Cost], float]
    digits: int


MEASURES = (
    Measure("unread partition-seconds", lambda cost: cost.unread_partition_s, 1),
    Measure("longest gap, s", lambda cost: cost.longest_gap_s, 1),
    Measure("partitions unread", lambda cost: cost.partitions_unread, 0),
    Measure("rebalances", lambda cost: cost.rebalances, 0),
    Measure("records delivered again", lambda cost: cost.delivered_again, 0),
)


def cost_of(scenario: Scenario, seed: int) -> Cost:
    """Draw a night once and measure it."""
    moved = placed(scenario, seed)
    return cost_in(simulate(moved, seed), first_deed(moved), moved.end_ms)


def cost_in(trace: Trace, since_ms: int, until_ms: int) -> Cost:
    """Measure a run in a window."""
    lengths = gaps_in(trace, since_ms, until_ms)
    figures = metrics(trace, since_ms)
    removals = sorted(
        (str(row.detail["name"]), _HOW.get(str(row.detail["how"]), "failed"))
        for row in trace.of("member_removed")
        if since_ms <= row.at_ms < until_ms and not row.detail.get("pending")
    )
    return Cost(
        len(lengths),
        sum(map(sum, lengths.values())) / 1000,
        max(map(max, lengths.values()), default=0) / 1000,
        figures.rebalances,
        figures.records_redelivered,
        tuple(removals),
    )
