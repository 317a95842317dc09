"""JoinGroup, and the join phase that it starts (semantics of GroupMetadataManager.classicGroupJoin*).

Only the first rebalance of an Empty group waits for group.initial.rebalance.delay.ms, and that
phase never completes early. Every later one completes as soon as all known members have re-joined,
and at the latest after the greatest max.poll.interval.ms of its members.
"""

from __future__ import annotations

from rebalance_kit.protocol.classic_group.state import (
    NEW_MEMBER_JOIN_TIMEOUT_MS,
    ClassicGroup,
    GroupMember,
    State,
)
from rebalance_kit.protocol.effects import Append, Arrived, CancelTimer, SetTimer
from rebalance_kit.protocol.messages import Answer, JoinAnswer, JoinGroup, SyncAnswer

JOIN_TIMER = ("join",)
SYNC_TIMER = ("sync",)
SESSION_RANGE = (
    "The session timeout is not within the range allowed by the broker (as configured by "
    "group.min.session.timeout.ms and group.max.session.timeout.ms)."
)
INCONSISTENT = (
    "The group member's supported protocols are incompatible with those of existing members or first "
    "group member tried to join with empty protocol type or empty protocol list."
)


def join(group: ClassicGroup, event: Arrived) -> None:
    """Decide one JoinGroup (order of the checks: GroupMetadataManager.classicGroupJoin)."""
    request = event.request
    assert isinstance(request, JoinGroup)
    refusal = _refusal(group, request)
    if refusal is not None:
        error, message = refusal
        if error == "GROUP_MAX_SIZE_REACHED":
            _forget(group, request.member_id)
        _refuse(group, event, request, error, message)
    elif request.member_id:
        _join_with_id(group, event, request)
    elif request.instance_id is not None:
        _join_static(group, event, request)
    else:
        _hand_out_id(group, event, request)


def _refusal(group: ClassicGroup, request: JoinGroup) -> tuple[str, str | None] | None:
    settings = group.settings
    if not settings.min_session_ms <= request.session_timeout_ms <= settings.max_session_ms:
        return "INVALID_SESSION_TIMEOUT", SESSION_RANGE
    if not _has_room(group, request):
        return "GROUP_MAX_SIZE_REACHED", "The consumer group has reached its max size."
    names = [name for name, _ in request.protocols]
    if not group.supports(names):
        return "INCONSISTENT_GROUP_PROTOCOL", INCONSISTENT
    return None


def _has_room(group: ClassicGroup, request: JoinGroup) -> bool:
    known = group.members.get(request.member_id)
    if group.state is State.EMPTY:
        return True
    if group.state is State.PREPARING:
        return (known is not None and known.parked_join is not None) or group.joined < group.settings.max_size
    return known is not None or len(group.members) < group.settings.max_size


def _forget(group: ClassicGroup, member_id: str) -> None:
    """Whoever finds a full group on re-joining is out of it (classicGroupJoinToClassicGroup)."""
    group.pending.pop(member_id, None)
    if member_id in group.members:
        member = group.remove(member_id)
        group.out.append(CancelTimer(("session", member_id)))
        group.note(
            "member_removed",
            member_id,
            name=member.sender,
            how="late",
            reason="the group has reached its max size",
        )


def _refuse(
    group: ClassicGroup, event: Arrived, request: JoinGroup, error: str, message: str | None = None
) -> None:
    group.note(
        "member_refused",
        request.member_id or None,
        name=request.sender,
        api="JoinGroup",
        error=error,
        message=message,
    )
    group.reply(event.token, JoinAnswer(error, request.member_id, message=message))


def _hand_out_id(group: ClassicGroup, event: Arrived, request: JoinGroup) -> None:
    member_id = group.settings.new_id(request.sender, request.sender)
    group.pending[member_id] = request.sender
    group.out.append(SetTimer(("pending", member_id), request.session_timeout_ms))
    group.note("member_pending", member_id, name=request.sender, state=group.state.value)
    group.reply(event.token, JoinAnswer("MEMBER_ID_REQUIRED", member_id))


def _join_static(group: ClassicGroup, event: Arrived, request: JoinGroup) -> None:
    assert request.instance_id is not None
    member_id = group.settings.new_id(request.sender, request.instance_id)
    old_id = group.statics.get(request.instance_id)
    if old_id is None:
        _add(group, event, request, member_id)
    else:
        _replace_static(group, event, request, old_id, member_id)


def _join_with_id(group: ClassicGroup, event: Arrived, request: JoinGroup) -> None:
    member_id = request.member_id
    if member_id in group.pending:
        del group.pending[member_id]
        group.out.append(CancelTimer(("pending", member_id)))
        _add(group, event, request, member_id)
        return
    error = identity_error(group, member_id, request.instance_id)
    if error is None and group.state is State.EMPTY:
        error = "UNKNOWN_MEMBER_ID"
    if error is not None:
        _refuse(group, event, request, error)
        return
    _rejoin(group, event, request, group.members[member_id])


def identity_error(group: ClassicGroup, member_id: str, instance_id: str | None) -> str | None:
    """UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, or None when the caller is who it says."""
    if instance_id is not None:
        holder = group.statics.get(instance_id)
        if holder is None:
            return "UNKNOWN_MEMBER_ID"
        if holder != member_id:
            return "FENCED_INSTANCE_ID"
    return None if member_id in group.members else "UNKNOWN_MEMBER_ID"


def _rejoin(group: ClassicGroup, event: Arrived, request: JoinGroup, member: GroupMember) -> None:
    changed = member.protocols != request.protocols
    why = request.reason or "not provided"
    if group.state is State.PREPARING:
        update_and_park(group, member, request, event.token)
        complete_if_all_joined(group)
    elif group.state is State.STABLE and member.member_id == group.leader:
        update_and_park(group, member, request, event.token)
        prepare(
            group,
            f"Leader {member.member_id} re-joining group during Stable; client reason: {why}",
            _trigger(why),
            member.sender,
        )
    elif changed:
        state = group.state.value
        update_and_park(group, member, request, event.token)
        prepare(
            group,
            f"Updating metadata for member {member.member_id} during {state}; client reason: {why}",
            _trigger(why),
            member.sender,
        )
    else:
        group.reply(event.token, group.join_answer(member))


def _trigger(why: str) -> str:
    if why.startswith("cached metadata"):
        return "metadata"
    if why.startswith("subscription"):
        return "subscription"
    if why.startswith("need to revoke"):
        return "revocation"
    return "rejoin"


def update_and_park(group: ClassicGroup, member: GroupMember, request: JoinGroup, token: int) -> None:
    """Take over what a re-joining member says and keep its request."""
    group.set_protocols(member, request.protocols)
    member.session_timeout_ms = request.session_timeout_ms
    member.rebalance_timeout_ms = request.rebalance_timeout_ms
    group.park_join(member, token)


def _add(group: ClassicGroup, event: Arrived, request: JoinGroup, member_id: str) -> None:
    if group.state is State.PREPARING and group.previous is State.EMPTY:
        group.new_member_added = True
    member = GroupMember(
        member_id,
        request.instance_id,
        request.sender,
        request.session_timeout_ms,
        request.rebalance_timeout_ms,
        request.protocols,
        parked_join=event.token,
    )
    first_leader = group.leader is None
    group.add(member)
    why = request.reason or "not provided"
    group.note(
        "member_added",
        member_id,
        name=request.sender,
        instance_id=request.instance_id,
        reason=why,
        state=group.state.value,
    )
    if first_leader:
        group.note("leader_elected", member_id, name=request.sender)
    group.out.append(SetTimer(("session", member_id), NEW_MEMBER_JOIN_TIMEOUT_MS))
    prepare_or_complete(
        group,
        f"Adding new member {member_id} with group instance id {request.instance_id or 'null'}; client reason: {why}",
        "join",
        request.sender,
    )


def _replace_static(
    group: ClassicGroup, event: Arrived, request: JoinGroup, old_id: str, member_id: str
) -> None:
    old = group.members[old_id]
    led = group.leader == old_id
    group.answer_join(old, JoinAnswer("FENCED_INSTANCE_ID", old_id))
    if old.parked_sync is not None:
        group.reply(old.parked_sync, SyncAnswer("FENCED_INSTANCE_ID"))
    owes_sync = old_id in group.pending_sync
    group.remove(old_id)
    if owes_sync:
        group.pending_sync.add(old_id)  # replaceStaticMember leaves it there: nobody can send it any more
    group.out.append(CancelTimer(("session", old_id)))
    member = GroupMember(
        member_id,
        request.instance_id,
        request.sender,
        request.session_timeout_ms,
        request.rebalance_timeout_ms,
        request.protocols,
        assignment=old.assignment,
        is_new=False,
    )
    group.add(member)
    if led:
        group.leader = member_id
    group.out.append(SetTimer(("session", member_id), old.session_timeout_ms))
    kept = group.state is State.STABLE and group.select_protocol() == group.protocol
    group.note(
        "member_replaced",
        member_id,
        name=request.sender,
        instance_id=request.instance_id,
        old_member_id=old_id,
        old_name=old.sender,
        rebalance=not kept,
        state=group.state.value,
    )
    why = request.reason or "not provided"
    if kept:
        group.store()
        group.note("static_kept", member_id, name=request.sender)
        if (
            led and not group.settings.skips_assignment
        ):  # told that its old id leads, it takes itself for a follower
            group.reply(event.token, group.join_answer(member)._replace(leader=old_id, members=()))
        else:
            group.reply(event.token, group.join_answer(member, skip_assignment=led))
        return
    group.park_join(member, event.token)
    if group.state is State.STABLE:
        reason = (
            f"Group's selectedProtocol will change because static member {member_id} with instance id {request.instance_id} "
            f"joined with change of protocol; client reason: {why}"
        )
    else:
        reason = f"Updating metadata for static member {member_id} with instance id {request.instance_id}; client reason: {why}"
    prepare_or_complete(group, reason, "static", request.sender)


def prepare_or_complete(group: ClassicGroup, reason: str, trigger: str, culprit: str | None) -> None:
    """A change in membership: start a rebalance, or see whether the one under way is complete."""
    if group.state is State.PREPARING:
        complete_if_all_joined(group)
    else:
        prepare(group, reason, trigger, culprit)


def prepare(group: ClassicGroup, reason: str, trigger: str, culprit: str | None) -> None:
    """Enter PreparingRebalance and decide how long to wait for the members."""
    if group.state is State.COMPLETING:
        for member in group.in_map_order():
            if member.parked_sync is not None:
                group.reply(member.parked_sync, SyncAnswer("REBALANCE_IN_PROGRESS"))
                member.parked_sync = None
                group.out.append(SetTimer(("session", member.member_id), member.session_timeout_ms))
            member.assignment = ()
        group.plan = None
    group.pending_sync.clear()
    group.out.append(CancelTimer(SYNC_TIMER))
    initial = group.state is State.EMPTY
    group.move(State.PREPARING, reason, trigger, culprit)
    if initial:
        delay = group.settings.initial_delay_ms
        group.initial_remaining_ms = max(group.rebalance_timeout_ms() - delay, 0)
        _wait(group, "initial", delay)
    elif group.all_joined():
        complete(group)
    else:
        _wait(group, "rebalance", group.rebalance_timeout_ms())


def _wait(group: ClassicGroup, timer: str, after_ms: int) -> None:
    group.note("timer_set", timer=timer, after_ms=after_ms, name=None)
    group.out.append(SetTimer(JOIN_TIMER, after_ms))


def complete_if_all_joined(group: ClassicGroup) -> None:
    """End the join phase early when nobody is missing; never in the initial phase."""
    if group.state is State.PREPARING and group.previous is not State.EMPTY and group.all_joined():
        complete(group)


def complete_after_expiry(group: ClassicGroup) -> None:
    """An expiry ends even the initial phase when nobody else is awaited (removeMemberAndUpdateClassicGroup)."""
    if group.state is State.PREPARING and group.all_joined():
        complete(group)


def join_timer_fired(group: ClassicGroup) -> None:
    """The join phase has lasted as long as it may, or the initial window is over."""
    if group.state is not State.PREPARING:
        return
    if group.previous is State.EMPTY and group.new_member_added and group.initial_remaining_ms:
        group.new_member_added = False
        delay = min(group.settings.initial_delay_ms, group.initial_remaining_ms)
        group.initial_remaining_ms = max(group.initial_remaining_ms - delay, 0)
        _wait(group, "initial", delay)
        return
    complete(group)


def complete(group: ClassicGroup) -> None:
    """Make the next generation out of who has joined (GroupMetadataManager.completeClassicGroupJoin)."""
    group.out.append(CancelTimer(JOIN_TIMER))
    late = [one for one in group.in_map_order() if one.parked_join is None and one.instance_id is None]
    for member in late:
        group.remove(member.member_id)
        group.out.append(CancelTimer(("session", member.member_id)))
        group.note(
            "member_removed",
            member.member_id,
            name=member.sender,
            how="late",
            reason="did not join before the rebalance timeout",
        )
    if group.members and not _leader_joined(group):
        _wait(group, "rebalance", group.rebalance_timeout_ms())
        return
    group.generation += 1
    if not group.members:
        group.protocol = None
        group.leader = None
        group.move(State.EMPTY)
        group.store()
        return
    group.protocol = group.select_protocol()
    group.move(State.COMPLETING)
    order = group.in_map_order()
    named = group.labels()
    group.note(
        "generation",
        assignor=group.protocol,
        leader=group.name(group.leader or ""),
        leader_id=group.leader,
        members={one.member_id: named[one.member_id] for one in order},
        instances={one.member_id: one.instance_id for one in order},
    )
    group.plan = None
    for member in order:
        group.answer_join(member, group.join_answer(member))
        member.is_new = False
        group.pending_sync.add(member.member_id)
        group.out.append(SetTimer(("session", member.member_id), member.session_timeout_ms))
    group.out.append(SetTimer(SYNC_TIMER, group.rebalance_timeout_ms()))


def _leader_joined(group: ClassicGroup) -> bool:
    if group.leader is not None and group.members[group.leader].parked_join is not None:
        return True
    for member in group.in_map_order():
        if member.parked_join is not None:
            old = group.leader
            group.leader = member.member_id
            group.note("leader_elected", member.member_id, name=member.sender, instead_of=old)
            return True
    return False


def remove_member(group: ClassicGroup, member: GroupMember, how: str, reason: str) -> None:
    """Take a member out and answer what it was waiting for; the caller rebalances."""
    group.answer_join(member, JoinAnswer("UNKNOWN_MEMBER_ID", member.member_id))
    if member.parked_sync is not None:
        group.reply(member.parked_sync, SyncAnswer("UNKNOWN_MEMBER_ID"))
    group.remove(member.member_id)
    group.out.append(CancelTimer(("session", member.member_id)))
    group.note(
        "member_removed",
        member.member_id,
        name=member.sender,
        how=how,
        reason=reason,
        instance_id=member.instance_id,
    )


def append(group: ClassicGroup, key: tuple[str, ...]) -> None:
    """Ask for a write to __consumer_offsets."""
    group.out.append(Append(key))


OK = Answer("NONE")
