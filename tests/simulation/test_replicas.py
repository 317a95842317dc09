"""Brokers beside the coordinator's: who leads a partition when one of them stops, and what its readers notice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario, TopicSpec
from rebalance_kit.simulation.scenario.yaml_file import read_scenario, write_scenario
from rebalance_kit.simulation.simulate import simulate

NODES = {1: "rack-a", 2: "rack-b", 3: None}


def scenario(*actions: Action, nodes=NODES, members=("c1", "c2"), **configs) -> Scenario:
    specs = tuple(MemberSpec(name, ("orders",), configs) for name in members)
    return Scenario("replicas", (TopicSpec("orders", 6),), specs, actions, end_ms=60_000, nodes=nodes)


def down(at: int, node: int, **given) -> Action:
    return Action(at, "node_down", None, {"node": node, **given})


def paused(trace):
    return {
        (row.topic, row.partition): row.at_ms
        for row in trace.of("fetch_stopped")
        if row.detail["reason"] == "leader"
    }


def resumed(trace, after):
    return {row.partition: row.at_ms for row in trace.of("fetch_resumed") if row.at_ms > after}


def test_a_broker_leads_every_third_partition_and_hands_them_to_the_next_replica():
    trace = simulate(scenario(down(20_000, 2)))
    moves = {row.partition: (row.detail["from"], row.detail["to"]) for row in trace.of("leader_changed")}
    assert moves == {1: (2, 3), 4: (2, 3)}


def test_readers_of_a_clean_stop_go_on_after_one_metadata_round():
    trace = simulate(scenario(down(20_000, 2)))
    assert paused(trace) == {("orders", 1): 20_000, ("orders", 4): 20_000}
    assert all(20_100 < at < 20_400 for at in resumed(trace, 20_000).values())


def test_after_a_crash_partitions_wait_until_the_controller_fences_the_broker():
    trace = simulate(scenario(down(20_000, 2, crash=True)))
    assert all(29_000 <= at < 29_400 for at in resumed(trace, 20_000).values())
    assert {row.at_ms for row in trace.of("leader_changed")} == {29_000}


def test_the_coordinators_broker_takes_its_partitions_with_it():
    trace = simulate(scenario(Action(20_000, "broker_down"), Action(26_000, "broker_up")))
    assert paused(trace) == {("orders", 0): 20_000, ("orders", 3): 20_000}
    assert all(20_100 < at < 20_400 for at in resumed(trace, 20_000).values())


def test_while_the_only_broker_is_down_no_partition_has_a_leader():
    trace = simulate(scenario(Action(20_000, "broker_down"), Action(26_000, "broker_up"), nodes={1: None}))
    assert set(paused(trace).values()) == {20_000}
    assert set(resumed(trace, 20_000).values()) == {26_000}
    assert len(resumed(trace, 20_000)) == 6


def test_the_last_broker_takes_every_partition():
    trace = simulate(scenario(down(20_000, 2), down(22_000, 3)))
    last = {row.partition: row.detail["to"] for row in trace.of("leader_changed")}
    assert last == {1: 1, 2: 1, 4: 1, 5: 1}


def test_nothing_of_the_data_is_lost_or_read_twice_by_a_change_of_leaders():
    trace = simulate(scenario(down(20_000, 2), Action(40_000, "node_up", None, {"node": 2})))
    assert {(row.detail["redelivered"], row.detail["lost"]) for row in trace.of("account")} == {(0, 0)}


def test_a_scenario_with_brokers_reads_back_from_its_own_text():
    made = scenario(down(20_000, 2))
    assert read_scenario(write_scenario(made)) == made


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        ((down(1_000, 1),), "no broker 1 to stop or start; expected one of 2, 3"),
        ((down(1_000, 2), down(2_000, 2)), "broker 2 is down already; expected a node_up before"),
        ((Action(1_000, "node_up", None, {"node": 3}),), "broker 3 is up already"),
    ],
)
def test_a_broker_that_cannot_stop_is_named(actions, words):
    with pytest.raises(ScenarioError, match=words):
        simulate(scenario(*actions))


def test_a_leader_with_a_rack_reads_a_lost_replica_as_changed_metadata_before_4_4():
    racked = {"client.rack": "rack-a"}
    for version, expected in (("3.9.1", 1), ("4.3.1", 1), ("4.4.0", 0)):
        trace = simulate(replace(scenario(down(20_000, 2), **racked), kafka_version=version))
        reasons = [row.detail["sent"] for row in trace.of("rejoin_requested") if row.at_ms >= 20_000]
        assert reasons.count("cached metadata has changed") == expected, version


def test_a_client_older_than_3_5_knows_no_racks():
    trace = simulate(replace(scenario(down(20_000, 2), **{"client.rack": "rack-a"}), kafka_version="3.4.0"))
    assert not [row for row in trace.of("rejoin_requested") if row.at_ms >= 20_000]
