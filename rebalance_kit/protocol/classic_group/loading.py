"""The partition of __consumer_offsets moves, or its broker stops and starts: what a coordinator forgets and reads back."""

from __future__ import annotations

from rebalance_kit.protocol.classic_group.group import ClassicGroup, ClassicGroupMember
from rebalance_kit.protocol.classic_group.join_phase import GROUP_TIMERS
from rebalance_kit.protocol.classic_group.states import ClassicGroupState
from rebalance_kit.protocol.effects import CancelTimer, Effects, Load, Timer, Unload
from rebalance_kit.protocol.messages import JoinAnswer, SyncAnswer
from rebalance_kit.protocol.triggers import Trigger


def unload(group: ClassicGroup, event: Unload) -> Effects:
    """Whoever waits is told NOT_COORDINATOR; timers end, and the group is Dead on this broker."""
    for member in group.members.values():
        yield from group.answer_join(member, JoinAnswer("NOT_COORDINATOR", member.member_id))
        yield from group.answer_sync(member, SyncAnswer("NOT_COORDINATOR"))
        yield CancelTimer((Timer.SESSION, member.member_id))
    for member_id in group.pending:
        yield CancelTimer((Timer.PENDING, member_id))
    for key in GROUP_TIMERS:
        yield CancelTimer(key)
    group.enter(ClassicGroupState.DEAD)


def load(group: ClassicGroup, event: Load) -> Effects:
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


def _tell_loaded(group: ClassicGroup) -> Effects:
    """A rebalance that was under way is forgotten: the state is that of the stored generation, without a transition."""
    if group.previous is not group.state:
        yield group.state_note(None, Trigger.LOAD.value)
