"""Heartbeats of a KIP-848 consumer: they join, acknowledge, keep alive and leave; and what an assignment begins."""

from __future__ import annotations

from rebalance_kit.protocol.client.poll_step import PollStep
from rebalance_kit.protocol.consumer_client.member import HEARTBEAT, ConsumerMember
from rebalance_kit.protocol.consumer_client.states import MemberState
from rebalance_kit.protocol.effects import Effects, NextPoll, RestartAutoCommit, Send, SetTimer, WantPoll
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
