"""Heartbeats of a KIP-848 consumer: they join, acknowledge, keep alive and leave; and what an assignment begins."""

from __future__ import annotations

from rebalance_kit.protocol.client.member import (
    CLOSE_LIMIT,
    IN_CALLBACK,
    AwaitedCommit,
    PollStep,
    backoff_ms,
    commit_and_close,
    retriable,
)
from rebalance_kit.protocol.consumer_client.member import HEARTBEAT, OUTSIDE, ConsumerMember, MemberState
from rebalance_kit.protocol.effects import (
    CallbackDone,
    CancelTimer,
    CloseCalled,
    Closed,
    Die,
    Effects,
    NextPoll,
    RestartAutoCommit,
    Send,
    SetTimer,
    StopFetching,
    WantPoll,
)
from rebalance_kit.protocol.messages import ConsumerGroupHeartbeat, Partitions


def join(member: ConsumerMember) -> Effects:
    """(Re-)join with epoch 0 and nothing owned."""
    if not member.member_id:
        member.member_id = member.settings.new_id()
    member.generation = 0
    member.local_epoch, member.sent_local_epoch = 0, -1  # LocalAssignment.NONE
    member.first_assignment = True
    member.target = None
    member.enter(PollStep.IDLE)
    yield from member.move(MemberState.JOINING)
    if member.coordinator_known and not member.in_flight:
        yield from send_heartbeat(member)


def send_heartbeat(member: ConsumerMember) -> Effects:
    """Send a heartbeat; ACKNOWLEDGING ends when its acknowledgement is *sent*."""
    joining = member.state is MemberState.JOINING
    full = joining or member.full_request
    changed = member.local_epoch != member.sent_local_epoch
    owned: Partitions | None = None
    if changed or full:
        owned = () if joining else member.owned
    yield _send(member, member.generation, full=full, owned=owned, regex=member.regex if full else None)
    if member.interval_ms:
        yield SetTimer(HEARTBEAT, member.interval_ms)
    if member.state is MemberState.ACKNOWLEDGING:
        yield from member.move(MemberState.STABLE)
        if member.target is not None:
            yield from take_target(member)


def send_leave_heartbeat(member: ConsumerMember) -> Effects:
    """Leave: epoch -1, or -2 for a static member that means to come back."""
    member.generation = -1 if member.settings.instance_id is None else -2
    yield from member.move(MemberState.LEAVING)
    yield _send(member, member.generation, full=member.full_request, owned=None, regex=None)


def _send(
    member: ConsumerMember, epoch: int, *, full: bool, owned: Partitions | None, regex: str | None
) -> Send:
    settings, leaves = member.settings, epoch < 0
    tells_topics = (full or member.topics_changed) and not leaves
    request = ConsumerGroupHeartbeat(
        settings.name,
        member.member_id,
        epoch,
        settings.instance_id,
        settings.rack if member.state is MemberState.JOINING else None,
        settings.max_poll_interval_ms if full else None,
        tuple(sorted(member.topics)) if tells_topics else None,
        regex,
        settings.remote_assignor if full else None,
        owned,
        settings.group,
    )
    member.in_flight = True
    member.full_request = member.topics_changed = False
    member.sent_local_epoch = member.local_epoch
    return Send(request)


def take_target(member: ConsumerMember) -> Effects:
    """A new assignment came: reconcile it at the next poll(), unless one is under way."""
    target = member.target
    if target is None:
        return
    if member.closing:
        if member.poll_step is PollStep.CLOSE_CALLBACK and member.state is MemberState.STABLE:
            yield from member.move(MemberState.RECONCILING)  # the application will poll no more
        return
    if member.poll_step is not PollStep.IDLE or not member.takes_part:
        return
    same = frozenset(target) == frozenset(member.owned)
    joining = member.state is MemberState.JOINING
    if same and member.librdkafka and joining:
        member.target = None
        member.first_assignment = False
        yield RestartAutoCommit()
        yield from member.move(MemberState.RECONCILING)
        yield from member.move(MemberState.STABLE)
    elif same and not member.first_assignment:
        member.target = None
    else:
        yield from member.move(MemberState.RECONCILING)
        member.enter(PollStep.RECONCILE_WAITS)
        yield WantPoll(NextPoll.RECONCILE_FIRST if joining else NextPoll.RECONCILE)


# close(), and fatal errors that end in it: commit, last callback, one leave heartbeat that nobody waits for.


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
