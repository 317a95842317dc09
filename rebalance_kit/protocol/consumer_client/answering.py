"""The background thread: when a heartbeat is due, and what its answer means."""

from __future__ import annotations

from rebalance_kit.model.kafka_errors import COORDINATOR_MOVED
from rebalance_kit.protocol.client.commits import RETRY_MS
from rebalance_kit.protocol.consumer_client.closing import die
from rebalance_kit.protocol.consumer_client.fencing import fence, leave_on_poll_timeout
from rebalance_kit.protocol.consumer_client.heartbeating import send_heartbeat, take_target
from rebalance_kit.protocol.consumer_client.member import HEARTBEAT, ConsumerMember
from rebalance_kit.protocol.consumer_client.states import MemberState
from rebalance_kit.protocol.effects import CoordinatorFound, Effects, NextPoll, SetTimer, TimerFired, WantPoll
from rebalance_kit.protocol.messages import NONE, ConsumerGroupHeartbeat, ConsumerGroupHeartbeatAnswer

FENCING = frozenset({"FENCED_MEMBER_EPOCH", "UNKNOWN_MEMBER_ID"})
DEAF = frozenset({MemberState.FENCED, MemberState.STALE, MemberState.LEAVING, MemberState.FATAL})
"""States in which an answer means nothing; a member inside its last callback hears its own."""


def heartbeat_due(member: ConsumerMember, fired: TimerFired) -> Effects:
    """An interval has passed since the last one; an application that did not poll in time makes the member leave."""
    if not member.takes_part:
        return
    if member.poll_expired and not member.closing:
        yield from leave_on_poll_timeout(member)
        yield WantPoll(NextPoll.GO_ON)
    elif member.coordinator_known and not member.in_flight:
        yield from send_heartbeat(member)
    else:
        yield SetTimer(HEARTBEAT, RETRY_MS)


def heartbeat_answered(
    member: ConsumerMember, request: ConsumerGroupHeartbeat, answer: ConsumerGroupHeartbeatAnswer
) -> Effects:
    """An epoch and perhaps an assignment, or an error."""
    member.in_flight = False
    error = answer.error
    if request.member_epoch < 0:
        if member.state is MemberState.JOINING and member.coordinator_known:
            yield from send_heartbeat(member)
    elif error == NONE:
        yield from _accepted(member, request, answer)
    elif error in FENCING:
        outside = member.state in {MemberState.FENCED, MemberState.STALE, MemberState.LEAVING}
        if not outside and request.member_epoch == member.generation:
            yield from fence(member)
    elif error in COORDINATOR_MOVED:
        yield from member.lose_coordinator("coordinator unavailable")
    elif member.state is not MemberState.STALE:
        yield from die(member, error, answer.message or error)


def _accepted(
    member: ConsumerMember, request: ConsumerGroupHeartbeat, answer: ConsumerGroupHeartbeatAnswer
) -> Effects:
    if member.state in DEAF:
        return
    first = not member.interval_ms or request.member_epoch == 0
    member.interval_ms = answer.heartbeat_interval_ms
    member.generation = answer.member_epoch
    if first:
        yield SetTimer(HEARTBEAT, member.interval_ms)
    if answer.assignment is not None:
        member.target = answer.assignment
    if member.state is MemberState.ACKNOWLEDGING:
        yield from send_heartbeat(member)
    else:
        yield from take_target(member)


def heartbeat_unanswered(member: ConsumerMember, request: ConsumerGroupHeartbeat, cause: str) -> Effects:
    """No answer will come."""
    yield from member.lose_coordinator(cause)


def coordinator_found(member: ConsumerMember, event: CoordinatorFound) -> Effects:
    """The next heartbeat leaves at once."""
    if member.coordinator_known:
        return
    member.coordinator_known = True
    yield member.note("coordinator_found")
    if member.takes_part:
        yield from send_heartbeat(member)
