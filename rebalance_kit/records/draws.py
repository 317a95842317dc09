"""Seeded latency draws of a repeated run: most of a machine like the measured ones, the last of others.

A run recorded while its machine was busy (or on a quick one) has latencies that the measured spreads hardly
reach, and then a race can only go one way.  From draw 31 on, what takes time without a setting of Kafka
deciding it takes a given share of the measured time; which share follows from the draw's number alone.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from rebalance_kit.simulation.latencies import Latencies, Spread
from rebalance_kit.simulation.scenario import Scenario

#: Draws before this one have the measured latencies.
OTHER_MACHINES = 31

#: Percent of the measured latencies, draw by draw from there on, and round again.
PACE_PERCENT = (200, 25, 400, 50, 300, 600, 150, 800, 400, 200)

#: Not a matter of how quick the machine is: lateness of timers, and what a record pins anyway.
_KEPT = frozenset({"heartbeat_late", "background_late", "native_late", "start_classic", "start_consumer", "warming_percent"})


def of_draw(scenario: Scenario, seed: int) -> Scenario:
    """The scenario that draw ``seed`` (from 1) simulates: its latencies, scaled for the later draws."""
    if seed < OTHER_MACHINES:
        return scenario
    percent = PACE_PERCENT[(seed - OTHER_MACHINES) % len(PACE_PERCENT)]
    return replace(scenario, latencies=_paced(scenario.latencies, percent))


def _paced(latencies: Latencies, percent: int) -> Latencies:
    """All spreads at that pace, never below a millisecond."""
    paced: dict[str, Any] = {}
    for one in fields(latencies):
        held = getattr(latencies, one.name)
        if isinstance(held, Spread) and one.name not in _KEPT:
            paced[one.name] = Spread(*(max(getattr(held, at.name) * percent / 100, 1.0) for at in fields(held)))
    return replace(latencies, **paced)
