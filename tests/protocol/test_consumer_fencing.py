"""Who is fenced or refused by a KIP-848 group, whose commits it takes, and its static members."""

from __future__ import annotations

import pytest

from rebalance_kit.model.errors import ProtocolViolation
from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.consumer_group.table import step
from rebalance_kit.protocol.messages import JoinGroup, LeaveGroup, SyncGroup
from tests.support.protocol.consumer_steps import heartbeat, two
from tests.support.protocol.driver import ConsumerGroupDriver, tps


# --- fencing -----------------------------------------------------------------------------------------------------
def test_a_greater_epoch_is_fenced():
    answer = two().beat("a", 9).answer
    assert (answer.error, answer.message) == (
        "FENCED_MEMBER_EPOCH",
        "The consumer group member has a greater member epoch (9) than the one known by the group coordinator (3). "
        "The member must abandon all its partitions and rejoin.",
    )


@pytest.mark.parametrize(
    ("owned", "error"),
    [("t-0 t-1", "NONE"), ("", "NONE"), ("t-0 t-3", "FENCED_MEMBER_EPOCH"), (None, "FENCED_MEMBER_EPOCH")],
)
def test_the_previous_epoch_is_tolerated_from_one_who_owns_no_more_than_it_should(owned, error):
    driver = two()
    driver.beat("a", topics=("t", "u"))
    assert (driver.member("a").epoch, driver.member("a").previous_epoch) == (4, 3)
    assert driver.beat("a", 3, owned=None if owned is None else tps(*owned.split())).error == error


def test_an_epoch_older_than_the_previous_one_is_fenced():
    driver = two()
    assert driver.beat("a", 1, owned=()).error == "FENCED_MEMBER_EPOCH"


def test_an_unknown_member_is_told_so():
    answer = two().ask(heartbeat(member_id="z", member_epoch=3)).answer
    assert (answer.error, answer.message) == ("UNKNOWN_MEMBER_ID", "Member z is not a member of group g.")


def test_a_dynamic_member_may_join_again_with_epoch_zero():
    driver = two()
    answer = driver.join("a").answer
    assert (answer.error, answer.member_epoch, answer.assignment) == ("NONE", 3, tps("t-0", "t-1", "t-2"))
    assert driver.group.epoch == 3, "its subscription is the same"


def test_a_full_group_refuses_newcomers_only():
    driver = two(max_size=2)
    answer = driver.join("c").answer
    assert (answer.error, answer.message) == (
        "GROUP_MAX_SIZE_REACHED",
        "The consumer group has reached its maximum capacity of 2 members.",
    )
    assert driver.join("a").error == "NONE"


# --- commits -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("version", "epoch", "partitions", "error"),
    [
        ("4.3.1", 3, ("t-0",), "NONE"),
        ("4.3.1", 4, ("t-0",), "STALE_MEMBER_EPOCH"),
        ("4.3.1", 2, ("t-0",), "NONE"),
        ("4.3.1", 1, ("t-0",), "STALE_MEMBER_EPOCH"),
        ("4.3.1", 2, ("t-0", "t-3"), "STALE_MEMBER_EPOCH"),
        ("4.2.0", 2, ("t-0",), "NONE"),
        ("4.2.0", 1, ("t-0",), "STALE_MEMBER_EPOCH"),
    ],
)
def test_a_commit_is_checked_against_the_epoch_of_its_member_or_of_its_partitions(
    version, epoch, partitions, error
):
    driver = two(version=version)
    assert driver.member("a").epoch == (3 if version == "4.3.1" else 2)
    assert driver.commit("a", epoch, *partitions) == error


def test_a_partition_still_to_be_revoked_may_be_committed_at_its_old_epoch():
    driver = two()
    driver.plan = {"a": tps("t-0"), "b": tps("t-3", "t-4", "t-5")}
    driver.join("c")
    driver.beat("a")
    driver.beat("a", owned=tps("t-0"))
    assert driver.member("a").epoch == 4
    assert driver.commit("a", 3, "t-0") == "NONE", "kept since epoch 2"
    assert driver.commit("a", 3, "t-1") == "STALE_MEMBER_EPOCH", "given up"


def test_a_commit_of_a_stranger_is_unknown_but_an_empty_group_takes_simple_consumers():
    driver = ConsumerGroupDriver()
    assert driver.commit("", -1) == "NONE"
    driver.join("a")
    assert driver.commit("z", 2) == driver.commit("", -1) == "UNKNOWN_MEMBER_ID"


# --- static members --------------------------------------------------------------------------------------------------
def static() -> ConsumerGroupDriver:
    """Static member s1 (instance i) with all partitions, settled."""
    driver = ConsumerGroupDriver(session=10_000)
    driver.plan = {"s1": tps("t-0", "t-1")}
    driver.join("s1", instance_id="i")
    assert driver.state == "Stable"
    return driver


def test_leaving_for_a_while_keeps_partitions_and_epoch_of_the_group():
    driver = static()
    driver.pass_ms(2_000)
    answer = driver.ask(heartbeat(member_id="s1", instance_id="i", member_epoch=-2)).answer
    assert (answer.error, answer.member_epoch) == ("NONE", -2)
    assert (driver.member("s1").epoch, driver.group.epoch, driver.state) == (-2, 2, "Reconciling")
    assert driver.clock.left_ms("session", "s1") == 8_000
    assert not driver.group.is_free(tps("t-0")[0], "other")


def test_the_returning_static_member_takes_everything_over_without_a_bump():
    driver = static()
    driver.ask(heartbeat(member_id="s1", instance_id="i", member_epoch=-2))
    answer = driver.join("s2", instance_id="i").answer
    assert (answer.error, answer.member_epoch, answer.assignment) == ("NONE", 2, tps("t-0", "t-1"))
    assert set(driver.group.members) == {"s2"} and (driver.group.epoch, driver.state) == (2, "Stable")
    assert driver.clock.left_ms("session", "s1") is None


def test_the_epochs_of_its_partitions_begin_anew():
    driver = static()
    driver.ask(heartbeat(member_id="s1", instance_id="i", member_epoch=-2))
    driver.join("s2", instance_id="i")
    assert set(driver.member("s2").assigned.values()) == {0}


def test_a_return_with_another_subscription_bumps():
    driver = static()
    driver.ask(heartbeat(member_id="s1", instance_id="i", member_epoch=-2))
    driver.join("s2", instance_id="i", topics=("t", "u"))
    assert driver.group.epoch == 3


@pytest.mark.parametrize("member_id", ["s2", "s1"])
def test_an_instance_id_that_was_not_released_cannot_be_taken(member_id):
    driver = static()
    answer = driver.join(member_id, instance_id="i").answer
    assert (answer.error, answer.message) == (
        "UNRELEASED_INSTANCE_ID",
        f"Static member {member_id} with instance id i cannot join the group because the instance id is owned by s1 member.",
    )
    assert set(driver.group.members) == {"s1"}


@pytest.mark.parametrize("epoch", [2, -1, -2])
def test_another_id_for_a_held_instance_is_fenced(epoch):
    answer = static().ask(heartbeat(member_id="s9", instance_id="i", member_epoch=epoch)).answer
    assert (answer.error, answer.message) == (
        "FENCED_INSTANCE_ID",
        "Static member s9 with instance id i was fenced by member s1.",
    )


@pytest.mark.parametrize("epoch", [2, -1, -2])
def test_an_unknown_instance_is_unknown(epoch):
    answer = static().ask(heartbeat(member_id="s1", instance_id="j", member_epoch=epoch)).answer
    assert (answer.error, answer.message) == ("UNKNOWN_MEMBER_ID", "Instance id j is unknown.")


def test_a_static_member_that_leaves_for_good_is_removed():
    driver = static()
    driver.ask(heartbeat(member_id="s1", instance_id="i", member_epoch=-1))
    assert driver.group.members == {} and driver.group.statics == {} and driver.group.epoch == 3


def test_a_static_member_away_too_long_expires():
    driver = static()
    driver.pass_ms(2_000)
    driver.ask(heartbeat(member_id="s1", instance_id="i", member_epoch=-2))
    driver.pass_ms(7_999)
    assert "s1" in driver.group.members
    driver.pass_ms(1)
    assert driver.group.members == {} and driver.group.epoch == 3


def test_an_administrator_removes_by_instance_id():
    driver = static()
    assert driver.ask(LeaveGroup("admin", "", "i", "bye", "g", admin=True)).error == "NONE"
    assert driver.group.members == {} and driver.noted("epoch_bump")[-1]["trigger"] == "admin"


# --- strangers -----------------------------------------------------------------------------------------------------------
def test_classic_requests_to_a_consumer_group_with_members_are_refused():
    driver = two()
    assert driver.ask(JoinGroup("c", "", None, 10_000, 60_000, ())).error == "INCONSISTENT_GROUP_PROTOCOL"
    assert driver.ask(SyncGroup("c", "c-1", None, 3)).error == "UNKNOWN_MEMBER_ID"


def test_an_event_that_no_driver_may_send_is_refused():
    with pytest.raises(ProtocolViolation, match="a consumer group is never sent Polled"):
        step(ConsumerGroupDriver().group, fx.Polled())
