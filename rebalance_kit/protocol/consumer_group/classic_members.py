"""Classic members of a consumer group: the coordinator speaks both protocols (KIP-848, online migration).

A classic member is driven by the server's target. Its generation is its member epoch; JoinGroup is
answered at once, without barrier, leader or member list; SyncGroup returns what is reconciled; the
heartbeat says REBALANCE_IN_PROGRESS when a re-join would bring it further.
"""

from __future__ import annotations

from collections.abc import Generator

from rebalance_kit.protocol.consumer_group.group import (
    ClassicMemberMetadata,
    ConsumerGroup,
    ConsumerGroupMember,
)
from rebalance_kit.protocol.consumer_group.members import add_member, replace_member
from rebalance_kit.protocol.consumer_group.reconciliation import reconcile
from rebalance_kit.protocol.consumer_group.states import MemberState
from rebalance_kit.protocol.consumer_group.subscriptions import subscribe
from rebalance_kit.protocol.consumer_group.target import compute_if_due
from rebalance_kit.protocol.effects import Arrived, CancelTimer, Effect, Effects, Reply, SetTimer, Timer
from rebalance_kit.protocol.messages import (
    NONE,
    Answer,
    Heartbeat,
    JoinAnswer,
    JoinGroup,
    SyncAnswer,
    SyncGroup,
)


# --- JoinGroup --------------------------------------------------------------------------------
def classic_join(group: ConsumerGroup, arrived: Arrived[JoinGroup]) -> Effects:
    """JoinGroup of a classic member: take the subscription over, compute if due, answer at once."""
    request = arrived.request
    error = _join_error(group, request)
    if error is not None:
        yield group.note(
            "member_refused",
            request.member_id or None,
            name=request.client,
            api="JoinGroup",
            error=error,
            message=None,
        )
        yield Reply(arrived.token, JoinAnswer(error, request.member_id))
    elif not request.member_id and request.instance_id is None:
        member_id = group.settings.new_id(request.client)
        yield group.note("member_pending", member_id, name=request.client, state=group.state.value)
        yield Reply(arrived.token, JoinAnswer("MEMBER_ID_REQUIRED", member_id))
    else:
        known = set(group.members)
        member = yield from _joiner(group, request)
        newcomer = None if member.member_id in known else member.member_id
        yield from _reconcile_joiner(group, request, member, newcomer)
        # the member's own first assignor, whatever the others list (GroupMetadataManager.classicGroupJoinToConsumerGroup)
        answer = JoinAnswer(NONE, member.member_id, member.epoch, request.protocols[0][0], "")
        yield Reply(arrived.token, answer)


def _join_error(group: ConsumerGroup, request: JoinGroup) -> str | None:
    low, high = group.settings.classic_session_range
    if not low <= request.session_timeout_ms <= high:
        return "INVALID_SESSION_TIMEOUT"
    known = request.member_id in group.members
    migrates = group.settings.migration_policy in {"bidirectional", "downgrade", "upgrade"}
    if not (known or migrates) or not _shares_an_assignor(group, request):
        return "INCONSISTENT_GROUP_PROTOCOL"
    if request.instance_id is not None and request.member_id:
        holder = group.statics.get(request.instance_id)
        if holder is not None and holder != request.member_id:
            return "FENCED_INSTANCE_ID"
    if not known and len(group.members) >= group.settings.max_size:
        return "GROUP_MAX_SIZE_REACHED"
    return None


def _shares_an_assignor(group: ConsumerGroup, request: JoinGroup) -> bool:
    """Some assignor of the request is listed by every other classic member."""
    shared = {name for name, _ in request.protocols}
    for member in group.members.values():
        if member.classic is not None and member.member_id != request.member_id:
            shared &= {name for name, _ in member.classic.protocols}
    return bool(shared)


def _joiner(group: ConsumerGroup, request: JoinGroup) -> Generator[Effect, None, ConsumerGroupMember]:
    known = group.members.get(request.member_id)
    if known is not None:
        yield group.note("member_rejoined", known.member_id, name=request.client)
        return known
    member_id = request.member_id or group.settings.new_id(request.client)
    instance = request.instance_id
    old = group.members.get(group.statics.get(instance, "")) if instance is not None else None
    if old is not None:
        yield from replace_member(group, old, member_id, request.client)
        return group.members[member_id]
    member = ConsumerGroupMember(member_id, instance, request.client)
    add_member(group, member)
    yield group.note(
        "member_added",
        member_id,
        name=request.client,
        instance_id=instance,
        reason=request.reason.text if request.reason else "",
        classic=True,
    )
    return member


def _reconcile_joiner(
    group: ConsumerGroup, request: JoinGroup, member: ConsumerGroupMember, newcomer: str | None
) -> Effects:
    member.classic = ClassicMemberMetadata(request.session_timeout_ms, request.protocols)
    member.rebalance_timeout_ms = request.rebalance_timeout_ms
    subscription = request.protocols[0][1]
    topics = tuple(sorted(subscription.topics))
    yield from subscribe(group, member, topics, None, joined=not member.names)
    yield from compute_if_due(group, newcomer=newcomer)
    yield from reconcile(group, member, subscription.owned)
    yield from group.settle_state()
    yield CancelTimer((Timer.JOIN, member.member_id))
    group.join_timers.discard(member.member_id)
    yield member.session_timer(request.session_timeout_ms)
    yield SetTimer((Timer.SYNC, member.member_id), request.rebalance_timeout_ms)


# --- SyncGroup and Heartbeat ------------------------------------------------------------------
def classic_sync(group: ConsumerGroup, arrived: Arrived[SyncGroup]) -> Effects:
    """SyncGroup of a classic member: what it owns by now, unless a newer target waits for it."""
    request = arrived.request
    error = _membership_error(group, request)
    if error is not None:
        yield Reply(arrived.token, SyncAnswer(error))
        return
    member = group.members[request.member_id]
    if _next_epoch(group) > member.epoch and member.state is not MemberState.UNREVOKED:
        yield from _wait_for_join(group, member)
        yield Reply(arrived.token, SyncAnswer("REBALANCE_IN_PROGRESS"))
        return
    yield CancelTimer((Timer.SYNC, member.member_id))
    yield from _keep_alive(member)
    yield Reply(arrived.token, SyncAnswer(NONE, tuple(sorted(member.assigned))))


def classic_heartbeat(group: ConsumerGroup, arrived: Arrived[Heartbeat]) -> Effects:
    """Heartbeat of a classic member: it never bumps and never computes."""
    request = arrived.request
    error = _membership_error(group, request)
    if error is not None:
        yield Reply(arrived.token, Answer(error))
        return
    member = group.members[request.member_id]
    yield from _keep_alive(member)
    if _gains_by_rejoining(group, member):
        yield from _wait_for_join(group, member)
        yield Reply(arrived.token, Answer("REBALANCE_IN_PROGRESS"))
    else:
        yield Reply(arrived.token, Answer(NONE))


def _membership_error(group: ConsumerGroup, request: SyncGroup | Heartbeat) -> str | None:
    if request.instance_id is not None and group.statics.get(request.instance_id) not in {
        None,
        request.member_id,
    }:
        return "FENCED_INSTANCE_ID"
    member = group.members.get(request.member_id)
    if member is None or member.classic is None:
        return "UNKNOWN_MEMBER_ID"
    return None if request.generation == member.epoch else "ILLEGAL_GENERATION"


def _gains_by_rejoining(group: ConsumerGroup, member: ConsumerGroupMember) -> bool:
    """A newer target waits, something must be revoked, or all that others were to release is free by now."""
    missing = [tp for tp in group.target_of(member) if tp not in member.assigned]
    released = member.state is MemberState.UNRELEASED and all(
        group.is_free(tp, member.member_id) for tp in missing
    )
    return member.epoch < _next_epoch(group) or member.state is MemberState.UNREVOKED or released


def _next_epoch(group: ConsumerGroup) -> int:
    return group.assignment_epoch if group.settings.has("mixed-heartbeat-target") else group.epoch


def _keep_alive(member: ConsumerGroupMember) -> Effects:
    if member.classic is not None:
        yield member.session_timer(member.classic.session_timeout_ms)


def _wait_for_join(group: ConsumerGroup, member: ConsumerGroupMember) -> Effects:
    if member.member_id not in group.join_timers:
        group.join_timers.add(member.member_id)
        yield SetTimer((Timer.JOIN, member.member_id), member.rebalance_timeout_ms)
