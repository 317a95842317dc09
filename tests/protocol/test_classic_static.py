"""Static members of a classic group, and groups that are loaded elsewhere."""

from __future__ import annotations

import pytest

from rebalance_kit.protocol import effects as fx
from tests.support.protocol.driver import ClassicGroupDriver, tps
from tests.support.protocol.static_steps import completing


# --- static members ----------------------------------------------------------------------------------------------
def statics(**given: object) -> tuple[ClassicGroupDriver, str, str]:
    driver = ClassicGroupDriver()
    leader, follower = driver.stable_static("p", "q", **given)
    return driver, leader, follower


def instance_of(driver: ClassicGroupDriver, member_id: str) -> str:
    return driver.group.members[member_id].instance_id


def test_a_static_follower_that_returns_to_a_stable_group_costs_no_rebalance():
    driver, leader, follower = statics()
    name = instance_of(driver, follower)
    asked = driver.join(name, instance=name)
    new = asked.answer.member_id
    assert (asked.answer.generation, asked.answer.leader, asked.answer.skip_assignment) == (1, leader, False)
    assert new != follower and driver.group.statics[name] == new and driver.state == "Stable"
    assert driver.sync(new, instance=name).answer.assignment == tps("t-1")


def test_a_static_leader_that_returns_keeps_leading_but_must_not_assign():
    driver, leader, _ = statics()
    name = instance_of(driver, leader)
    asked = driver.join(name, instance=name)
    assert (
        asked.answer.skip_assignment and asked.answer.leader == asked.answer.member_id == driver.group.leader
    )
    assert len(asked.answer.members) == 2 and driver.state == "Stable"


def test_only_the_name_of_the_protocol_is_compared_when_a_static_member_returns():
    driver, _, follower = statics()
    name = instance_of(driver, follower)
    assert driver.join(name, instance=name, topics=("t", "u")).error == "NONE"
    assert driver.state == "Stable"


def test_a_return_that_changes_the_selected_protocol_begins_a_rebalance():
    driver, _, follower = statics(protocols=("range", "roundrobin"))
    name = instance_of(driver, follower)
    assert driver.group.protocol == "range"
    asked = driver.join(name, instance=name, protocols=("roundrobin",))
    assert asked.waits and driver.state == "PreparingRebalance"
    assert driver.noted("group_state")[-1]["reason"].startswith(
        "Group's selectedProtocol will change because static member"
    )


def test_a_return_in_completing_begins_a_rebalance():
    driver, leader, follower = statics()
    name = instance_of(driver, follower)
    lead = instance_of(driver, leader)
    driver.join(lead, leader, instance=lead)
    driver.join(name, follower, instance=name)
    assert driver.state == "CompletingRebalance"
    assert driver.join(name, instance=name).waits
    assert driver.state == "PreparingRebalance"


def test_a_return_while_preparing_just_joins():
    driver, leader, follower = statics()
    name, lead = instance_of(driver, follower), instance_of(driver, leader)
    driver.join(lead, leader, instance=lead)
    asked = driver.join(name, instance=name)
    assert asked.answer.generation == 2 and driver.state == "CompletingRebalance"


@pytest.mark.parametrize("what", ["JoinGroup", "SyncGroup"])
def test_the_parked_request_of_a_replaced_id_is_fenced(what):
    driver, leader, follower = statics()
    name, lead = instance_of(driver, follower), instance_of(driver, leader)
    if what == "JoinGroup":
        parked = driver.join(name, follower, instance=name, topics=("t", "u"))
    else:
        driver.join(lead, leader, instance=lead)
        driver.join(name, follower, instance=name)
        parked = driver.sync(follower, instance=name)
    assert parked.waits
    driver.join(name, instance=name)
    assert parked.error == "FENCED_INSTANCE_ID"


def test_every_request_of_a_replaced_id_is_fenced():
    driver, _, follower = statics()
    name = instance_of(driver, follower)
    driver.join(name, instance=name)
    answers = [
        driver.beat(follower, instance=name),
        driver.sync(follower, instance=name).error,
        driver.commit(follower, instance=name),
        driver.leave(follower, instance=name),
        driver.join(name, follower, instance=name).error,
    ]
    assert answers == ["FENCED_INSTANCE_ID"] * 5


def test_a_static_member_has_its_session_to_come_back_counted_from_its_last_sign():
    driver, leader, follower = statics()
    name = instance_of(driver, follower)
    lead = instance_of(driver, leader)
    driver.pass_ms(3_000)
    assert driver.commit(follower, instance=name) == "NONE"
    driver.pass_ms(4_000)
    driver.beat(leader, instance=lead)
    driver.pass_ms(5_999)
    assert follower in driver.group.members
    driver.pass_ms(1)
    assert follower not in driver.group.members and driver.state == "PreparingRebalance"


def test_a_static_leader_with_its_known_id_is_an_ordinary_leader():
    driver, leader, _ = statics()
    name = instance_of(driver, leader)
    assert driver.join(name, leader, instance=name).waits
    assert driver.state == "PreparingRebalance"


def test_a_replaced_id_that_still_owed_its_sync_brings_a_rebalance_when_that_wait_ends():
    # replaceStaticMember leaves the old id among those whose SyncGroup is awaited.
    driver = ClassicGroupDriver()
    asked = [driver.join(name, instance=name, session=300_000) for name in ("p", "q")]
    driver.pass_ms(6_000)
    leader = driver.group.leader
    lead = instance_of(driver, leader)
    other = next(one.answer.member_id for one in asked if one.answer.member_id != leader)
    name = instance_of(driver, other)
    driver.sync(leader, {leader: tps("t-0"), other: tps("t-1")}, instance=lead)
    new = driver.join(name, instance=name, session=300_000).answer.member_id
    driver.sync(new, instance=name)
    driver.pass_ms(59_999)
    assert driver.state == "Stable"
    driver.pass_ms(1)
    assert driver.state == "PreparingRebalance" and set(driver.group.members) == {leader, new}


# --- being loaded elsewhere -----------------------------------------------------------------------------------------
def test_a_loaded_group_is_stable_with_full_sessions_and_no_rebalance():
    driver = ClassicGroupDriver()
    leader, follower = driver.stable("a", "b")
    driver.pass_ms(7_000)
    driver.event(fx.Unload())
    assert driver.clock.armed == {}
    driver.pass_ms(5_000)
    driver.event(fx.Load())
    assert (driver.state, driver.group.generation, driver.group.leader) == ("Stable", 1, leader)
    assert driver.clock.left_ms("session", follower) == 10_000
    assert driver.beat(follower) == "NONE"


@pytest.mark.parametrize("what", ["JoinGroup", "SyncGroup"])
def test_parked_requests_of_an_unloaded_group_look_for_another_coordinator(what):
    driver, leader, follower = completing()
    joins = what == "JoinGroup"
    parked = driver.join("a", leader, topics=("t", "u")) if joins else driver.sync(follower)
    driver.event(fx.Unload())
    assert parked.error == "NOT_COORDINATOR"


def test_a_generation_that_was_never_stored_is_forgotten_by_loading():
    driver = ClassicGroupDriver()
    leader, _ = driver.stable("a", "b")
    driver.enter("c")
    driver.join("a", leader)
    driver.event(fx.Unload())
    driver.event(fx.Load())
    assert (driver.state, driver.group.generation, len(driver.group.members)) == ("Stable", 1, 2)


def test_a_group_that_never_stored_anything_is_loaded_empty():
    driver = ClassicGroupDriver()
    driver.enter("a")
    driver.event(fx.Unload())
    driver.event(fx.Load())
    assert (driver.state, driver.group.generation, driver.group.members) == ("Empty", 0, {})
