"""close(), and fatal errors that end in it: commit, last callback, LeaveGroup of a dynamic member."""

from __future__ import annotations

from rebalance_kit.protocol.classic_client.member import ClassicMember
from rebalance_kit.protocol.classic_client.requests import leave_request
from rebalance_kit.protocol.classic_client.states import MemberState
from rebalance_kit.protocol.client.commits import (
    CLOSE_LIMIT,
    AwaitedCommit,
    backoff_ms,
    commit_and_close,
    retriable,
)
from rebalance_kit.protocol.client.poll_step import IN_CALLBACK, PollStep
from rebalance_kit.protocol.effects import (
    CallbackDone,
    CancelTimer,
    CloseCalled,
    Closed,
    Die,
    Effects,
    StopFetching,
)


def close_called(member: ClassicMember, event: CloseCalled) -> Effects:
    """The application calls close(); a callback under way returns first."""
    if member.closing:
        return
    member.close_timeout_ms = event.timeout_ms
    if member.poll_step in IN_CALLBACK and not member.stuck:
        member.closing = True
    else:
        yield from begin_close(member)


def begin_close(member: ClassicMember) -> Effects:
    """First step: commit, while heartbeats go on."""
    yield from commit_and_close(member, CLOSE_COMMIT)


def last_callback(member: ClassicMember) -> Effects:
    """Second step: no more heartbeats, then revoked or lost if something is owned.

    A rebalance under way makes the assignment lost for Java alone: librdkafka's assignment_lost() stays false.
    """
    yield from member.stop_heartbeats()
    yield CancelTimer(CLOSE_LIMIT)
    member.enter(PollStep.CLOSE_CALLBACK)
    if not member.owned:
        yield from leave(member)
        return
    rebalancing = member.state in {MemberState.PREPARING, MemberState.COMPLETING} and not member.librdkafka
    lost = member.generation < 0 or rebalancing or member.death is not None
    yield StopFetching(member.owned, "lost" if lost else "close")
    yield member.callback("lost" if lost else "revoked", member.owned)


CLOSE_COMMIT: AwaitedCommit[ClassicMember] = AwaitedCommit(
    "close", CLOSE_LIMIT, retriable, backoff_ms, last_callback
)


def last_callback_returned(member: ClassicMember, event: CallbackDone) -> Effects:
    """An error of the listener leaves close() ahead of LeaveGroup: the group only hears of it by the session timeout."""
    member.first_error = member.first_error or event.error  # onLeavePrepare throws before maybeLeaveGroup
    thrown = member.throw()
    if thrown is not None:
        yield thrown
    yield from leave(member, silently=thrown is not None)


def leave(member: ClassicMember, *, silently: bool = False) -> Effects:
    """Last step: LeaveGroup for dynamic members that are in the group."""
    yield member.own(())
    dynamic = member.settings.instance_id is None
    joined = member.member_id and member.state is not MemberState.UNJOINED and not member.death
    if dynamic and joined and member.coordinator_known and not silently:
        yield leave_request(member, "the consumer is being closed")
    yield from member.move(MemberState.UNJOINED)
    member.enter(PollStep.CLOSED)
    yield Die(*member.death) if member.death else Closed()


def die(member: ClassicMember, error: str, message: str) -> Effects:
    """A fatal error: thrown from poll(), after which the application closes its consumer.

    The heartbeat thread may meet it while a callback runs; it is thrown when that has returned.
    """
    if member.poll_step is PollStep.CLOSE_CALLBACK:
        return
    member.death = (error, message)
    if member.poll_step in IN_CALLBACK and not member.stuck:
        yield from member.stop_heartbeats()
        return
    member.generation = -1
    yield from member.move(MemberState.UNJOINED)
    yield from last_callback(member)
