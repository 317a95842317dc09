"""Group states, epochs and reconciliation as ConsumerGroupTest and CurrentAssignmentBuilderTest fix them."""

from __future__ import annotations

from rebalance_kit.protocol.consumer_group.group import MemberState
from rebalance_kit.protocol.consumer_group.heartbeating import reconcile
from tests.support.protocol.consumer_steps import leave, names, settled
from tests.support.protocol.driver import ConsumerGroupDriver, run, tps
from tests.support.protocol.kafka_table import kafka

GMM = "GroupMetadataManagerTest."
CAB = "CurrentAssignmentBuilderTest."


@kafka("ConsumerGroupTest.testGroupState")
def _() -> None:
    driver = ConsumerGroupDriver(t=2, interval=1_000)
    assert driver.state == "Empty"
    driver.join("a")
    driver.join("b")
    assert driver.state == "Assigning"
    driver.pass_ms(1_000)
    driver.beat("a")
    assert driver.state == "Reconciling"
    driver.beat("b")
    assert driver.state == "Stable"


@kafka("ConsumerGroupTest.testPreferredServerAssignor")
def _() -> None:
    driver = ConsumerGroupDriver()
    assert driver.group.preferred_assignor() == "uniform"
    driver.join("a", server_assignor="range")
    assert driver.group.preferred_assignor() == "range"
    driver.join("b", server_assignor="uniform")
    driver.join("c", server_assignor="uniform")
    assert driver.group.preferred_assignor() == "uniform"
    leave(driver, "b")
    leave(driver, "c")
    assert driver.group.preferred_assignor() == "range"


@kafka("ConsumerGroupTest.testWaitingOnUnreleasedPartition")
def _() -> None:
    driver = settled(a="t-1 t-2", b="t-3")
    driver.group.target = {"a": tps("t-1"), "b": tps("t-2", "t-3")}
    driver.group.assignment_epoch = driver.group.epoch = 11
    driver.beat("b")
    assert driver.member("b").state is MemberState.UNRELEASED and not driver.group.is_free(tps("t-2")[0], "b")
    driver.beat("a")
    assert not driver.group.is_free(tps("t-2")[0], "b"), "still to be revoked"
    driver.beat("a", owned=tps("t-1"))
    assert driver.group.is_free(tps("t-2")[0], "b")


@kafka("ConsumerGroupTest.testValidateOffsetCommitWithEpochValidation")
def _() -> None:
    driver = settled(a="t-1 t-2")
    member = driver.member("a")
    driver.group.hold(member, {tps("t-1")[0]: 5}, {tps("t-2")[0]: 8})
    assert [driver.commit("a", epoch, "t-1") for epoch in (4, 5, 9, 10, 11)] == [
        "STALE_MEMBER_EPOCH",
        "NONE",
        "NONE",
        "NONE",
        "STALE_MEMBER_EPOCH",
    ]
    assert [driver.commit("a", epoch, "t-2") for epoch in (7, 8)] == ["STALE_MEMBER_EPOCH", "NONE"], (
        "also what waits to be revoked"
    )


@kafka("ConsumerGroupTest.testUpdatingMemberUpdatesPartitionEpochWhenPartitionIsReassignedBeforeBeingRevoked")
def _() -> None:
    driver = settled(a="t-1")
    member = driver.member("a")
    driver.group.hold(member, {}, {tps("t-1")[0]: 10})
    assert not driver.group.is_free(tps("t-1")[0], "b")
    driver.group.hold(member, {tps("t-1")[0]: 11}, {})
    assert driver.group.holders == {tps("t-1")[0]: "a"}


@kafka("ConsumerGroupTest.testDeletingMemberRemovesPartitionEpoch")
def _() -> None:
    driver = settled(a="t-1 t-2")
    leave(driver, "a")
    assert driver.group.holders == {}


def led(
    state: MemberState,
    assigned: str,
    pending: str,
    target: str,
    epoch: int,
    owned: str | None,
    taken: str = "",
) -> tuple[str, int, str, str]:
    """One step of one member at epoch 10: state, epoch, assigned, pending afterwards."""
    driver = settled(m=assigned, x=taken)
    group, member = driver.group, driver.member("m")
    member.state = state
    group.hold(member, dict.fromkeys(tps(*assigned.split()), 10), dict.fromkeys(tps(*pending.split()), 10))
    group.target["m"] = tps(*target.split())
    group.epoch = group.assignment_epoch = epoch
    run(reconcile(group, member, None if owned is None else tps(*owned.split())))
    return (
        member.state.value,
        member.epoch,
        " ".join(names(member.assigned)),
        " ".join(names(member.pending_revocation)),
    )


STABLE, UNREVOKED, UNRELEASED = MemberState.STABLE, MemberState.UNREVOKED, MemberState.UNRELEASED


@kafka(CAB + "testStableToStable")
def _() -> None:
    assert led(STABLE, "t-1 u-4", "", "t-1 u-4", 11, None) == ("STABLE", 11, "t-1 u-4", "")


@kafka(CAB + "testStableToStableWithNewPartitions")
def _() -> None:
    assert led(STABLE, "t-1 u-4", "", "t-1 t-4 u-4 u-7", 11, None) == ("STABLE", 11, "t-1 t-4 u-4 u-7", "")


@kafka(CAB + "testStableToUnrevokedPartitions")
def _() -> None:
    assert led(STABLE, "t-1 t-2 u-4 u-5", "", "t-2 t-4 u-5 u-7", 11, None) == (
        "UNREVOKED_PARTITIONS",
        10,
        "t-2 u-5",
        "t-1 u-4",
    )


@kafka(CAB + "testStableToUnreleasedPartitions")
def _() -> None:
    assert led(STABLE, "t-1 u-4", "", "t-1 t-4 u-4 u-7", 11, None, "t-4 u-7") == (
        "UNRELEASED_PARTITIONS",
        11,
        "t-1 u-4",
        "",
    )


@kafka(CAB + "testStableToUnreleasedPartitionsWithOwnedPartitionsNotHavingRevokedPartitions")
def _() -> None:
    assert led(STABLE, "t-1 u-5 u-6", "", "t-1 u-5 u-7", 11, "", "u-7") == (
        "UNRELEASED_PARTITIONS",
        11,
        "t-1 u-5",
        "",
    )


@kafka(CAB + "testUnrevokedPartitionsToStable")
def _() -> None:
    assert led(UNREVOKED, "t-2 u-5", "t-1 u-4", "t-2 u-5", 11, "t-2 u-5") == ("STABLE", 11, "t-2 u-5", "")


@kafka(CAB + "testRemainsInUnrevokedPartitions")
def _() -> None:
    for owned in (None, "t-1 t-2 u-5", "t-2 u-4 u-5"):
        assert led(UNREVOKED, "t-2 u-5", "t-1 u-4", "t-3 u-6", 12, owned) == (
            "UNREVOKED_PARTITIONS",
            10,
            "t-2 u-5",
            "t-1 u-4",
        )


@kafka(CAB + "testUnrevokedPartitionsToUnrevokedPartitions")
def _() -> None:
    assert led(UNREVOKED, "t-2 t-3 u-5", "t-1 u-4", "t-3 u-6", 12, "t-2 t-3 u-5") == (
        "UNREVOKED_PARTITIONS",
        10,
        "t-3",
        "t-2 u-5",
    )


@kafka(CAB + "testUnrevokedPartitionsToUnreleasedPartitions")
def _() -> None:
    assert led(UNREVOKED, "t-2 u-5", "t-1 u-4", "t-2 t-4 u-5", 11, "t-2 u-5", "t-4") == (
        "UNRELEASED_PARTITIONS",
        11,
        "t-2 u-5",
        "",
    )


@kafka(CAB + "testUnreleasedPartitionsToStable")
def _() -> None:
    assert led(UNRELEASED, "t-2 u-5", "", "t-2 u-5", 12, None) == ("STABLE", 12, "t-2 u-5", "")


@kafka(CAB + "testUnreleasedPartitionsToStableWithNewPartitions")
def _() -> None:
    assert led(UNRELEASED, "t-2 u-5", "", "t-2 t-4 u-5", 11, None) == ("STABLE", 11, "t-2 t-4 u-5", "")


@kafka(CAB + "testUnreleasedPartitionsToUnreleasedPartitions")
def _() -> None:
    assert led(UNRELEASED, "t-2 u-5", "", "t-2 t-4 u-5", 10, None, "t-4") == (
        "UNRELEASED_PARTITIONS",
        10,
        "t-2 u-5",
        "",
    )


@kafka(CAB + "testUnreleasedPartitionsToUnrevokedPartitions")
def _() -> None:
    assert led(UNRELEASED, "t-2 t-3 u-5", "", "t-3 u-6", 12, None, "u-6") == (
        "UNREVOKED_PARTITIONS",
        10,
        "t-3",
        "t-2 u-5",
    )
