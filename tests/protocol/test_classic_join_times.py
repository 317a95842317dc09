"""How long a join phase of a classic group lasts, and whom it leaves behind."""

from __future__ import annotations

import pytest

from rebalance_kit.protocol import effects as fx
from tests.support.protocol.driver import ClassicGroupDriver


# --- the initial rebalance ---------------------------------------------------------------------------
def arrivals(moments: list[int], *, delay: int = 3_000, rebalance: int = 60_000) -> int:
    """When the first join phase completes if dynamic members are added at these moments."""
    driver = ClassicGroupDriver(delay=delay)
    asked = []
    for number, at_ms in enumerate(moments):
        driver.pass_ms(at_ms - driver.clock.now_ms)
        asked.append(driver.enter(f"c{number}", rebalance=rebalance, session=30_000)[1])
    begin = driver.clock.now_ms
    while asked[0].waits:
        assert driver.clock.now_ms < begin + 400_000
        driver.pass_ms(1)
    assert not any(one.waits for one in asked)
    return driver.clock.now_ms


@pytest.mark.parametrize(
    ("moments", "ends", "why"),
    [
        ([0], 3_000, "a lone member waits exactly the delay"),
        ([0, 1_000], 6_000, "one newcomer adds one window"),
        ([0, 1_000, 2_000], 6_000, "two newcomers in one window add one window"),
        ([0, 2_999, 5_999], 9_000, "each window with a newcomer adds one"),
        ([0, 1_000, 4_000, 7_000, 10_000], 15_000, "and so on"),
    ],
)
def test_the_initial_phase_is_counted_in_windows(moments, ends, why):
    assert arrivals(moments) == ends, why


def test_the_initial_phase_never_outlasts_the_first_members_rebalance_timeout():
    assert arrivals([0, 1_000, 4_000, 5_500], rebalance=7_000) == 7_000


def test_the_cap_is_fixed_by_the_first_member_alone():
    driver = ClassicGroupDriver()
    driver.enter("a", rebalance=7_000)
    driver.pass_ms(1_000)
    driver.enter("b", rebalance=300_000)
    driver.pass_ms(4_000)
    driver.enter("c")
    driver.pass_ms(1_999)
    assert driver.state == "PreparingRebalance"
    driver.pass_ms(1)
    assert driver.state == "CompletingRebalance"


def test_a_delay_of_zero_completes_at_the_next_tick_with_one_member():
    driver = ClassicGroupDriver(delay=0)
    _, asked = driver.enter("a")
    assert asked.waits
    driver.pass_ms(0)
    assert asked.answer.generation == 1


def test_a_rebalance_timeout_below_the_delay_leaves_one_window():
    assert arrivals([0, 500], delay=3_000, rebalance=2_000) == 3_000


def test_leaving_does_not_end_the_initial_phase_early():
    driver = ClassicGroupDriver()
    driver.enter("a")
    second, asked = driver.enter("b")
    assert driver.leave(second) == "NONE" and asked.error == "UNKNOWN_MEMBER_ID"
    assert driver.state == "PreparingRebalance"
    driver.pass_ms(5_999)
    assert driver.state == "PreparingRebalance"
    driver.pass_ms(1)
    assert driver.state == "CompletingRebalance" and len(driver.group.members) == 1


def test_only_the_first_rebalance_of_an_empty_group_waits_for_the_delay():
    driver = ClassicGroupDriver()
    (leader,) = driver.stable("a")
    driver.enter("b")
    driver.join("a", leader)
    assert driver.state == "CompletingRebalance" and driver.group.generation == 2
    driver.leave(leader)
    driver.leave("b-2")
    assert driver.state == "Empty"
    driver.enter("c")
    assert driver.clock.left_ms("initial") == 3_000


# --- every later rebalance ---------------------------------------------------------------------------
def test_a_join_phase_ends_as_soon_as_all_known_members_have_rejoined():
    driver = ClassicGroupDriver()
    leader, follower = driver.stable("a", "b")
    driver.join("a", leader)
    driver.pass_ms(4_321)
    asked = driver.join("b", follower)
    assert asked.answer.generation == 2 and driver.clock.left_ms("join") is None


def test_the_limit_is_the_greatest_rebalance_timeout_fixed_at_entry():
    driver = ClassicGroupDriver()
    ids = [driver.enter("a", rebalance=20_000)[0], driver.enter("b", rebalance=40_000, session=60_000)[0]]
    driver.pass_ms(6_000)
    for one in sorted(ids, key=lambda one: one != driver.group.leader):
        driver.sync(one, {} if one == driver.group.leader else None)
    driver.join("a", "a-1", topics=("t", "u"), rebalance=20_000)
    driver.pass_ms(1_000)
    driver.enter("c", rebalance=300_000)
    driver.pass_ms(38_999)
    assert driver.state == "PreparingRebalance"
    driver.pass_ms(1)
    assert driver.state == "CompletingRebalance" and set(driver.group.members) == {"a-1", "c-3"}


def test_a_pending_id_holds_the_join_phase_open_until_it_joins():
    driver = ClassicGroupDriver()
    leader, follower = driver.stable("a", "b")
    pending = driver.join("c").answer.member_id
    driver.join("a", leader)
    driver.join("b", follower)
    assert driver.state == "PreparingRebalance"
    driver.join("c", pending)
    assert driver.state == "CompletingRebalance" and len(driver.group.members) == 3


@pytest.mark.parametrize("how", ["leaves", "times out"])
def test_a_pending_id_that_goes_lets_the_join_phase_end(how):
    driver = ClassicGroupDriver()
    leader, follower = driver.stable("a", "b", session=60_000)
    pending = driver.join("c", session=10_000).answer.member_id
    driver.join("a", leader)
    driver.join("b", follower)
    assert driver.state == "PreparingRebalance"
    if how == "leaves":
        driver.leave(pending)
    else:
        driver.pass_ms(10_000)
    assert driver.state == "CompletingRebalance" and len(driver.group.members) == 2


def test_a_pending_id_that_leaves_a_stable_group_starts_a_rebalance():
    driver = ClassicGroupDriver()
    driver.stable("a")
    pending = driver.join("c").answer.member_id
    assert driver.leave(pending) == "NONE"
    assert driver.state == "PreparingRebalance"


def test_an_expired_pending_id_ends_even_the_initial_phase():
    # removePendingMemberAndUpdateClassicGroup asks only whether all have joined.
    driver = ClassicGroupDriver(delay=20_000)
    driver.join("c", session=6_000)
    _, asked = driver.enter("a")
    driver.pass_ms(6_000)
    assert asked.answer.generation == 1 and driver.clock.now_ms == 6_000


def test_members_that_miss_the_phase_are_removed_but_static_ones_stay():
    driver = ClassicGroupDriver()
    leader = driver.join("x", instance="x", session=300_000)
    late, _ = driver.enter("b", session=300_000)
    driver.join("pod", instance="pod", session=300_000)
    driver.pass_ms(6_000)
    ids = list(driver.group.members)
    for one in sorted(ids, key=lambda one: one != driver.group.leader):
        instance = driver.group.members[one].instance_id
        driver.sync(one, {} if one == driver.group.leader else None, instance=instance)
    asked = driver.join("x", leader.answer.member_id, instance="x", session=300_000, topics=("t", "u"))
    driver.pass_ms(60_000)
    assert set(driver.group.members) == {"x-1", "pod-3"} and late == "b-2"
    assert {one.member_id for one in asked.answer.members} == {"x-1", "pod-3"}
    assert driver.noted("member_removed")[-1]["how"] == "late"


def test_a_leader_that_misses_the_phase_is_replaced_by_one_that_joined():
    driver = ClassicGroupDriver()
    leader, follower = driver.stable_static("p", "q", session=300_000)
    name = driver.group.members[follower].instance_id
    asked = driver.join(name, follower, instance=name, topics=("t", "u"), session=300_000)
    driver.pass_ms(60_000)
    assert driver.group.leader == follower == asked.answer.leader
    assert set(driver.group.members) == {leader, follower}
    assert len(asked.answer.members) == 2


def test_when_nobody_rejoins_and_static_members_remain_the_phase_is_extended():
    driver = ClassicGroupDriver()
    first, second = driver.stable_static("p", "q", session=200_000)
    pending = driver.join("c").answer.member_id
    driver.join("c", pending)
    driver.leave(pending)
    driver.pass_ms(60_000)
    assert driver.state == "PreparingRebalance" and driver.clock.left_ms("join") == 60_000
    assert set(driver.group.members) == {first, second} and driver.group.generation == 1


def test_the_session_of_a_new_member_is_five_minutes_until_its_phase_completes():
    driver = ClassicGroupDriver(delay=400_000)
    member_id, asked = driver.enter("a", rebalance=900_000)
    assert driver.clock.left_ms("session", member_id) == 300_000
    driver.pass_ms(300_000)
    assert asked.error == "UNKNOWN_MEMBER_ID" and driver.state == "Empty"


def test_completion_rearms_every_session_and_waits_for_every_sync():
    driver = ClassicGroupDriver()
    first, _ = driver.enter("a", session=8_000)
    second, _ = driver.enter("b", session=9_000, rebalance=70_000)
    driver.pass_ms(6_000)
    assert (driver.clock.left_ms("session", first), driver.clock.left_ms("session", second)) == (8_000, 9_000)
    assert driver.group.pending_sync == {first, second} and driver.clock.left_ms("sync") == 70_000


def test_only_the_leader_is_told_the_members():
    driver = ClassicGroupDriver()
    asked = dict(driver.enter(one) for one in ("a", "b", "c"))
    driver.pass_ms(6_000)
    leader = driver.group.leader
    assert leader == "a-1"
    assert {who: len(one.answer.members) for who, one in asked.items()} == {"a-1": 3, "b-2": 0, "c-3": 0}


# --- a full group --------------------------------------------------------------------------------------
def test_a_full_stable_group_admits_its_members_and_nobody_else():
    driver = ClassicGroupDriver(max_size=2)
    leader, follower = driver.stable("a", "b")
    assert driver.join("c").error == "GROUP_MAX_SIZE_REACHED"
    assert driver.join("b", follower).error == "NONE"
    assert driver.join("a", leader).waits


def test_while_preparing_room_is_counted_by_who_has_already_rejoined_and_the_late_one_is_put_out():
    driver = ClassicGroupDriver(max_size=2)
    leader, follower = driver.stable("a", "b")
    driver.join("a", leader)
    newcomer, asked = driver.enter("c")
    assert asked.waits
    assert driver.join("b", follower).error == "GROUP_MAX_SIZE_REACHED"
    assert set(driver.group.members) == {leader, newcomer}


# --- notes that logs are written from -------------------------------------------------------------------
def test_the_reason_of_an_addition_names_the_member_its_instance_and_what_the_client_said():
    driver = ClassicGroupDriver()
    driver.enter("a", reason="need to re-join with the given member-id: a-1")
    assert driver.noted("group_state")[0]["reason"] == (
        "Adding new member a-1 with group instance id null; client reason: need to re-join with the given member-id: a-1"
    )


def test_nothing_is_answered_twice_over_a_whole_life():
    driver = ClassicGroupDriver()
    leader, follower = driver.stable("a", "b")
    driver.join("a", leader)
    driver.join("b", follower)
    driver.event(fx.Unload())
    assert [len(one.answers) for one in driver.asked if len(one.answers) > 1] == []
