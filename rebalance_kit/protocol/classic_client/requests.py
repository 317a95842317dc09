"""What a classic consumer sends to its coordinator."""

from __future__ import annotations

from collections.abc import Mapping

from rebalance_kit.protocol.classic_client.member import ClassicMember
from rebalance_kit.protocol.classic_client.states import MemberState
from rebalance_kit.protocol.client.poll_step import PollStep
from rebalance_kit.protocol.effects import Effect, Effects, Send
from rebalance_kit.protocol.messages import (
    Heartbeat,
    JoinAnswer,
    JoinGroup,
    LeaveGroup,
    Partitions,
    Subscription,
    SyncGroup,
)


def send_join(member: ClassicMember) -> Effects:
    """JoinGroup; the heartbeat thread rests until its answer."""
    member.prepare_needed = False
    if not member.coordinator_known:
        member.enter(PollStep.IDLE)
        return
    member.enter(PollStep.JOINING)
    yield from member.move(MemberState.PREPARING)
    yield from member.stop_heartbeats()
    member.joined_topics = member.topics
    member.existing_topics = member.existing or None
    member.existing_racks = member.racks
    yield Send(_join_request(member))


def _join_request(member: ClassicMember) -> JoinGroup:
    settings = member.settings
    tells = settings.tells_reasons and not member.librdkafka
    return JoinGroup(
        settings.name,
        member.member_id,
        settings.instance_id,
        settings.session_timeout_ms,
        settings.max_poll_interval_ms,
        tuple((assignor, _subscription(member, assignor)) for assignor in settings.assignors),
        member.rejoin_reason if tells else None,
        settings.group,
    )


def _subscription(member: ClassicMember, assignor: str) -> Subscription:
    """Topics, and what the member owns; the sticky assignor remembers that in user data of its own."""
    owned, topics = member.owned, tuple(sorted(member.topics))
    if member.librdkafka:
        topics = tuple(member.existing_topics or topics)  # rkcg_subscribed_topics
    else:
        owned = tuple(sorted(owned))  # ConsumerProtocol.serializeSubscription
    subscription = Subscription(topics, owned, member.traced_generation, member.settings.rack)
    if assignor != "sticky":
        return subscription
    partitions, generation = member.sticky_memory
    return subscription._replace(user_owned=partitions, user_generation=generation)


def send_sync(
    member: ClassicMember, answer: JoinAnswer, assignment: Mapping[str, Partitions] | None
) -> Effects:
    """SyncGroup; a leader's carries everyone's assignment."""
    settings = member.settings
    member.enter(PollStep.SYNCING)
    request = SyncGroup(
        settings.name,
        member.member_id,
        settings.instance_id,
        member.generation,
        answer.protocol,
        assignment,
        settings.group,
    )
    yield Send(request)


def heartbeat(member: ClassicMember) -> Effect:
    """One heartbeat."""
    settings = member.settings
    return Send(
        Heartbeat(settings.name, member.member_id, settings.instance_id, member.generation, settings.group)
    )


def leave_request(member: ClassicMember, reason: str) -> Effect:
    """LeaveGroup; nothing waits for its answer. librdkafka names no reason."""
    settings = member.settings
    tells = settings.tells_reasons and not member.librdkafka
    sent_reason = reason if tells else "not provided"
    return Send(
        LeaveGroup(settings.name, member.member_id, settings.instance_id, sent_reason, settings.group)
    )
