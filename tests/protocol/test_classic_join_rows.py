"""JoinGroup decided row by row, and how long a join phase lasts."""

from __future__ import annotations

import pytest

from tests.support.protocol.driver import ClassicGroupDriver, tps


# --- who asks in which state ---------------------------------------------------------------------
def in_state(name: str) -> tuple[ClassicGroupDriver, list[str]]:
    """A group of two dynamic members in that state; the leader's id first."""
    driver = ClassicGroupDriver()
    ids = driver.stable("a", "b")
    if name in {"PreparingRebalance", "CompletingRebalance"}:
        driver.join("a", ids[0])
    if name == "CompletingRebalance":
        driver.join("b", ids[1])
    if name == "Empty":
        for one in ids:
            driver.leave(one)
    assert driver.state == name
    return driver, ids


STATES = ("Empty", "PreparingRebalance", "CompletingRebalance", "Stable")


@pytest.mark.parametrize("state", STATES)
def test_a_dynamic_newcomer_is_given_an_id_and_the_group_does_not_move(state):
    driver, _ = in_state(state)
    members = set(driver.group.members)
    asked = driver.join("c")
    assert (asked.error, asked.answer.member_id) == ("MEMBER_ID_REQUIRED", "c-3")
    assert driver.state == state and set(driver.group.members) == members
    assert driver.clock.left_ms("pending", "c-3") == 10_000


@pytest.mark.parametrize("state", STATES)
def test_a_pending_id_is_added_and_a_rebalance_runs(state):
    driver, _ = in_state(state)
    member_id, asked = driver.enter("c")
    assert asked.waits and member_id in driver.group.members
    assert driver.state == "PreparingRebalance" and driver.clock.left_ms("pending", member_id) is None


@pytest.mark.parametrize("state", STATES)
def test_a_new_static_member_is_added_without_a_round_for_its_id(state):
    driver, _ = in_state(state)
    asked = driver.join("pod", instance="pod")
    assert asked.waits and driver.group.statics["pod"] in driver.group.members
    assert driver.state == "PreparingRebalance"


@pytest.mark.parametrize("state", STATES)
def test_an_unknown_id_is_refused_in_every_state(state):
    driver, _ = in_state(state)
    assert driver.join("z", "z-77").error == "UNKNOWN_MEMBER_ID"
    assert driver.state == state


def test_an_id_that_does_not_hold_its_instance_is_fenced():
    driver = ClassicGroupDriver()
    driver.stable_static("pod")
    assert driver.join("pod", "pod-99", instance="pod").error == "FENCED_INSTANCE_ID"


def test_a_known_member_is_parked_while_the_group_prepares_and_its_metadata_replaced():
    driver, (leader, follower) = in_state("PreparingRebalance")
    assert driver.group.members[leader].parked_join is not None
    asked = driver.join("b", follower, topics=("t", "u"), session=20_000)
    assert driver.state == "CompletingRebalance" and asked.error == "NONE"
    member = driver.group.members[follower]
    assert member.metadata("range").topics == ("t", "u") and member.session_timeout_ms == 20_000


def test_in_completing_the_same_metadata_is_answered_at_once_with_the_current_generation():
    driver, (leader, follower) = in_state("CompletingRebalance")
    again = driver.join("a", leader)
    other = driver.join("b", follower)
    assert again.answer.generation == other.answer.generation == driver.group.generation
    assert len(again.answer.members) == 2 and other.answer.members == ()
    assert driver.state == "CompletingRebalance"


def test_in_completing_other_metadata_begins_a_rebalance():
    driver, (_, follower) = in_state("CompletingRebalance")
    asked = driver.join("b", follower, owned=tps("t-1"))
    assert asked.waits and driver.state == "PreparingRebalance"
    assert (
        driver.noted("group_state")[-1]["reason"]
        == f"Updating metadata for member {follower} during CompletingRebalance; client reason: not provided"
    )


def test_a_leader_that_rejoins_a_stable_group_always_begins_a_rebalance():
    driver, (leader, _) = in_state("Stable")
    assert driver.join("a", leader, reason="cached metadata has changed").waits
    assert driver.state == "PreparingRebalance"
    assert (
        driver.noted("group_state")[-1]["reason"]
        == f"Leader {leader} re-joining group during Stable; client reason: cached metadata has changed"
    )


def test_a_follower_of_a_stable_group_begins_a_rebalance_only_with_other_metadata():
    driver, (_, follower) = in_state("Stable")
    same = driver.join("b", follower)
    assert (same.error, same.answer.generation, same.answer.members) == ("NONE", 1, ())
    assert driver.state == "Stable"
    assert driver.sync(follower).answer.assignment == tps("t-1")
    assert driver.join("b", follower, topics=("t", "u")).waits
    assert driver.state == "PreparingRebalance"


def test_a_former_member_of_an_empty_group_is_unknown():
    driver, (leader, _) = in_state("Empty")
    assert driver.join("a", leader).error == "UNKNOWN_MEMBER_ID"


# --- checks before that table ----------------------------------------------------------------------
@pytest.mark.parametrize(
    ("session", "error"),
    [
        (5_999, "INVALID_SESSION_TIMEOUT"),
        (6_000, "MEMBER_ID_REQUIRED"),
        (1_800_000, "MEMBER_ID_REQUIRED"),
        (1_800_001, "INVALID_SESSION_TIMEOUT"),
    ],
)
def test_a_session_timeout_outside_the_brokers_range_is_refused(session, error):
    assert ClassicGroupDriver().join("a", session=session).error == error


def test_an_empty_protocol_list_is_refused_even_by_an_empty_group():
    assert ClassicGroupDriver().join("a", protocols=()).error == "INCONSISTENT_GROUP_PROTOCOL"


def test_a_joiner_must_share_a_protocol_with_every_member():
    driver = ClassicGroupDriver()
    driver.stable("a", "b", protocols=("range",))
    assert driver.join("c", protocols=("cooperative-sticky",)).error == "INCONSISTENT_GROUP_PROTOCOL"
    assert driver.join("c", protocols=("cooperative-sticky", "range")).error == "MEMBER_ID_REQUIRED"
    assert driver.state == "Stable" and len(driver.group.members) == 2


def test_sharing_with_some_members_is_not_enough():
    driver = ClassicGroupDriver()
    driver.enter("a", protocols=("range", "sticky"))
    driver.enter("b", protocols=("range", "roundrobin"))
    assert driver.join("c", protocols=("sticky", "roundrobin")).error == "INCONSISTENT_GROUP_PROTOCOL"


# --- selection ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("lists", "chosen"),
    [
        ([("range", "cooperative-sticky"), ("cooperative-sticky", "range")], "range"),
        ([("sticky", "range"), ("range", "sticky")], "sticky"),
        ([("roundrobin", "range"), ("range", "roundrobin")], "range"),
        ([("cooperative-sticky", "roundrobin"), ("roundrobin", "cooperative-sticky")], "roundrobin"),
        (
            [
                ("cooperative-sticky", "range"),
                ("cooperative-sticky", "range"),
                ("range", "cooperative-sticky"),
            ],
            "cooperative-sticky",
        ),
        ([("sticky", "range"), ("range",)], "range"),
        (
            [("roundrobin", "sticky", "range"), ("sticky", "range", "roundrobin"), ("sticky", "range")],
            "sticky",
        ),
    ],
)
@pytest.mark.parametrize("turned", [False, True], ids=["as written", "other join order"])
def test_the_protocol_is_a_plurality_vote_with_ties_to_the_lowest_bucket(lists, chosen, turned):
    driver = ClassicGroupDriver()
    for number, names in enumerate(reversed(lists) if turned else lists):
        driver.enter(f"c{number}", protocols=names)
    driver.pass_ms(6_000)
    assert driver.group.protocol == chosen
