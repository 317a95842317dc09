"""Membership that ends without close(): the coordinator fenced the member, or the application did not poll in time.

Everything owned is lost at the next poll(); then the member joins again with the same id.
"""

from __future__ import annotations

from collections.abc import Callable

from rebalance_kit.protocol.client.poll_step import PollStep
from rebalance_kit.protocol.consumer_client.closing import last_callback
from rebalance_kit.protocol.consumer_client.heartbeating import join, send_leave_heartbeat
from rebalance_kit.protocol.consumer_client.member import HEARTBEAT, ConsumerMember
from rebalance_kit.protocol.consumer_client.states import MemberState
from rebalance_kit.protocol.effects import (
    CallbackDone,
    CancelTimer,
    Effects,
    NextPoll,
    Polled,
    PollTimeout,
    StopFetching,
    WantPoll,
)


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
    """Note that max.poll.interval.ms has passed: Java leaves at its next heartbeat (``answering.heartbeat_due``), librdkafka when polled again."""
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
