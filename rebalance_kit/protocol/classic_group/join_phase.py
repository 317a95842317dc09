"""The join phase: how it begins, how long it waits, and how it makes the next generation.

Only the first rebalance of an Empty group waits for group.initial.rebalance.delay.ms, and that phase never
completes early. Every later one completes as soon as all known members have re-joined, and at the latest
after the greatest max.poll.interval.ms of its members.
"""

from __future__ import annotations

from rebalance_kit.protocol.classic_group.group import Cause, ClassicGroup
from rebalance_kit.protocol.classic_group.states import ClassicGroupState
from rebalance_kit.protocol.effects import CancelTimer, Effects, SetTimer, Timer, TimerFired
from rebalance_kit.protocol.messages import SyncAnswer

INITIAL_TIMER = (Timer.INITIAL,)
JOIN_TIMER = (Timer.JOIN,)
SYNC_TIMER = (Timer.SYNC,)
GROUP_TIMERS = (INITIAL_TIMER, JOIN_TIMER, SYNC_TIMER)
"""The timers that belong to no member."""


# --- how a rebalance begins -------------------------------------------------------------------
def begin_first_rebalance(group: ClassicGroup, cause: Cause) -> Effects:
    """Empty: wait group.initial.rebalance.delay.ms for more members."""
    yield from _enter_preparing(group, cause)
    delay_ms = group.settings.initial_delay_ms
    group.initial_remaining_ms = max(group.rebalance_timeout_ms() - delay_ms, 0)
    yield from _wait_initially(group, delay_ms)


def begin_rebalance(group: ClassicGroup, cause: Cause) -> Effects:
    """Stable: wait until all members have re-joined; they hear of it in their next heartbeat's answer."""
    yield from _enter_preparing(group, cause)
    if group.all_joined():
        yield from _complete(group)
    else:
        yield from _wait_for_members(group)


def restart_rebalance(group: ClassicGroup, cause: Cause) -> Effects:
    """Completing: whoever waits in SyncGroup is told REBALANCE_IN_PROGRESS, and the group joins again."""
    for member in group.in_map_order():
        if member.parked_sync is not None:
            yield from group.answer_sync(member, SyncAnswer("REBALANCE_IN_PROGRESS"))
            yield member.session_timer()
        member.assignment = ()
    group.assignment = None
    yield from begin_rebalance(group, cause)


def _enter_preparing(group: ClassicGroup, cause: Cause) -> Effects:
    group.pending_sync.clear()
    yield CancelTimer(SYNC_TIMER)
    yield group.move(ClassicGroupState.PREPARING_REBALANCE, cause)


def _wait_initially(group: ClassicGroup, delay_ms: int) -> Effects:
    yield group.note("timer_set", timer="initial", after_ms=delay_ms, name=None)
    yield SetTimer(INITIAL_TIMER, delay_ms)


def _wait_for_members(group: ClassicGroup) -> Effects:
    timeout_ms = group.rebalance_timeout_ms()
    yield group.note("timer_set", timer="rebalance", after_ms=timeout_ms, name=None)
    yield SetTimer(JOIN_TIMER, timeout_ms)


# --- how a join phase ends --------------------------------------------------------------------
def complete_if_all_joined(group: ClassicGroup, cause: Cause | None = None) -> Effects:
    """Preparing: end the join phase early when nobody is missing; never the initial one."""
    if not group.in_initial_phase and group.all_joined():
        yield from _complete(group)


def complete_after_expiry(group: ClassicGroup, cause: Cause | None = None) -> Effects:
    """Preparing: an expiry ends even the initial phase when nobody else is awaited (removeMemberAndUpdateClassicGroup)."""
    if group.all_joined():
        yield from _complete(group)


def initial_delay_over(group: ClassicGroup, fired: TimerFired) -> Effects:
    """Preparing: whoever joined during the delay prolongs it, up to the rebalance timeout."""
    yield group.note("timer_fired", timer="initial", name=None)
    if group.new_member_added and group.initial_remaining_ms:
        group.new_member_added = False
        delay_ms = min(group.settings.initial_delay_ms, group.initial_remaining_ms)
        group.initial_remaining_ms = max(group.initial_remaining_ms - delay_ms, 0)
        yield from _wait_initially(group, delay_ms)
    else:
        yield from _complete(group)


def join_phase_over(group: ClassicGroup, fired: TimerFired) -> Effects:
    """Preparing: the rebalance timeout ends the join phase, and whoever has not re-joined is out."""
    yield group.note("timer_fired", timer="rebalance", name=None)
    yield from _complete(group)


def _complete(group: ClassicGroup) -> Effects:
    """Make the next generation out of who has joined (GroupMetadataManager.completeClassicGroupJoin)."""
    yield CancelTimer(INITIAL_TIMER)
    yield CancelTimer(JOIN_TIMER)
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


def _remove_the_late(group: ClassicGroup) -> Effects:
    """Dynamic members that did not re-join are out; static ones stay until their session ends."""
    late = [
        member for member in group.in_map_order() if member.parked_join is None and member.instance_id is None
    ]
    for member in late:
        group.remove(member.member_id)
        yield CancelTimer((Timer.SESSION, member.member_id))
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


def _elect_another(group: ClassicGroup) -> Effects:
    """The first in map order of those who re-joined leads."""
    member = next(member for member in group.in_map_order() if member.parked_join is not None)
    former, group.leader = group.leader, member.member_id
    yield group.note("leader_elected", member.member_id, name=member.client, instead_of=former)


def _begin_generation(group: ClassicGroup) -> Effects:
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
    yield SetTimer(SYNC_TIMER, group.rebalance_timeout_ms())
