"""How members leave a consumer group: by heartbeat, by LeaveGroup, by silence, by not revoking in time."""

from __future__ import annotations

from rebalance_kit.protocol.consumer_group.group import LEFT_FOR_A_WHILE, ConsumerGroup
from rebalance_kit.protocol.consumer_group.identity import identity_problem, refuse_heartbeat, request_problem
from rebalance_kit.protocol.consumer_group.members import remove_member
from rebalance_kit.protocol.consumer_group.states import MemberState
from rebalance_kit.protocol.effects import Arrived, CancelTimer, Effects, Reply, Timer, TimerFired
from rebalance_kit.protocol.messages import (
    NONE,
    Answer,
    ConsumerGroupHeartbeat,
    ConsumerGroupHeartbeatAnswer,
    LeaveGroup,
)
from rebalance_kit.protocol.triggers import Trigger


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
