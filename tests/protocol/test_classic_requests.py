"""SyncGroup, Heartbeat, LeaveGroup, OffsetCommit, sessions, static members, loading: row by row."""

from __future__ import annotations

import pytest

from tests.support.protocol.driver import ClassicGroupDriver, tps
from tests.support.protocol.static_steps import completing


# --- SyncGroup ----------------------------------------------------------------------------------------
def test_a_follower_waits_for_the_leader_and_the_leader_for_the_append():
    driver, leader, follower = completing()
    early = driver.sync(follower)
    lead = driver.sync(leader, {leader: tps("t-0"), follower: tps("t-1")})
    assert early.waits and lead.waits and driver.state == "CompletingRebalance"
    driver.stored()
    assert (early.answer.assignment, lead.answer.assignment, driver.state) == (
        tps("t-1"),
        tps("t-0"),
        "Stable",
    )


def test_stable_does_not_wait_for_followers_that_have_not_synced():
    driver, leader, follower = completing()
    driver.sync(leader, {leader: tps("t-0"), follower: tps("t-1")})
    driver.stored()
    assert driver.state == "Stable" and driver.group.pending_sync == {follower}
    assert driver.sync(follower).answer.assignment == tps("t-1")


def test_a_member_that_the_leader_forgot_gets_nothing():
    driver, leader, follower = completing()
    asked = driver.sync(follower)
    driver.sync(leader, {leader: tps("t-0")})
    driver.stored()
    assert (asked.error, asked.answer.assignment) == ("NONE", ())


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"member_id": "nobody-9"}, "UNKNOWN_MEMBER_ID"),
        ({"generation": 7}, "ILLEGAL_GENERATION"),
        ({"generation": 0}, "ILLEGAL_GENERATION"),
        ({"protocol": "sticky"}, "INCONSISTENT_GROUP_PROTOCOL"),
        ({"member_id": "nobody-9", "generation": 7, "protocol": "sticky"}, "UNKNOWN_MEMBER_ID"),
        ({"generation": 7, "protocol": "sticky"}, "ILLEGAL_GENERATION"),
    ],
)
def test_a_sync_is_checked_for_member_then_generation_then_protocol(change, error):
    driver, leader, _ = completing()
    assert driver.sync(change.pop("member_id", leader), {}, **change).error == error


def test_a_sync_that_names_the_groups_own_protocol_is_accepted():
    driver, leader, _ = completing()
    assert driver.sync(leader, {}, protocol="range").waits


def test_a_sync_while_the_group_prepares_is_told_to_rejoin():
    driver, leader, follower = completing()
    driver.join("a", leader, topics=("t", "u"))
    assert driver.state == "PreparingRebalance"
    assert driver.sync(follower).error == "REBALANCE_IN_PROGRESS"


def test_a_sync_to_an_empty_group_is_unknown():
    assert ClassicGroupDriver().sync("a-1", generation=0).error == "UNKNOWN_MEMBER_ID"


def test_parked_syncs_are_told_to_rejoin_when_a_rebalance_interrupts_them():
    driver, leader, follower = completing()
    parked = [driver.sync(follower), driver.sync(leader, {leader: tps("t-0")})]
    driver.enter("c")
    assert [one.error for one in parked] == ["REBALANCE_IN_PROGRESS"] * 2
    driver.stored()
    assert driver.state == "PreparingRebalance"


def test_an_append_of_an_older_generation_stabilizes_nothing():
    driver, leader, follower = completing()
    driver.sync(leader, {leader: tps("t-0")})
    driver.enter("c")
    driver.join("a", leader)
    driver.join("b", follower)
    assert driver.state == "CompletingRebalance" and driver.group.generation == 2
    driver.stored()
    assert driver.state == "CompletingRebalance"


def test_the_sync_answer_rearms_the_session_but_a_sync_in_stable_does_not():
    driver, leader, follower = completing()
    driver.pass_ms(4_000)
    driver.sync(leader, {leader: tps("t-0")})
    driver.stored()
    assert driver.clock.left_ms("session", leader) == 10_000
    driver.pass_ms(1_000)
    driver.sync(follower)
    assert driver.clock.left_ms("session", follower) == 5_000


# --- waiting for syncs --------------------------------------------------------------------------------
@pytest.mark.parametrize("silent", ["follower", "leader", "both"])
def test_members_that_never_sync_are_removed_after_the_rebalance_timeout(silent):
    driver, leader, follower = completing()
    if silent == "follower":
        driver.sync(leader, {leader: tps("t-0")})
        driver.stored()
    elif silent == "leader":
        driver.sync(follower)
    for _ in range(12):
        driver.pass_ms(5_000)
        for one in (leader, follower):
            if one in driver.group.members and driver.group.state.value != "PreparingRebalance":
                driver.beat(one)
    left = {"follower": {leader}, "leader": {follower}, "both": set()}[silent]
    assert set(driver.group.members) == left
    assert driver.state == ("PreparingRebalance" if left else "Empty")
    assert {one["how"] for one in driver.noted("member_removed")} == {"sync_timeout"}


def test_once_all_have_synced_no_timer_waits_for_them():
    driver, leader, follower = completing()
    driver.sync(follower)
    assert driver.clock.left_ms("sync") == 60_000
    driver.sync(leader, {})
    assert driver.clock.left_ms("sync") is None


def test_a_new_rebalance_forgets_who_still_had_to_sync():
    driver, _, _ = completing()
    driver.enter("c")
    assert driver.clock.left_ms("sync") is None and driver.group.pending_sync == set()


# --- heartbeats ----------------------------------------------------------------------------------------
def test_a_heartbeat_is_answered_by_the_state_of_the_group():
    driver, leader, follower = completing()
    assert driver.beat(follower) == "NONE", "CompletingRebalance answers NONE"
    driver.sync(leader, {})
    driver.stored()
    assert driver.beat(follower) == "NONE"
    driver.join("a", leader)
    assert driver.beat(follower) == "REBALANCE_IN_PROGRESS"
    driver.leave(follower)
    driver.leave(leader)
    assert driver.beat(leader) == "UNKNOWN_MEMBER_ID" and driver.state == "Empty"


@pytest.mark.parametrize("state", ["CompletingRebalance", "Stable", "PreparingRebalance"])
def test_a_heartbeat_rearms_the_session(state):
    driver, leader, follower = completing()
    if state != "CompletingRebalance":
        driver.sync(leader, {})
        driver.stored()
    if state == "PreparingRebalance":
        driver.join("a", leader)
    driver.pass_ms(4_000)
    driver.beat(follower)
    assert driver.state == state and driver.clock.left_ms("session", follower) == 10_000


@pytest.mark.parametrize(
    ("member_id", "generation", "error"),
    [
        ("nobody-9", 1, "UNKNOWN_MEMBER_ID"),
        ("b-2", 0, "ILLEGAL_GENERATION"),
        ("b-2", 2, "ILLEGAL_GENERATION"),
        ("nobody-9", 2, "UNKNOWN_MEMBER_ID"),
    ],
)
def test_a_heartbeat_is_checked_for_member_then_generation(member_id, generation, error):
    driver = ClassicGroupDriver()
    driver.stable("a", "b")
    assert driver.beat(member_id, generation=generation) == error


def test_a_refused_heartbeat_keeps_nobody_alive():
    driver = ClassicGroupDriver()
    _, follower = driver.stable("a", "b")
    driver.pass_ms(4_000)
    driver.beat(follower, generation=0)
    assert driver.clock.left_ms("session", follower) == 6_000


# --- sessions --------------------------------------------------------------------------------------------
def test_a_silent_member_of_a_stable_group_expires_and_a_rebalance_begins():
    driver = ClassicGroupDriver()
    leader, follower = driver.stable("a", "b")
    driver.pass_ms(9_000)
    driver.beat(leader)
    driver.pass_ms(1_000)
    assert set(driver.group.members) == {leader} and driver.state == "PreparingRebalance"
    assert driver.noted("group_state")[-1]["reason"] == f"removing member {follower} on heartbeat expiration."


def test_an_expiry_while_preparing_can_complete_the_phase():
    driver = ClassicGroupDriver()
    leader, follower = driver.stable("a", "b")
    driver.pass_ms(2_000)
    asked = driver.join("a", leader)
    driver.pass_ms(8_000)
    assert follower not in driver.group.members
    assert asked.answer.generation == 2


def test_a_parked_member_does_not_expire():
    driver = ClassicGroupDriver()
    leader, follower = driver.stable("a", "b")
    asked = driver.join("a", leader)
    for _ in range(4):
        driver.pass_ms(9_000)
        driver.beat(follower)
    assert leader in driver.group.members and asked.waits


def test_a_member_that_waits_for_its_sync_does_not_expire():
    driver, leader, follower = completing()
    parked = driver.sync(follower)
    for _ in range(3):
        driver.pass_ms(9_000)
        driver.beat(leader)
    assert parked.waits and follower in driver.group.members


@pytest.mark.parametrize(
    ("state", "rearmed"), [("Stable", True), ("PreparingRebalance", True), ("CompletingRebalance", False)]
)
def test_a_commit_rearms_the_session_unless_the_group_is_completing(state, rearmed):
    driver, leader, follower = completing()
    if state != "CompletingRebalance":
        driver.sync(leader, {})
        driver.stored()
    if state == "PreparingRebalance":
        driver.join("a", leader)
    driver.pass_ms(4_000)
    error = driver.commit(follower)
    assert error == ("NONE" if rearmed else "REBALANCE_IN_PROGRESS")
    assert driver.clock.left_ms("session", follower) == (10_000 if rearmed else 6_000)


def test_a_late_member_is_unknown_to_every_request():
    driver = ClassicGroupDriver()
    leader, follower = driver.stable("a", "b", session=300_000)
    driver.join("a", leader)
    driver.pass_ms(60_000)
    assert driver.group.generation == 2
    assert [
        driver.beat(follower),
        driver.sync(follower).error,
        driver.commit(follower),
        driver.join("b", follower).error,
    ] == ["UNKNOWN_MEMBER_ID"] * 4


def test_a_static_member_that_missed_the_phase_hears_of_another_generation():
    driver = ClassicGroupDriver()
    leader, follower = driver.stable_static("p", "q", session=300_000)
    lead, follow = (driver.group.members[one].instance_id for one in (leader, follower))
    driver.join(lead, leader, instance=lead, session=300_000)
    driver.pass_ms(60_000)
    assert driver.beat(follower, instance=follow, generation=1) == "ILLEGAL_GENERATION"


# --- leaving -------------------------------------------------------------------------------------------------
def test_leaving_a_stable_group_begins_a_rebalance():
    driver = ClassicGroupDriver()
    leader, follower = driver.stable("a", "b")
    assert driver.leave(follower, reason="the consumer is being closed") == "NONE"
    assert driver.state == "PreparingRebalance"
    assert (
        driver.noted("group_state")[-1]["reason"]
        == f"explicit `LeaveGroup` request for ({follower}) members."
    )
    assert driver.noted("member_removed")[-1]["reason"] == "the consumer is being closed"
    assert driver.group.leader == leader


def test_leaving_while_preparing_can_complete_the_phase():
    driver = ClassicGroupDriver()
    leader, follower = driver.stable("a", "b")
    asked = driver.join("a", leader)
    driver.leave(follower)
    assert asked.answer.generation == 2


def test_the_last_member_that_leaves_consumes_a_generation():
    driver = ClassicGroupDriver()
    (only,) = driver.stable("a")
    driver.leave(only)
    assert (driver.state, driver.group.generation, driver.group.protocol) == ("Empty", 2, None)
    assert [one["to"] for one in driver.noted("group_state")[-2:]] == ["PreparingRebalance", "Empty"]


def test_the_parked_request_of_a_leaver_is_answered():
    driver = ClassicGroupDriver()
    leader, _ = driver.stable("a", "b")
    asked = driver.join("a", leader)
    driver.leave(leader)
    assert asked.error == "UNKNOWN_MEMBER_ID"


def test_an_unknown_member_cannot_leave():
    driver = ClassicGroupDriver()
    driver.stable("a")
    assert driver.leave("nobody-9") == "UNKNOWN_MEMBER_ID" and driver.state == "Stable"


def test_a_static_member_is_removed_by_its_instance_id_alone():
    driver = ClassicGroupDriver()
    leader, follower = driver.stable_static("p", "q")
    name = driver.group.members[follower].instance_id
    assert driver.leave("", instance=name) == "NONE"
    assert set(driver.group.members) == {leader} and driver.state == "PreparingRebalance"
    assert driver.leave("", instance="unheard") == "UNKNOWN_MEMBER_ID"
    assert driver.leave("p-9", instance=driver.group.members[leader].instance_id) == "FENCED_INSTANCE_ID"


def test_a_leader_that_leaves_is_followed_by_the_first_in_map_order():
    driver = ClassicGroupDriver()
    ids = driver.stable("a", "b", "c")
    driver.leave(ids[0])
    rest = driver.group.settings.map_order(list(driver.group.members))
    assert driver.group.leader == rest[0]


# --- commits ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("member_id", "generation", "error"),
    [
        ("a-1", 1, "NONE"),
        ("a-1", 0, "ILLEGAL_GENERATION"),
        ("a-1", 2, "ILLEGAL_GENERATION"),
        ("nobody-9", 1, "UNKNOWN_MEMBER_ID"),
        ("", -1, "UNKNOWN_MEMBER_ID"),
    ],
)
def test_a_commit_is_accepted_from_a_member_of_the_generation_only(member_id, generation, error):
    driver = ClassicGroupDriver()
    driver.stable("a", "b")
    assert driver.commit(member_id, generation=generation) == error


def test_a_simple_consumer_commits_to_an_empty_group():
    assert ClassicGroupDriver().commit("", generation=-1) == "NONE"
