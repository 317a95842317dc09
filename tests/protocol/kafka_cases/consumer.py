"""KIP-848 groups as GroupMetadataManagerTest fixes them, in scripts of our own."""

from __future__ import annotations

from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.consumer_group.group import MemberState
from rebalance_kit.protocol.messages import ConsumerGroupHeartbeat
from tests.support.protocol.consumer_steps import leave, names, settled
from tests.support.protocol.driver import ConsumerGroupDriver, tps
from tests.support.protocol.kafka_table import kafka

GMM = "GroupMetadataManagerTest."
CAB = "CurrentAssignmentBuilderTest."


@kafka(GMM + "testMemberJoinsEmptyConsumerGroup")
def _() -> None:
    driver = ConsumerGroupDriver(t=6)
    driver.plan = {"a": tps("t-0", "t-1", "t-2", "t-3", "t-4", "t-5")}
    answer = driver.join("a").answer
    assert (answer.member_epoch, names(answer.assignment)) == (2, names(driver.plan["a"]))
    assert driver.state == "Stable"


@kafka(GMM + "testConsumerGroupMemberEpochValidation")
def _() -> None:
    driver = settled(a="t-1 t-2")
    member = driver.member("a")
    member.epoch, member.previous_epoch = 100, 99
    driver.group.epoch = driver.group.assignment_epoch = 100
    assert driver.beat("a", 200).error == "FENCED_MEMBER_EPOCH"
    assert driver.beat("a", 50).error == "FENCED_MEMBER_EPOCH"
    assert driver.beat("a", 99).error == "FENCED_MEMBER_EPOCH"
    assert driver.beat("a", 99, owned=tps("t-1", "t-3")).error == "FENCED_MEMBER_EPOCH"
    assert driver.beat("a", 99, owned=tps("t-1", "t-2")).answer.member_epoch == 100


@kafka(GMM + "testMemberCanRejoinWithEpochZeroInStableState")
def _() -> None:
    driver = settled(a="t-0 t-1", b="t-2")
    answer = driver.join("a", topics=("t", "u")).answer
    assert (answer.member_epoch, names(answer.assignment)) == (10, ["t-0", "t-1"])
    assert driver.group.epoch == 10


@kafka(GMM + "testMemberCanRejoinWithEpochZeroInUnrevokedPartitionsState")
def _() -> None:
    driver = settled(a="t-0 t-1 t-2", b="t-3")
    driver.plan = {"a": tps("t-0"), "b": tps("t-3", "t-1", "t-2")}
    driver.beat("b", topics=("t",))
    driver.beat("a")
    assert driver.member("a").state is MemberState.UNREVOKED
    answer = driver.join("a", topics=("t", "u")).answer
    assert (answer.member_epoch, names(answer.assignment)) == (11, ["t-0"])
    assert driver.member("a").state is MemberState.STABLE and driver.clock.left_ms("rebalance", "a") is None


@kafka(GMM + "testMemberCanRejoinWithEpochZeroInUnreleasedPartitionsState")
def _() -> None:
    driver = settled(a="t-0", b="t-1 t-2")
    driver.plan = {"a": tps("t-0", "t-2"), "b": tps("t-1")}
    driver.beat("a", topics=("t",))
    assert driver.member("a").state is MemberState.UNRELEASED
    answer = driver.join("a", topics=("t",)).answer
    assert (answer.member_epoch, names(answer.assignment)) == (11, ["t-0"])
    assert driver.member("a").state is MemberState.UNRELEASED


@kafka(GMM + "testDuplicateFullHeartbeatWithRevocationAck")
def _() -> None:
    # The answer to the acknowledgement was lost; the same heartbeat comes again with the old epoch.
    driver = settled(a="t-0 t-1", b="t-2")
    driver.plan = {"a": tps("t-0"), "b": tps("t-1", "t-2")}
    driver.beat("b", topics=("t",))
    driver.beat("a")
    first = driver.beat("a", 10, owned=tps("t-0"), topics=("t", "u"), rebalance_timeout_ms=60_000)
    again = driver.beat("a", 10, owned=tps("t-0"), topics=("t", "u"), rebalance_timeout_ms=60_000)
    assert first.answer == again.answer and again.answer.member_epoch == 11


@kafka(GMM + "testDuplicateFullHeartbeatInUnrevokedPartitionsState")
def _() -> None:
    driver = settled(a="t-0 t-1", b="t-2")
    driver.plan = {"a": tps("t-0"), "b": tps("t-1", "t-2")}
    driver.beat("b", topics=("t",))
    asked = [
        driver.beat("a", 10, owned=tps("t-0", "t-1"), topics=("t", "u"), rebalance_timeout_ms=60_000)
        for _ in range(2)
    ]
    assert asked[0].answer == asked[1].answer and names(asked[0].answer.assignment) == ["t-0"]
    assert (driver.member("a").epoch, driver.member("a").state) == (10, MemberState.UNREVOKED)


@kafka(GMM + "testUpdatingSubscriptionTriggersNewTargetAssignment")
def _() -> None:
    driver = ConsumerGroupDriver(t=3, u=3)
    driver.plan = {"a": tps("t-0", "t-1", "t-2")}
    driver.join("a", topics=("t",))
    driver.plan = {"a": tps("t-0", "t-1", "t-2", "u-0", "u-1", "u-2")}
    answer = driver.beat("a", topics=("t", "u")).answer
    assert answer.member_epoch == 3 and len(answer.assignment) == 6


@kafka(GMM + "testNewJoiningMemberTriggersNewTargetAssignment")
def _() -> None:
    driver = settled(a="t-0 t-1 t-2", b="t-3 t-4 t-5")
    driver.plan = {"a": tps("t-0", "t-1"), "b": tps("t-2", "t-3"), "c": tps("t-4", "t-5")}
    answer = driver.join("c").answer
    assert (answer.member_epoch, answer.assignment) == (11, ())
    assert driver.member("c").state is MemberState.UNRELEASED and driver.state == "Reconciling"


@kafka(GMM + "testLeavingMemberBumpsGroupEpoch")
def _() -> None:
    driver = settled(a="t-0", b="t-1")
    assert leave(driver, "b") == "NONE"
    assert (driver.group.epoch, driver.group.assignment_epoch, driver.state) == (11, 10, "Assigning")
    assert driver.group.is_free(tps("t-1")[0], "a")


@kafka(GMM + "testGroupEpochBumpWhenNewStaticMemberJoins")
def _() -> None:
    driver = settled(a="t-0", b="t-1")
    answer = driver.join("c", instance_id="i").answer
    assert answer.member_epoch == driver.group.epoch == 11


@kafka(GMM + "testStaticMemberGetsBackAssignmentUponRejoin")
def _() -> None:
    driver = ConsumerGroupDriver(t=6)
    driver.plan = {"a": tps("t-0", "t-1"), "s": tps("t-2", "t-3")}
    driver.join("a")
    driver.join("s", instance_id="i")
    driver.beat("a")
    assert leave(driver, "s", "i", -2) == "NONE"
    calls = len(driver.assignor_calls)
    answer = driver.join("s2", instance_id="i").answer
    assert (answer.member_epoch, names(answer.assignment)) == (3, ["t-2", "t-3"])
    assert len(driver.assignor_calls) == calls and driver.group.epoch == 3


@kafka(GMM + "testStaticMemberRejoinsWithNewSubscribedTopics")
def _() -> None:
    driver = ConsumerGroupDriver(t=6, u=6)
    driver.plan = {"s": tps("t-2", "t-3")}
    driver.join("s", instance_id="i")
    leave(driver, "s", "i", -2)
    driver.plan = {"s2": tps("t-2", "t-3", "u-0")}
    answer = driver.join("s2", instance_id="i", topics=("t", "u")).answer
    assert (answer.member_epoch, names(answer.assignment)) == (3, ["t-2", "t-3", "u-0"])


@kafka(GMM + "testNoGroupEpochBumpWhenStaticMemberTemporarilyLeaves")
def _() -> None:
    driver = ConsumerGroupDriver(t=6)
    driver.join("s", instance_id="i")
    leave(driver, "s", "i", -2)
    assert driver.group.epoch == 2 and driver.member("s").epoch == -2


@kafka(GMM + "testLeavingStaticMemberBumpsGroupEpoch")
def _() -> None:
    driver = ConsumerGroupDriver(t=6)
    driver.join("a")
    driver.join("s", instance_id="i")
    leave(driver, "s", "i", -1)
    assert driver.group.epoch == 4 and set(driver.group.members) == {"a"} and driver.group.statics == {}


@kafka(GMM + "testShouldThrownUnreleasedInstanceIdExceptionWhenNewMemberJoinsWithInUseInstanceId")
def _() -> None:
    driver = ConsumerGroupDriver()
    driver.join("s", instance_id="i")
    assert driver.join("s2", instance_id="i").error == "UNRELEASED_INSTANCE_ID"
    assert driver.join("s", instance_id="i").error == "UNRELEASED_INSTANCE_ID"


@kafka(GMM + "testShouldThrownUnknownMemberIdExceptionWhenUnknownStaticMemberJoins")
def _() -> None:
    driver = ConsumerGroupDriver()
    driver.join("s", instance_id="i")
    answer = driver.ask(ConsumerGroupHeartbeat("s", "s", 10, "unheard", group="g")).answer
    assert (answer.error, answer.message) == ("UNKNOWN_MEMBER_ID", "Instance id unheard is unknown.")


@kafka(GMM + "testShouldThrowFencedInstanceIdExceptionWhenStaticMemberWithDifferentMemberIdJoins")
def _() -> None:
    driver = ConsumerGroupDriver()
    driver.join("s", instance_id="i")
    assert driver.ask(ConsumerGroupHeartbeat("x", "x", 10, "i", group="g")).error == "FENCED_INSTANCE_ID"


@kafka(GMM + "testShouldThrowFencedInstanceIdExceptionWhenStaticMemberWithDifferentMemberIdLeaves")
def _() -> None:
    driver = ConsumerGroupDriver()
    driver.join("s", instance_id="i")
    assert leave(driver, "unheard", "i", -2) == "FENCED_INSTANCE_ID"


@kafka(GMM + "testShouldThrowUnknownMemberIdExceptionWhenUnknownStaticMemberLeaves")
def _() -> None:
    driver = ConsumerGroupDriver()
    driver.join("s", instance_id="i")
    assert leave(driver, "s", "unheard", -2) == "UNKNOWN_MEMBER_ID"


@kafka(GMM + "testConsumerGroupMemberEpochValidationForStaticMember")
def _() -> None:
    driver = ConsumerGroupDriver()
    driver.join("s", instance_id="i")
    for epoch in (1, 3):
        assert (
            driver.ask(ConsumerGroupHeartbeat("s", "s", epoch, "i", group="g")).error == "FENCED_MEMBER_EPOCH"
        )
    assert driver.ask(ConsumerGroupHeartbeat("s", "s", 2, "i", group="g")).error == "NONE"


@kafka(GMM + "testConsumerGroupHeartbeatFullResponse")
def _() -> None:
    driver = ConsumerGroupDriver(t=6)
    driver.plan = {"a": tps("t-0", "t-1")}
    assert names(driver.join("a").answer.assignment) == ["t-0", "t-1"]
    assert driver.beat("a").answer.assignment is None
    full = driver.beat("a", owned=tps("t-0", "t-1"), topics=("t",), rebalance_timeout_ms=60_000)
    assert names(full.answer.assignment) == ["t-0", "t-1"]


@kafka(GMM + "testReconciliationProcess")
def _() -> None:
    driver = settled(a="t-0 t-1 t-2 u-0 u-1", b="t-3 t-4 t-5 u-2")
    driver.plan = {
        "a": tps("t-0", "t-1", "u-0"),
        "b": tps("t-2", "t-3", "u-2"),
        "c": tps("t-4", "t-5", "u-1"),
    }
    joined = driver.join("c", topics=("t", "u")).answer
    assert (joined.member_epoch, joined.assignment) == (11, ())
    # The first member is told to give up two partitions; its epoch stays.
    told = driver.beat("a").answer
    assert (told.member_epoch, names(told.assignment)) == (10, ["t-0", "t-1", "u-0"])
    # The second one likewise.
    told = driver.beat("b").answer
    assert (told.member_epoch, names(told.assignment)) == (10, ["t-3", "u-2"])
    # Nothing is released yet; a heartbeat without owned partitions acknowledges nothing.
    assert driver.beat("c").answer.assignment is None
    assert driver.beat("a").answer.member_epoch == 10
    # The first member acknowledges; what it gave up can be handed out.
    acked = driver.beat("a", owned=tps("t-0", "t-1", "u-0")).answer
    assert (acked.member_epoch, acked.assignment) == (11, None)
    got = driver.beat("c").answer
    assert (got.member_epoch, names(got.assignment)) == (11, ["u-1"])
    # The second one acknowledges and receives t-2 in the same answer.
    acked = driver.beat("b", owned=tps("t-3", "u-2")).answer
    assert (acked.member_epoch, names(acked.assignment)) == (11, ["t-2", "t-3", "u-2"])
    assert driver.state == "Reconciling"
    got = driver.beat("c").answer
    assert names(got.assignment) == ["t-4", "t-5", "u-1"] and driver.state == "Stable"


@kafka(GMM + "testNewMemberIsRejectedWithMaximumMembersIsReached")
def _() -> None:
    driver = ConsumerGroupDriver(max_size=1)
    driver.join("a")
    answer = driver.join("b").answer
    assert (answer.error, answer.message) == (
        "GROUP_MAX_SIZE_REACHED",
        "The consumer group has reached its maximum capacity of 1 members.",
    )


@kafka(GMM + "testStaticMemberCanRejoinWhenConsumerGroupIsFull")
def _() -> None:
    driver = ConsumerGroupDriver(max_size=1)
    driver.join("s", instance_id="i")
    leave(driver, "s", "i", -2)
    assert driver.join("s2", instance_id="i").error == "NONE"


@kafka(GMM + "testStaticMemberRejoinWithUnreleasedInstanceIdFailsWhenConsumerGroupIsFull")
def _() -> None:
    driver = ConsumerGroupDriver(max_size=1)
    driver.join("s", instance_id="i")
    assert driver.join("s2", instance_id="i").error == "UNRELEASED_INSTANCE_ID"


@kafka(GMM + "testNewStaticMemberIsRejectedWhenConsumerGroupIsFull")
def _() -> None:
    driver = ConsumerGroupDriver(max_size=1)
    driver.join("a")
    assert driver.join("s", instance_id="i").error == "GROUP_MAX_SIZE_REACHED"


@kafka(GMM + "testSessionTimeoutLifecycle")
def _() -> None:
    driver = ConsumerGroupDriver(session=45_000)
    driver.join("a")
    assert driver.clock.left_ms("session", "a") == 45_000
    driver.pass_ms(5_000)
    driver.beat("a")
    assert driver.clock.left_ms("session", "a") == 45_000
    leave(driver, "a")
    assert driver.clock.left_ms("session", "a") is None


@kafka(GMM + "testSessionTimeoutExpiration")
def _() -> None:
    driver = ConsumerGroupDriver(session=45_000)
    driver.join("a")
    driver.pass_ms(45_000)
    assert driver.group.members == {} and driver.group.epoch == 3


@kafka(GMM + "testSessionTimeoutExpirationStaticMember")
def _() -> None:
    driver = ConsumerGroupDriver(session=45_000)
    driver.join("s", instance_id="i")
    leave(driver, "s", "i", -2)
    driver.pass_ms(45_000)
    assert driver.group.members == {} and driver.group.epoch == 3


@kafka(GMM + "testRebalanceTimeoutLifecycle")
def _() -> None:
    driver = ConsumerGroupDriver(t=3)
    driver.plan = {"a": tps("t-0", "t-1", "t-2")}
    driver.join("a", rebalance=180_000)
    driver.plan = {"a": tps("t-0", "t-1"), "b": tps("t-2")}
    driver.join("b", rebalance=90_000)
    driver.pass_ms(5_000)
    driver.beat("a", rebalance_timeout_ms=12_000, topics=("t",))
    assert driver.clock.left_ms("rebalance", "a") == 12_000
    driver.pass_ms(5_000)
    assert driver.beat("a", owned=tps("t-0", "t-1")).answer.member_epoch == 3
    assert driver.clock.left_ms("rebalance", "a") is None


@kafka(GMM + "testRebalanceTimeoutExpiration")
def _() -> None:
    driver = ConsumerGroupDriver(t=3)
    driver.plan = {"a": tps("t-0", "t-1", "t-2")}
    driver.join("a", rebalance=10_000)
    driver.plan = {"a": tps("t-0", "t-1"), "b": tps("t-2")}
    driver.join("b", rebalance=10_000)
    driver.pass_ms(5_000)
    driver.beat("a")
    driver.pass_ms(9_999)
    assert "a" in driver.group.members
    driver.pass_ms(1)
    assert set(driver.group.members) == {"b"} and driver.group.epoch == 4


@kafka(GMM + "testOnLoaded")
def _() -> None:
    driver = settled(a="t-0 t-1", b="t-2")
    driver.plan = {"a": tps("t-0"), "b": tps("t-1", "t-2")}
    driver.beat("b", topics=("t",))
    driver.beat("a")
    driver.event(fx.Unload())
    driver.event(fx.Load())
    assert driver.clock.left_ms("session", "a") == driver.clock.left_ms("session", "b") == 45_000
    assert driver.clock.left_ms("rebalance", "a") == 60_000 and driver.clock.left_ms("rebalance", "b") is None


@kafka(GMM + "testOnLoadedSessionTimeoutExpiration")
def _() -> None:
    driver = settled(a="t-0 t-1", b="t-2")
    driver.event(fx.Unload())
    driver.event(fx.Load())
    driver.pass_ms(45_000)
    assert driver.group.members == {} and driver.group.epoch == 12


@kafka(GMM + "testConsumerGroupAssignmentInterval")
def _() -> None:
    driver = ConsumerGroupDriver(t=6, interval=5_000)
    driver.plan = {"a": tps("t-0", "t-1", "t-2", "t-3", "t-4", "t-5")}
    assert driver.join("a", server_assignor="range").answer.member_epoch == 2
    driver.pass_ms(4_995)
    driver.plan = {"a": tps("t-0", "t-1", "t-2"), "b": tps("t-3", "t-4", "t-5")}
    answer = driver.join("b", server_assignor="range").answer
    assert (answer.member_epoch, answer.assignment, driver.group.epoch) == (2, (), 3)
    driver.pass_ms(10)
    answer = driver.beat("b").answer
    assert (answer.member_epoch, answer.assignment) == (3, None)
    assert driver.member("b").state is MemberState.UNRELEASED


@kafka(GMM + "testCanComputeNextTargetAssignmentWithZeroAssignmentIntervalMs")
def _() -> None:
    driver = ConsumerGroupDriver(interval=0)
    driver.join("a")
    driver.join("b")
    assert driver.group.assignment_epoch == driver.group.epoch == 3


@kafka(GMM + "testCanComputeNextTargetAssignmentWithNoPreviousAssignmentTimestamp")
def _() -> None:
    driver = ConsumerGroupDriver(interval=15_000)
    assert driver.join("a").answer.member_epoch == 2
