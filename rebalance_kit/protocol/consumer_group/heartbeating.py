"""ConsumerGroupHeartbeat of a member that joins or goes on: its subscription, the target, its own next step.

Every heartbeat may raise the group epoch, compute the target, and lead its sender one step towards it.
"""

from __future__ import annotations

from collections.abc import Generator

from rebalance_kit.protocol.consumer_group.group import ConsumerGroup, ConsumerGroupMember
from rebalance_kit.protocol.consumer_group.identity import (
    Problem,
    epoch_problem,
    identity_problem,
    refuse_heartbeat,
    request_problem,
    unreleased_instance_problem,
)
from rebalance_kit.protocol.consumer_group.members import add_member, replace_member
from rebalance_kit.protocol.consumer_group.reconciliation import reconcile
from rebalance_kit.protocol.consumer_group.states import MemberState
from rebalance_kit.protocol.consumer_group.subscriptions import scan_if_due, subscribe
from rebalance_kit.protocol.consumer_group.target import compute_if_due
from rebalance_kit.protocol.effects import Arrived, CancelTimer, Effect, Effects, Reply, SetTimer, Timer
from rebalance_kit.protocol.messages import NONE, ConsumerGroupHeartbeat, ConsumerGroupHeartbeatAnswer


def heartbeat_to_join(group: ConsumerGroup, arrived: Arrived[ConsumerGroupHeartbeat]) -> Effects:
    """Epoch 0: a new member, a known one that joins again, or a static one that is back."""
    problem = request_problem(group, arrived.request)
    if problem is not None:
        yield from refuse_heartbeat(group, arrived, problem)
        return
    known = set(group.members)
    member = yield from _joiner(group, arrived)
    if member is not None:
        newcomer = None if member.member_id in known else member.member_id
        yield from _heartbeat(group, arrived, member, newcomer)


def heartbeat_of_member(group: ConsumerGroup, arrived: Arrived[ConsumerGroupHeartbeat]) -> Effects:
    """A member's epoch: it must be the member's own."""
    request = arrived.request
    problem = request_problem(group, request) or identity_problem(group, request)
    if problem is None:
        problem = epoch_problem(group.members[request.member_id], request)
    if problem is not None:
        yield from refuse_heartbeat(group, arrived, problem)
    else:
        yield from _heartbeat(group, arrived, group.members[request.member_id])


def _joiner(
    group: ConsumerGroup, arrived: Arrived[ConsumerGroupHeartbeat]
) -> Generator[Effect, None, ConsumerGroupMember | None]:
    request = arrived.request
    instance, member_id = request.instance_id, request.member_id
    old = group.members.get(group.statics.get(instance, "")) if instance is not None else None
    problem = unreleased_instance_problem(old, request)
    if old is not None and problem is not None:
        yield from refuse_heartbeat(group, arrived, problem, holder=old.member_id)
        return None
    if old is not None:
        yield from replace_member(group, old, member_id, request.client)
        return group.members[member_id]
    if member_id in group.members:
        return group.members[member_id]
    if len(group.members) >= group.settings.max_size:
        message = f"The consumer group has reached its maximum capacity of {group.settings.max_size} members."
        yield from refuse_heartbeat(group, arrived, Problem("GROUP_MAX_SIZE_REACHED", message))
        return None
    member = ConsumerGroupMember(member_id, instance, request.client)
    add_member(group, member)
    yield group.note("member_added", member_id, name=request.client, instance_id=instance, reason="")
    return member


def _heartbeat(
    group: ConsumerGroup,
    arrived: Arrived[ConsumerGroupHeartbeat],
    member: ConsumerGroupMember,
    newcomer: str | None = None,
) -> Effects:
    request, settings = arrived.request, group.settings
    new_vote = yield from _update(group, request, member)
    yield from compute_if_due(group, new_vote, newcomer)
    before = _progress(member)
    assigned_anew = yield from reconcile(group, member, request.owned)
    yield from group.settle_state()
    if _progress(member) != before:
        yield rebalance_timer(member)
    yield member.session_timer(settings.session_timeout_ms)
    full = (
        request.rebalance_timeout_ms is not None and request.topics is not None and request.owned is not None
    )
    tells = request.member_epoch == 0 or full or assigned_anew
    assignment = tuple(sorted(member.assigned)) if tells else None
    yield Reply(
        arrived.token,
        ConsumerGroupHeartbeatAnswer(
            NONE, member.member_id, member.epoch, settings.heartbeat_interval_ms, assignment
        ),
    )


def _update(
    group: ConsumerGroup, request: ConsumerGroupHeartbeat, member: ConsumerGroupMember
) -> Generator[Effect, None, str | None]:
    """Subscription and settings of the member; at most one bump for all that changed.

    Returns the server assignor that this heartbeat asks for and nobody did before.
    """
    preferred = group.preferred_assignor()
    if request.rebalance_timeout_ms is not None:
        member.rebalance_timeout_ms = request.rebalance_timeout_ms
    wanted, new_vote = request.server_assignor, None
    if wanted is not None:
        new_vote = None if _wanted_by_somebody(group, wanted) else wanted
        member.server_assignor = wanted
    names = member.names if request.topics is None else tuple(sorted(request.topics))
    regex = member.regex if request.regex is None else (request.regex or None)
    joined = request.member_epoch == 0 and member.epoch == 0
    yield from subscribe(group, member, names, regex, joined=joined, new_vote=new_vote, preferred=preferred)
    yield from scan_if_due(group)
    return new_vote


def _wanted_by_somebody(group: ConsumerGroup, assignor: str) -> bool:
    return any(member.server_assignor == assignor for member in group.members.values())


def rebalance_timer(member: ConsumerGroupMember) -> Effect:
    """One deadline for a whole revocation: heartbeats that change nothing do not move it."""
    key = (Timer.REBALANCE, member.member_id)
    if member.state is MemberState.UNREVOKED:
        return SetTimer(key, member.rebalance_timeout_ms)
    return CancelTimer(key)


def _progress(member: ConsumerGroupMember) -> tuple[object, ...]:
    """How far a member is; what it holds is replaced (``ConsumerGroup.hold``), never changed in place."""
    return (member.state, member.epoch, member.previous_epoch, member.assigned, member.pending_revocation)
