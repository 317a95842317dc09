"""Heartbeats of a KIP-848 consumer: they join, acknowledge, keep alive and leave; and what an assignment begins.

Membership also ends without close(): the coordinator fences the member, or the application does not poll in time.
Everything owned is lost at the next poll(); then the member joins again with the same id.
"""

from __future__ import annotations

from collections.abc import Callable

from rebalance_kit.model.errors import COORDINATOR_MOVED
from rebalance_kit.protocol import client, effects, messages
from rebalance_kit.protocol.consumer_client.member import HEARTBEAT, OUTSIDE, ConsumerMember, MemberState


def join(member: ConsumerMember) -> effects.Effects:
    """(Re-)join with epoch 0 and nothing owned."""
    if not member.member_id:
        member.member_id = member.settings.new_id()
    member.generation = 0
    member.local_epoch, member.sent_local_epoch = 0, -1  # LocalAssignment.NONE
    member.first_assignment = True
    member.target = None
    member.enter(client.PollStep.IDLE)
    yield from member.move(MemberState.JOINING)
    if member.coordinator_known and not member.in_flight:
        yield from send_heartbeat(member)


def send_heartbeat(member: ConsumerMember) -> effects.Effects:
    """Send a heartbeat; ACKNOWLEDGING ends when its acknowledgement is *sent*."""
    joining = member.state is MemberState.JOINING
    full = joining or member.full_request
    changed = member.local_epoch != member.sent_local_epoch
    owned: messages.Partitions | None = None
    if changed or full:
        owned = () if joining else member.owned
    yield _send(member, member.generation, full=full, owned=owned, regex=member.regex if full else None)
    if member.interval_ms:
        yield effects.SetTimer(HEARTBEAT, member.interval_ms)
    if member.state is MemberState.ACKNOWLEDGING:
        yield from member.move(MemberState.STABLE)
        if member.target is not None:
            yield from take_target(member)


def send_leave_heartbeat(member: ConsumerMember) -> effects.Effects:
    """Leave: epoch -1, or -2 for a static member that means to come back."""
    member.generation = -1 if member.settings.instance_id is None else -2
    yield from member.move(MemberState.LEAVING)
    yield _send(member, member.generation, full=member.full_request, owned=None, regex=None)


def _send(
    member: ConsumerMember, epoch: int, *, full: bool, owned: messages.Partitions | None, regex: str | None
) -> effects.Send:
    settings, leaves = member.settings, epoch < 0
    tells_topics = (full or member.topics_changed) and not leaves
    request = messages.ConsumerGroupHeartbeat(
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
    return effects.Send(request)


def take_target(member: ConsumerMember) -> effects.Effects:
    """A new assignment came: reconcile it at the next poll(), unless one is under way."""
    target = member.target
    if target is None:
        return
    if member.closing:
        if member.poll_step is client.PollStep.CLOSE_CALLBACK and member.state is MemberState.STABLE:
            yield from member.move(MemberState.RECONCILING)  # the application will poll no more
        return
    if member.poll_step is not client.PollStep.IDLE or not member.takes_part:
        return
    same = frozenset(target) == frozenset(member.owned)
    joining = member.state is MemberState.JOINING
    if same and member.librdkafka and joining:
        member.target = None
        member.first_assignment = False
        yield effects.RestartAutoCommit()
        yield from member.move(MemberState.RECONCILING)
        yield from member.move(MemberState.STABLE)
    elif same and not member.first_assignment:
        member.target = None
    else:
        yield from member.move(MemberState.RECONCILING)
        member.enter(client.PollStep.RECONCILE_WAITS)
        yield effects.WantPoll(effects.NextPoll.RECONCILE_FIRST if joining else effects.NextPoll.RECONCILE)


# close(), and fatal errors that end in it: commit, last callback, one leave heartbeat that nobody waits for.


def close_called(member: ConsumerMember, event: effects.CloseCalled) -> effects.Effects:
    """First step: commit."""
    if not member.closing:
        member.close_timeout_ms = event.timeout_ms
        yield from client.commit_and_close(member, CLOSE_COMMIT)


def last_callback(member: ConsumerMember) -> effects.Effects:
    """Second step: revoked(all), or lost(all) after fencing."""
    member.enter(client.PollStep.CLOSE_CALLBACK)
    if member.owned and not member.unassigns_silently:
        lost = member.generation <= 0
        yield effects.StopFetching(member.owned, "lost" if lost else "close")
        yield member.callback("lost" if lost else "revoked", member.owned)
    else:
        yield from leave(member)


# close() takes no stale epoch back (commitSyncWithRetries)
CLOSE_COMMIT: client.AwaitedCommit[ConsumerMember] = client.AwaitedCommit(
    "close", client.CLOSE_LIMIT, client.retriable, client.backoff_ms, last_callback
)


def last_callback_returned(member: ConsumerMember, event: effects.CallbackDone) -> effects.Effects:
    """The listener's last word; an error does not keep the member from leaving."""
    if event.error is not None:
        yield member.raised(event.error)
    yield from leave(member)


def leave(member: ConsumerMember) -> effects.Effects:
    """Last step: a leave heartbeat, where there is a group to leave and a coordinator to tell."""
    yield member.own(())
    if member.state not in OUTSIDE:
        yield from member.move(MemberState.PREPARE_LEAVING)
    if member.state is MemberState.PREPARE_LEAVING and member.coordinator_known and member.member_id:
        yield from send_leave_heartbeat(member)
        yield from member.move(MemberState.UNSUBSCRIBED)
    yield effects.CancelTimer(HEARTBEAT)
    member.enter(client.PollStep.CLOSED)
    yield effects.Die(*member.death) if member.death else effects.Closed()


def die(member: ConsumerMember, error: str, message: str) -> effects.Effects:
    """A fatal error: thrown from poll(), after which the application closes its consumer.

    It may come while a callback runs; it is thrown when that has returned.
    """
    member.death = (error, message)
    member.forget_epoch()
    yield from member.move(MemberState.FATAL)
    if member.poll_step is not client.PollStep.CLOSE_CALLBACK and member.poll_step not in client.IN_CALLBACK:
        yield from last_callback(member)


def fence(member: ConsumerMember) -> effects.Effects:
    """The coordinator does not know the member in this epoch: give everything up as lost, then join again."""
    yield effects.CancelTimer(HEARTBEAT)
    member.forget_epoch()
    yield from member.move(MemberState.FENCED)
    if member.poll_step in {client.PollStep.REVOKING, client.PollStep.ASSIGNING}:
        member.fenced_meanwhile = True
        return
    if member.poll_step in {client.PollStep.CLOSE_COMMITTING, client.PollStep.CLOSE_CALLBACK}:
        return  # close() goes on, and has no group to leave
    member.enter(client.PollStep.IDLE)
    if not member.closing:
        yield effects.WantPoll(effects.NextPoll.REJOIN)


# --- max.poll.interval.ms ---------------------------------------------------------------------
def poll_timeout(member: ConsumerMember, event: effects.PollTimeout) -> effects.Effects:
    """Note that max.poll.interval.ms has passed: Java leaves at its next heartbeat (``heartbeat_due``), librdkafka when polled again.

    A rebalance whose callbacks wait on librdkafka's queue is served first, as it was queued; what is left is lost after it
    (RD_KAFKA_CGRP_CONSUMER_F_WAIT_REJOIN in rd_kafka_cgrp_consumer_serve).
    """
    if member.takes_part and not member.closing:
        member.poll_expired, member.poll_over_ms = True, event.over_ms
        if member.librdkafka:  # heartbeats stop until the application polls again
            yield effects.CancelTimer(HEARTBEAT)
            yield effects.WantPoll(effects.NextPoll.GO_ON)


def polled_again(member: ConsumerMember, event: effects.PolledAgain) -> effects.Effects:
    """Java's poll() sets the timer anew (AbstractHeartbeatRequestManager.resetPollTimer): unless a heartbeat was due since, nobody has noticed."""
    if member.poll_expired and not member.closing:
        if event.seen_first:
            yield from leave_on_poll_timeout(member)
            yield effects.WantPoll(effects.NextPoll.GO_ON)
        member.poll_expired = False


def leave_on_poll_timeout(member: ConsumerMember) -> effects.Effects:
    """Leave now; lost waits for the application's next poll()."""
    yield member.note(
        "poll_timeout", limit_ms=member.settings.max_poll_interval_ms, over_ms=member.poll_over_ms
    )
    member.poll_expired = False
    member.metadata_generation = member.generation
    member.target = None
    member.enter(client.PollStep.IDLE)
    yield from member.move(MemberState.PREPARE_LEAVING)
    yield from send_leave_heartbeat(member)
    yield from member.move(MemberState.STALE)
    yield effects.CancelTimer(HEARTBEAT)


def lose_when_overdue(member: ConsumerMember) -> effects.Effects:
    """Leave, and lose everything: librdkafka's application polls again, and no rebalance is under way."""
    yield from leave_on_poll_timeout(member)
    yield from lose_all(member)


def unless_closing(
    rule: Callable[[ConsumerMember, effects.Polled], effects.Effects],
) -> Callable[[ConsumerMember, effects.Polled], effects.Effects]:
    """The rule of a poll(), unless nothing matters any more."""

    def polled(member: ConsumerMember, event: effects.Polled) -> effects.Effects:
        if not member.closing:
            yield from rule(member, event)

    return polled


# --- poll() and callbacks of a member that is outside --------------------------------------------
def polled_idle(member: ConsumerMember, event: effects.Polled) -> effects.Effects:
    """Nothing is under way: whoever is in no group joins."""
    if member.polled_too_late:
        yield from lose_when_overdue(member)
    elif member.state is MemberState.UNSUBSCRIBED:
        yield from join(member)
    elif member.state in {MemberState.FENCED, MemberState.STALE}:
        yield from lose_all(member)


def lose_all(member: ConsumerMember) -> effects.Effects:
    """Run onPartitionsLost for all that is owned, or join at once when nothing is."""
    if member.owned:
        member.enter(client.PollStep.LOSING)
        yield effects.StopFetching(member.owned, "lost")
        yield member.callback("lost", member.owned)
    else:
        yield from join(member)


def lost(member: ConsumerMember, event: effects.CallbackDone) -> effects.Effects:
    """The lost callback has returned: join again, unless a fatal error came meanwhile."""
    if event.error is not None:
        yield member.raised(event.error)
    yield member.own(())
    if member.death is not None:
        yield from last_callback(member)
    else:
        yield from join(member)


def callback_overtaken(member: ConsumerMember, event: effects.CallbackDone) -> effects.Effects:
    """The callback of a reconciliation returns after the member has left: lost follows."""
    if event.error is not None:
        yield member.raised(event.error)
    if member.state is MemberState.STALE:
        yield from go_on_outside(member)


def go_on_outside(member: ConsumerMember) -> effects.Effects:
    """The next poll() runs lost."""
    member.fenced_meanwhile = False
    member.enter(client.PollStep.IDLE)
    yield effects.WantPoll(effects.NextPoll.GO_ON)


# The background thread: when a heartbeat is due, and what its answer means.


FENCING = frozenset({"FENCED_MEMBER_EPOCH", "UNKNOWN_MEMBER_ID"})
DEAF = frozenset({MemberState.FENCED, MemberState.STALE, MemberState.LEAVING, MemberState.FATAL})
"""States in which an answer means nothing; a member inside its last callback hears its own."""


def heartbeat_due(member: ConsumerMember, fired: effects.TimerFired) -> effects.Effects:
    """An interval has passed since the last one; an application that did not poll in time makes the member leave."""
    if not member.takes_part:
        return
    if member.poll_expired and not member.closing:
        yield from leave_on_poll_timeout(member)
        yield effects.WantPoll(effects.NextPoll.GO_ON)
    elif member.coordinator_known and not member.in_flight:
        yield from send_heartbeat(member)
    else:
        yield effects.SetTimer(HEARTBEAT, client.RETRY_MS)


def heartbeat_answered(
    member: ConsumerMember,
    request: messages.ConsumerGroupHeartbeat,
    answer: messages.ConsumerGroupHeartbeatAnswer,
) -> effects.Effects:
    """An epoch and perhaps an assignment, or an error."""
    member.in_flight = False
    error = answer.error
    if request.member_epoch < 0:
        if member.state is MemberState.JOINING and member.coordinator_known:
            yield from send_heartbeat(member)
    elif error == messages.NONE:
        yield from _accepted(member, request, answer)
    elif error in FENCING:
        if member.state not in DEAF and request.member_epoch == member.generation:
            yield from fence(member)
    elif error in COORDINATOR_MOVED:
        yield from member.lose_coordinator("coordinator unavailable")
    elif member.state is not MemberState.STALE:
        yield from die(member, error, answer.message or error)


def _accepted(
    member: ConsumerMember,
    request: messages.ConsumerGroupHeartbeat,
    answer: messages.ConsumerGroupHeartbeatAnswer,
) -> effects.Effects:
    if member.state in DEAF:
        return
    first = not member.interval_ms or request.member_epoch == 0
    member.interval_ms = answer.heartbeat_interval_ms
    member.generation = answer.member_epoch
    if first:
        yield effects.SetTimer(HEARTBEAT, member.interval_ms)
    if answer.assignment is not None:
        member.target = answer.assignment
    if member.state is MemberState.ACKNOWLEDGING:
        yield from send_heartbeat(member)
    else:
        yield from take_target(member)


def heartbeat_unanswered(
    member: ConsumerMember, request: messages.ConsumerGroupHeartbeat, cause: str
) -> effects.Effects:
    """No answer will come."""
    yield from member.lose_coordinator(cause)


def coordinator_found(member: ConsumerMember, event: effects.CoordinatorFound) -> effects.Effects:
    """The next heartbeat leaves at once."""
    if member.coordinator_known:
        return
    member.coordinator_known = True
    yield member.note("coordinator_found")
    if member.takes_part:
        yield from send_heartbeat(member)
