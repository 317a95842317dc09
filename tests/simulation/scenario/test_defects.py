"""Defects of particular versions show in their preset, under those versions, and under no other."""

from dataclasses import replace

import pytest

from rebalance_kit import scenarios
from rebalance_kit.analysis.invariants import check
from rebalance_kit.model.versions import CHANGES, DEFECTS, has
from rebalance_kit.simulation.simulate import simulate

PRESETS = {
    "defect-joins-too-early": "join-before-first-generation",
    "defect-deleted-topic-hangs": "deleted-topic-hangs",
    "defect-second-revocation": "second-revocation-raises-epoch",
    "defect-commit-races": "commit-races-with-epoch",
    "defect-empty-group-waits": "empty-group-makes-wait",
    "defect-sticky-stale-leader": "sticky-stale-leader",
}


def run(name, version=None):
    scenario = scenarios.load(name)
    return simulate(replace(scenario, kafka_version=version) if version else scenario)


def test_every_defect_has_its_preset_and_every_preset_its_defect():
    named = {name for name in scenarios.names() if name.startswith("defect-")}
    assert named == set(PRESETS) and sorted(PRESETS.values()) == sorted(DEFECTS)
    assert not DEFECTS.keys() & CHANGES.keys()


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_called_a_defect_and_is_set_in_a_version_that_has_it(name):
    scenario = scenarios.load(name)
    assert scenario.title.startswith("Defect")
    assert has(PRESETS[name], scenario.kafka_version)


def test_a_consumer_that_joins_before_the_first_generation_dies_and_a_later_one_does_not():
    """ConsumerGroup.fromClassicGroup: "No value present" while no assignor has been voted for."""
    trace = run("defect-joins-too-early")
    assert [(row.actor, row.detail["error"]) for row in trace.of("died")] == [
        ("consumer-2", "UNKNOWN_SERVER_ERROR")
    ]
    assert [row.detail["to"] for row in trace.of("group_converted")] == ["consumer"]
    assert "consumer-1" in next(trace.of("target")).detail["assignment"]


def test_before_4_0_nobody_dies_of_the_conversion_for_there_is_none():
    errors = {row.detail["error"] for row in run("defect-joins-too-early", "3.9.1").of("died")}
    assert errors == {"GROUP_ID_NOT_FOUND"}


def test_a_deleted_topic_silences_the_other_topic_for_max_poll_interval():
    """ConsumerCoordinator.onJoinPrepare retries the commit until the rebalance timeout."""
    trace = run("defect-deleted-topic-hangs")
    deleted = next(row.at_ms for row in trace.of("topic_changed") if row.detail["partitions"] == 0)
    resumed = [
        row.at_ms for row in trace.of("fetch_resumed") if row.topic == "orders" and row.at_ms > deleted
    ]
    assert min(resumed) - deleted >= 60_000
    states = [row.detail["to"] for row in trace.of("group_state") if row.at_ms < min(resumed) - 1_000]
    assert states[-1] == "Stable"


def revoking_epochs(version):
    return [
        row.detail["epoch"]
        for row in run("defect-second-revocation", version).of("member_reconciled")
        if row.detail["name"] == "consumer-1" and row.detail["state"] == "UNREVOKED_PARTITIONS"
    ]


def test_a_second_revocation_raises_the_epoch_up_to_4_1_and_not_since_4_2():
    """KAFKA-19974."""
    assert revoking_epochs("4.0.0") == revoking_epochs("4.1.1") == [1, 2]
    assert revoking_epochs("4.2.0") == [1, 1]


def commit_errors(version):
    return {row.detail["error"] for row in run("defect-commit-races", version).of("commit")}


def test_a_commit_that_the_epoch_overtakes_is_refused_up_to_4_2_and_taken_since_4_3():
    """KIP-1251."""
    assert commit_errors("4.0.0") == commit_errors("4.2.0") == {"NONE", "STALE_MEMBER_EPOCH"}
    assert commit_errors("4.3.1") == {"NONE"}


def first_share_ms(version):
    """From the join of the second consumer to its first partition."""
    trace = run("defect-empty-group-waits", version)
    joined = next(row.at_ms for row in trace.of("member_added") if row.detail["name"] == "consumer-2")
    return (
        next(
            row.at_ms
            for row in trace.of("callback_begin")
            if row.actor == "consumer-2" and row.detail["partitions"]
        )
        - joined
    )


def test_the_first_one_back_in_an_empty_group_waits_a_heartbeat_in_4_3_and_in_no_other_version():
    """KAFKA-20442; before KIP-1263 there was no interval to wait for."""
    assert first_share_ms("4.3.1") > 4_000
    assert max(first_share_ms("4.2.0"), first_share_ms("4.4.0")) < 1_000


def test_a_sticky_leader_that_knows_too_few_partitions_gives_some_to_two_members():
    """AbstractStickyAssignor's general builder: all that sorts behind a partition it does not know counts as unassigned."""
    broken = check(run("defect-sticky-stale-leader"))
    assert {one.invariant for one in broken} == {"one_owner"}
