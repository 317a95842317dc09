"""A scenario brought to an end at which it could begin anew: everything mended, every process closed, every session over."""

from __future__ import annotations

from dataclasses import replace

from rebalance_kit.model.trace import Trace
from rebalance_kit.simulation.scenario.expansion import expand
from rebalance_kit.simulation.scenario.open_faults import broken_by
from rebalance_kit.simulation.scenario.scenario import Action, Scenario

_QUIET_MS = 60_000
"""After the last close: longer than the default session (45 s), after which closed static members are gone too."""


def closed(scenario: Scenario, trace: Trace) -> Scenario:
    """The scenario with what it leaves broken mended at its end, and all that still runs closed; ``trace`` is a run of it."""
    planned = expand(scenario)
    broken = broken_by(planned)
    running: set[str] = set()
    for row in trace.of("process_started", "process_ended"):
        (running.add if row.kind == "process_started" else running.discard)(row.actor)
    end = planned.end_ms
    alive = replace(broken, frozen=tuple(name for name in broken.frozen if name in running))
    mended = alive.mended(end)
    closing = end + (5_000 if mended else 0)
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
        actions=(*planned.actions, *mended, *closes),
        end_ms=last + max([_QUIET_MS, *(one + 15_000 for one in sessions)]),
    )
