"""What a classic consumer sends to its coordinator."""

from __future__ import annotations

from collections.abc import Mapping

from rebalance_kit.protocol import client, effects, messages
from rebalance_kit.protocol.classic_client.member import ClassicMember, MemberState


def send_join(member: ClassicMember) -> effects.Effects:
    """JoinGroup; the heartbeat thread rests until its answer."""
    member.prepare_needed = member.max_poll_exceeded = False
    if not member.coordinator_known:
        member.enter(client.PollStep.IDLE)
        return
    member.enter(client.PollStep.JOINING)
    yield from member.move(MemberState.PREPARING)
    yield from member.stop_heartbeats()
    member.joined_topics = member.topics
    member.existing_topics = member.existing or None
    member.existing_racks = member.racks
    yield effects.Send(_join_request(member))


def _join_request(member: ClassicMember) -> messages.JoinGroup:
    settings = member.settings
    tells = settings.tells_reasons and not member.librdkafka
    return messages.JoinGroup(
        settings.name,
        member.member_id,
        settings.instance_id,
        settings.session_timeout_ms,
        settings.max_poll_interval_ms,
        tuple((assignor, _subscription(member, assignor)) for assignor in settings.assignors),
        member.rejoin_reason if tells else None,
        settings.group,
    )


def _subscription(member: ClassicMember, assignor: str) -> messages.Subscription:
    """Topics, and what the member owns; the sticky assignor remembers that in user data of its own."""
    owned, topics = member.owned, tuple(sorted(member.topics))
    if member.librdkafka:
        topics = tuple(member.existing_topics or topics)  # rkcg_subscribed_topics
    else:
        owned = tuple(sorted(owned))  # ConsumerProtocol.serializeSubscription
    subscription = messages.Subscription(topics, owned, member.traced_generation, member.settings.rack)
    if assignor != "sticky":
        return subscription
    partitions, generation = member.sticky_memory
    return subscription._replace(user_owned=partitions, user_generation=generation)


def send_sync(
    member: ClassicMember, answer: messages.JoinAnswer, assignment: Mapping[str, messages.Partitions] | None
) -> effects.Effects:
    """SyncGroup; a leader's carries everyone's assignment."""
    settings = member.settings
    member.enter(client.PollStep.SYNCING)
    request = messages.SyncGroup(
        settings.name,
        member.member_id,
        settings.instance_id,
        member.generation,
        answer.protocol,
        assignment,
        settings.group,
    )
    yield effects.Send(request)


def heartbeat(member: ClassicMember) -> effects.Effect:
    """One heartbeat."""
    settings = member.settings
    return effects.Send(
        messages.Heartbeat(
            settings.name, member.member_id, settings.instance_id, member.generation, settings.group
        )
    )


def leave_request(member: ClassicMember, reason: str) -> effects.Effect:
    """LeaveGroup; nothing waits for its answer. librdkafka names no reason."""
    settings = member.settings
    tells = settings.tells_reasons and not member.librdkafka
    sent_reason = reason if tells else "not provided"
    return effects.Send(
        messages.LeaveGroup(
            settings.name, member.member_id, settings.instance_id, sent_reason, settings.group
        )
    )


# close(), and fatal errors that end in it: commit, last callback, LeaveGroup of a dynamic member.


def close_called(member: ClassicMember, event: effects.CloseCalled) -> effects.Effects:
    """The application calls close(); a callback under way returns first."""
    if member.closing:
        return
    member.close_timeout_ms = event.timeout_ms
    if member.poll_step in client.IN_CALLBACK and not member.stuck:
        member.closing = True
    else:
        yield from begin_close(member)


def begin_close(member: ClassicMember) -> effects.Effects:
    """First step: commit, while heartbeats go on."""
    yield from client.commit_and_close(member, CLOSE_COMMIT)


def last_callback(member: ClassicMember) -> effects.Effects:
    """Second step: no more heartbeats, then revoked or lost if something is owned.

    A rebalance under way makes the assignment lost for Java alone: librdkafka's assignment_lost() stays false.
    """
    yield from member.stop_heartbeats()
    yield effects.CancelTimer(client.CLOSE_LIMIT)
    member.enter(client.PollStep.CLOSE_CALLBACK)
    if not member.owned or member.unassigns_silently:
        yield from leave(member)
        return
    rebalancing = member.state in {MemberState.PREPARING, MemberState.COMPLETING} and not member.librdkafka
    lost = member.generation < 0 or rebalancing or member.death is not None
    yield effects.StopFetching(member.owned, "lost" if lost else "close")
    yield member.callback("lost" if lost else "revoked", member.owned)


CLOSE_COMMIT: client.AwaitedCommit[ClassicMember] = client.AwaitedCommit(
    "close", client.CLOSE_LIMIT, client.retriable, client.backoff_ms, last_callback
)


def last_callback_returned(member: ClassicMember, event: effects.CallbackDone) -> effects.Effects:
    """An error of the listener leaves close() ahead of LeaveGroup: the group only hears of it by the session timeout."""
    member.first_error = member.first_error or event.error  # onLeavePrepare throws before maybeLeaveGroup
    thrown = member.throw()
    if thrown is not None:
        yield thrown
    yield from leave(member, silently=thrown is not None)


def leave(member: ClassicMember, *, silently: bool = False) -> effects.Effects:
    """Last step: LeaveGroup for dynamic members that are in the group."""
    yield member.own(())
    dynamic = member.settings.instance_id is None
    joined = member.member_id and member.state is not MemberState.UNJOINED and not member.death
    if dynamic and joined and member.coordinator_known and not silently:
        yield leave_request(member, "the consumer is being closed")
    yield from member.move(MemberState.UNJOINED)
    member.enter(client.PollStep.CLOSED)
    yield effects.Die(*member.death) if member.death else effects.Closed()


def die(member: ClassicMember, error: str, message: str) -> effects.Effects:
    """A fatal error: thrown from poll(), after which the application closes its consumer.

    The heartbeat thread may meet it while a callback runs; it is thrown when that has returned.
    """
    if member.poll_step is client.PollStep.CLOSE_CALLBACK:
        return
    member.death = (error, message)
    if member.poll_step in client.IN_CALLBACK and not member.stuck:
        yield from member.stop_heartbeats()
        return
    member.generation = -1
    yield from member.move(MemberState.UNJOINED)
    yield from last_callback(member)
