"""The join phase: how it begins, how long it waits, and how it makes the next generation.

Only the first rebalance of an Empty group waits for group.initial.rebalance.delay.ms, and that phase never
completes early. Every later one completes as soon as all known members have re-joined, and at the latest
after the greatest max.poll.interval.ms of its members.
"""

from __future__ import annotations

from rebalance_kit.protocol import effects
from rebalance_kit.protocol.classic_group.group import (
    Cause,
    ClassicGroup,
    ClassicGroupMember,
    ClassicGroupState,
    membership_error,
)
from rebalance_kit.protocol.messages import NONE, JoinAnswer, SyncAnswer, SyncGroup, Trigger

INITIAL_TIMER = (effects.Timer.INITIAL,)
JOIN_TIMER = (effects.Timer.JOIN,)
SYNC_TIMER = (effects.Timer.SYNC,)
GROUP_TIMERS = (INITIAL_TIMER, JOIN_TIMER, SYNC_TIMER)
"""The timers that belong to no member."""


# --- how a rebalance begins -------------------------------------------------------------------
def begin_first_rebalance(group: ClassicGroup, cause: Cause) -> effects.Effects:
    """Empty: wait group.initial.rebalance.delay.ms for more members."""
    yield from _enter_preparing(group, cause)
    delay_ms = group.settings.initial_delay_ms
    group.initial_remaining_ms = max(group.rebalance_timeout_ms() - delay_ms, 0)
    yield from _wait_initially(group, delay_ms)


def begin_rebalance(group: ClassicGroup, cause: Cause) -> effects.Effects:
    """Stable: wait until all members have re-joined; they hear of it in their next heartbeat's answer."""
    yield from _enter_preparing(group, cause)
    if group.all_joined():
        yield from _complete(group)
    else:
        yield from _wait_for_members(group)


def restart_rebalance(group: ClassicGroup, cause: Cause) -> effects.Effects:
    """Completing: whoever waits in SyncGroup is told REBALANCE_IN_PROGRESS, and the group joins again."""
    for member in group.in_map_order():
        if member.parked_sync is not None:
            yield from group.answer_sync(member, SyncAnswer("REBALANCE_IN_PROGRESS"))
            yield member.session_timer()
        member.assignment = ()
    group.assignment = None
    yield from begin_rebalance(group, cause)


def _enter_preparing(group: ClassicGroup, cause: Cause) -> effects.Effects:
    group.pending_sync.clear()
    yield effects.CancelTimer(SYNC_TIMER)
    yield group.move(ClassicGroupState.PREPARING_REBALANCE, cause)


def _wait_initially(group: ClassicGroup, delay_ms: int) -> effects.Effects:
    yield group.note("timer_set", timer="initial", after_ms=delay_ms, name=None)
    yield effects.SetTimer(INITIAL_TIMER, delay_ms)


def _wait_for_members(group: ClassicGroup) -> effects.Effects:
    timeout_ms = group.rebalance_timeout_ms()
    yield group.note("timer_set", timer="rebalance", after_ms=timeout_ms, name=None)
    yield effects.SetTimer(JOIN_TIMER, timeout_ms)


# --- how a join phase ends --------------------------------------------------------------------
def complete_if_all_joined(group: ClassicGroup, cause: Cause | None = None) -> effects.Effects:
    """Preparing: end the join phase early when nobody is missing; never the initial one."""
    if not group.in_initial_phase and group.all_joined():
        yield from _complete(group)


def complete_after_expiry(group: ClassicGroup, cause: Cause | None = None) -> effects.Effects:
    """Preparing: an expiry ends even the initial phase when nobody else is awaited (removeMemberAndUpdateClassicGroup)."""
    if group.all_joined():
        yield from _complete(group)


def initial_delay_over(group: ClassicGroup, fired: effects.TimerFired) -> effects.Effects:
    """Preparing: whoever joined during the delay prolongs it, up to the rebalance timeout."""
    yield group.note("timer_fired", timer="initial", name=None)
    if group.new_member_added and group.initial_remaining_ms:
        group.new_member_added = False
        delay_ms = min(group.settings.initial_delay_ms, group.initial_remaining_ms)
        group.initial_remaining_ms = max(group.initial_remaining_ms - delay_ms, 0)
        yield from _wait_initially(group, delay_ms)
    else:
        yield from _complete(group)


def join_phase_over(group: ClassicGroup, fired: effects.TimerFired) -> effects.Effects:
    """Preparing: the rebalance timeout ends the join phase, and whoever has not re-joined is out."""
    yield group.note("timer_fired", timer="rebalance", name=None)
    yield from _complete(group)


def _complete(group: ClassicGroup) -> effects.Effects:
    """Make the next generation out of who has joined (GroupMetadataManager.completeClassicGroupJoin)."""
    yield effects.CancelTimer(INITIAL_TIMER)
    yield effects.CancelTimer(JOIN_TIMER)
    yield from _remove_the_late(group)
    if group.members and not _someone_joined(group):
        yield from _wait_for_members(group)
        return
    if group.members and not _leader_joined(group):
        yield from _elect_another(group)
    group.generation += 1
    if group.members:
        yield from _begin_generation(group)
        return
    group.protocol = None
    group.leader = None
    yield group.move(ClassicGroupState.EMPTY)
    group.store()


def _remove_the_late(group: ClassicGroup) -> effects.Effects:
    """Dynamic members that did not re-join are out; static ones stay until their session ends."""
    late = [
        member for member in group.in_map_order() if member.parked_join is None and member.instance_id is None
    ]
    for member in late:
        group.remove(member.member_id)
        yield effects.CancelTimer((effects.Timer.SESSION, member.member_id))
        yield group.note(
            "member_removed",
            member.member_id,
            name=member.client,
            how="late",
            reason="did not join before the rebalance timeout",
        )


def _someone_joined(group: ClassicGroup) -> bool:
    return any(member.parked_join is not None for member in group.members.values())


def _leader_joined(group: ClassicGroup) -> bool:
    return group.leader is not None and group.members[group.leader].parked_join is not None


def _elect_another(group: ClassicGroup) -> effects.Effects:
    """The first in map order of those who re-joined leads."""
    member = next(member for member in group.in_map_order() if member.parked_join is not None)
    former, group.leader = group.leader, member.member_id
    yield group.note("leader_elected", member.member_id, name=member.client, instead_of=former)


def _begin_generation(group: ClassicGroup) -> effects.Effects:
    group.protocol = group.select_protocol()
    yield group.move(ClassicGroupState.COMPLETING_REBALANCE)
    members = group.in_map_order()
    named = group.labels()
    yield group.note(
        "generation",
        assignor=group.protocol,
        leader=group.name(group.leader or ""),
        leader_id=group.leader,
        members={member.member_id: named[member.member_id] for member in members},
        instances={member.member_id: member.instance_id for member in members},
    )
    group.assignment = None
    for member in members:
        yield from group.answer_join(member, group.join_answer(member))
        member.is_new = False
        group.pending_sync.add(member.member_id)
        yield member.session_timer()
    yield effects.SetTimer(SYNC_TIMER, group.rebalance_timeout_ms())


# SyncGroup: the leader hands everyone's assignment in, and each member takes its share out.


def sync_preparing(group: ClassicGroup, arrived: effects.Arrived[SyncGroup]) -> effects.Effects:
    """Preparing: another rebalance has begun since the member joined."""
    error = _sync_error(group, arrived.request) or "REBALANCE_IN_PROGRESS"
    yield effects.Reply(arrived.token, SyncAnswer(error))


def sync_completing(group: ClassicGroup, arrived: effects.Arrived[SyncGroup]) -> effects.Effects:
    """Completing: everyone waits until the leader's assignment is stored."""
    request = arrived.request
    error = _sync_error(group, request)
    if error is not None:
        yield effects.Reply(arrived.token, SyncAnswer(error))
        return
    yield from _has_synced(group, request.member_id)
    group.members[request.member_id].parked_sync = arrived.token
    if request.member_id == group.leader and group.assignment is None:
        group.assignment = dict(request.assignment or {})
        yield effects.Append(("assignment", str(group.generation)))


def sync_stable(group: ClassicGroup, arrived: effects.Arrived[SyncGroup]) -> effects.Effects:
    """Stable: the share is there already."""
    request = arrived.request
    error = _sync_error(group, request)
    if error is not None:
        yield effects.Reply(arrived.token, SyncAnswer(error))
        return
    yield from _has_synced(group, request.member_id)
    yield effects.Reply(arrived.token, SyncAnswer(NONE, group.members[request.member_id].assignment))


def _sync_error(group: ClassicGroup, request: SyncGroup) -> str | None:
    error = membership_error(group, request.member_id, request.instance_id, request.generation)
    if error is None and request.protocol is not None and request.protocol != group.protocol:
        return "INCONSISTENT_GROUP_PROTOCOL"
    return error


def _has_synced(group: ClassicGroup, member_id: str) -> effects.Effects:
    group.pending_sync.discard(member_id)
    if not group.pending_sync:
        yield effects.CancelTimer(SYNC_TIMER)


def assignment_stored(group: ClassicGroup, appended: effects.Appended) -> effects.Effects:
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


# The partition of __consumer_offsets moves, or its broker stops and starts: what a coordinator forgets and reads back.


def unload(group: ClassicGroup, event: effects.Unload) -> effects.Effects:
    """Whoever waits is told NOT_COORDINATOR; timers end, and the group is Dead on this broker."""
    for member in group.members.values():
        yield from group.answer_join(member, JoinAnswer("NOT_COORDINATOR", member.member_id))
        yield from group.answer_sync(member, SyncAnswer("NOT_COORDINATOR"))
        yield effects.CancelTimer((effects.Timer.SESSION, member.member_id))
    for member_id in group.pending:
        yield effects.CancelTimer((effects.Timer.PENDING, member_id))
    for key in GROUP_TIMERS:
        yield effects.CancelTimer(key)
    group.enter(ClassicGroupState.DEAD)


def load(group: ClassicGroup, event: effects.Load) -> effects.Effects:
    """Read the stored generation back: members mean Stable, sessions re-armed, no rebalance."""
    stored = group.stored
    _clear(group)
    if stored is None:
        group.generation = 0
        yield from _tell_loaded(group)
        return
    group.generation = stored.generation
    for record in stored.members:
        member = ClassicGroupMember(*record, is_new=False)
        group.add(member)
        yield member.session_timer()
    group.leader, group.protocol = stored.leader, stored.protocol
    if stored.members:
        group.state = ClassicGroupState.STABLE
    yield from _tell_loaded(group)
    yield group.note("group_loaded", members=len(stored.members))


def _clear(group: ClassicGroup) -> None:
    for memory in (group.members, group.statics, group.pending, group.pending_sync, group.supported):
        memory.clear()
    group.joined, group.assignment, group.leader, group.protocol = 0, None, None, None
    group.new_member_added = False
    group.state = ClassicGroupState.EMPTY


def _tell_loaded(group: ClassicGroup) -> effects.Effects:
    """A rebalance that was under way is forgotten: the state is that of the stored generation, without a transition."""
    if group.previous is not group.state:
        yield group.state_note(None, Trigger.LOAD.value)
