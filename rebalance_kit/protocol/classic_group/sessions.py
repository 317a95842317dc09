"""Heartbeats of a classic group: the only way in which a member hears of a rebalance that others began."""

from __future__ import annotations

from collections.abc import Callable

from rebalance_kit.protocol import messages
from rebalance_kit.protocol.classic_group.group import (
    Cause,
    ClassicGroup,
    ClassicGroupMember,
    identity_error,
    membership_error,
)
from rebalance_kit.protocol.classic_group.join_phase import complete_after_expiry
from rebalance_kit.protocol.effects import Arrived, CancelTimer, Effects, Reply, Timer, TimerFired


def heartbeat_stable(group: ClassicGroup, arrived: Arrived[messages.Heartbeat]) -> Effects:
    """Stable: the session begins anew."""
    yield from _heartbeat(group, arrived, messages.NONE)


def heartbeat_preparing(group: ClassicGroup, arrived: Arrived[messages.Heartbeat]) -> Effects:
    """Preparing: the member is told REBALANCE_IN_PROGRESS, so that it joins again."""
    yield from _heartbeat(group, arrived, "REBALANCE_IN_PROGRESS")


def heartbeat_completing(group: ClassicGroup, arrived: Arrived[messages.Heartbeat]) -> Effects:
    """Completing: NONE, because the member has joined this generation already (ClassicGroupState's comment says otherwise)."""
    yield from _heartbeat(group, arrived, messages.NONE)


def _heartbeat(group: ClassicGroup, arrived: Arrived[messages.Heartbeat], answer: str) -> Effects:
    request = arrived.request
    error = membership_error(group, request.member_id, request.instance_id, request.generation)
    if error == "FENCED_INSTANCE_ID":
        yield group.note(
            "member_refused",
            request.member_id,
            name=request.client,
            api="Heartbeat",
            error=error,
            message=None,
            instance_id=request.instance_id,
            holder=group.statics.get(request.instance_id or ""),
        )
    if error is None:
        yield group.members[request.member_id].session_timer()
    yield Reply(arrived.token, messages.Answer(error or answer))


# OffsetCommit in a classic group (ClassicGroup.validateOffsetCommit).


def commit_empty(group: ClassicGroup, arrived: Arrived[messages.OffsetCommit]) -> Effects:
    """Empty: a simple consumer, which is in no group, may commit; nobody else is known."""
    simple = arrived.request.generation < 0
    yield Reply(arrived.token, messages.Answer(messages.NONE if simple else "UNKNOWN_MEMBER_ID"))


def commit_of_member(group: ClassicGroup, arrived: Arrived[messages.OffsetCommit]) -> Effects:
    """Preparing and Stable: a member of the last finished generation may commit, and its session begins anew."""
    request = arrived.request
    error = membership_error(group, request.member_id, request.instance_id, request.generation)
    if error is None:
        yield group.members[request.member_id].session_timer()
    yield Reply(arrived.token, messages.Answer(error or messages.NONE))


def commit_completing(group: ClassicGroup, arrived: Arrived[messages.OffsetCommit]) -> Effects:
    """Completing: nobody knows yet what it may commit."""
    request = arrived.request
    error = membership_error(group, request.member_id, request.instance_id, request.generation)
    yield Reply(arrived.token, messages.Answer(error or "REBALANCE_IN_PROGRESS"))


# How members leave a classic group: LeaveGroup, an expired session, an id nobody joined with, a SyncGroup never sent.
#
# What follows depends on the state, so the table names it: ``leave_then(begin_rebalance)``.


Then = Callable[[ClassicGroup, Cause], Effects]
"""What a change in membership leads to in one state of the group."""


def leave_empty(group: ClassicGroup, arrived: Arrived[messages.LeaveGroup]) -> Effects:
    """Empty: only an id that was given out can be taken back."""
    member_id = _leaver(group, arrived.request)
    if member_id in group.pending:
        yield from _forget_pending(group, arrived, member_id)
    else:
        yield Reply(arrived.token, messages.Answer("UNKNOWN_MEMBER_ID"))


def leave_then(then: Then) -> Callable[[ClassicGroup, Arrived[messages.LeaveGroup]], Effects]:
    """The rule of a state with members: the leaver is out at once, and ``then`` follows."""

    def leave(group: ClassicGroup, arrived: Arrived[messages.LeaveGroup]) -> Effects:
        request = arrived.request
        member_id = _leaver(group, request)
        if member_id in group.pending:
            client = group.pending[member_id]
            yield from _forget_pending(group, arrived, member_id)
            yield from then(group, _left(member_id, messages.Trigger.LEAVE, client))
            return
        error = identity_error(group, member_id, request.instance_id)
        if error is not None:
            yield Reply(arrived.token, messages.Answer(error))
            return
        member = group.members[member_id]
        trigger = messages.Trigger.ADMIN if request.admin else messages.Trigger.LEAVE
        yield from remove_member(group, member, trigger.value, request.reason or "not provided")
        yield Reply(arrived.token, messages.Answer(messages.NONE))
        printed = "" if request.admin and not request.member_id else member_id
        yield from then(group, _left(printed, trigger, member.client))

    return leave


def _leaver(group: ClassicGroup, request: messages.LeaveGroup) -> str:
    return request.member_id or group.statics.get(request.instance_id or "", "")


def _left(printed: str, trigger: messages.Trigger, client: str) -> Cause:
    return Cause(f"explicit `LeaveGroup` request for ({printed}) members.", trigger, client)


def _forget_pending(group: ClassicGroup, arrived: Arrived[messages.LeaveGroup], member_id: str) -> Effects:
    client = group.pending.pop(member_id)
    yield CancelTimer((Timer.PENDING, member_id))
    yield group.note(
        "member_removed",
        member_id,
        name=client,
        how="leave",
        reason=arrived.request.reason or "not provided",
        pending=True,
    )
    yield Reply(arrived.token, messages.Answer(messages.NONE))


def session_expired_then(then: Then) -> Callable[[ClassicGroup, TimerFired], Effects]:
    """The rule of a state with members: no heartbeat for a session removes a member, and ``then`` follows.

    Whoever waits in JoinGroup or SyncGroup lives, unless it is new: then the wait itself is limited.
    """

    def session_expired(group: ClassicGroup, fired: TimerFired) -> Effects:
        member = group.members.get(fired.key[1])
        if member is None:
            return
        waits = member.parked_join is not None or member.parked_sync is not None
        if waits and not member.is_new:
            return
        yield group.note("timer_fired", member.member_id, timer="session", name=member.client)
        yield from remove_member(group, member, "session", "the member session expired")
        reason = f"removing member {member.member_id} on heartbeat expiration."
        yield from then(group, Cause(reason, messages.Trigger.SESSION, member.client))

    return session_expired


def pending_expired(group: ClassicGroup, fired: TimerFired) -> Effects:
    """Nobody joined with the id that was given out; in Preparing nobody waits for it any more."""
    member_id = fired.key[1]
    client = group.pending.pop(member_id, None)
    if client is not None:
        yield group.note(
            "member_removed",
            member_id,
            name=client,
            how="session",
            reason="pending member never joined",
            pending=True,
        )


def pending_expired_preparing(group: ClassicGroup, fired: TimerFired) -> Effects:
    """Preparing: the join phase may have waited for that id alone."""
    if fired.key[1] in group.pending:
        yield from pending_expired(group, fired)
        yield from complete_after_expiry(group)


def sync_expired_then(then: Then) -> Callable[[ClassicGroup, TimerFired], Effects]:
    """The rule of a finished join phase: whoever never sent SyncGroup is out, and ``then`` follows."""

    def sync_expired(group: ClassicGroup, fired: TimerFired) -> Effects:
        missing = sorted(group.pending_sync)
        if not missing:
            return
        removed = [group.members[member_id] for member_id in missing if member_id in group.members]
        group.pending_sync.clear()
        for member in removed:
            yield from remove_member(group, member, "sync_timeout", "never sent SyncGroup")
        reason = f"Removing [{', '.join(missing)}] on pending sync request expiration"
        culprit = removed[0].client if removed else None
        yield from then(group, Cause(reason, messages.Trigger.SYNC_TIMEOUT, culprit))

    return sync_expired


def remove_member(group: ClassicGroup, member: ClassicGroupMember, how: str, reason: str) -> Effects:
    """Take a member out and answer what it was waiting for; the caller rebalances."""
    yield from group.answer_join(member, messages.JoinAnswer("UNKNOWN_MEMBER_ID", member.member_id))
    yield from group.answer_sync(member, messages.SyncAnswer("UNKNOWN_MEMBER_ID"))
    group.remove(member.member_id)
    yield CancelTimer((Timer.SESSION, member.member_id))
    yield group.note(
        "member_removed",
        member.member_id,
        name=member.client,
        how=how,
        reason=reason,
        instance_id=member.instance_id,
    )
