"""Static members of classic groups as GroupMetadataManagerTest fixes them, in scripts of our own."""

from __future__ import annotations

from tests.support.protocol.driver import ClassicGroupDriver, tps
from tests.support.protocol.kafka_table import kafka
from tests.support.protocol.static_steps import name_of, two_static

GMM = "GroupMetadataManagerTest."


@kafka(GMM + "testReplaceStaticMemberInStableStateNoError")
def _() -> None:
    driver, _, follower = two_static()
    name = name_of(driver, follower)
    asked = driver.join(name, instance=name, session=40_000, rebalance=50_000)
    member = driver.group.members[asked.answer.member_id]
    assert driver.state == "Stable" and (member.session_timeout_ms, member.rebalance_timeout_ms) == (
        40_000,
        50_000,
    )
    assert follower not in driver.group.members


@kafka(GMM + "testReplaceStaticMemberInStableStateWithUpdatedProtocolTriggersRebalance")
def _() -> None:
    driver = ClassicGroupDriver()
    (only,) = driver.stable_static("p", protocols=("range", "roundrobin"))
    assert driver.group.protocol == "range"
    asked = driver.join("p", instance="p", protocols=("roundrobin",))
    assert asked.answer.protocol == "roundrobin" and asked.answer.generation == 2
    assert only not in driver.group.members


@kafka(GMM + "testReplaceStaticMemberInCompletingRebalanceStateTriggersRebalance")
def _() -> None:
    driver = ClassicGroupDriver()
    driver.join("p", instance="p")
    driver.pass_ms(3_000)
    assert driver.state == "CompletingRebalance"
    asked = driver.join("p", instance="p")
    assert asked.answer.generation == 2


@kafka(GMM + "testStaticMemberFenceDuplicateRejoinedFollower")
def _() -> None:
    driver, leader, follower = two_static()
    lead, name = name_of(driver, leader), name_of(driver, follower)
    driver.join(lead, leader, instance=lead)
    assert driver.state == "PreparingRebalance"
    driver.join(name, follower, instance=name)
    assert driver.state == "CompletingRebalance"
    newer = driver.join(name, instance=name)
    assert newer.waits and driver.state == "PreparingRebalance"
    assert driver.join(name, follower, instance=name).error == "FENCED_INSTANCE_ID"


@kafka(GMM + "testStaticMemberFenceDuplicateSyncingFollowerAfterMemberIdChanged")
def _() -> None:
    driver, leader, follower = two_static()
    lead, name = name_of(driver, leader), name_of(driver, follower)
    driver.join(lead, leader, instance=lead)
    driver.join(name, follower, instance=name)
    parked = driver.sync(follower, instance=name)
    newer = driver.join(name, instance=name)
    assert parked.error == "FENCED_INSTANCE_ID"
    driver.join(lead, leader, instance=lead)
    assert newer.error == "NONE" and driver.sync(follower, instance=name).error == "FENCED_INSTANCE_ID"


@kafka(GMM + "testStaticMemberFenceDuplicateRejoiningFollowerAfterMemberIdChanged")
def _() -> None:
    driver, leader, follower = two_static()
    lead, name = name_of(driver, leader), name_of(driver, follower)
    older = driver.join(name, follower, instance=name, topics=("t", "u"))
    newer = driver.join(name, instance=name)
    assert older.error == "FENCED_INSTANCE_ID" and newer.waits
    driver.join(lead, leader, instance=lead)
    assert newer.answer.generation == 2
    assert driver.join(name, follower, instance=name).error == "FENCED_INSTANCE_ID"


@kafka(GMM + "testStaticMemberRejoinWithKnownMemberId")
def _() -> None:
    driver = ClassicGroupDriver()
    first = driver.join("p", instance="p")
    driver.pass_ms(3_000)
    member_id = first.answer.member_id
    again = driver.join("p", member_id, instance="p")
    assert (again.error, again.answer.member_id, again.answer.generation) == ("NONE", member_id, 1)
    assert driver.state == "CompletingRebalance"


@kafka(GMM + "testStaticMemberRejoinWithLeaderIdAndUnknownMemberId")
def _() -> None:
    driver, leader, follower = two_static()
    name = name_of(driver, leader)
    asked = driver.join(name, instance=name)
    new = asked.answer.member_id
    assert asked.answer.leader == new and asked.answer.skip_assignment and asked.answer.generation == 1
    assert driver.join(name, leader, instance=name).error == "FENCED_INSTANCE_ID"
    assert driver.sync(leader, {}, instance=name).error == "FENCED_INSTANCE_ID"
    assert driver.sync(new, instance=name).answer.assignment == tps("t-0")
    assert driver.state == "Stable" and follower in driver.group.members


@kafka(GMM + "testStaticMemberRejoinWithLeaderIdAndKnownMemberId")
def _() -> None:
    driver, leader, follower = two_static()
    name, other = name_of(driver, leader), name_of(driver, follower)
    asked = driver.join(name, leader, instance=name)
    assert asked.waits
    driver.join(other, follower, instance=other)
    assert asked.answer.generation == 2 and not asked.answer.skip_assignment


@kafka(GMM + "testStaticMemberRejoinWithFollowerIdAndChangeOfProtocol")
def _() -> None:
    driver, leader, follower = two_static(session=100_000)
    name = name_of(driver, follower)
    asked = driver.join(name, follower, instance=name, topics=("t", "u"), session=100_000)
    assert driver.state == "PreparingRebalance"
    driver.pass_ms(60_000)
    assert (
        asked.answer.leader == follower and len(asked.answer.members) == 2 and leader in driver.group.members
    )


@kafka(GMM + "testStaticMemberRejoinAsFollowerWithUnknownMemberId")
def _() -> None:
    driver, leader, follower = two_static()
    name = name_of(driver, follower)
    asked = driver.join(name, instance=name)
    assert (asked.answer.leader, asked.answer.members, asked.answer.generation) == (leader, (), 1)
    assert driver.sync(asked.answer.member_id, instance=name).answer.assignment == tps("t-1")


@kafka(GMM + "testStaticMemberRejoinAsFollowerWithKnownMemberIdAndNoProtocolChange")
def _() -> None:
    driver, leader, follower = two_static()
    name = name_of(driver, follower)
    asked = driver.join(name, follower, instance=name)
    assert (asked.answer.generation, asked.answer.leader, driver.state) == (1, leader, "Stable")


@kafka(GMM + "testStaticMemberRejoinAsFollowerWithMismatchedInstanceId")
def _() -> None:
    driver, leader, follower = two_static()
    assert driver.join("x", follower, instance=name_of(driver, leader)).error == "FENCED_INSTANCE_ID"


@kafka(GMM + "testGetDifferentStaticMemberIdAfterEachRejoin")
def _() -> None:
    driver, leader, _ = two_static()
    name = name_of(driver, leader)
    ids = [driver.join(name, instance=name).answer.member_id for _ in range(5)]
    assert len({leader, *ids}) == 6


@kafka(GMM + "testStaticMemberJoinWithUnknownInstanceIdAndKnownMemberId")
def _() -> None:
    driver, leader, _ = two_static()
    assert driver.join("x", leader, instance="unheard").error == "UNKNOWN_MEMBER_ID"


@kafka(GMM + "testStaticMemberFollowerFailToRejoinBeforeRebalanceTimeout")
def _() -> None:
    driver, leader, follower = two_static(rebalance=20_000, session=60_000)
    lead, other = name_of(driver, leader), name_of(driver, follower)
    asked = driver.join(lead, leader, instance=lead, rebalance=20_000, session=60_000)
    driver.pass_ms(20_000)
    assert asked.answer.generation == 2 and len(asked.answer.members) == 2
    assert driver.group.leader == leader and driver.group.statics[other] == follower


@kafka(GMM + "testStaticMemberLeaderFailToRejoinBeforeRebalanceTimeout")
def _() -> None:
    driver, leader, follower = two_static(rebalance=20_000, session=60_000)
    other = name_of(driver, follower)
    asked = driver.join(other, follower, instance=other, topics=("t", "u"), rebalance=20_000, session=60_000)
    driver.pass_ms(20_000)
    assert asked.answer.leader == follower == driver.group.leader and leader in driver.group.members


@kafka(GMM + "testGroupStuckInRebalanceTimeoutDueToNonjoinedStaticMember")
def _() -> None:
    driver, leader, follower = two_static(rebalance=10_000, session=60_000)
    newcomer, asked = driver.enter("c", rebalance=10_000, session=60_000)
    driver.pass_ms(10_000)
    assert asked.answer.leader == newcomer and len(asked.answer.members) == 3 and asked.answer.generation == 2
    name = name_of(driver, follower)
    assert driver.leave(follower, instance=name) == "NONE"
    driver.pass_ms(10_000)
    assert set(driver.group.members) == {leader}
    assert (driver.state, driver.group.generation) == ("PreparingRebalance", 2)


@kafka(GMM + "testLeaveGroupWithFencedInstanceId")
def _() -> None:
    driver, _, follower = two_static()
    name = name_of(driver, follower)
    assert driver.leave("other-9", instance=name) == "FENCED_INSTANCE_ID"


@kafka(GMM + "testLeaveGroupStaticMemberWithUnknownMemberId")
def _() -> None:
    driver, _, follower = two_static()
    assert driver.leave("", instance=name_of(driver, follower)) == "NONE"
    assert follower not in driver.group.members and driver.state == "PreparingRebalance"


@kafka(GMM + "testStaticMembersJoinGroupWithMaxSize")
def _() -> None:
    driver = ClassicGroupDriver(max_size=2)
    asked = [driver.join(name, instance=name) for name in ("p", "q")]
    assert driver.join("r", instance="r").error == "GROUP_MAX_SIZE_REACHED"
    driver.pass_ms(6_000)
    assert [one.error for one in asked] == ["NONE"] * 2
