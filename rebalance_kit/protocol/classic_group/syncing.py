"""SyncGroup: the leader hands everyone's assignment in, and each member takes its share out."""

from __future__ import annotations

from rebalance_kit.protocol.classic_group.group import ClassicGroup
from rebalance_kit.protocol.classic_group.identity import membership_error
from rebalance_kit.protocol.classic_group.join_phase import SYNC_TIMER
from rebalance_kit.protocol.classic_group.states import ClassicGroupState
from rebalance_kit.protocol.effects import Append, Appended, Arrived, CancelTimer, Effects, Reply
from rebalance_kit.protocol.messages import NONE, SyncAnswer, SyncGroup


def sync_preparing(group: ClassicGroup, arrived: Arrived[SyncGroup]) -> Effects:
    """Preparing: another rebalance has begun since the member joined."""
    error = _sync_error(group, arrived.request) or "REBALANCE_IN_PROGRESS"
    yield Reply(arrived.token, SyncAnswer(error))


def sync_completing(group: ClassicGroup, arrived: Arrived[SyncGroup]) -> Effects:
    """Completing: everyone waits until the leader's assignment is stored."""
    request = arrived.request
    error = _sync_error(group, request)
    if error is not None:
        yield Reply(arrived.token, SyncAnswer(error))
        return
    yield from _has_synced(group, request.member_id)
    group.members[request.member_id].parked_sync = arrived.token
    if request.member_id == group.leader and group.assignment is None:
        group.assignment = dict(request.assignment or {})
        yield Append(("assignment", str(group.generation)))


def sync_stable(group: ClassicGroup, arrived: Arrived[SyncGroup]) -> Effects:
    """Stable: the share is there already."""
    request = arrived.request
    error = _sync_error(group, request)
    if error is not None:
        yield Reply(arrived.token, SyncAnswer(error))
        return
    yield from _has_synced(group, request.member_id)
    yield Reply(arrived.token, SyncAnswer(NONE, group.members[request.member_id].assignment))


def _sync_error(group: ClassicGroup, request: SyncGroup) -> str | None:
    error = membership_error(group, request.member_id, request.instance_id, request.generation)
    if error is None and request.protocol is not None and request.protocol != group.protocol:
        return "INCONSISTENT_GROUP_PROTOCOL"
    return error


def _has_synced(group: ClassicGroup, member_id: str) -> Effects:
    group.pending_sync.discard(member_id)
    if not group.pending_sync:
        yield CancelTimer(SYNC_TIMER)


def assignment_stored(group: ClassicGroup, appended: Appended) -> Effects:
    """Completing: the group is Stable, and whoever waits gets its share."""
    assignment = group.assignment
    if appended.key != ("assignment", str(group.generation)) or assignment is None:
        return  # of a generation that a later rebalance has overtaken
    members = group.in_map_order()
    for member in members:
        member.assignment = tuple(assignment.get(member.member_id, ()))
    named = group.labels()
    yield group.note(
        "assignment",
        group.leader,
        leader=group.name(group.leader or ""),
        assignment={named[member.member_id]: [str(tp) for tp in member.assignment] for member in members},
        assignor=group.protocol,
        ids={member.member_id: named[member.member_id] for member in members},
    )
    yield group.move(ClassicGroupState.STABLE)
    group.store()
    for member in members:
        if member.parked_sync is not None:
            yield from group.answer_sync(member, SyncAnswer(NONE, member.assignment))
            yield member.session_timer()
