"""Windows in place of a scenario's fixed moments, as wide as the order of what is done allows.

With the starts drawn, heartbeats, polls, metadata refreshes and auto-commits have phases of their own, because they
count from the start of their process.
"""

from __future__ import annotations

from dataclasses import replace

from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario

LATEST_START_MS = 3_000
"""A member that starts with the run may start as late as this."""


def with_windows(scenario: Scenario) -> Scenario:
    """The scenario with a window for every start and action, where its neighbours in time leave room for one.

    No two windows meet, so the actions of every draw come in the same order.
    """
    times = [0, *(action.at_ms for action in scenario.actions), scenario.end_ms]
    actions = tuple(
        replace(action, within_ms=max(0, (min(at - before, after - at) - 1) // 2))
        for before, at, after, action in zip(times, times[1:], times[2:], scenario.actions, strict=False)
    )
    return replace(
        scenario, actions=actions, members=tuple(_drawn_start(spec, actions) for spec in scenario.members)
    )


def _drawn_start(spec: MemberSpec, actions: tuple[Action, ...]) -> MemberSpec:
    if spec.start_ms is None:
        return spec
    first = min(
        (action.at_ms - action.within_ms for action in actions if action.member == spec.name),
        default=LATEST_START_MS,
    )
    middle_ms = min(LATEST_START_MS, first - 1) // 2
    return replace(spec, start_ms=middle_ms, start_within_ms=middle_ms)
