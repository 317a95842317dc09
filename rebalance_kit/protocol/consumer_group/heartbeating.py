"""ConsumerGroupHeartbeat of a member that joins or goes on: its subscription, the target, its own next step.

Every heartbeat may raise the group epoch, compute the target, and lead its sender one step towards it.
"""

from __future__ import annotations

from collections.abc import Generator

from rebalance_kit.protocol.consumer_group.group import (
    LEFT_FOR_A_WHILE,
    ConsumerGroup,
    ConsumerGroupMember,
    MemberState,
    Problem,
    add_member,
    epoch_problem,
    identity_problem,
    refuse_heartbeat,
    remove_member,
    replace_member,
    request_problem,
    unreleased_instance_problem,
)
from rebalance_kit.protocol.consumer_group.reconciliation import (
    compute_if_due,
    reconcile,
    scan_if_due,
    subscribe,
)
from rebalance_kit.protocol.effects import (
    Arrived,
    CancelTimer,
    Effect,
    Effects,
    Load,
    Reply,
    SetTimer,
    Timer,
    TimerFired,
    Unload,
)
from rebalance_kit.protocol.messages import (
    NONE,
    Answer,
    ConsumerGroupHeartbeat,
    ConsumerGroupHeartbeatAnswer,
    LeaveGroup,
    OffsetCommit,
    Trigger,
)


def heartbeat_to_join(group: ConsumerGroup, arrived: Arrived[ConsumerGroupHeartbeat]) -> Effects:
    """Epoch 0: a new member, a known one that joins again, or a static one that is back."""
    problem = request_problem(group, arrived.request)
    if problem is not None:
        yield from refuse_heartbeat(group, arrived, problem)
        return
    known = set(group.members)
    member = yield from _joiner(group, arrived)
    if member is not None:
        newcomer = None if member.member_id in known else member.member_id
        yield from _heartbeat(group, arrived, member, newcomer)


def heartbeat_of_member(group: ConsumerGroup, arrived: Arrived[ConsumerGroupHeartbeat]) -> Effects:
    """A member's epoch: it must be the member's own."""
    request = arrived.request
    problem = request_problem(group, request) or identity_problem(group, request)
    if problem is None:
        problem = epoch_problem(group.members[request.member_id], request)
    if problem is not None:
        yield from refuse_heartbeat(group, arrived, problem)
    else:
        yield from _heartbeat(group, arrived, group.members[request.member_id])


def _joiner(
    group: ConsumerGroup, arrived: Arrived[ConsumerGroupHeartbeat]
) -> Generator[Effect, None, ConsumerGroupMember | None]:
    request = arrived.request
    instance, member_id = request.instance_id, request.member_id
    old = group.members.get(group.statics.get(instance, "")) if instance is not None else None
    problem = unreleased_instance_problem(old, request)
    if old is not None and problem is not None:
        yield from refuse_heartbeat(group, arrived, problem, holder=old.member_id)
        return None
    if old is not None:
        yield from replace_member(group, old, member_id, request.client)
        return group.members[member_id]
    if member_id in group.members:
        return group.members[member_id]
    if len(group.members) >= group.settings.max_size:
        message = f"The consumer group has reached its maximum capacity of {group.settings.max_size} members."
        yield from refuse_heartbeat(group, arrived, Problem("GROUP_MAX_SIZE_REACHED", message))
        return None
    member = ConsumerGroupMember(member_id, instance, request.client)
    add_member(group, member)
    yield group.note("member_added", member_id, name=request.client, instance_id=instance, reason="")
    return member


def _heartbeat(
    group: ConsumerGroup,
    arrived: Arrived[ConsumerGroupHeartbeat],
    member: ConsumerGroupMember,
    newcomer: str | None = None,
) -> Effects:
    request, settings = arrived.request, group.settings
    new_vote = yield from _update(group, request, member)
    yield from compute_if_due(group, new_vote, newcomer)
    before = _progress(member)
    assigned_anew = yield from reconcile(group, member, request.owned)
    yield from group.settle_state()
    if _progress(member) != before:
        yield rebalance_timer(member)
    yield member.session_timer(settings.session_timeout_ms)
    full = (
        request.rebalance_timeout_ms is not None and request.topics is not None and request.owned is not None
    )
    tells = request.member_epoch == 0 or full or assigned_anew
    assignment = tuple(sorted(member.assigned)) if tells else None
    yield Reply(
        arrived.token,
        ConsumerGroupHeartbeatAnswer(
            NONE, member.member_id, member.epoch, settings.heartbeat_interval_ms, assignment
        ),
    )


def _update(
    group: ConsumerGroup, request: ConsumerGroupHeartbeat, member: ConsumerGroupMember
) -> Generator[Effect, None, str | None]:
    """Subscription and settings of the member; at most one bump for all that changed.

    Returns the server assignor that this heartbeat asks for and nobody did before.
    """
    preferred = group.preferred_assignor()
    if request.rebalance_timeout_ms is not None:
        member.rebalance_timeout_ms = request.rebalance_timeout_ms
    wanted, new_vote = request.server_assignor, None
    if wanted is not None:
        new_vote = None if _wanted_by_somebody(group, wanted) else wanted
        member.server_assignor = wanted
    names = member.names if request.topics is None else tuple(sorted(request.topics))
    regex = member.regex if request.regex is None else (request.regex or None)
    joined = request.member_epoch == 0 and member.epoch == 0
    yield from subscribe(group, member, names, regex, joined=joined, new_vote=new_vote, preferred=preferred)
    yield from scan_if_due(group)
    return new_vote


def _wanted_by_somebody(group: ConsumerGroup, assignor: str) -> bool:
    return any(member.server_assignor == assignor for member in group.members.values())


def rebalance_timer(member: ConsumerGroupMember) -> Effect:
    """One deadline for a whole revocation: heartbeats that change nothing do not move it."""
    key = (Timer.REBALANCE, member.member_id)
    if member.state is MemberState.UNREVOKED:
        return SetTimer(key, member.rebalance_timeout_ms)
    return CancelTimer(key)


def _progress(member: ConsumerGroupMember) -> tuple[object, ...]:
    """How far a member is; what it holds is replaced (``ConsumerGroup.hold``), never changed in place."""
    return (member.state, member.epoch, member.previous_epoch, member.assigned, member.pending_revocation)


# OffsetCommit in a consumer group (ConsumerGroup.validateOffsetCommit, KIP-1251 since 4.3).


def commit(group: ConsumerGroup, arrived: Arrived[OffsetCommit]) -> Effects:
    """The epoch of a commit must be the member's own; since 4.3, that of the partition's assignment will do."""
    yield Reply(arrived.token, Answer(commit_error(group, arrived.request)))


def commit_error(group: ConsumerGroup, request: OffsetCommit) -> str:
    """What OffsetCommit answers."""
    if request.generation < 0 and not group.members:
        return NONE
    member = group.members.get(request.member_id)
    if member is None:
        return "UNKNOWN_MEMBER_ID"
    if request.generation == member.epoch:
        return NONE
    if member.classic is not None:
        return "ILLEGAL_GENERATION"
    if request.generation > member.epoch or group.settings.has("commit-races-with-epoch"):
        return "STALE_MEMBER_EPOCH"
    assigned_since = {**member.assigned, **member.pending_revocation}
    accepted = all(
        tp in assigned_since and request.generation >= assigned_since[tp] for tp in request.offsets
    )
    return NONE if accepted else "STALE_MEMBER_EPOCH"


# How members leave a consumer group: by heartbeat, by LeaveGroup, by silence, by not revoking in time.


def heartbeat_to_leave(group: ConsumerGroup, arrived: Arrived[ConsumerGroupHeartbeat]) -> Effects:
    """Epoch -1: the member is out, and its partitions are free."""
    request = arrived.request
    problem = request_problem(group, request) or identity_problem(group, request)
    if problem is not None:
        yield from refuse_heartbeat(group, arrived, problem)
        return
    member = group.members[request.member_id]
    yield from remove_member(group, member, "leave", "the member left", Trigger.LEAVE)
    yield Reply(arrived.token, ConsumerGroupHeartbeatAnswer(NONE, request.member_id, request.member_epoch))


def heartbeat_to_leave_for_a_while(group: ConsumerGroup, arrived: Arrived[ConsumerGroupHeartbeat]) -> Effects:
    """Epoch -2: a static member means to come back, and keeps its partitions until its session ends."""
    request = arrived.request
    problem = request_problem(group, request) or identity_problem(group, request)
    if problem is not None:
        yield from refuse_heartbeat(group, arrived, problem)
        return
    member = group.members[request.member_id]
    member.previous_epoch, member.epoch = member.epoch, LEFT_FOR_A_WHILE
    group.hold(member, dict.fromkeys(member.assigned, 0), {})
    member.state = MemberState.STABLE
    yield CancelTimer((Timer.REBALANCE, member.member_id))
    group.update_behind(member)
    yield group.note("member_away", member.member_id, name=member.client, instance_id=member.instance_id)
    yield from group.settle_state()
    yield Reply(arrived.token, ConsumerGroupHeartbeatAnswer(NONE, request.member_id, request.member_epoch))


def leave_group(group: ConsumerGroup, arrived: Arrived[LeaveGroup]) -> Effects:
    """LeaveGroup of a classic member, or of an administrator on anybody's behalf."""
    request = arrived.request
    member = group.members.get(request.member_id or group.statics.get(request.instance_id or "", ""))
    if member is None:
        yield Reply(arrived.token, Answer("UNKNOWN_MEMBER_ID"))
        return
    trigger = Trigger.ADMIN if request.admin else Trigger.LEAVE
    yield from remove_member(group, member, trigger.value, request.reason or "not provided", trigger)
    yield Reply(arrived.token, Answer(NONE))


# --- timers -----------------------------------------------------------------------------------
def session_expired(group: ConsumerGroup, fired: TimerFired) -> Effects:
    """No heartbeat for a session: the member is out."""
    yield from _expired(group, fired, "session", "the member session expired", Trigger.SESSION)


def rebalance_expired(group: ConsumerGroup, fired: TimerFired) -> Effects:
    """The member did not revoke in time: it is out, and others may have what it was to give up."""
    member = group.members.get(fired.key[1])
    if member is not None and member.state is MemberState.UNREVOKED:
        reason = f"it failed to transition from epoch {member.epoch} within {member.rebalance_timeout_ms}ms"
        yield from _expired(group, fired, "rebalance_timeout", reason, Trigger.REBALANCE_TIMEOUT)


def join_expired(group: ConsumerGroup, fired: TimerFired) -> Effects:
    """A classic member was told to re-join and did not."""
    reason = "the classic member failed to join within the rebalance timeout"
    yield from _expired(group, fired, "join_timeout", reason, Trigger.JOIN_TIMEOUT)


def sync_expired(group: ConsumerGroup, fired: TimerFired) -> Effects:
    """A classic member joined and did not send SyncGroup."""
    reason = "the member failed to sync within timeout"
    yield from _expired(group, fired, "sync_timeout", reason, Trigger.SYNC_TIMEOUT)


def _expired(group: ConsumerGroup, fired: TimerFired, how: str, reason: str, trigger: Trigger) -> Effects:
    timer, member_id = fired.key[0], fired.key[1]
    member = group.members.get(member_id)
    if member is not None:
        yield group.note("timer_fired", member_id, timer=Timer(timer).value, name=member.client)
        yield from remove_member(group, member, how, reason, trigger)


# The partition of __consumer_offsets moves, or its broker stops and starts: timers end and begin anew.


def unload(group: ConsumerGroup, event: Unload) -> Effects:
    """No timer of the group fires here any more; everything else is stored."""
    for member in group.members.values():
        yield CancelTimer((Timer.SESSION, member.member_id))
        yield CancelTimer((Timer.REBALANCE, member.member_id))


def load(group: ConsumerGroup, event: Load) -> Effects:
    """Every member gets a full session, and one that must revoke a full rebalance timeout."""
    for member in group.members.values():
        session_ms = (
            member.classic.session_timeout_ms if member.classic else group.settings.session_timeout_ms
        )
        yield member.session_timer(session_ms)
        yield rebalance_timer(member)
    yield group.note("group_loaded", members=len(group.members))
