"""Joining classic groups as GroupMetadataManagerTest and ClassicGroupTest fix it, in scripts of our own."""

from __future__ import annotations

from dataclasses import replace

from tests.support.protocol.driver import ClassicGroupDriver, tps
from tests.support.protocol.kafka_table import kafka
from tests.support.protocol.static_steps import name_of, two_static

GMM = "GroupMetadataManagerTest."


@kafka(GMM + "testDelayInitialRebalanceByGroupInitialRebalanceDelayOnEmptyGroup")
def _() -> None:
    driver = ClassicGroupDriver(delay=3_000)
    _, asked = driver.enter("a")
    driver.pass_ms(1_500)
    assert asked.waits
    driver.pass_ms(1_500)
    assert asked.error == "NONE"


@kafka(GMM + "testResetRebalanceDelayWhenNewMemberJoinsGroupDuringInitialRebalance")
def _() -> None:
    driver = ClassicGroupDriver(delay=3_000)
    _, first = driver.enter("a", rebalance=9_000)
    driver.pass_ms(2_999)
    _, second = driver.enter("b", rebalance=9_000)
    driver.pass_ms(3_000)
    assert first.waits and second.waits
    driver.pass_ms(1)
    assert first.error == second.error == "NONE"


@kafka(GMM + "testDelayRebalanceUptoRebalanceTimeout")
def _() -> None:
    driver = ClassicGroupDriver(delay=3_000)
    asked = [driver.enter("a", rebalance=6_000)[1], driver.enter("b", rebalance=6_000)[1]]
    driver.pass_ms(3_001)
    asked.append(driver.enter("c", rebalance=6_000)[1])
    driver.pass_ms(2_998)
    assert all(one.waits for one in asked)
    driver.pass_ms(1)
    assert [one.error for one in asked] == ["NONE"] * 3


@kafka(GMM + "testNewMemberJoinExpiration")
def _() -> None:
    # The first member keeps the join phase from completing; the second one waits for it too long.
    driver = ClassicGroupDriver()
    (first,) = driver.stable("a", session=305_000, rebalance=700_000)
    second, asked = driver.enter("b", session=305_000)
    driver.pass_ms(299_999)
    assert asked.waits
    driver.pass_ms(1)
    assert asked.error == "UNKNOWN_MEMBER_ID"
    assert set(driver.group.members) == {first} and second not in driver.group.members


@kafka(GMM + "testNewMemberTimeoutCompletion")
def _() -> None:
    driver = ClassicGroupDriver()
    (only,) = driver.stable("a", session=305_000)
    driver.pass_ms(300_000)
    assert set(driver.group.members) == {only}
    driver.pass_ms(5_000)
    assert driver.group.members == {} and (driver.state, driver.group.generation) == ("Empty", 2)


@kafka(GMM + "testNewMemberFailureAfterJoinGroupCompletion")
def _() -> None:
    driver = ClassicGroupDriver()
    (first,) = driver.stable("a", session=10_000)
    second, other = driver.enter("b", session=10_000)
    again = driver.join("a", first)
    assert again.error == other.error == "NONE"
    driver.pass_ms(10_000)
    assert driver.group.members == {} and {first, second} == {"a-1", "b-2"}


@kafka(GMM + "testJoinGroupCompletionWhenPendingMemberJoins")
def _() -> None:
    driver = ClassicGroupDriver()
    (first,) = driver.stable("a")
    asked = driver.join("b")
    again = driver.join("a", first)
    assert again.waits
    joined = driver.join("b", asked.answer.member_id)
    assert again.answer.generation == joined.answer.generation == 2


@kafka(GMM + "testJoinGroupCompletionWhenPendingMemberTimesOut")
def _() -> None:
    driver = ClassicGroupDriver()
    (first,) = driver.stable("a")
    driver.join("b", session=10_000)
    again = driver.join("a", first)
    driver.pass_ms(10_000)
    assert again.error == "NONE" and len(driver.group.members) == 1 and driver.group.pending == {}


@kafka(GMM + "testGenerationIdIncrementsOnRebalance")
def _() -> None:
    driver = ClassicGroupDriver()
    (only,) = driver.stable("a")
    assert driver.join("a", only).answer.generation == 2


@kafka(GMM + "testJoinGroupSecondJoinInconsistentProtocol")
def _() -> None:
    driver = ClassicGroupDriver()
    member_id, _ = driver.enter("a", protocols=("range",))
    assert driver.join("b", protocols=("roundrobin",)).error == "INCONSISTENT_GROUP_PROTOCOL"
    assert driver.join("b", protocols=("range", "roundrobin")).error == "MEMBER_ID_REQUIRED"
    assert member_id in driver.group.members


@kafka(GMM + "testJoinGroupExistingMemberUpdatedMetadataTriggersRebalance")
def _() -> None:
    driver = ClassicGroupDriver()
    (only,) = driver.stable("a")
    driver.join("a", only)
    assert driver.state == "CompletingRebalance"
    asked = driver.join("a", only, topics=("t", "u"))
    assert asked.answer.generation == 3 and driver.group.members[only].metadata("range").topics == ("t", "u")


@kafka(GMM + "testJoinGroupAsExistingLeaderTriggersRebalanceInStableState")
def _() -> None:
    driver = ClassicGroupDriver()
    leader, _ = driver.stable("a", "b")
    assert driver.join("a", leader).waits and driver.state == "PreparingRebalance"


@kafka(GMM + "testJoinGroupExistingMemberDoesNotTriggerRebalanceInStableState")
def _() -> None:
    driver = ClassicGroupDriver()
    _, follower = driver.stable("a", "b")
    assert driver.join("b", follower).answer.generation == 1 and driver.state == "Stable"


@kafka(GMM + "testJoinGroupExistingMemberInEmptyState")
def _() -> None:
    driver = ClassicGroupDriver()
    (only,) = driver.stable("a")
    driver.leave(only)
    assert driver.join("a", only).error == "UNKNOWN_MEMBER_ID" and driver.state == "Empty"


@kafka(GMM + "testCompleteJoinRemoveNotYetRejoinedDynamicMembers")
def _() -> None:
    driver = ClassicGroupDriver()
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


@kafka(GMM + "testJoinGroupFromUnchangedFollowerDoesNotRebalance")
def _() -> None:
    driver = ClassicGroupDriver()
    _, follower = driver.stable("a", "b")
    asked = driver.join("b", follower)
    assert asked.answer.generation == 1 and asked.answer.members == ()
    assert driver.sync(follower).error == "NONE"


@kafka(GMM + "testJoinGroupFromUnchangedLeaderShouldRebalance")
def _() -> None:
    driver = ClassicGroupDriver()
    (only,) = driver.stable("a")
    assert driver.join("a", only).answer.generation == 2


@kafka(GMM + "testRebalanceCompletesBeforeMemberJoins")
def _() -> None:
    driver = ClassicGroupDriver()
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
    driver = ClassicGroupDriver()
    (first,) = driver.stable("a", session=10_000)
    driver.join("b", session=10_000)
    for _ in range(2):
        driver.pass_ms(5_000)
        assert driver.beat(first) == "NONE"
    assert driver.group.pending == {} and (driver.state, driver.group.generation) == ("Stable", 1)


@kafka(GMM + "testDynamicMembersJoinGroupWithMaxSizeAndRequiredKnownMember")
def _() -> None:
    # Ids are handed out freely while the group is Empty; only so many of them get in.
    driver = ClassicGroupDriver(max_size=3)
    ids = [driver.join(f"c{number}").answer.member_id for number in range(5)]
    asked = [driver.join(f"c{number}", one) for number, one in enumerate(ids)]
    assert [one.answers[0].error if one.answers else "waits" for one in asked] == ["waits"] * 3 + [
        "GROUP_MAX_SIZE_REACHED"
    ] * 2
    driver.pass_ms(6_000)
    assert len(driver.group.members) == 3 and [one.error for one in asked[:3]] == ["NONE"] * 3


@kafka(GMM + "testLastJoiningMembersAreKickedOutWhenRejoiningGroupWithMaxSize")
def _() -> None:
    driver = ClassicGroupDriver()
    ids = driver.stable("a", "b", "c", "d")
    driver.group.settings = replace(driver.group.settings, max_size=2)
    asked = [driver.join(one[0], one, topics=("t", "u")) for one in ids]
    assert [one.answers[0].error for one in asked[2:]] == ["GROUP_MAX_SIZE_REACHED"] * 2
    driver.pass_ms(60_000)
    assert set(driver.group.members) == set(ids[:2]) and asked[0].answer.generation == 2


@kafka("ClassicGroupTest.testSelectProtocol")
def _() -> None:
    driver = ClassicGroupDriver()
    driver.enter("a", protocols=("range", "roundrobin"))
    assert driver.group.select_protocol() == "range"
    driver.enter("b", protocols=("roundrobin", "range"))
    assert driver.group.select_protocol() in {"range", "roundrobin"}
    driver.enter("c", protocols=("roundrobin", "range"))
    assert driver.group.select_protocol() == "roundrobin"


@kafka("ClassicGroupTest.testSelectProtocolChoosesCompatibleProtocol")
def _() -> None:
    driver = ClassicGroupDriver()
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
