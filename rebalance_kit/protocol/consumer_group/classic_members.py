"""Classic members of a consumer group: the coordinator speaks both protocols (KIP-848, online migration).

A classic member is driven by the server's target. Its generation is its member epoch; JoinGroup is
answered at once, without barrier, leader or member list; SyncGroup returns what is reconciled; the
heartbeat says REBALANCE_IN_PROGRESS when a re-join would bring it further.
"""

from __future__ import annotations

from typing import Any

from rebalance_kit.protocol.consumer_group.epochs import compute_if_due, replace_member, subscribe
from rebalance_kit.protocol.consumer_group.reconciliation import reconcile
from rebalance_kit.protocol.consumer_group.state import (
    ClassicSide,
    ConsumerGroup,
    ConsumerGroupMember,
    MemberState,
)
from rebalance_kit.protocol.effects import CancelTimer, SetTimer
from rebalance_kit.protocol.messages import (
    NONE,
    Answer,
    Heartbeat,
    JoinAnswer,
    JoinGroup,
    SyncAnswer,
    SyncGroup,
)


def classic_join(group: ConsumerGroup, event: Any) -> None:
    """JoinGroup of a classic member: take the subscription over, compute if due, answer at once."""
    request: JoinGroup = event.request
    problem = _refusal(group, request)
    if problem is not None:
        group.note(
            "member_refused",
            request.member_id or None,
            name=request.client,
            api="JoinGroup",
            error=problem,
            message=None,
        )
        group.reply(event.token, JoinAnswer(problem, request.member_id))
        return
    if not request.member_id and request.instance_id is None:
        member_id = group.settings.new_id(request.client)
        group.note("member_pending", member_id, name=request.client, state=group.state.value)
        group.reply(event.token, JoinAnswer("MEMBER_ID_REQUIRED", member_id))
        return
    member = _classic_member(group, request)
    member.classic = ClassicSide(request.session_timeout_ms, request.protocols)
    member.rebalance_timeout_ms = request.rebalance_timeout_ms
    owned = request.protocols[0][1].owned
    topics = tuple(sorted(request.protocols[0][1].topics))
    joined = not member.names
    subscribe(
        group,
        member,
        topics,
        None,
        "a member joined" if joined else "a member subscribed to other topics",
        "join" if joined else "subscription",
    )
    compute_if_due(group)
    reconcile(group, member, owned)
    group.settle_state()
    group.out.append(CancelTimer(("join", member.member_id)))
    group.join_timers.discard(member.member_id)
    group.out.append(SetTimer(("session", member.member_id), request.session_timeout_ms))
    group.out.append(SetTimer(("sync", member.member_id), request.rebalance_timeout_ms))
    # the member's own first assignor, whatever the others list (GroupMetadataManager.classicGroupJoinToConsumerGroup)
    group.reply(event.token, JoinAnswer(NONE, member.member_id, member.epoch, request.protocols[0][0], ""))


def _refusal(group: ConsumerGroup, request: JoinGroup) -> str | None:
    low, high = group.settings.classic_session_range
    if not low <= request.session_timeout_ms <= high:
        return "INVALID_SESSION_TIMEOUT"
    if (
        group.settings.migration_policy not in {"bidirectional", "downgrade", "upgrade"}
        and request.member_id not in group.members
    ):
        return "INCONSISTENT_GROUP_PROTOCOL"
    names = {name for name, _ in request.protocols}
    for member in group.members.values():
        if member.classic is not None and member.member_id != request.member_id:
            names &= {name for name, _ in member.classic.protocols}
    if not names:
        return "INCONSISTENT_GROUP_PROTOCOL"
    if request.instance_id is not None and request.member_id:
        holder = group.statics.get(request.instance_id)
        if holder is not None and holder != request.member_id:
            return "FENCED_INSTANCE_ID"
    if request.member_id not in group.members and len(group.members) >= group.settings.max_size:
        return "GROUP_MAX_SIZE_REACHED"
    return None


def _classic_member(group: ConsumerGroup, request: JoinGroup) -> ConsumerGroupMember:
    known = group.members.get(request.member_id)
    if known is not None:
        group.note("member_rejoined", known.member_id, name=request.client)
        return known
    member_id = request.member_id or group.settings.new_id(request.client)
    instance = request.instance_id
    old = group.members.get(group.statics.get(instance, "")) if instance is not None else None
    if old is not None:
        return replace_member(group, member_id, request.client, old)
    member = ConsumerGroupMember(member_id, instance, request.client)
    group.members[member_id] = member
    if instance is not None:
        group.statics[instance] = member_id
    group.note(
        "member_added",
        member_id,
        name=request.client,
        instance_id=instance,
        reason=request.reason.text if request.reason else "",
        classic=True,
    )
    return member


def _known(
    group: ConsumerGroup, member_id: str, instance_id: str | None, generation: int
) -> tuple[ConsumerGroupMember | None, str]:
    member = group.members.get(member_id)
    if instance_id is not None and group.statics.get(instance_id) not in {None, member_id}:
        return None, "FENCED_INSTANCE_ID"
    if member is None or member.classic is None:
        return None, "UNKNOWN_MEMBER_ID"
    return (member, NONE) if generation == member.epoch else (None, "ILLEGAL_GENERATION")


def classic_sync(group: ConsumerGroup, event: Any) -> None:
    """SyncGroup of a classic member: what it holds by now, unless a newer target waits for it."""
    request: SyncGroup = event.request
    member, error = _known(group, request.member_id, request.instance_id, request.generation)
    if member is None:
        group.reply(event.token, SyncAnswer(error))
        return
    if _ahead(group) > member.epoch and member.state is not MemberState.UNREVOKED:
        _wait_for_join(group, member)
        group.reply(event.token, SyncAnswer("REBALANCE_IN_PROGRESS"))
        return
    group.out.append(CancelTimer(("sync", member.member_id)))
    _keep_alive(group, member)
    group.reply(event.token, SyncAnswer(NONE, tuple(sorted(member.assigned))))


def classic_heartbeat(group: ConsumerGroup, event: Any) -> None:
    """Heartbeat of a classic member: it never bumps and never computes."""
    request: Heartbeat = event.request
    member, error = _known(group, request.member_id, request.instance_id, request.generation)
    if member is None:
        group.reply(event.token, Answer(error))
        return
    _keep_alive(group, member)
    missing = [tp for tp in group.target_of(member) if tp not in member.assigned]
    arrives = member.state is MemberState.UNRELEASED and all(
        group.is_free(tp, member.member_id) for tp in missing
    )
    if member.epoch < _ahead(group) or member.state is MemberState.UNREVOKED or arrives:
        _wait_for_join(group, member)
        group.reply(event.token, Answer("REBALANCE_IN_PROGRESS"))
    else:
        group.reply(event.token, Answer(NONE))


def _ahead(group: ConsumerGroup) -> int:
    return group.assignment_epoch if group.settings.has("mixed-heartbeat-target") else group.epoch


def _keep_alive(group: ConsumerGroup, member: ConsumerGroupMember) -> None:
    if member.classic is not None:
        group.out.append(SetTimer(("session", member.member_id), member.classic.session_timeout_ms))


def _wait_for_join(group: ConsumerGroup, member: ConsumerGroupMember) -> None:
    if member.member_id not in group.join_timers:
        group.join_timers.add(member.member_id)
        group.out.append(SetTimer(("join", member.member_id), member.rebalance_timeout_ms))
