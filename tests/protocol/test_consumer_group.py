"""The KIP-848 coordinator: validity, epochs, targets, timers, fencing, commits, static members."""

from __future__ import annotations

import pytest
from driver import Modern, tps

from rebalance_kit.model.errors import ProtocolViolation
from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.consumer_group import step
from rebalance_kit.protocol.messages import ConsumerGroupHeartbeat, JoinGroup, LeaveGroup, SyncGroup


def heartbeat(**fields: object) -> ConsumerGroupHeartbeat:
    given = {
        "sender": "m",
        "member_id": "m",
        "member_epoch": 0,
        "rebalance_timeout_ms": 60_000,
        "topics": ("t",),
        "owned": (),
    }
    return ConsumerGroupHeartbeat(**(given | fields))  # type: ignore[arg-type]


def two(**given: object) -> Modern:
    """Members a and b, settled with t-0..t-2 and t-3..t-5; group and members at one epoch."""
    driver = Modern(**given)  # type: ignore[arg-type]
    driver.plan = {"a": tps("t-0", "t-1", "t-2", "t-3", "t-4", "t-5")}
    driver.join("a")
    driver.plan = {"a": tps("t-0", "t-1", "t-2"), "b": tps("t-3", "t-4", "t-5")}
    driver.join("b")
    driver.beat("a")
    driver.beat("a", owned=tps("t-0", "t-1", "t-2"))
    driver.beat("b")
    assert driver.state == "Stable"
    return driver


# --- validity ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"member_id": ""}, "MemberId can't be empty."),
        ({"instance_id": ""}, "InstanceId can't be empty."),
        ({"rack": ""}, "RackId can't be empty."),
        ({"rebalance_timeout_ms": None}, "RebalanceTimeoutMs must be provided in first request."),
        ({"owned": tps("t-0")}, "TopicPartitions must be empty when (re-)joining."),
        ({"owned": None}, "TopicPartitions must be empty when (re-)joining."),
        (
            {"topics": None},
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
        ),
        ({"member_epoch": -2}, "InstanceId can't be null."),
        ({"member_epoch": -3}, "MemberEpoch is invalid."),
    ],
)
def test_an_invalid_request_is_refused_with_kafkas_message(fields, message):
    driver = Modern()
    answer = driver.ask(heartbeat(**fields)).answer
    assert (answer.error, answer.message) == ("INVALID_REQUEST", message)
    assert driver.group.members == {} and driver.group.epoch == 1


def test_an_unknown_assignor_is_refused_and_the_known_ones_listed():
    answer = Modern().ask(heartbeat(server_assignor="sticky")).answer
    assert (answer.error, answer.message) == (
        "UNSUPPORTED_ASSIGNOR",
        "ServerAssignor sticky is not supported. Supported assignors: uniform, range.",
    )


def test_a_member_may_join_without_any_topic_and_that_bumps_nothing():
    driver = Modern()
    answer = driver.join("a", topics=()).answer
    assert (answer.error, answer.member_epoch, driver.group.epoch) == ("NONE", 1, 1)


# --- what an answer holds --------------------------------------------------------------------------------
def test_the_assignment_is_told_on_joining_in_full_requests_and_when_it_changed():
    driver = two()
    assert driver.beat("a").answer.assignment is None
    full = driver.beat("a", owned=tps("t-0", "t-1", "t-2"), topics=("t",), rebalance_timeout_ms=60_000)
    assert full.answer.assignment == tps("t-0", "t-1", "t-2")
    driver.plan = {"a": tps("t-0")}
    assert driver.join("c", topics=("t",)).answer.assignment == ()
    assert driver.beat("a").answer.assignment == tps("t-0")


def test_every_answer_tells_the_heartbeat_interval():
    driver = two()
    assert {driver.beat(one).answer.heartbeat_interval_ms for one in "ab"} == {5_000}


# --- epochs -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("version", "first"), [("4.4.0", 2), ("4.3.1", 2), ("4.2.0", 1), ("4.0.0", 1)])
def test_the_first_member_gets_epoch_two_since_4_3_and_one_before(version, first):
    assert Modern(version=version).join("a").answer.member_epoch == first


def test_what_bumps_the_epoch_and_what_does_not():
    driver = two(t=6, u=2)
    seen = []

    def after(what: str) -> None:
        seen.append((what, driver.group.epoch))

    after("two members")
    driver.beat("a")
    after("a heartbeat")
    driver.beat("a", topics=("t",))
    after("the same subscription")
    driver.beat("a", topics=("t", "u"))
    after("another subscription")
    driver.beat("a", rebalance_timeout_ms=90_000)
    after("another rebalance timeout")
    driver.topics["t"] = 8
    after("partitions added, nobody heard yet")
    driver.beat("b")
    after("the next heartbeat of anybody")
    driver.topics["z"] = 1
    driver.beat("b")
    after("a topic that nobody subscribes")
    driver.ask(heartbeat(member_id="b", member_epoch=-1))
    after("a leave")
    assert seen == [
        ("two members", 3), ("a heartbeat", 3), ("the same subscription", 3), ("another subscription", 4), ("another rebalance timeout", 4),
        ("partitions added, nobody heard yet", 4), ("the next heartbeat of anybody", 5), ("a topic that nobody subscribes", 5), ("a leave", 6),
    ]  # fmt: skip


def test_one_heartbeat_bumps_once_for_everything_that_changed():
    driver = two(t=6, u=2)
    driver.topics["t"] = 8
    driver.beat("a", topics=("t", "u"))
    assert driver.group.epoch == 4


def test_a_bump_covers_the_metadata_of_its_moment():
    driver = two(t=6, u=2)
    driver.beat("b", topics=("t", "u"))
    driver.ask(heartbeat(member_id="b", member_epoch=-1))
    epoch = driver.group.epoch
    driver.beat("a")
    assert driver.group.epoch == epoch, "the subscription lost u with its only subscriber: no second bump"


@pytest.mark.parametrize(("version", "bumps"), [("4.4.0", 1), ("4.3.1", 0)])
def test_another_preferred_assignor_bumps_since_4_4(version, bumps):
    driver = two(version=version)
    epoch = driver.group.epoch
    driver.beat("a", server_assignor="range")
    assert driver.group.epoch - epoch == bumps
    assert driver.assignor_calls[-1] == ("range" if bumps else "uniform")


@pytest.mark.parametrize(("version", "assignment_epoch"), [("4.4.0", 3), ("4.3.1", 2)])
def test_the_last_leaver_takes_the_assignment_epoch_along_since_4_4(version, assignment_epoch):
    driver = Modern(version=version)
    driver.join("a")
    driver.ask(heartbeat(member_id="a", member_epoch=-1))
    assert (driver.state, driver.group.epoch, driver.group.assignment_epoch) == ("Empty", 3, assignment_epoch)


@pytest.mark.parametrize(("version", "epoch"), [("4.4.0", 4), ("4.3.1", 2)])
def test_a_join_soon_after_the_last_leave_waits_for_the_interval_before_4_4(version, epoch):
    driver = Modern(version=version, interval=1_000)
    driver.join("a")
    driver.ask(heartbeat(member_id="a", member_epoch=-1))
    assert driver.join("b").answer.member_epoch == epoch


# --- group states --------------------------------------------------------------------------------------------
def test_the_state_of_the_group_follows_from_its_epochs():
    driver = Modern(interval=1_000)
    assert driver.state == "Empty"
    driver.plan = {"a": tps("t-0", "t-1")}
    driver.join("a")
    assert driver.state == "Stable"
    driver.join("b")
    assert driver.state == "Assigning"
    driver.plan = {"a": tps("t-0"), "b": tps("t-1")}
    driver.pass_ms(1_000)
    driver.beat("a")
    assert driver.state == "Reconciling"
    driver.beat("a", owned=tps("t-0"))
    driver.beat("b")
    assert driver.state == "Stable"


# --- targets --------------------------------------------------------------------------------------------------
def test_a_target_is_computed_at_most_once_an_interval_and_only_by_a_heartbeat():
    driver = Modern(interval=1_000)
    driver.join("a")
    driver.pass_ms(400)
    joined = driver.join("b").answer
    assert (joined.member_epoch, joined.assignment) == (2, ()), "the current assignment epoch and nothing"
    assert (driver.group.epoch, driver.group.assignment_epoch) == (3, 2)
    driver.pass_ms(599)
    driver.beat("a")
    assert driver.group.assignment_epoch == 2
    driver.pass_ms(2_000)
    assert driver.group.assignment_epoch == 2, "there is no timer"
    driver.beat("b", 2)
    assert driver.group.assignment_epoch == 3


def test_the_interval_is_over_at_its_last_millisecond():
    driver = Modern(interval=1_000)
    driver.join("a")
    driver.join("b")
    driver.pass_ms(1_000)
    driver.beat("a")
    assert driver.group.assignment_epoch == driver.group.epoch


def test_without_an_interval_every_bump_computes_at_once():
    driver = Modern(interval=0)
    epochs = [driver.join(one).answer.member_epoch for one in "abc"]
    assert epochs == [2, 3, 4]


def test_leaving_and_expiry_bump_but_never_compute():
    driver = two()
    driver.ask(heartbeat(member_id="b", member_epoch=-1))
    assert (driver.group.epoch, driver.group.assignment_epoch) == (4, 3)
    driver.beat("a")
    assert driver.group.assignment_epoch == 4


@pytest.mark.parametrize(
    ("asked", "used"),
    [
        ((None, None), "uniform"),
        (("range", None), "range"),
        (("range", "range"), "range"),
        (("range", "uniform"), "uniform"),
    ],
)
def test_the_assignor_is_the_most_requested_one_else_the_first_configured(asked, used):
    driver = Modern()
    for name, wish in zip("ab", asked, strict=True):
        driver.join(name, server_assignor=wish)
    driver.beat("a", topics=("t", "u"))
    assert driver.assignor_calls[-1] == used


# --- sessions and revocation deadlines -----------------------------------------------------------------------
def test_a_session_is_rearmed_by_every_heartbeat_and_its_end_bumps():
    driver = two(session=10_000)
    driver.pass_ms(6_000)
    driver.beat("a")
    assert driver.clock.left_ms("session", "a") == 10_000 and driver.clock.left_ms("session", "b") == 4_000
    driver.pass_ms(4_000)
    assert set(driver.group.members) == {"a"} and driver.group.epoch == 4
    assert driver.noted("member_removed")[-1]["how"] == "session"


def test_commits_and_refused_heartbeats_do_not_extend_a_session():
    driver = two(session=10_000)
    driver.pass_ms(4_000)
    assert driver.commit("a", driver.member("a").epoch) == "NONE"
    assert driver.beat("a", 99).error == "FENCED_MEMBER_EPOCH"
    assert driver.clock.left_ms("session", "a") == 6_000


def test_a_member_that_does_not_revoke_within_its_rebalance_timeout_is_fenced():
    driver = two(session=300_000)
    driver.plan = {"a": tps("t-0"), "b": tps("t-3", "t-4", "t-5")}
    driver.join("c", rebalance=90_000)
    driver.beat("a")
    assert driver.clock.left_ms("rebalance", "a") == 60_000
    for _ in range(11):
        driver.pass_ms(5_000)
        driver.beat("a")
    assert driver.clock.left_ms("rebalance", "a") == 5_000, (
        "heartbeats that acknowledge nothing move no deadline"
    )
    driver.pass_ms(5_000)
    assert (
        "a" not in driver.group.members and driver.noted("member_removed")[-1]["how"] == "rebalance_timeout"
    )
    assert (
        driver.noted("member_removed")[-1]["reason"] == "it failed to transition from epoch 3 within 60000ms"
    )


def test_an_acknowledged_revocation_has_no_deadline_any_more():
    driver = two()
    driver.plan = {"a": tps("t-0"), "b": tps("t-3", "t-4", "t-5")}
    driver.join("c")
    driver.beat("a")
    driver.beat("a", owned=tps("t-0"))
    assert driver.clock.left_ms("rebalance", "a") is None


def test_waiting_for_others_has_no_deadline():
    driver = two()
    driver.plan = {"a": tps("t-0"), "b": tps("t-3", "t-4", "t-5"), "c": tps("t-1", "t-2")}
    driver.join("c")
    assert driver.member("c").state.value == "UNRELEASED_PARTITIONS"
    assert driver.clock.left_ms("rebalance", "c") is None


def test_loading_rearms_sessions_and_revocation_deadlines_in_full():
    driver = two(session=10_000)
    driver.plan = {"a": tps("t-0"), "b": tps("t-3", "t-4", "t-5")}
    driver.join("c")
    driver.beat("a")
    driver.pass_ms(5_000)
    driver.event(fx.Unload())
    assert driver.clock.armed == {}
    driver.event(fx.Load())
    assert driver.clock.left_ms("session", "b") == 10_000 and driver.clock.left_ms("rebalance", "a") == 60_000
    assert driver.group.epoch == 4


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
    driver = Modern()
    assert driver.commit("", -1) == "NONE"
    driver.join("a")
    assert driver.commit("z", 2) == driver.commit("", -1) == "UNKNOWN_MEMBER_ID"


# --- static members --------------------------------------------------------------------------------------------------
def static() -> Modern:
    """Static member s1 (instance i) with all partitions, settled."""
    driver = Modern(session=10_000)
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
        step(Modern().group, fx.Polled())
