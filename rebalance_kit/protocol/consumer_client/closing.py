"""close(), and fatal errors that end in it: commit, last callback, one leave heartbeat that nobody waits for."""

from __future__ import annotations

from rebalance_kit.protocol.client.commits import (
    CLOSE_LIMIT,
    AwaitedCommit,
    backoff_ms,
    commit_and_close,
    retriable,
)
from rebalance_kit.protocol.client.poll_step import IN_CALLBACK, PollStep
from rebalance_kit.protocol.consumer_client.heartbeating import send_leave_heartbeat
from rebalance_kit.protocol.consumer_client.member import HEARTBEAT, ConsumerMember
from rebalance_kit.protocol.consumer_client.states import OUTSIDE, MemberState
from rebalance_kit.protocol.effects import (
    CallbackDone,
    CancelTimer,
    CloseCalled,
    Closed,
    Die,
    Effects,
    StopFetching,
)


def close_called(member: ConsumerMember, event: CloseCalled) -> Effects:
    """First step: commit."""
    if not member.closing:
        member.close_timeout_ms = event.timeout_ms
        yield from commit_and_close(member, CLOSE_COMMIT)


def last_callback(member: ConsumerMember) -> Effects:
    """Second step: revoked(all), or lost(all) after fencing."""
    member.enter(PollStep.CLOSE_CALLBACK)
    if member.owned:
        lost = member.generation <= 0
        yield StopFetching(member.owned, "lost" if lost else "close")
        yield member.callback("lost" if lost else "revoked", member.owned)
    else:
        yield from leave(member)


# close() takes no stale epoch back (commitSyncWithRetries)
CLOSE_COMMIT: AwaitedCommit[ConsumerMember] = AwaitedCommit(
    "close", CLOSE_LIMIT, retriable, backoff_ms, last_callback
)


def last_callback_returned(member: ConsumerMember, event: CallbackDone) -> Effects:
    """The listener's last word; an error does not keep the member from leaving."""
    if event.error is not None:
        yield member.raised(event.error)
    yield from leave(member)


def leave(member: ConsumerMember) -> Effects:
    """Last step: a leave heartbeat, where there is a group to leave and a coordinator to tell."""
    yield member.own(())
    if member.state not in OUTSIDE:
        yield from member.move(MemberState.PREPARE_LEAVING)
    if member.state is MemberState.PREPARE_LEAVING and member.coordinator_known and member.member_id:
        yield from send_leave_heartbeat(member)
        yield from member.move(MemberState.UNSUBSCRIBED)
    yield CancelTimer(HEARTBEAT)
    member.enter(PollStep.CLOSED)
    yield Die(*member.death) if member.death else Closed()


def die(member: ConsumerMember, error: str, message: str) -> Effects:
    """A fatal error: thrown from poll(), after which the application closes its consumer.

    It may come while a callback runs; it is thrown when that has returned.
    """
    member.death = (error, message)
    member.forget_epoch()
    yield from member.move(MemberState.FATAL)
    if member.poll_step is not PollStep.CLOSE_CALLBACK and member.poll_step not in IN_CALLBACK:
        yield from last_callback(member)
