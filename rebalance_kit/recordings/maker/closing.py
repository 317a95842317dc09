"""A scenario brought to an end at which it could begin anew: everything mended, every process closed, every session over."""

from __future__ import annotations

from dataclasses import replace

from rebalance_kit.model.trace import Trace
from rebalance_kit.simulation.scenario.actions import open_faults
from rebalance_kit.simulation.scenario.expansion import expand
from rebalance_kit.simulation.scenario.scenario import Action, Scenario

_QUIET_MS = 60_000
"""After the last close: longer than the default session (45 s), after which closed static members are gone too."""


def closed(scenario: Scenario, trace: Trace) -> Scenario:
    """The scenario with its open faults mended at its end, and all that still runs closed; ``trace`` is a run of it."""
    planned = expand(scenario)
    faults = open_faults(planned)
    running: set[str] = set()
    for row in trace.of("process_started", "process_ended"):
        (running.add if row.kind == "process_started" else running.discard)(row.actor)
    end = planned.end_ms
    alive = replace(faults, frozen=tuple(name for name in faults.frozen if name in running))
    recoveries = alive.recovery_actions(end)
    closing = end + (5_000 if recoveries else 0)
    closes = [Action(closing + 300 * place, "close", name) for place, name in enumerate(sorted(running))]
    last = max([closing, *(action.at_ms for action in closes)])
    sessions = [
        int(value)
        for spec in planned.members
        for key, value in spec.configs.items()
        if key == "session.timeout.ms"
    ]
    sessions += [
        int(value) for key, value in planned.broker.items() if key == "group.consumer.session.timeout.ms"
    ]
    return replace(
        planned,
        actions=(*planned.actions, *recoveries, *closes),
        end_ms=last + max([_QUIET_MS, *(one + 15_000 for one in sessions)]),
    )
