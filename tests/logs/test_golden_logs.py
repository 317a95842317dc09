"""Whole logs of one small run under each protocol, as texts to be read: broker, survivor, and the group as the tool shows it."""

from __future__ import annotations

import pytest

from rebalance_kit.logs.broker import broker_lines
from rebalance_kit.logs.described import describe, describe_members, describe_offsets, describe_state
from rebalance_kit.logs.lines import default_layout
from rebalance_kit.logs.write import member_lines
from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario, TopicSpec, carry_timeouts
from rebalance_kit.simulation.simulate import simulate

INTENT = {
    "eager": "a crash under EAGER: broker and survivor tell of one expiry and one generation in which everything is revoked and given anew",
    "cooperative": "a crash under COOPERATIVE: the survivor is told of nothing but the orphans",
    "consumer": "a crash under KIP-848: fenced, bumped, computed, reconciled",
}


@pytest.mark.parametrize("protocol", INTENT)
def test_the_logs_of_a_crash_read_as_stored(protocol, golden):
    configs = {"session.timeout.ms": 10_000, "auto.offset.reset": "earliest"}
    members = tuple(MemberSpec(name, ("orders",), configs) for name in ("c1", "c2"))
    scenario = Scenario("crash", (TopicSpec("orders", 4),), members, (Action(20_000, "crash", "c1"),), 40_000)
    trace = simulate(carry_timeouts(scenario) if protocol == "consumer" else scenario, 1, protocol)
    parts = [("broker.log", [default_layout(line) for line in broker_lines(trace)])]
    parts.append(("c2.log", [default_layout(line) for line in member_lines(trace, "c2")]))
    parts += [
        (
            f"kafka-consumer-groups at {at} ms",
            [
                show(describe(trace, at)).rstrip()
                for show in (describe_offsets, describe_members, describe_state)
            ],
        )
        for at in (19_000, 39_000)
    ]
    text = "\n".join(f"== {title}\n" + "\n".join(lines) for title, lines in parts)
    golden(f"logs.{protocol}", INTENT[protocol], "\n".join(line.rstrip() for line in text.splitlines()))
