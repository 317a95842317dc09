"""The KIP-848 coordinator: validity, epochs, targets, timers, fencing, commits, static members."""

from __future__ import annotations

import pytest

from rebalance_kit.model.topology import TopicId, TopicPartition
from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.messages import JoinGroup, Subscription
from rebalance_kit.simulation.cluster.broker import server_assignor
from tests.support.protocol.consumer_steps import heartbeat, two
from tests.support.protocol.driver import ConsumerGroupDriver, tps


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
    driver = ConsumerGroupDriver()
    answer = driver.ask(heartbeat(**fields)).answer
    assert (answer.error, answer.message) == ("INVALID_REQUEST", message)
    assert driver.group.members == {} and driver.group.epoch == 1


def test_an_unknown_assignor_is_refused_and_the_known_ones_listed():
    answer = ConsumerGroupDriver().ask(heartbeat(server_assignor="sticky")).answer
    assert (answer.error, answer.message) == (
        "UNSUPPORTED_ASSIGNOR",
        "ServerAssignor sticky is not supported. Supported assignors: uniform, range.",
    )


def test_a_member_may_join_without_any_topic_and_that_bumps_nothing():
    driver = ConsumerGroupDriver()
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
    assert ConsumerGroupDriver(version=version).join("a").answer.member_epoch == first


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
        ("two members", 3),
        ("a heartbeat", 3),
        ("the same subscription", 3),
        ("another subscription", 4),
        ("another rebalance timeout", 4),
        ("partitions added, nobody heard yet", 4),
        ("the next heartbeat of anybody", 5),
        ("a topic that nobody subscribes", 5),
        ("a leave", 6),
    ]


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
    driver = ConsumerGroupDriver(version=version)
    driver.join("a")
    driver.ask(heartbeat(member_id="a", member_epoch=-1))
    assert (driver.state, driver.group.epoch, driver.group.assignment_epoch) == ("Empty", 3, assignment_epoch)


@pytest.mark.parametrize(("version", "epoch"), [("4.4.0", 4), ("4.3.1", 2)])
def test_a_join_soon_after_the_last_leave_waits_for_the_interval_before_4_4(version, epoch):
    driver = ConsumerGroupDriver(version=version, interval=1_000)
    driver.join("a")
    driver.ask(heartbeat(member_id="a", member_epoch=-1))
    assert driver.join("b").answer.member_epoch == epoch


# --- group states --------------------------------------------------------------------------------------------
def test_the_state_of_the_group_follows_from_its_epochs():
    driver = ConsumerGroupDriver(interval=1_000)
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
    driver = ConsumerGroupDriver(interval=1_000)
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
    driver = ConsumerGroupDriver(interval=1_000)
    driver.join("a")
    driver.join("b")
    driver.pass_ms(1_000)
    driver.beat("a")
    assert driver.group.assignment_epoch == driver.group.epoch


def test_without_an_interval_every_bump_computes_at_once():
    driver = ConsumerGroupDriver(interval=0)
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
    driver = ConsumerGroupDriver()
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


# --- the group's assignor --------------------------------------------------------------------------------
@pytest.mark.parametrize(("first", "second"), [("uniform", "range"), ("range", "uniform")])
def test_of_equally_many_votes_the_one_that_this_heartbeat_brought_wins_and_later_uniform(first, second):
    """ConsumerGroup.computePreferredServerAssignor copies the counts into a HashMap in which both names share a bucket."""
    driver = ConsumerGroupDriver()
    driver.join("a", server_assignor=first)
    driver.join("b", server_assignor=second)
    driver.join("c")
    assert driver.assignor_calls == [first, second, "uniform"]
    driver.join("d", server_assignor="range")
    assert driver.assignor_calls[-1] == "range", "two against one"


def test_no_timer_of_a_replaced_static_member_stays_armed():
    # else it would fire in the classic group that this one may become, as the timer of the whole group
    driver = ConsumerGroupDriver()
    for member_id in ("k-1", "k-2"):
        protocols = (("range", Subscription(("t",))),)
        driver.ask(
            JoinGroup("k", member_id if member_id == "k-1" else "", "i", 10_000, 60_000, protocols, None, "g")
        )
    assert "k-1" not in driver.group.members
    assert [key for key in driver.clock.armed if key[1] == "k-1"] == []
    assert driver.clock.left_ms("sync", *driver.group.members) == 60_000


# --- the order in which an assignor gets the members -----------------------------------------------------------
def test_an_assignor_is_told_which_member_the_request_under_way_has_brought():
    driver = ConsumerGroupDriver()
    driver.join("a")
    driver.join("b")
    driver.beat("a", topics=("t", "u"))
    assert driver.newcomers == ["a", "b", None]


def test_a_newcomer_comes_after_the_others_of_its_bucket():
    """As recorded in twelve-members.consumer.4.3.1: c6 and c3 share a bucket, and c3 was only just joining."""
    ids = {
        "c2": "Hn2h7H_hTeqevcb-uyC08Q",
        "c8": "1qTXeG6YThuOnl-CQ7oXNA",
        "c6": "ug3TWl5pQ1yKaUyTnMf8iQ",
        "c4": "Gp8z1bmDRkqKliaWS4Yv_w",
        "c3": "ILPCRLaaSEGC6AIfC9laxA",
    }
    everything = tuple(TopicPartition("orders", number) for number in range(18))
    members = [
        (member_id, None, ("orders",), everything if name == "c2" else ()) for name, member_id in ids.items()
    ]
    given = server_assignor("4.3.1")("uniform", members, {"orders": 18}, {"orders": TopicId(0, 1)}, ids["c3"])
    numbers = {name: sorted(tp.partition for tp in given[member_id]) for name, member_id in ids.items()}
    assert numbers == {
        "c2": [0, 1, 2, 3],
        "c8": [4, 5, 6],
        "c6": [7, 8, 9],
        "c3": [10, 11, 12, 13],
        "c4": [14, 15, 16, 17],
    }


def test_the_map_of_members_stays_as_wide_as_the_group_has_been():
    """As recorded in a rolling restart of three: two of one bucket, in the order of a map that had held three."""
    left, first, second = "emGM9cCeTRCNXLROSNWduw", "R5Mc1KPGRnajcUFfsgIjFA", "2Ec9i3U4Qmy9VNOD4mz94w"
    numbers = {left: (0, 1), first: (3, 4), second: (2, 5)}
    three = [
        (member_id, None, ("orders",), tuple(TopicPartition("orders", number) for number in held))
        for member_id, held in numbers.items()
    ]
    assigns = server_assignor("4.3.1")
    for members, newcomer in ((three, second), (three[1:], None)):
        given = assigns("uniform", members, {"orders": 6}, {"orders": TopicId(0, 1)}, newcomer)
    assert {tp.partition for tp in given[first]} == {0, 3, 4}
    assert {tp.partition for tp in given[second]} == {1, 2, 5}
