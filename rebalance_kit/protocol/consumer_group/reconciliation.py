"""How one member is led to its target, one heartbeat at a time (CurrentAssignmentBuilder).

A member first gives up what it must; the answer to its acknowledgement raises its epoch. What it is
to receive comes as soon as nobody else holds it, at one of its own later heartbeats.
"""

from __future__ import annotations

from collections.abc import Generator

from rebalance_kit.protocol.consumer_group.group import ConsumerGroup, ConsumerGroupMember
from rebalance_kit.protocol.consumer_group.states import MemberState
from rebalance_kit.protocol.effects import Effect
from rebalance_kit.protocol.messages import Partitions


def reconcile(
    group: ConsumerGroup, member: ConsumerGroupMember, owned: Partitions | None
) -> Generator[Effect, None, bool]:
    """Move the member as far as this heartbeat allows; returns whether what it is assigned has changed."""
    before = (member.assigned, member.pending_revocation, member.state, member.epoch)
    if member.state is MemberState.STABLE:
        if member.epoch != group.assignment_epoch or (
            any(tp.topic not in member.topics for tp in member.assigned)
            and group.settings.has("unsubscribed-at-once")
        ):
            next_assignment(group, member, owned)
    elif member.state is MemberState.UNREVOKED:
        if owned is not None and not any(tp in member.pending_revocation for tp in owned):
            next_assignment(group, member, owned)
        elif group.settings.has("unsubscribed-at-once"):
            _strip(group, member)
    else:
        next_assignment(group, member, owned)
    group.update_behind(member)
    if (member.assigned, member.pending_revocation, member.state, member.epoch) == before:
        return False
    yield group.note(
        "member_reconciled",
        member.member_id,
        member.epoch,
        name=member.client,
        state=member.state.value,
        epoch=member.epoch,
        assigned=[str(tp) for tp in sorted(member.assigned)],
        pending_revocation=[str(tp) for tp in sorted(member.pending_revocation)],
    )
    return member.assigned != before[0]


def _strip(group: ConsumerGroup, member: ConsumerGroupMember) -> None:
    """Topics that are not subscribed any more join what is still to be revoked (updateCurrentAssignment)."""
    gone = {tp: since for tp, since in member.assigned.items() if tp.topic not in member.topics}
    if gone:
        still_assigned = {tp: since for tp, since in member.assigned.items() if tp not in gone}
        group.hold(member, still_assigned, {**member.pending_revocation, **gone})
        _set_epoch(member, member.epoch)


def next_assignment(group: ConsumerGroup, member: ConsumerGroupMember, owned: Partitions | None) -> None:
    """Revoke first; then take what is free. What others still hold or have to revoke waits: UNRELEASED."""
    target = dict.fromkeys(group.target_of(member))
    still_assigned = {tp: since for tp, since in member.assigned.items() if tp in target}
    revoke = {tp: since for tp, since in member.assigned.items() if tp not in target}
    if revoke and (owned is None or any(tp in revoke for tp in owned)):
        acked = member.state is MemberState.UNREVOKED and group.settings.has("second-revocation-raises-epoch")
        _set_epoch(member, min(member.epoch + 1, group.assignment_epoch) if acked else member.epoch)
        member.state = MemberState.UNREVOKED
        group.hold(member, still_assigned, revoke)
        return
    new = [tp for tp in target if tp not in still_assigned]
    free = [tp for tp in new if group.is_free(tp, member.member_id)]
    _set_epoch(member, group.assignment_epoch)
    group.hold(member, {**still_assigned, **dict.fromkeys(free, member.epoch)}, {})
    member.state = MemberState.UNRELEASED if len(free) < len(new) else MemberState.STABLE


def _set_epoch(member: ConsumerGroupMember, epoch: int) -> None:
    """Every step remembers the epoch before it, also one that stays (ConsumerGroupMember.updateMemberEpoch)."""
    member.previous_epoch, member.epoch = member.epoch, epoch
