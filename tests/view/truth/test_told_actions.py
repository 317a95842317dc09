"""What is said of an action is what went over the wire: every close of every scenario, under each protocol."""

from __future__ import annotations

import os

import pytest

from rebalance_kit import scenarios
from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.simulation.scenario.scenario import THREE_PROTOCOLS
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.board.marks import told_action

SEEDS = range(1, 21) if os.environ.get("REBALANCE_KIT_LONG") == "1" else (1,)
LARGE = "fifty-by-five-hundred"


def goodbyes(trace, row):
    """How the member says goodbye between its close and the end of its process: ``for good``, ``for a while``."""
    ended = next(
        (
            one.at_ms
            for one in trace.of("process_ended")
            if one.actor == row.detail["member"] and one.at_ms >= row.at_ms
        ),
        trace.end_ms,
    )
    sent = [
        one
        for one in trace.of("request")
        if one.actor == row.detail["member"] and row.at_ms <= one.at_ms <= ended
    ]
    return {
        *("for good" for one in sent if one.detail["api"] == "LeaveGroup" or one.detail.get("epoch") == -1),
        *("for a while" for one in sent if one.detail.get("epoch") == -2),
    }


def told(words):
    """The goodbyes that a sentence promises."""
    if words.endswith(" leaves"):
        return {"for good"}
    return {"for a while"} if "leaves for a while" in words else set()


@pytest.mark.parametrize("name", [name for name in scenarios.names() if name != LARGE])
def test_who_is_said_to_leave_sends_its_goodbye_and_who_closes_without_sends_none(name):
    scenario = scenarios.load(name)
    for protocol in (None, *THREE_PROTOCOLS):
        for seed in SEEDS:
            try:
                trace = simulate(scenario, seed, protocol)
            except RebalanceKitError:
                break  # a scenario of one protocol alone
            for row in trace.of("action"):
                if row.detail["do"] == "close":
                    words = told_action(trace, row)
                    assert told(words) == goodbyes(trace, row), (protocol, seed, row.at_ms, words)
