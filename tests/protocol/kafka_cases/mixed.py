"""Classic members of KIP-848 groups as GroupMetadataManagerTest fixes them, in scripts of our own."""

from __future__ import annotations

from rebalance_kit.protocol.messages import Heartbeat, JoinGroup, Subscription, SyncGroup
from tests.support.protocol.consumer_steps import leave
from tests.support.protocol.driver import Asked, ConsumerGroupDriver, tps
from tests.support.protocol.kafka_table import kafka

GMM = "GroupMetadataManagerTest."


def join(
    driver: ConsumerGroupDriver,
    member_id: str,
    *,
    instance: str | None = None,
    owned: str = "",
    protocols: tuple[str, ...] = ("range",),
) -> Asked:
    held = Subscription(("t",), tps(*owned.split()))
    return driver.ask(
        JoinGroup(
            "k", member_id, instance, 10_000, 60_000, tuple((name, held) for name in protocols), None, "g"
        )
    )


def beat(driver: ConsumerGroupDriver, member_id: str, generation: int) -> str:
    return driver.ask(Heartbeat("k", member_id, None, generation, "g")).error


def sync(driver: ConsumerGroupDriver, member_id: str, generation: int) -> Asked:
    return driver.ask(SyncGroup("k", member_id, None, generation, None, None, "g"))


def mixed() -> ConsumerGroupDriver:
    """A consumer-protocol member m with t-0..t-5 and a classic one k that is to get half of them."""
    driver = ConsumerGroupDriver(t=6)
    driver.plan = {"m": tps("t-0", "t-1", "t-2", "t-3", "t-4", "t-5")}
    driver.join("m")
    driver.plan = {"m": tps("t-0", "t-1", "t-2"), "k": tps("t-3", "t-4", "t-5")}
    return driver


@kafka(GMM + "testJoiningConsumerGroupWithNewDynamicMember")
def _() -> None:
    driver = mixed()
    first = join(driver, "")
    assert first.error == "MEMBER_ID_REQUIRED" and set(driver.group.members) == {"m"}
    answer = join(driver, "k").answer
    assert (answer.error, answer.generation, answer.leader, answer.members) == ("NONE", 3, "", ())
    assert driver.clock.left_ms("session", "k") == 10_000 and driver.clock.left_ms("sync", "k") == 60_000


@kafka(GMM + "testJoiningConsumerGroupThrowsExceptionIfProtocolIsNotSupported")
def _() -> None:
    driver = mixed()
    join(driver, "k", protocols=("range",))
    assert join(driver, "z", protocols=("roundrobin",)).error == "INCONSISTENT_GROUP_PROTOCOL"
    assert set(driver.group.members) == {"m", "k"}


@kafka(GMM + "testClassicGroupSyncToConsumerGroupWithIllegalGeneration")
def _() -> None:
    driver = mixed()
    join(driver, "k")
    assert sync(driver, "k", 2).error == "ILLEGAL_GENERATION"


@kafka(GMM + "testClassicGroupSyncToConsumerGroupWithUnknownMemberId")
def _() -> None:
    driver = mixed()
    assert sync(driver, "z", 2).error == sync(driver, "m", 2).error == "UNKNOWN_MEMBER_ID"


@kafka(GMM + "testClassicGroupSyncToConsumerGroupRebalanceInProgress")
def _() -> None:
    driver = mixed()
    join(driver, "k")
    driver.join("n")
    assert sync(driver, "k", 3).error == "REBALANCE_IN_PROGRESS"
    assert driver.clock.left_ms("join", "k") == 60_000


@kafka(GMM + "testClassicGroupHeartbeatToConsumerGroupMaintainsSession")
def _() -> None:
    driver = mixed()
    join(driver, "k")
    sync(driver, "k", 3)
    assert driver.clock.left_ms("sync", "k") is None
    for _ in range(4):
        driver.pass_ms(6_000)
        assert beat(driver, "k", 3) == "NONE"
    assert "k" in driver.group.members


@kafka(GMM + "testClassicGroupHeartbeatToConsumerGroupRebalanceInProgress")
def _() -> None:
    driver = mixed()
    join(driver, "k")
    sync(driver, "k", 3)
    assert beat(driver, "k", 3) == "NONE", "what it misses is not free yet"
    driver.beat("m")
    driver.beat("m", owned=tps("t-0", "t-1", "t-2"))
    assert beat(driver, "k", 3) == "REBALANCE_IN_PROGRESS", "now a re-join would bring it"
    assert join(driver, "k").answer.generation == 3
    assert sync(driver, "k", 3).answer.assignment == tps("t-3", "t-4", "t-5")
    assert beat(driver, "k", 3) == "NONE"


@kafka(GMM + "testClassicGroupHeartbeatToConsumerWithIllegalGenerationId")
def _() -> None:
    driver = mixed()
    join(driver, "k")
    assert beat(driver, "k", 9) == "ILLEGAL_GENERATION"


@kafka(GMM + "testClassicGroupHeartbeatToConsumerWithMemberNotUsingClassicProtocol")
def _() -> None:
    assert beat(mixed(), "m", 2) == "UNKNOWN_MEMBER_ID"


@kafka(GMM + "testConsumerGroupMemberUsingClassicProtocolFencedWhenSessionTimeout")
def _() -> None:
    driver = mixed()
    join(driver, "k")
    driver.pass_ms(10_000)
    assert set(driver.group.members) == {"m"} and driver.group.epoch == 4


@kafka(GMM + "testConsumerGroupMemberUsingClassicProtocolFencedWhenJoinTimeout")
def _() -> None:
    driver = mixed()
    join(driver, "k")
    sync(driver, "k", 3)
    driver.join("n")
    for _ in range(12):
        assert beat(driver, "k", 3) == "REBALANCE_IN_PROGRESS"
        driver.beat("m", owned=())
        driver.pass_ms(5_000)
    assert "k" not in driver.group.members
    assert (
        driver.noted("member_removed")[-1]["reason"]
        == "the classic member failed to join within the rebalance timeout"
    )


@kafka(GMM + "testLastConsumerProtocolMemberLeavingConsumerGroup")
def _() -> None:
    driver = mixed()
    join(driver, "k")
    epoch = driver.group.epoch
    leave(driver, "m")
    assert driver.downgrades and driver.group.epoch == epoch, "a downgrade, no bump"


@kafka(GMM + "testClassicGroupHeartbeatToConsumerGroupDuringAssignmentDelay")
def _() -> None:
    driver = ConsumerGroupDriver(t=6, interval=5_000)
    driver.join("m")
    driver.pass_ms(5_000)
    join(driver, "k")
    sync(driver, "k", 3)
    driver.join("n")
    assert (driver.group.epoch, driver.group.assignment_epoch) == (4, 3)
    assert beat(driver, "k", 3) == "NONE", "a bump without its target is not noticed"
