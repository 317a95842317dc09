"""The KIP-848 group machine: one request, ConsumerGroupHeartbeat, and what follows from it.

Inside one heartbeat, in this order: validate, find or create the member, take its subscription over,
at most one bump of the group epoch, a new target if one is due, reconcile this member alone, answer.
Leaving and expiry bump the epoch but never compute: the target follows on somebody's next heartbeat.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.errors import ProtocolViolation
from rebalance_kit.protocol.consumer_group.classic_members import (
    classic_heartbeat,
    classic_join,
    classic_sync,
)
from rebalance_kit.protocol.consumer_group.epochs import (
    compute_if_due,
    remove_member,
    replace_member,
    scan_if_due,
    scanned,
    subscribe,
)
from rebalance_kit.protocol.consumer_group.reconciliation import reconcile
from rebalance_kit.protocol.consumer_group.state import (
    LEFT_FOR_A_WHILE,
    ConsumerGroup,
    ConsumerGroupMember,
    MemberState,
)
from rebalance_kit.protocol.effects import (
    Appended,
    Arrived,
    CancelTimer,
    Effect,
    Load,
    SetTimer,
    TimerFired,
    Unload,
)
from rebalance_kit.protocol.messages import (
    NONE,
    Answer,
    ConsumerGroupHeartbeat,
    ConsumerGroupHeartbeatAnswer,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    OffsetCommit,
    SyncGroup,
)


# --- heartbeat ------------------------------------------------------------------------------
def _heartbeat(group: ConsumerGroup, event: Any) -> None:
    request: ConsumerGroupHeartbeat = event.request
    problem = _invalid(request)
    if problem is not None:
        _refuse(group, event, "INVALID_REQUEST", problem)
    elif request.server_assignor is not None and request.server_assignor not in group.settings.assignors:
        listed = ", ".join(group.settings.assignors)
        _refuse(
            group,
            event,
            "UNSUPPORTED_ASSIGNOR",
            f"ServerAssignor {request.server_assignor} is not supported. Supported assignors: {listed}.",
        )
    elif request.member_epoch < 0:
        _leave(group, event, request)
    else:
        member = _member(group, event, request)
        if member is not None:
            _beat(group, event, request, member)


def _invalid(request: ConsumerGroupHeartbeat) -> str | None:
    if not request.member_id:
        return "MemberId can't be empty."
    if request.instance_id == "":
        return "InstanceId can't be empty."
    if request.rack == "":
        return "RackId can't be empty."
    if request.member_epoch == 0:
        if request.rebalance_timeout_ms is None:
            return "RebalanceTimeoutMs must be provided in first request."
        if request.owned is None or request.owned:
            return "TopicPartitions must be empty when (re-)joining."
        if request.topics is None and request.regex is None:
            return "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining."
    if request.member_epoch == LEFT_FOR_A_WHILE and request.instance_id is None:
        return "InstanceId can't be null."
    return "MemberEpoch is invalid." if request.member_epoch < LEFT_FOR_A_WHILE else None


def _refuse(group: ConsumerGroup, event: Any, error: str, message: str | None = None) -> None:
    request = event.request
    group.note(
        "member_refused",
        request.member_id or None,
        name=request.client,
        api="ConsumerGroupHeartbeat",
        error=error,
        message=message,
        instance_id=request.instance_id,
    )
    group.reply(event.token, ConsumerGroupHeartbeatAnswer(error, request.member_id, message=message))


def _member(group: ConsumerGroup, event: Any, request: ConsumerGroupHeartbeat) -> ConsumerGroupMember | None:
    if request.member_epoch == 0:
        return _joiner(group, event, request)
    member = group.members.get(request.member_id)
    problem = _identity_problem(group, request)
    if member is None or problem is not None:
        _refuse(group, event, *(problem or ("UNKNOWN_MEMBER_ID", None)))
        return None
    if _fenced(request, member):
        which = "greater" if request.member_epoch > member.epoch else "smaller"
        message = f"The consumer group member has a {which} member epoch ({request.member_epoch}) than the one known by the group coordinator ({member.epoch}). The member must abandon all its partitions and rejoin."
        _refuse(group, event, "FENCED_MEMBER_EPOCH", message)
        return None
    return member


def _identity_problem(group: ConsumerGroup, request: ConsumerGroupHeartbeat) -> tuple[str, str] | None:
    """Error and message for a member that is not whom it says; a static one is known by its instance id."""
    instance, member_id = request.instance_id, request.member_id
    if instance is None:
        if member_id in group.members:
            return None
        return "UNKNOWN_MEMBER_ID", f"Member {member_id} is not a member of group {group.settings.group}."
    holder = group.statics.get(instance)
    if holder is None:
        return "UNKNOWN_MEMBER_ID", f"Instance id {instance} is unknown."
    if holder == member_id:
        return None
    return (
        "FENCED_INSTANCE_ID",
        f"Static member {member_id} with instance id {instance} was fenced by member {holder}.",
    )


def _fenced(request: ConsumerGroupHeartbeat, member: ConsumerGroupMember) -> bool:
    if request.member_epoch == member.epoch:
        return False
    tolerated = (  # a member that is away has epoch -2: whatever it still says is greater
        request.member_epoch == member.previous_epoch < member.epoch
        and request.owned is not None
        and all(tp in member.assigned for tp in request.owned)
    )
    return not tolerated


def _joiner(group: ConsumerGroup, event: Any, request: ConsumerGroupHeartbeat) -> ConsumerGroupMember | None:
    member = group.members.get(request.member_id)
    instance = request.instance_id
    old = group.members.get(group.statics.get(instance, "")) if instance is not None else None
    if instance is not None and old is not None and old.epoch != LEFT_FOR_A_WHILE:
        message = f"Static member {request.member_id} with instance id {instance} cannot join the group because the instance id is owned by {old.member_id} member."
        group.note(
            "member_refused",
            request.member_id,
            name=request.client,
            api="ConsumerGroupHeartbeat",
            error="UNRELEASED_INSTANCE_ID",
            message=message,
            instance_id=instance,
            holder=old.member_id,
        )
        group.reply(
            event.token,
            ConsumerGroupHeartbeatAnswer("UNRELEASED_INSTANCE_ID", request.member_id, message=message),
        )
        return None
    if old is not None:
        return replace_member(group, request.member_id, request.client, old)
    if member is not None:
        return member
    if len(group.members) >= group.settings.max_size:
        message = f"The consumer group has reached its maximum capacity of {group.settings.max_size} members."
        _refuse(group, event, "GROUP_MAX_SIZE_REACHED", message)
        return None
    member = ConsumerGroupMember(request.member_id, instance, request.client)
    group.members[request.member_id] = member
    if instance is not None:
        group.statics[instance] = request.member_id
    group.note("member_added", request.member_id, name=request.client, instance_id=instance, reason="")
    return member


def _beat(
    group: ConsumerGroup, event: Any, request: ConsumerGroupHeartbeat, member: ConsumerGroupMember
) -> None:
    _take_over(group, request, member)
    compute_if_due(group)
    group.new_vote = None
    before = _progress(member)
    changed = reconcile(group, member, request.owned)
    group.settle_state()
    if _progress(member) != before:
        _arm_rebalance_timer(group, member)
    group.out.append(SetTimer(("session", member.member_id), group.settings.session_timeout_ms))
    full = (
        request.rebalance_timeout_ms is not None and request.topics is not None and request.owned is not None
    )
    assignment = tuple(sorted(member.assigned)) if request.member_epoch == 0 or full or changed else None
    group.reply(
        event.token,
        ConsumerGroupHeartbeatAnswer(
            NONE, member.member_id, member.epoch, group.settings.heartbeat_interval_ms, assignment
        ),
    )


def _arm_rebalance_timer(group: ConsumerGroup, member: ConsumerGroupMember) -> None:
    """One deadline for a whole revocation: heartbeats that change nothing do not move it."""
    key = ("rebalance", member.member_id)
    if member.state is MemberState.UNREVOKED:
        group.out.append(SetTimer(key, member.rebalance_timeout_ms))
    else:
        group.out.append(CancelTimer(key))


def _progress(member: ConsumerGroupMember) -> tuple[object, ...]:
    return (
        member.state,
        member.epoch,
        member.previous_epoch,
        dict(member.assigned),
        dict(member.pending_revocation),
    )


def _take_over(group: ConsumerGroup, request: ConsumerGroupHeartbeat, member: ConsumerGroupMember) -> None:
    """Subscription and settings of the member; at most one bump for all that changed."""
    preferred = group.preferred_assignor()
    if request.rebalance_timeout_ms is not None:
        member.rebalance_timeout_ms = request.rebalance_timeout_ms
    wanted = request.server_assignor
    if wanted is not None:
        new = all(one.server_assignor != wanted for one in group.members.values())
        member.server_assignor, group.new_vote = wanted, wanted if new else None
    names = member.names if request.topics is None else tuple(sorted(request.topics))
    regex = member.regex if request.regex is None else (request.regex or None)
    joined = request.member_epoch == 0 and member.epoch == 0
    subscribe(
        group,
        member,
        names,
        regex,
        "a member joined" if joined else "a member subscribed to other topics",
        "join" if joined else "subscription",
        preferred,
    )
    scan_if_due(group)


# --- leaving --------------------------------------------------------------------------------
def _leave(group: ConsumerGroup, event: Any, request: ConsumerGroupHeartbeat) -> None:
    member = group.members.get(request.member_id)
    problem = _identity_problem(group, request)
    if member is None or problem is not None:
        _refuse(group, event, *(problem or ("UNKNOWN_MEMBER_ID", None)))
        return
    if request.member_epoch == LEFT_FOR_A_WHILE:
        member.previous_epoch, member.epoch = member.epoch, LEFT_FOR_A_WHILE
        group.hold(member, dict.fromkeys(member.assigned, 0), {})
        member.state = MemberState.STABLE
        group.out.append(CancelTimer(("rebalance", member.member_id)))
        group.look(member)
        group.note("member_away", member.member_id, name=member.client, instance_id=member.instance_id)
        group.settle_state()
    else:
        remove_member(group, member, "leave", "the member left", "leave")
    group.reply(event.token, ConsumerGroupHeartbeatAnswer(NONE, request.member_id, request.member_epoch))


def _leave_group(group: ConsumerGroup, event: Any) -> None:
    request: LeaveGroup = event.request
    member = group.members.get(request.member_id or group.statics.get(request.instance_id or "", ""))
    if member is None:
        group.reply(event.token, Answer("UNKNOWN_MEMBER_ID"))
        return
    remove_member(
        group,
        member,
        "admin" if request.admin else "leave",
        request.reason or "not provided",
        "admin" if request.admin else "leave",
    )
    group.reply(event.token, Answer(NONE))


# --- commits, timers, loading -----------------------------------------------------------------
def _commit(group: ConsumerGroup, event: Any) -> None:
    group.reply(event.token, Answer(commit_error(group, event.request)))


def commit_error(group: ConsumerGroup, request: OffsetCommit) -> str:
    """What OffsetCommit answers (ConsumerGroup.validateOffsetCommit, KIP-1251 since 4.3)."""
    if request.generation < 0 and not group.members:
        return NONE
    member = group.members.get(request.member_id)
    if member is None:
        return "UNKNOWN_MEMBER_ID"
    if request.generation == member.epoch:
        return NONE
    if member.classic is not None:
        return "ILLEGAL_GENERATION"
    if request.generation > member.epoch or not group.settings.has("commit-per-partition-epoch"):
        return "STALE_MEMBER_EPOCH"
    held = {**member.assigned, **member.pending_revocation}
    accepted = all(tp in held and request.generation >= held[tp] for tp in request.offsets)
    return NONE if accepted else "STALE_MEMBER_EPOCH"


def _timer(group: ConsumerGroup, event: Any) -> None:
    kind, member_id = event.key[0], event.key[1]
    member = group.members.get(member_id)
    if member is None:
        return
    if kind in {"join", "sync"}:
        group.join_timers.discard(member_id)
        failed = {
            "join": "the classic member failed to join within the rebalance timeout",
            "sync": "the member failed to sync within timeout",
        }
        group.note("timer_fired", member_id, timer=kind, name=member.client)
        remove_member(group, member, f"{kind}_timeout", failed[kind], f"{kind}_timeout")
        return
    if kind == "session":
        group.note("timer_fired", member_id, timer="session", name=member.client)
        remove_member(group, member, "session", "the member session expired", "session")
        return
    if member.state is MemberState.UNREVOKED:
        group.note("timer_fired", member_id, timer="rebalance", name=member.client)
        reason = f"it failed to transition from epoch {member.epoch} within {member.rebalance_timeout_ms}ms"
        remove_member(group, member, "rebalance_timeout", reason, "rebalance_timeout")


def _unload(group: ConsumerGroup, event: Any) -> None:
    for member in group.members.values():
        group.out.append(CancelTimer(("session", member.member_id)))
        group.out.append(CancelTimer(("rebalance", member.member_id)))


def _load(group: ConsumerGroup, event: Any) -> None:
    for member in group.members.values():
        session = member.classic.session_timeout_ms if member.classic else group.settings.session_timeout_ms
        group.out.append(SetTimer(("session", member.member_id), session))
        _arm_rebalance_timer(group, member)
    group.note("group_loaded", members=len(group.members))


RULES: Mapping[type, Callable[[ConsumerGroup, Any], None]] = MappingProxyType(
    {
        ConsumerGroupHeartbeat: _heartbeat,
        LeaveGroup: _leave_group,
        OffsetCommit: _commit,
        TimerFired: _timer,
        Unload: _unload,
        Load: _load,
        JoinGroup: classic_join,
        SyncGroup: classic_sync,
        Heartbeat: classic_heartbeat,
        Appended: scanned,
    }
)


def step(group: ConsumerGroup, event: Any) -> list[Effect]:
    """Apply one event to a consumer group and return the effects it asks for, in order."""
    kind = type(event.request) if isinstance(event, Arrived) else type(event)
    rule = RULES.get(kind)
    if rule is None:
        raise ProtocolViolation(f"a consumer group is never sent {kind.__name__}")
    group.out = []
    rule(group, event)
    return group.out
