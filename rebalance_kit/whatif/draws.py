"""Draws of a reconstructed night: the same seeds, moments and phases for every variant, so that differences are paired."""

from __future__ import annotations

import random
from dataclasses import replace

from rebalance_kit.model.config import BrokerConfig
from rebalance_kit.simulation.scenario.expansion import drawn
from rebalance_kit.simulation.scenario.scenario import PROTOCOLS, Configs, Scenario, with_protocol

PHASE_MS = 3_000
"""What was done to the group moves by up to this much, together: where it falls between two heartbeats is luck."""
START_WITHIN_MS = 1_000
"""The first processes start up to this much later."""


def placed(scenario: Scenario, seed: int) -> Scenario:
    """One draw of the night: every window drawn, and all that was done to the group later by one drawn offset."""
    fixed = drawn(scenario, seed)
    offset = random.Random(f"{seed}/phase").randrange(PHASE_MS)
    since = first_deed(scenario)
    actions = tuple(
        replace(action, at_ms=action.at_ms + offset) if action.at_ms >= since else action
        for action in fixed.actions
    )
    chance = random.Random(f"{seed}/starts")
    members = tuple(
        spec
        if spec.start_ms is None
        else replace(spec, start_ms=spec.start_ms + chance.randrange(START_WITHIN_MS))
        for spec in fixed.members
    )
    return replace(fixed, members=members, actions=actions, end_ms=fixed.end_ms + offset)


def first_deed(scenario: Scenario) -> int:
    """The moment from which the night counts: the first thing that is done to the group."""
    return min((action.at_ms - action.within_ms for action in scenario.actions), default=0)


def under(scenario: Scenario, protocol: str) -> Scenario:
    """The night under another protocol, with the same detection of dead members where the switch is back to the classic one.

    A KIP-848 client has no session of its own; a classic one is given the session and the heartbeat that the broker had.
    """
    switched = with_protocol(scenario, protocol)
    if PROTOCOLS[protocol]["group.protocol"] == "consumer":
        return switched
    broker = BrokerConfig.of(scenario.broker, scenario.kafka_version)
    clocks = {
        "session.timeout.ms": broker.consumer_session_timeout_ms,
        "heartbeat.interval.ms": broker.consumer_heartbeat_interval_ms,
    }

    def given(before: Configs, after: Configs) -> Configs:
        return {**after, **clocks} if str(before.get("group.protocol", "classic")) == "consumer" else after

    members = tuple(
        replace(after, configs=given(before.configs, after.configs))
        for before, after in zip(scenario.members, switched.members, strict=True)
    )
    actions = tuple(
        replace(after, args={**after.args, "configs": given(before.args["configs"], after.args["configs"])})
        if "configs" in before.args
        else after
        for before, after in zip(scenario.actions, switched.actions, strict=True)
    )
    return replace(switched, members=members, actions=actions)
