"""What the lab says is true: over all lessons, protocols and seeds, and over runs whose actions are drawn."""

from __future__ import annotations

import os

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.scenarios import load
from rebalance_kit.simulation.scenario.scenario import THREE_PROTOCOLS, MemberSpec, Scenario, TopicSpec
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.lab.lessons import lessons
from rebalance_kit.view.lab.state import LabState
from tests.support.view_truth import violations

LARGE = "fifty-by-five-hundred"
LESSONS = [preset.name for preset in lessons() if preset.name != LARGE]
LONG = os.environ.get("REBALANCE_KIT_LONG") == "1"
SEEDS = range(1, 21) if LONG else (1, 2)
RUNS = 2_000 if LONG else 300
MEMBERS = ("consumer-1", "consumer-2", "consumer-3")
SHORT = {
    "session.timeout.ms": 6_000,
    "heartbeat.interval.ms": 2_000,
    "max.poll.interval.ms": 8_000,
    "metadata.max.age.ms": 5_000,
    "auto.offset.reset": "earliest",
}
BROKER = {"group.consumer.session.timeout.ms": 6_000, "group.consumer.min.session.timeout.ms": 6_000}
OF_A_MEMBER = {
    "crash": st.just({}),
    "leave": st.just({}),
    "freeze": st.just({}),
    "thaw": st.just({}),
    "restart": st.just({}),
    "stall": st.fixed_dictionaries({"for_ms": st.sampled_from([2_000, 6_000, 12_000])}),
    "slow_down": st.fixed_dictionaries({"processing_ms": st.sampled_from([20, 120])}),
    "slow_callback": st.fixed_dictionaries({"callback_ms": st.sampled_from([500, 3_000, 9_000])}),
    "cut_network": st.just({}),
    "heal_network": st.just({}),
    "drop_next": st.fixed_dictionaries(
        {"api": st.sampled_from(["Heartbeat", "JoinGroup", "ConsumerGroupHeartbeat"])}
    ),
    "enforce_rebalance": st.just({}),
    "remove": st.just({}),
    "subscribe": st.fixed_dictionaries(
        {"topics": st.sampled_from([["orders"], ["orders", "more"], ["more"]])}
    ),
}
OF_THE_GROUP = {
    "add": st.just({}),
    "add_partitions": st.just({"topic": "orders", "partitions": 6}),
    "create_topic": st.just({"topic": "more", "partitions": 2}),
    "delete_topic": st.just({"topic": "orders"}),
    "broker_down": st.just({}),
    "broker_up": st.just({}),
    "coordinator_failover": st.just({"for_ms": 2_000}),
    "rolling_restart": st.just({"every_ms": 4_000, "after_ms": 1_000}),
}


@st.composite
def deeds(draw):
    at_ms = draw(st.integers(7_000, 30_000))
    if draw(st.integers(0, 3)):
        do = draw(st.sampled_from(sorted(OF_A_MEMBER)))
        return at_ms, do, draw(st.sampled_from(MEMBERS)), draw(OF_A_MEMBER[do])
    do = draw(st.sampled_from(sorted(OF_THE_GROUP)))
    return at_ms, do, None, draw(OF_THE_GROUP[do])


def drawn_state(protocol, members, static, seed):
    specs = tuple(
        MemberSpec(name, ("orders",), configs={**SHORT, **({"group.instance.id": name} if static else {})})
        for name in MEMBERS[:members]
    )
    scenario = Scenario("drawn", (TopicSpec("orders", 4),), specs, end_ms=36_000, broker=BROKER)
    return LabState(scenario, None, None, simulate, seed=seed).with_protocol(protocol)


@pytest.mark.parametrize("name", LESSONS)
def test_what_is_said_of_a_lesson_is_true_at_every_change(name):
    scenario = load(name)
    for protocol in (None,) if scenario.chooses_protocol() else THREE_PROTOCOLS:
        for seed in SEEDS:
            assert violations(Boards(simulate(scenario, seed, protocol))) == []


@settings(max_examples=RUNS, deadline=None)
@given(
    protocol=st.sampled_from(THREE_PROTOCOLS),
    members=st.integers(1, 3),
    static=st.booleans(),
    seed=st.integers(1, 50),
    drawn=st.lists(deeds(), min_size=1, max_size=4),
)
@example(  # a static member misses the join phase, whose end begins its session anew
    protocol="eager",
    members=1,
    static=True,
    seed=1,
    drawn=[
        (7_000, "slow_callback", "consumer-1", {"callback_ms": 9_000}),
        (10_936, "add_partitions", None, {"topic": "orders", "partitions": 6}),
        (24_138, "add", None, {}),
    ],
)
def test_what_is_said_of_a_run_with_drawn_actions_is_true_at_every_change(
    protocol, members, static, seed, drawn
):
    state = drawn_state(protocol, members, static, seed)
    for at_ms, do, member, args in sorted(drawn, key=lambda deed: deed[0]):
        try:
            acted = state.acted(do, member, at_ms, args)
            acted.boards  # noqa: B018 - simulated here, so that what is refused is left out
            state = acted
        except RebalanceKitError:
            continue
    assume(state.done)
    assert violations(state.boards) == []
