"""SyncGroup, heartbeats, sessions and leaving as GroupMetadataManagerTest fixes them, in scripts of our own."""

from __future__ import annotations

from rebalance_kit.protocol import effects as fx
from tests.support.protocol.driver import ClassicGroupDriver, tps
from tests.support.protocol.kafka_table import kafka

GMM = "GroupMetadataManagerTest."


@kafka(GMM + "testHeartbeatExpirationShouldRemovePendingMember")
def _() -> None:
    driver = ClassicGroupDriver()
    driver.join("a", session=10_000)
    driver.pass_ms(9_999)
    assert len(driver.group.pending) == 1
    driver.pass_ms(1)
    assert driver.group.pending == {} and driver.state == "Empty"


@kafka(GMM + "testHeartbeatExpirationShouldRemoveMember")
def _() -> None:
    driver = ClassicGroupDriver(delay=500_000)
    driver.enter("a", rebalance=900_000)
    driver.pass_ms(300_000)
    assert driver.group.members == {} and (driver.state, driver.group.generation) == ("Empty", 1)


@kafka(GMM + "testSyncGroupFromIllegalGeneration")
def _() -> None:
    driver = ClassicGroupDriver()
    (only,) = driver.stable("a")
    assert driver.sync(only, generation=2).error == "ILLEGAL_GENERATION"


@kafka(GMM + "testLeaderFailureInSyncGroup")
def _() -> None:
    driver = ClassicGroupDriver()
    leader, follower = driver.stable("a", "b")
    driver.join("a", leader)
    driver.join("b", follower)
    parked = driver.sync(follower)
    driver.pass_ms(10_000)
    assert parked.error == "REBALANCE_IN_PROGRESS" and set(driver.group.members) == {follower}


@kafka(GMM + "testSyncGroupFollowerAfterLeader")
def _() -> None:
    driver = ClassicGroupDriver()
    leader, follower = driver.stable("a", "b")
    driver.join("a", leader)
    driver.join("b", follower)
    lead = driver.sync(leader, {leader: tps("t-5"), follower: tps("t-4")})
    follow = driver.sync(follower)
    assert (lead.answer.assignment, follow.answer.assignment) == (tps("t-5"), tps("t-4"))


@kafka(GMM + "testSyncGroupLeaderAfterFollower")
def _() -> None:
    driver = ClassicGroupDriver()
    leader, follower = driver.stable("a", "b")
    driver.join("a", leader)
    driver.join("b", follower)
    follow = driver.sync(follower)
    assert follow.waits
    driver.sync(leader, {leader: tps("t-5"), follower: tps("t-4")})
    assert follow.answer.assignment == tps("t-4")


@kafka(GMM + "testSyncGroupEmptyAssignment")
def _() -> None:
    driver = ClassicGroupDriver()
    member_id, _ = driver.enter("a")
    driver.pass_ms(3_000)
    assert driver.sync(member_id, {}).answer.assignment == ()


@kafka(GMM + "testHeartbeatDuringPreparingRebalance")
def _() -> None:
    driver = ClassicGroupDriver()
    member_id, _ = driver.enter("a")
    assert driver.state == "PreparingRebalance"
    assert driver.beat(member_id, generation=0) == "REBALANCE_IN_PROGRESS"


@kafka(GMM + "testHeartbeatDuringCompletingRebalance")
def _() -> None:
    driver = ClassicGroupDriver()
    member_id, _ = driver.enter("a")
    driver.pass_ms(3_000)
    assert driver.state == "CompletingRebalance" and driver.beat(member_id) == "NONE"


@kafka(GMM + "testHeartbeatIllegalGeneration")
def _() -> None:
    driver = ClassicGroupDriver()
    (only,) = driver.stable("a")
    assert driver.beat(only, generation=2) == "ILLEGAL_GENERATION"


@kafka(GMM + "testClassicGroupMemberSessionTimeout")
def _() -> None:
    driver = ClassicGroupDriver()
    (only,) = driver.stable("a", session=10_000)
    driver.pass_ms(10_000)
    assert driver.beat(only) == "UNKNOWN_MEMBER_ID"


@kafka(GMM + "testClassicGroupMemberHeartbeatMaintainsSession")
def _() -> None:
    driver = ClassicGroupDriver()
    (only,) = driver.stable("a", session=10_000)
    for _ in range(4):
        driver.pass_ms(6_000)
        assert driver.beat(only) == "NONE"


@kafka(GMM + "testClassicGroupMemberSessionTimeoutDuringRebalance")
def _() -> None:
    driver = ClassicGroupDriver()
    (first,) = driver.stable("a", session=10_000)
    second, asked = driver.enter("b", session=10_000)
    driver.pass_ms(5_000)
    assert driver.beat(first) == "REBALANCE_IN_PROGRESS"
    driver.pass_ms(10_000)
    assert asked.answer.generation == 2 and set(driver.group.members) == {second}


@kafka(GMM + "testRebalanceTimesOutWhenSyncRequestIsNotReceivedFromFollowers")
def _() -> None:
    driver = ClassicGroupDriver()
    ids = [driver.enter(one, session=30_000, rebalance=20_000)[0] for one in "abc"]
    driver.pass_ms(6_000)
    leader = driver.group.leader
    driver.sync(leader, {leader: tps("t-0")})
    assert driver.state == "Stable"
    driver.pass_ms(20_000)
    assert driver.state == "PreparingRebalance" and set(driver.group.members) == {leader} <= set(ids)


@kafka(GMM + "testRebalanceTimesOutWhenSyncRequestIsNotReceivedFromLeaders")
def _() -> None:
    driver = ClassicGroupDriver()
    ids = [driver.enter(one, session=30_000, rebalance=20_000)[0] for one in "abc"]
    driver.pass_ms(6_000)
    leader = driver.group.leader
    parked = [driver.sync(one) for one in ids if one != leader]
    driver.pass_ms(20_000)
    assert [one.error for one in parked] == ["REBALANCE_IN_PROGRESS"] * 2
    assert driver.state == "PreparingRebalance" and leader not in driver.group.members


@kafka(GMM + "testRebalanceDoesNotTimeOutWhenAllSyncAreReceived")
def _() -> None:
    driver = ClassicGroupDriver()
    ids = driver.stable("a", "b", "c", session=10_000, rebalance=10_000)
    for _ in range(5):
        driver.pass_ms(5_000)
        assert {driver.beat(one) for one in ids} == {"NONE"}
    assert driver.state == "Stable" and len(driver.group.members) == 3


@kafka(GMM + "testHeartbeatDuringRebalanceCausesRebalanceInProgress")
def _() -> None:
    driver = ClassicGroupDriver()
    (first,) = driver.stable("a")
    driver.enter("b")
    assert driver.beat(first) == "REBALANCE_IN_PROGRESS"


@kafka(GMM + "testPendingMembersLeaveGroup")
def _() -> None:
    driver = ClassicGroupDriver()
    (first,) = driver.stable("a")
    pending = driver.join("b").answer.member_id
    again = driver.join("a", first)
    assert again.waits
    assert driver.leave(pending) == "NONE"
    assert again.answer.generation == 2 and driver.group.pending == {}


@kafka(GMM + "testValidLeaveGroup")
def _() -> None:
    driver = ClassicGroupDriver()
    (only,) = driver.stable("a")
    assert driver.leave(only) == "NONE" and (driver.state, driver.group.generation) == ("Empty", 2)


@kafka(GMM + "testOnLoadedSchedulesClassicGroupMemberHeartbeats")
def _() -> None:
    driver = ClassicGroupDriver()
    ids = driver.stable("a", "b", session=10_000)
    driver.event(fx.Unload())
    driver.event(fx.Load())
    assert {driver.clock.left_ms("session", one) for one in ids} == {10_000}


@kafka(GMM + "testClassicGroupOnUnloadedCompletingRebalance")
def _() -> None:
    driver = ClassicGroupDriver()
    leader, follower = driver.stable("a", "b")
    driver.join("a", leader)
    driver.join("b", follower)
    parked = driver.sync(follower)
    driver.event(fx.Unload())
    assert parked.error == "NOT_COORDINATOR"


@kafka(GMM + "testClassicGroupOnUnloadedEmptyAndPreparingRebalance")
def _() -> None:
    driver = ClassicGroupDriver()
    _, parked = driver.enter("a")
    driver.event(fx.Unload())
    assert parked.error == "NOT_COORDINATOR" and driver.clock.armed == {}


@kafka("ClassicGroupTest.testNewGenerationClearsPendingSyncMembers")
def _() -> None:
    driver = ClassicGroupDriver()
    leader, _ = driver.stable("a", "b")
    driver.group.pending_sync.add(leader)
    driver.join("a", leader)
    assert driver.group.pending_sync == set()


@kafka("ClassicGroupTest.testValidateOffsetCommit")
def _() -> None:
    driver = ClassicGroupDriver()
    assert driver.commit("", generation=-1) == "NONE"
    member_id, _ = driver.enter("a")
    assert driver.commit("", generation=-1) == "UNKNOWN_MEMBER_ID"
    assert driver.commit(member_id, generation=1) == "ILLEGAL_GENERATION"
    assert driver.commit(member_id, generation=0) == "NONE", "PreparingRebalance accepts"
    driver.pass_ms(3_000)
    assert driver.commit(member_id) == "REBALANCE_IN_PROGRESS"
