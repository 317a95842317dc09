"""Membership that ends without close(): the coordinator fenced the member, or the application did not poll in time.

Everything owned is lost at the next poll(); then the member joins again with the same id.
"""

from __future__ import annotations

from collections.abc import Callable

from rebalance_kit.model.errors import COORDINATOR_MOVED
from rebalance_kit.protocol.client.member import RETRY_MS, PollStep
from rebalance_kit.protocol.consumer_client.heartbeating import (
    die,
    join,
    last_callback,
    send_heartbeat,
    send_leave_heartbeat,
    take_target,
)
from rebalance_kit.protocol.consumer_client.member import HEARTBEAT, ConsumerMember, MemberState
from rebalance_kit.protocol.effects import (
    CallbackDone,
    CancelTimer,
    CoordinatorFound,
    Effects,
    NextPoll,
    Polled,
    PollTimeout,
    SetTimer,
    StopFetching,
    TimerFired,
    WantPoll,
)
from rebalance_kit.protocol.messages import NONE, ConsumerGroupHeartbeat, ConsumerGroupHeartbeatAnswer


def fence(member: ConsumerMember) -> Effects:
    """The coordinator does not know the member in this epoch: give everything up as lost, then join again."""
    yield CancelTimer(HEARTBEAT)
    member.forget_epoch()
    yield from member.move(MemberState.FENCED)
    if member.poll_step in {PollStep.REVOKING, PollStep.ASSIGNING}:
        member.fenced_meanwhile = True
        return
    if member.poll_step in {PollStep.CLOSE_COMMITTING, PollStep.CLOSE_CALLBACK}:
        return  # close() goes on, and has no group to leave
    member.enter(PollStep.IDLE)
    if not member.closing:
        yield WantPoll(NextPoll.REJOIN)


# --- max.poll.interval.ms ---------------------------------------------------------------------
def poll_timeout(member: ConsumerMember, event: PollTimeout) -> Effects:
    """Note that max.poll.interval.ms has passed: Java leaves at its next heartbeat (``heartbeat_due``), librdkafka when polled again."""
    if member.takes_part and not member.closing:
        member.poll_expired, member.poll_over_ms = True, event.over_ms
        if member.librdkafka:  # heartbeats stop until the application polls again
            yield CancelTimer(HEARTBEAT)
            yield WantPoll(NextPoll.GO_ON)


def leave_on_poll_timeout(member: ConsumerMember) -> Effects:
    """Leave now; lost waits for the application's next poll()."""
    yield member.note(
        "poll_timeout", limit_ms=member.settings.max_poll_interval_ms, over_ms=member.poll_over_ms
    )
    member.poll_expired = False
    member.metadata_generation = member.generation
    member.target = None
    member.enter(PollStep.IDLE)
    yield from member.move(MemberState.PREPARE_LEAVING)
    yield from send_leave_heartbeat(member)
    yield from member.move(MemberState.STALE)
    yield CancelTimer(HEARTBEAT)


def unless_overdue(
    rule: Callable[[ConsumerMember, Polled], Effects],
) -> Callable[[ConsumerMember, Polled], Effects]:
    """The rule of a poll(), unless it comes too late for librdkafka, or nothing matters any more."""

    def polled(member: ConsumerMember, event: Polled) -> Effects:
        if member.closing:
            return
        if member.librdkafka and member.poll_expired and member.takes_part:
            yield from leave_on_poll_timeout(member)
            yield from lose_all(member)
        else:
            yield from rule(member, event)

    return polled


# --- poll() and callbacks of a member that is outside --------------------------------------------
def polled_idle(member: ConsumerMember, event: Polled) -> Effects:
    """Nothing is under way: whoever is in no group joins."""
    if member.state is MemberState.UNSUBSCRIBED:
        yield from join(member)
    elif member.state in {MemberState.FENCED, MemberState.STALE}:
        yield from lose_all(member)


def lose_all(member: ConsumerMember) -> Effects:
    """Run onPartitionsLost for all that is owned, or join at once when nothing is."""
    if member.owned:
        member.enter(PollStep.LOSING)
        yield StopFetching(member.owned, "lost")
        yield member.callback("lost", member.owned)
    else:
        yield from join(member)


def lost(member: ConsumerMember, event: CallbackDone) -> Effects:
    """The lost callback has returned: join again, unless a fatal error came meanwhile."""
    if event.error is not None:
        yield member.raised(event.error)
    yield member.own(())
    if member.death is not None:
        yield from last_callback(member)
    else:
        yield from join(member)


def callback_overtaken(member: ConsumerMember, event: CallbackDone) -> Effects:
    """The callback of a reconciliation returns after the member has left: lost follows."""
    if event.error is not None:
        yield member.raised(event.error)
    if member.state is MemberState.STALE:
        yield from go_on_outside(member)


def go_on_outside(member: ConsumerMember) -> Effects:
    """The next poll() runs lost."""
    member.fenced_meanwhile = False
    member.enter(PollStep.IDLE)
    yield WantPoll(NextPoll.GO_ON)


# The background thread: when a heartbeat is due, and what its answer means.


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
