"""Members of a consumer group that come, are replaced, and go."""

from __future__ import annotations

from rebalance_kit.model.versions import mended
from rebalance_kit.protocol.consumer_group.group import ConsumerGroup, ConsumerGroupMember
from rebalance_kit.protocol.consumer_group.states import MemberState
from rebalance_kit.protocol.effects import CancelTimer, Downgrade, Effects, Timer
from rebalance_kit.protocol.triggers import Trigger

MEMBER_TIMERS = (Timer.SESSION, Timer.REBALANCE, Timer.JOIN, Timer.SYNC)


def add_member(group: ConsumerGroup, member: ConsumerGroupMember) -> None:
    """Take a new member in, at epoch 0 and with nothing assigned."""
    group.members[member.member_id] = member
    if member.instance_id is not None:
        group.statics[member.instance_id] = member.member_id


def replace_member(group: ConsumerGroup, old: ConsumerGroupMember, member_id: str, client: str) -> Effects:
    """A static member is back: the new id takes over subscription, partitions and target."""
    member = ConsumerGroupMember(
        member_id,
        old.instance_id,
        client,
        topics=old.topics,
        names=old.names,
        regex=old.regex,
        server_assignor=old.server_assignor,
        rebalance_timeout_ms=old.rebalance_timeout_ms,
        state=MemberState.STABLE,
    )
    assigned = old.assigned
    group.hold(old, {}, {})
    del group.members[old.member_id]
    group.behind.discard(old.member_id)
    add_member(group, member)
    group.hold(member, assigned, {})
    group.target[member_id] = group.target.pop(old.member_id, ())
    for timer in MEMBER_TIMERS:
        yield CancelTimer((timer, old.member_id))
    group.join_timers.discard(old.member_id)
    yield group.note(
        "member_replaced",
        member_id,
        name=client,
        instance_id=old.instance_id,
        old_member_id=old.member_id,
        old_name=old.client,
        rebalance=False,
    )


def remove_member(
    group: ConsumerGroup, member: ConsumerGroupMember, how: str, reason: str, trigger: Trigger
) -> Effects:
    """Take a member out, free its partitions, and bump the group epoch, or ask for the group's downgrade."""
    group.hold(member, {}, {})
    del group.members[member.member_id]
    group.target.pop(member.member_id, None)
    group.behind.discard(member.member_id)
    if member.instance_id is not None and group.statics.get(member.instance_id) == member.member_id:
        del group.statics[member.instance_id]
    for timer in MEMBER_TIMERS:
        yield CancelTimer((timer, member.member_id))
    group.join_timers.discard(member.member_id)
    yield group.note(
        "member_removed",
        member.member_id,
        name=member.client,
        how=how,
        reason=reason,
        instance_id=member.instance_id,
    )
    if _leaves_classic_alone(group, member):
        yield Downgrade()
        return
    yield group.bump(reason, trigger, member.client)
    if not group.members and mended("empty-group-makes-wait", group.settings.kafka_version):
        group.assignment_epoch, group.assigned_ms = group.epoch, None
    yield from group.settle_state()


def _leaves_classic_alone(group: ConsumerGroup, gone: ConsumerGroupMember) -> bool:
    """The last consumer-protocol member went and classic ones remain: the group is downgraded instead."""
    if gone.classic is not None or group.settings.migration_policy not in {"bidirectional", "downgrade"}:
        return False
    return bool(group.members) and all(member.classic is not None for member in group.members.values())
