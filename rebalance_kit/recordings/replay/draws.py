"""Seeded latency draws of a repeated run: most of a machine like the measured ones, the last of others.

A run recorded while its machine was busy (or on a quick one) has latencies that the measured spreads hardly
reach, and then a race can only go one way.  From draw 25 on, what takes time without a setting of Kafka
deciding it takes a given share of the measured time: on the whole machine, or in processes that have just
started.  Which share follows from the draw's number alone.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from rebalance_kit.simulation.kernel import Latencies, Spread
from rebalance_kit.simulation.scenario.scenario import Scenario

#: Draws before this one have the measured latencies.
OTHER_MACHINES = 25

#: What is quicker or slower, and percent of the measured latencies, draw by draw from there on, and round again.
PACES = (
    ("first", 200),
    ("all", 200),
    ("first", 300),
    ("all", 25),
    ("first", 400),
    ("all", 400),
    ("first", 50),
    ("all", 50),
    ("first", 600),
    ("all", 300),
    ("first", 200),
    ("all", 600),
    ("first", 300),
    ("all", 150),
    ("first", 400),
    ("all", 800),
)

#: What only a process's first requests and first seconds take.
_FIRST = ("first_request", "first_sync", "first_ack", "first_commit", "reconcile_joining", "reconcile_first")

#: Not a matter of how quick the machine is: lateness of timers, and what a record pins anyway.
_KEPT = (
    "heartbeat_late",
    "background_late",
    "librdkafka_late",
    "start_classic",
    "start_consumer",
    "warming_percent",
)


def of_draw(scenario: Scenario, seed: int) -> Scenario:
    """The scenario that draw ``seed`` (from 1) simulates: its latencies, scaled for the later draws."""
    if seed < OTHER_MACHINES:
        return scenario
    what, percent = PACES[(seed - OTHER_MACHINES) % len(PACES)]
    held = scenario.latencies
    names = _FIRST if what == "first" else [one.name for one in fields(held) if one.name not in _KEPT]
    return replace(scenario, latencies=_paced(held, names, percent))


def _paced(latencies: Latencies, names: tuple[str, ...] | list[str], percent: int) -> Latencies:
    """These spreads at that pace, never below a millisecond."""
    paced: dict[str, Any] = {}
    for name in names:
        held = getattr(latencies, name)
        if isinstance(held, Spread):
            paced[name] = Spread(*(max(getattr(held, at.name) * percent / 100, 1.0) for at in fields(held)))
    return replace(latencies, **paced)
