"""One member led to its target: states in, states out (CurrentAssignmentBuilder)."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from rebalance_kit.protocol.consumer_group.group import ConsumerGroupMember, MemberState
from rebalance_kit.protocol.consumer_group.heartbeating import reconcile
from rebalance_kit.protocol.messages import Partitions
from tests.support.protocol.driver import ConsumerGroupDriver, run, tps

STABLE, UNREVOKED, UNRELEASED = MemberState.STABLE, MemberState.UNREVOKED, MemberState.UNRELEASED


class Case(NamedTuple):
    """A member before, what it is to become, and what it becomes; epochs of partitions as ``name@epoch``."""

    what: str
    state: MemberState
    assigned: str
    target: str
    after: MemberState
    epoch: int
    assigned_after: str
    pending_after: str = ""
    pending: str = ""
    target_epoch: int = 11
    held_by_others: str = ""
    owned: str | None = None
    topics: str = "t u"
    version: str = "4.3.1"


CASES = (
    Case("stays with the same target", STABLE, "t-1 u-4", "t-1 u-4", STABLE, 11, "t-1@10 u-4@10"),
    Case("nothing happens at its own epoch", STABLE, "t-1", "t-1 t-2", STABLE, 10, "t-1@10", target_epoch=10),
    Case(
        "free partitions come at once, with the new epoch",
        STABLE,
        "t-1",
        "t-1 t-2",
        STABLE,
        11,
        "t-1@10 t-2@11",
    ),
    Case(
        "what must go keeps the epoch back", STABLE, "t-1 t-2", "t-2 t-3", UNREVOKED, 10, "t-2@10", "t-1@10"
    ),
    Case(
        "what others hold is waited for at the new epoch",
        STABLE,
        "t-1",
        "t-1 t-2",
        UNRELEASED,
        11,
        "t-1@10",
        held_by_others="t-2",
    ),
    Case(
        "what is free of a mixed target comes",
        STABLE,
        "t-1",
        "t-1 t-2 t-3",
        UNRELEASED,
        11,
        "t-1@10 t-3@11",
        held_by_others="t-2",
    ),
    Case(
        "a member that owns nothing of what must go does not have to revoke",
        STABLE,
        "t-1 t-2",
        "t-1 t-3",
        UNRELEASED,
        11,
        "t-1@10",
        held_by_others="t-3",
        owned="",
    ),
    Case(
        "the acknowledgement raises the epoch",
        UNREVOKED,
        "t-2",
        "t-2",
        STABLE,
        11,
        "t-2@10",
        pending="t-1",
        owned="t-2",
    ),
    Case(
        "no word about owned partitions is no acknowledgement",
        UNREVOKED,
        "t-2",
        "t-2",
        UNREVOKED,
        10,
        "t-2@10",
        "t-1@10",
        pending="t-1",
    ),
    Case(
        "still owning it is no acknowledgement",
        UNREVOKED,
        "t-2",
        "t-2",
        UNREVOKED,
        10,
        "t-2@10",
        "t-1@10",
        pending="t-1",
        owned="t-1 t-2",
    ),
    Case(
        "a newer target does not shorten the wait",
        UNREVOKED,
        "t-2 t-3",
        "t-3",
        UNREVOKED,
        10,
        "t-2@10 t-3@10",
        "t-1@10",
        pending="t-1",
        owned="t-1 t-2 t-3",
        target_epoch=12,
    ),
    Case(
        "an acknowledgement may lead to the next revocation",
        UNREVOKED,
        "t-2 t-3",
        "t-3",
        UNREVOKED,
        10,
        "t-3@10",
        "t-2@10",
        pending="t-1",
        owned="t-2 t-3",
        target_epoch=12,
    ),
    Case(
        "before 4.2 that raised the epoch by one",
        UNREVOKED,
        "t-2 t-3",
        "t-3",
        UNREVOKED,
        11,
        "t-3@10",
        "t-2@10",
        pending="t-1",
        owned="t-2 t-3",
        target_epoch=12,
        version="4.1",
    ),
    Case(
        "the acknowledgement and then waiting for others",
        UNREVOKED,
        "t-2",
        "t-2 t-4",
        UNRELEASED,
        11,
        "t-2@10",
        pending="t-1",
        owned="t-2",
        held_by_others="t-4",
    ),
    Case(
        "its own pending partition given back is free for it",
        UNREVOKED,
        "t-2",
        "t-1 t-2",
        STABLE,
        12,
        "t-1@12 t-2@10",
        pending="t-1",
        owned="t-2",
        target_epoch=12,
    ),
    Case(
        "what is released arrives", UNRELEASED, "t-2", "t-2 t-4", STABLE, 10, "t-2@10 t-4@10", target_epoch=10
    ),
    Case(
        "what is not released is waited for",
        UNRELEASED,
        "t-2",
        "t-2 t-4",
        UNRELEASED,
        10,
        "t-2@10",
        target_epoch=10,
        held_by_others="t-4",
    ),
    Case(
        "a newer target of one who waits",
        UNRELEASED,
        "t-2",
        "t-2 t-5",
        STABLE,
        11,
        "t-2@10 t-5@11",
        held_by_others="t-4",
    ),
    Case(
        "one who waits may have to revoke",
        UNRELEASED,
        "t-2 t-3",
        "t-3 t-4",
        UNREVOKED,
        10,
        "t-3@10",
        "t-2@10",
        held_by_others="t-4",
    ),
    Case(
        "a topic no longer subscribed is no target",
        STABLE,
        "t-1 u-4",
        "t-1 u-4",
        STABLE,
        11,
        "u-4@10",
        topics="u",
        owned="u-4",
    ),
    Case(
        "a topic no longer subscribed must be revoked",
        STABLE,
        "t-1 u-4",
        "t-1 u-4",
        UNREVOKED,
        11 - 1,
        "u-4@10",
        "t-1@10",
        topics="u",
        owned="t-1 u-4",
    ),
    Case(
        "also at its own epoch",
        STABLE,
        "t-1 u-4",
        "t-1 u-4",
        UNREVOKED,
        10,
        "u-4@10",
        "t-1@10",
        topics="u",
        owned="t-1 u-4",
        target_epoch=10,
    ),
    Case(
        "but not before 4.2",
        STABLE,
        "t-1 u-4",
        "t-1 u-4",
        STABLE,
        10,
        "t-1@10 u-4@10",
        topics="u",
        owned="t-1 u-4",
        target_epoch=10,
        version="4.1",
    ),
    Case(
        "it joins what is still to be revoked",
        UNREVOKED,
        "t-2 t-3 u-5 u-6",
        "t-1 t-3 t-4 u-6",
        UNREVOKED,
        10,
        "u-5@10 u-6@10",
        "t-1@10 t-2@10 t-3@10 u-4@10",
        pending="t-1 u-4",
        topics="u",
        owned="t-1 t-2 t-3 u-4 u-5 u-6",
        target_epoch=12,
    ),
    Case("everything may go", STABLE, "t-1", "", UNREVOKED, 10, "", "t-1@10"),
    Case("a member that owns nothing gets its first partitions", STABLE, "", "t-1", STABLE, 11, "t-1@11"),
)


def parts(text: str) -> Partitions:
    return tps(*text.split())


def shown(held: dict) -> str:
    return " ".join(f"{tp}@{epoch}" for tp, epoch in sorted(held.items()))


def member_of(case: Case) -> tuple[ConsumerGroupDriver, ConsumerGroupMember]:
    """The group with the member as the case describes it, at epoch 10."""
    driver = ConsumerGroupDriver(version=case.version, t=10, u=10)
    group = driver.group
    member = ConsumerGroupMember("m", None, "m", 10, 9, case.state, tuple(case.topics.split()))
    group.members["m"] = member
    group.hold(member, dict.fromkeys(parts(case.assigned), 10), dict.fromkeys(parts(case.pending), 10))
    other = ConsumerGroupMember("x", None, "x", 10, 9, STABLE, ("t", "u"))
    group.members["x"] = other
    group.hold(other, dict.fromkeys(parts(case.held_by_others), 10), {})
    group.target = {"m": parts(case.target)}
    group.epoch = group.assignment_epoch = case.target_epoch
    return driver, member


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_a_member_is_led_to_its_target(case):
    driver, member = member_of(case)
    _, changed = run(reconcile(driver.group, member, None if case.owned is None else parts(case.owned)))
    assert (member.state, member.epoch) == (case.after, case.epoch)
    assert (shown(member.assigned), shown(member.pending_revocation)) == (
        case.assigned_after,
        case.pending_after,
    )
    assert changed == (case.assigned_after != shown(dict.fromkeys(parts(case.assigned), 10)))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_the_index_of_holders_follows_every_step(case):
    driver, member = member_of(case)
    run(reconcile(driver.group, member, None if case.owned is None else parts(case.owned)))
    held = dict.fromkeys((*member.assigned, *member.pending_revocation), "m")
    assert driver.group.holders == held | dict.fromkeys(parts(case.held_by_others), "x")


def test_a_step_that_keeps_the_epoch_makes_it_the_previous_one_too():
    driver, member = member_of(next(one for one in CASES if one.what == "what must go keeps the epoch back"))
    run(reconcile(driver.group, member, None))
    assert (member.epoch, member.previous_epoch) == (10, 10)


def test_a_partition_handed_out_belongs_to_nobody_else_afterwards():
    driver, member = member_of(CASES[2])
    run(reconcile(driver.group, member, None))
    assert not driver.group.is_free(tps("t-2")[0], "x") and driver.group.is_free(tps("t-2")[0], "m")
