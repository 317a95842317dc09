"""Classic groups as GroupMetadataManagerTest and ClassicGroupTest fix them, in scripts of our own."""

from __future__ import annotations

from driver import Classic, tps
from kafka_table import kafka
from rebalance_kit.protocol import effects as fx

GMM = "GroupMetadataManagerTest."


def two_static(*, rebalance: int = 60_000, session: int = 30_000) -> tuple[Classic, str, str]:
    driver = Classic()
    leader, follower = driver.stable_static("p", "q", rebalance=rebalance, session=session)
    return driver, leader, follower


def name_of(driver: Classic, member_id: str) -> str:
    return driver.group.members[member_id].instance_id


@kafka(GMM + "testDelayInitialRebalanceByGroupInitialRebalanceDelayOnEmptyGroup")
def _() -> None:
    driver = Classic(delay=3_000)
    _, asked = driver.enter("a")
    driver.pass_ms(1_500)
    assert asked.waits
    driver.pass_ms(1_500)
    assert asked.error == "NONE"


@kafka(GMM + "testResetRebalanceDelayWhenNewMemberJoinsGroupDuringInitialRebalance")
def _() -> None:
    driver = Classic(delay=3_000)
    _, first = driver.enter("a", rebalance=9_000)
    driver.pass_ms(2_999)
    _, second = driver.enter("b", rebalance=9_000)
    driver.pass_ms(3_000)
    assert first.waits and second.waits
    driver.pass_ms(1)
    assert first.error == second.error == "NONE"


@kafka(GMM + "testDelayRebalanceUptoRebalanceTimeout")
def _() -> None:
    driver = Classic(delay=3_000)
    asked = [driver.enter("a", rebalance=6_000)[1], driver.enter("b", rebalance=6_000)[1]]
    driver.pass_ms(3_001)
    asked.append(driver.enter("c", rebalance=6_000)[1])
    driver.pass_ms(2_998)
    assert all(one.waits for one in asked)
    driver.pass_ms(1)
    assert [one.error for one in asked] == ["NONE"] * 3


@kafka(GMM + "testHeartbeatExpirationShouldRemovePendingMember")
def _() -> None:
    driver = Classic()
    driver.join("a", session=10_000)
    driver.pass_ms(9_999)
    assert len(driver.group.pending) == 1
    driver.pass_ms(1)
    assert driver.group.pending == {} and driver.state == "Empty"


@kafka(GMM + "testHeartbeatExpirationShouldRemoveMember")
def _() -> None:
    driver = Classic(delay=500_000)
    driver.enter("a", rebalance=900_000)
    driver.pass_ms(300_000)
    assert driver.group.members == {} and (driver.state, driver.group.generation) == ("Empty", 1)


@kafka(GMM + "testNewMemberJoinExpiration")
def _() -> None:
    # The first member keeps the join phase from completing; the second one waits for it too long.
    driver = Classic()
    (first,) = driver.stable("a", session=305_000, rebalance=700_000)
    second, asked = driver.enter("b", session=305_000)
    driver.pass_ms(299_999)
    assert asked.waits
    driver.pass_ms(1)
    assert asked.error == "UNKNOWN_MEMBER_ID"
    assert set(driver.group.members) == {first} and second not in driver.group.members


@kafka(GMM + "testNewMemberTimeoutCompletion")
def _() -> None:
    driver = Classic()
    (only,) = driver.stable("a", session=305_000)
    driver.pass_ms(300_000)
    assert set(driver.group.members) == {only}
    driver.pass_ms(5_000)
    assert driver.group.members == {} and (driver.state, driver.group.generation) == ("Empty", 2)


@kafka(GMM + "testNewMemberFailureAfterJoinGroupCompletion")
def _() -> None:
    driver = Classic()
    (first,) = driver.stable("a", session=10_000)
    second, other = driver.enter("b", session=10_000)
    again = driver.join("a", first)
    assert again.error == other.error == "NONE"
    driver.pass_ms(10_000)
    assert driver.group.members == {} and {first, second} == {"a-1", "b-2"}


@kafka(GMM + "testJoinGroupCompletionWhenPendingMemberJoins")
def _() -> None:
    driver = Classic()
    (first,) = driver.stable("a")
    asked = driver.join("b")
    again = driver.join("a", first)
    assert again.waits
    joined = driver.join("b", asked.answer.member_id)
    assert again.answer.generation == joined.answer.generation == 2


@kafka(GMM + "testJoinGroupCompletionWhenPendingMemberTimesOut")
def _() -> None:
    driver = Classic()
    (first,) = driver.stable("a")
    driver.join("b", session=10_000)
    again = driver.join("a", first)
    driver.pass_ms(10_000)
    assert again.error == "NONE" and len(driver.group.members) == 1 and driver.group.pending == {}


@kafka(GMM + "testGenerationIdIncrementsOnRebalance")
def _() -> None:
    driver = Classic()
    (only,) = driver.stable("a")
    assert driver.join("a", only).answer.generation == 2


@kafka(GMM + "testJoinGroupSecondJoinInconsistentProtocol")
def _() -> None:
    driver = Classic()
    member_id, _ = driver.enter("a", protocols=("range",))
    assert driver.join("b", protocols=("roundrobin",)).error == "INCONSISTENT_GROUP_PROTOCOL"
    assert driver.join("b", protocols=("range", "roundrobin")).error == "MEMBER_ID_REQUIRED"
    assert member_id in driver.group.members


@kafka(GMM + "testJoinGroupExistingMemberUpdatedMetadataTriggersRebalance")
def _() -> None:
    driver = Classic()
    (only,) = driver.stable("a")
    driver.join("a", only)
    assert driver.state == "CompletingRebalance"
    asked = driver.join("a", only, topics=("t", "u"))
    assert asked.answer.generation == 3 and driver.group.members[only].metadata("range").topics == ("t", "u")


@kafka(GMM + "testJoinGroupAsExistingLeaderTriggersRebalanceInStableState")
def _() -> None:
    driver = Classic()
    leader, _ = driver.stable("a", "b")
    assert driver.join("a", leader).waits and driver.state == "PreparingRebalance"


@kafka(GMM + "testJoinGroupExistingMemberDoesNotTriggerRebalanceInStableState")
def _() -> None:
    driver = Classic()
    _, follower = driver.stable("a", "b")
    assert driver.join("b", follower).answer.generation == 1 and driver.state == "Stable"


@kafka(GMM + "testJoinGroupExistingMemberInEmptyState")
def _() -> None:
    driver = Classic()
    (only,) = driver.stable("a")
    driver.leave(only)
    assert driver.join("a", only).error == "UNKNOWN_MEMBER_ID" and driver.state == "Empty"


@kafka(GMM + "testCompleteJoinRemoveNotYetRejoinedDynamicMembers")
def _() -> None:
    driver = Classic()
    leader, follower = driver.stable("a", "b", session=100_000)
    asked = driver.join("a", leader)
    driver.pass_ms(60_000)
    assert asked.error == "NONE" and set(driver.group.members) == {leader}
    assert driver.beat(follower) == "UNKNOWN_MEMBER_ID"


@kafka(GMM + "testCompleteJoinPhaseNoMembersRejoinedExtendsJoinPhase")
def _() -> None:
    driver, _, _ = two_static(session=200_000)
    newcomer, _ = driver.enter("c")
    driver.leave(newcomer)
    driver.pass_ms(60_000)
    assert driver.state == "PreparingRebalance" and driver.group.generation == 1
    driver.pass_ms(60_000)
    assert driver.state == "PreparingRebalance" and len(driver.group.members) == 2


@kafka(GMM + "testReplaceStaticMemberInStableStateNoError")
def _() -> None:
    driver, _, follower = two_static()
    name = name_of(driver, follower)
    asked = driver.join(name, instance=name, session=40_000, rebalance=50_000)
    member = driver.group.members[asked.answer.member_id]
    assert driver.state == "Stable" and (member.session_timeout_ms, member.rebalance_timeout_ms) == (40_000, 50_000)
    assert follower not in driver.group.members


@kafka(GMM + "testReplaceStaticMemberInStableStateWithUpdatedProtocolTriggersRebalance")
def _() -> None:
    driver = Classic()
    (only,) = driver.stable_static("p", protocols=("range", "roundrobin"))
    assert driver.group.protocol == "range"
    asked = driver.join("p", instance="p", protocols=("roundrobin",))
    assert asked.answer.protocol == "roundrobin" and asked.answer.generation == 2
    assert only not in driver.group.members


@kafka(GMM + "testReplaceStaticMemberInCompletingRebalanceStateTriggersRebalance")
def _() -> None:
    driver = Classic()
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
    driver = Classic()
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
    assert asked.answer.leader == follower and len(asked.answer.members) == 2 and leader in driver.group.members


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


@kafka(GMM + "testSyncGroupFromIllegalGeneration")
def _() -> None:
    driver = Classic()
    (only,) = driver.stable("a")
    assert driver.sync(only, generation=2).error == "ILLEGAL_GENERATION"


@kafka(GMM + "testJoinGroupFromUnchangedFollowerDoesNotRebalance")
def _() -> None:
    driver = Classic()
    _, follower = driver.stable("a", "b")
    asked = driver.join("b", follower)
    assert asked.answer.generation == 1 and asked.answer.members == ()
    assert driver.sync(follower).error == "NONE"


@kafka(GMM + "testLeaderFailureInSyncGroup")
def _() -> None:
    driver = Classic()
    leader, follower = driver.stable("a", "b")
    driver.join("a", leader)
    driver.join("b", follower)
    parked = driver.sync(follower)
    driver.pass_ms(10_000)
    assert parked.error == "REBALANCE_IN_PROGRESS" and set(driver.group.members) == {follower}


@kafka(GMM + "testSyncGroupFollowerAfterLeader")
def _() -> None:
    driver = Classic()
    leader, follower = driver.stable("a", "b")
    driver.join("a", leader)
    driver.join("b", follower)
    lead = driver.sync(leader, {leader: tps("t-5"), follower: tps("t-4")})
    follow = driver.sync(follower)
    assert (lead.answer.assignment, follow.answer.assignment) == (tps("t-5"), tps("t-4"))


@kafka(GMM + "testSyncGroupLeaderAfterFollower")
def _() -> None:
    driver = Classic()
    leader, follower = driver.stable("a", "b")
    driver.join("a", leader)
    driver.join("b", follower)
    follow = driver.sync(follower)
    assert follow.waits
    driver.sync(leader, {leader: tps("t-5"), follower: tps("t-4")})
    assert follow.answer.assignment == tps("t-4")


@kafka(GMM + "testJoinGroupFromUnchangedLeaderShouldRebalance")
def _() -> None:
    driver = Classic()
    (only,) = driver.stable("a")
    assert driver.join("a", only).answer.generation == 2


@kafka(GMM + "testSyncGroupEmptyAssignment")
def _() -> None:
    driver = Classic()
    member_id, _ = driver.enter("a")
    driver.pass_ms(3_000)
    assert driver.sync(member_id, {}).answer.assignment == ()


@kafka(GMM + "testHeartbeatDuringPreparingRebalance")
def _() -> None:
    driver = Classic()
    member_id, _ = driver.enter("a")
    assert driver.state == "PreparingRebalance"
    assert driver.beat(member_id, generation=0) == "REBALANCE_IN_PROGRESS"


@kafka(GMM + "testHeartbeatDuringCompletingRebalance")
def _() -> None:
    driver = Classic()
    member_id, _ = driver.enter("a")
    driver.pass_ms(3_000)
    assert driver.state == "CompletingRebalance" and driver.beat(member_id) == "NONE"


@kafka(GMM + "testHeartbeatIllegalGeneration")
def _() -> None:
    driver = Classic()
    (only,) = driver.stable("a")
    assert driver.beat(only, generation=2) == "ILLEGAL_GENERATION"


@kafka(GMM + "testClassicGroupMemberSessionTimeout")
def _() -> None:
    driver = Classic()
    (only,) = driver.stable("a", session=10_000)
    driver.pass_ms(10_000)
    assert driver.beat(only) == "UNKNOWN_MEMBER_ID"


@kafka(GMM + "testClassicGroupMemberHeartbeatMaintainsSession")
def _() -> None:
    driver = Classic()
    (only,) = driver.stable("a", session=10_000)
    for _ in range(4):
        driver.pass_ms(6_000)
        assert driver.beat(only) == "NONE"


@kafka(GMM + "testClassicGroupMemberSessionTimeoutDuringRebalance")
def _() -> None:
    driver = Classic()
    (first,) = driver.stable("a", session=10_000)
    second, asked = driver.enter("b", session=10_000)
    driver.pass_ms(5_000)
    assert driver.beat(first) == "REBALANCE_IN_PROGRESS"
    driver.pass_ms(10_000)
    assert asked.answer.generation == 2 and set(driver.group.members) == {second}


@kafka(GMM + "testRebalanceCompletesBeforeMemberJoins")
def _() -> None:
    driver = Classic()
    (static,) = driver.stable_static("p", session=10_000, rebalance=20_000)
    newcomer, asked = driver.enter("b", rebalance=20_000)
    for _ in range(3):
        driver.pass_ms(6_000)
        assert driver.beat(static, instance="p", generation=1) == "REBALANCE_IN_PROGRESS"
    driver.pass_ms(2_000)
    assert asked.answer.generation == 2 and set(driver.group.members) == {static, newcomer}
    # The static member hears of the generation it missed and joins the next one.
    assert driver.beat(static, instance="p", generation=1) == "ILLEGAL_GENERATION"
    again = driver.join("p", static, instance="p", owned=tps("t-0"))
    assert again.waits and driver.state == "PreparingRebalance"
    assert driver.join("b", newcomer).answer.generation == again.answer.generation == 3


@kafka(GMM + "testSecondMemberPartiallyJoinAndTimeout")
def _() -> None:
    driver = Classic()
    (first,) = driver.stable("a", session=10_000)
    driver.join("b", session=10_000)
    for _ in range(2):
        driver.pass_ms(5_000)
        assert driver.beat(first) == "NONE"
    assert driver.group.pending == {} and (driver.state, driver.group.generation) == ("Stable", 1)


@kafka(GMM + "testRebalanceTimesOutWhenSyncRequestIsNotReceivedFromFollowers")
def _() -> None:
    driver = Classic()
    ids = [driver.enter(one, session=30_000, rebalance=20_000)[0] for one in "abc"]
    driver.pass_ms(6_000)
    leader = driver.group.leader
    driver.sync(leader, {leader: tps("t-0")})
    assert driver.state == "Stable"
    driver.pass_ms(20_000)
    assert driver.state == "PreparingRebalance" and set(driver.group.members) == {leader} <= set(ids)


@kafka(GMM + "testRebalanceTimesOutWhenSyncRequestIsNotReceivedFromLeaders")
def _() -> None:
    driver = Classic()
    ids = [driver.enter(one, session=30_000, rebalance=20_000)[0] for one in "abc"]
    driver.pass_ms(6_000)
    leader = driver.group.leader
    parked = [driver.sync(one) for one in ids if one != leader]
    driver.pass_ms(20_000)
    assert [one.error for one in parked] == ["REBALANCE_IN_PROGRESS"] * 2
    assert driver.state == "PreparingRebalance" and leader not in driver.group.members


@kafka(GMM + "testRebalanceDoesNotTimeOutWhenAllSyncAreReceived")
def _() -> None:
    driver = Classic()
    ids = driver.stable("a", "b", "c", session=10_000, rebalance=10_000)
    for _ in range(5):
        driver.pass_ms(5_000)
        assert {driver.beat(one) for one in ids} == {"NONE"}
    assert driver.state == "Stable" and len(driver.group.members) == 3


@kafka(GMM + "testHeartbeatDuringRebalanceCausesRebalanceInProgress")
def _() -> None:
    driver = Classic()
    (first,) = driver.stable("a")
    driver.enter("b")
    assert driver.beat(first) == "REBALANCE_IN_PROGRESS"


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


@kafka(GMM + "testPendingMembersLeaveGroup")
def _() -> None:
    driver = Classic()
    (first,) = driver.stable("a")
    pending = driver.join("b").answer.member_id
    again = driver.join("a", first)
    assert again.waits
    assert driver.leave(pending) == "NONE"
    assert again.answer.generation == 2 and driver.group.pending == {}


@kafka(GMM + "testValidLeaveGroup")
def _() -> None:
    driver = Classic()
    (only,) = driver.stable("a")
    assert driver.leave(only) == "NONE" and (driver.state, driver.group.generation) == ("Empty", 2)


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


@kafka(GMM + "testDynamicMembersJoinGroupWithMaxSizeAndRequiredKnownMember")
def _() -> None:
    # Ids are handed out freely while the group is Empty; only so many of them get in.
    driver = Classic(max_size=3)
    ids = [driver.join(f"c{number}").answer.member_id for number in range(5)]
    asked = [driver.join(f"c{number}", one) for number, one in enumerate(ids)]
    assert [one.answers[0].error if one.answers else "waits" for one in asked] == ["waits"] * 3 + ["GROUP_MAX_SIZE_REACHED"] * 2
    driver.pass_ms(6_000)
    assert len(driver.group.members) == 3 and [one.error for one in asked[:3]] == ["NONE"] * 3


@kafka(GMM + "testLastJoiningMembersAreKickedOutWhenRejoiningGroupWithMaxSize")
def _() -> None:
    driver = Classic()
    ids = driver.stable("a", "b", "c", "d")
    driver.group.settings = type(driver.group.settings)(
        "g", 3_000, 6_000, 1_800_000, 2, driver.group.settings.new_id, driver.group.settings.map_order
    )
    asked = [driver.join(one[0], one, topics=("t", "u")) for one in ids]
    assert [one.answers[0].error for one in asked[2:]] == ["GROUP_MAX_SIZE_REACHED"] * 2
    driver.pass_ms(60_000)
    assert set(driver.group.members) == set(ids[:2]) and asked[0].answer.generation == 2


@kafka(GMM + "testStaticMembersJoinGroupWithMaxSize")
def _() -> None:
    driver = Classic(max_size=2)
    asked = [driver.join(name, instance=name) for name in ("p", "q")]
    assert driver.join("r", instance="r").error == "GROUP_MAX_SIZE_REACHED"
    driver.pass_ms(6_000)
    assert [one.error for one in asked] == ["NONE"] * 2


@kafka(GMM + "testOnLoadedSchedulesClassicGroupMemberHeartbeats")
def _() -> None:
    driver = Classic()
    ids = driver.stable("a", "b", session=10_000)
    driver.event(fx.Unload())
    driver.event(fx.Load())
    assert {driver.clock.left_ms("session", one) for one in ids} == {10_000}


@kafka(GMM + "testClassicGroupOnUnloadedCompletingRebalance")
def _() -> None:
    driver = Classic()
    leader, follower = driver.stable("a", "b")
    driver.join("a", leader)
    driver.join("b", follower)
    parked = driver.sync(follower)
    driver.event(fx.Unload())
    assert parked.error == "NOT_COORDINATOR"


@kafka(GMM + "testClassicGroupOnUnloadedEmptyAndPreparingRebalance")
def _() -> None:
    driver = Classic()
    _, parked = driver.enter("a")
    driver.event(fx.Unload())
    assert parked.error == "NOT_COORDINATOR" and driver.clock.armed == {}


@kafka("ClassicGroupTest.testSelectProtocol")
def _() -> None:
    driver = Classic()
    driver.enter("a", protocols=("range", "roundrobin"))
    assert driver.group.select_protocol() == "range"
    driver.enter("b", protocols=("roundrobin", "range"))
    assert driver.group.select_protocol() in {"range", "roundrobin"}
    driver.enter("c", protocols=("roundrobin", "range"))
    assert driver.group.select_protocol() == "roundrobin"


@kafka("ClassicGroupTest.testSelectProtocolChoosesCompatibleProtocol")
def _() -> None:
    driver = Classic()
    driver.enter("a", protocols=("range", "roundrobin"))
    driver.enter("b", protocols=("sticky", "roundrobin"))
    assert driver.group.select_protocol() == "roundrobin"


@kafka("ClassicGroupTest.testElectNewJoinedLeader")
def _() -> None:
    driver, leader, follower = two_static(rebalance=20_000, session=60_000)
    other = name_of(driver, follower)
    driver.join(other, follower, instance=other, topics=("t", "u"), rebalance=20_000)
    assert driver.group.leader == leader
    driver.pass_ms(20_000)
    assert driver.group.leader == follower
    assert driver.noted("leader_elected")[-1] == {"group": "g", "name": other, "instead_of": leader}


@kafka("ClassicGroupTest.testNewGenerationClearsPendingSyncMembers")
def _() -> None:
    driver = Classic()
    leader, _ = driver.stable("a", "b")
    driver.group.pending_sync.add(leader)
    driver.join("a", leader)
    assert driver.group.pending_sync == set()


@kafka("ClassicGroupTest.testValidateOffsetCommit")
def _() -> None:
    driver = Classic()
    assert driver.commit("", generation=-1) == "NONE"
    member_id, _ = driver.enter("a")
    assert driver.commit("", generation=-1) == "UNKNOWN_MEMBER_ID"
    assert driver.commit(member_id, generation=1) == "ILLEGAL_GENERATION"
    assert driver.commit(member_id, generation=0) == "NONE", "PreparingRebalance accepts"
    driver.pass_ms(3_000)
    assert driver.commit(member_id) == "REBALANCE_IN_PROGRESS"
