"""JoinGroup, by the state of the group (order of the checks: GroupMetadataManager.classicGroupJoin).

Who asks decides first: without an id it is given one, or admitted at once if it is static; with a pending
id it is new; with a known id it joins again. What that leads to is the state's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from rebalance_kit.model.errors import MESSAGES
from rebalance_kit.protocol.classic_group import join_phase
from rebalance_kit.protocol.classic_group.group import (
    NEW_MEMBER_JOIN_TIMEOUT_MS,
    Cause,
    ClassicGroup,
    ClassicGroupMember,
    identity_error,
)
from rebalance_kit.protocol.classic_group.sessions import Then
from rebalance_kit.protocol.effects import Arrived, CancelTimer, Effect, Effects, Reply, SetTimer, Timer
from rebalance_kit.protocol.messages import JoinAnswer, JoinGroup, SyncAnswer, Trigger

# A static member comes back (KIP-345): its instance id is known, its member id is not.
#
# The new process takes the place of the old one, which is fenced: at once where it waits for an answer,
# else at its next request (``identity_error``). Nothing rebalances while the group is Stable and
# would select the same assignor.


class Replacement(NamedTuple):
    """An old member, the one that takes its place, and whether the old one led."""

    old: ClassicGroupMember
    new: ClassicGroupMember
    led: bool


def replace_static_then(
    group: ClassicGroup, arrived: Arrived[JoinGroup], member_id: str, then: Then
) -> Effects:
    """Empty, Preparing, Completing: the new process joins the rebalance that ``then`` begins or goes on with."""
    replaced = _replacement(group, arrived.request, member_id)
    yield from _fence_and_swap(group, replaced)
    yield _replaced_note(group, replaced, rebalance=True)
    group.park_join(replaced.new, arrived.token)
    instance, why = replaced.new.instance_id, told_reason(arrived.request)
    reason = (
        f"Updating metadata for static member {member_id} with instance id {instance}; client reason: {why}"
    )
    yield from then(group, Cause(reason, Trigger.STATIC, arrived.request.client))


def replace_static_stable(
    group: ClassicGroup, arrived: Arrived[JoinGroup], member_id: str, then: Then
) -> Effects:
    """Stable: nothing rebalances, unless the selected assignor would change."""
    replaced = _replacement(group, arrived.request, member_id)
    yield from _fence_and_swap(group, replaced)
    keeps_protocol = group.select_protocol() == group.protocol
    yield _replaced_note(group, replaced, rebalance=not keeps_protocol)
    if keeps_protocol:
        yield from _answer_current(group, arrived, replaced)
        return
    group.park_join(replaced.new, arrived.token)
    instance, why = replaced.new.instance_id, told_reason(arrived.request)
    reason = f"Group's selectedProtocol will change because static member {member_id} with instance id {instance} joined with change of protocol; client reason: {why}"
    yield from then(group, Cause(reason, Trigger.STATIC, arrived.request.client))


def _replacement(group: ClassicGroup, request: JoinGroup, member_id: str) -> Replacement:
    assert request.instance_id is not None
    old = group.members[group.statics[request.instance_id]]
    new = ClassicGroupMember(
        member_id,
        request.instance_id,
        request.client,
        request.session_timeout_ms,
        request.rebalance_timeout_ms,
        request.protocols,
        assignment=old.assignment,
        is_new=False,
    )
    return Replacement(old, new, group.leader == old.member_id)


def _fence_and_swap(group: ClassicGroup, replaced: Replacement) -> Effects:
    yield from _fence_old(group, replaced.old)
    _swap_ids(group, replaced)
    yield CancelTimer((Timer.SESSION, replaced.old.member_id))
    yield SetTimer((Timer.SESSION, replaced.new.member_id), replaced.old.session_timeout_ms)


def _fence_old(group: ClassicGroup, old: ClassicGroupMember) -> Effects:
    """Whatever the old process waits for is answered FENCED_INSTANCE_ID."""
    yield from group.answer_join(old, JoinAnswer("FENCED_INSTANCE_ID", old.member_id))
    yield from group.answer_sync(old, SyncAnswer("FENCED_INSTANCE_ID"))


def _swap_ids(group: ClassicGroup, replaced: Replacement) -> None:
    """The new id takes over the old one's place, and leads if that one led."""
    old_id = replaced.old.member_id
    owes_sync = old_id in group.pending_sync
    group.remove(old_id)
    if owes_sync:
        group.pending_sync.add(old_id)  # replaceStaticMember leaves it there: nobody can send it any more
    group.add(replaced.new)
    if replaced.led:
        group.leader = replaced.new.member_id


def _answer_current(group: ClassicGroup, arrived: Arrived[JoinGroup], replaced: Replacement) -> Effects:
    """The new process gets the current generation; SyncGroup will give it the old assignment."""
    group.store()
    yield group.note("static_kept", replaced.new.member_id, name=arrived.request.client)
    if replaced.led and not group.settings.skips_assignment:
        # told that its old id leads, it takes itself for a follower
        answer = group.join_answer(replaced.new)._replace(leader=replaced.old.member_id, members=())
    else:
        answer = group.join_answer(replaced.new, skip_assignment=replaced.led)
    yield Reply(arrived.token, answer)


def _replaced_note(group: ClassicGroup, replaced: Replacement, *, rebalance: bool) -> Effect:
    return group.note(
        "member_replaced",
        replaced.new.member_id,
        name=replaced.new.client,
        instance_id=replaced.new.instance_id,
        old_member_id=replaced.old.member_id,
        old_name=replaced.old.client,
        rebalance=rebalance,
        state=group.state.value,
    )


def told_reason(request: JoinGroup) -> str:
    """The client's reason as the coordinator prints it."""
    return "not provided" if request.reason is None else request.reason.text


class JoinRules(NamedTuple):
    """What one state of the group decides about JoinGroup."""

    has_room: Callable[[ClassicGroup, JoinGroup], bool]
    rejoin: Callable[[ClassicGroup, Arrived[JoinGroup]], Effects]
    """A known member joins again."""
    static_returns: Callable[[ClassicGroup, Arrived[JoinGroup], str, Then], Effects]
    """A static member's new process joins under the id that it is given."""
    then: Then
    """What follows when a member was admitted."""


# --- the four states --------------------------------------------------------------------------
def join_empty(group: ClassicGroup, arrived: Arrived[JoinGroup]) -> Effects:
    """Empty: the first member begins the initial join phase; no member can be known yet."""
    rules = JoinRules(_unlimited, _refuse_unknown, replace_static_then, join_phase.begin_first_rebalance)
    yield from _join(group, arrived, rules)


def join_preparing(group: ClassicGroup, arrived: Arrived[JoinGroup]) -> Effects:
    """Preparing: the request is parked; the last one that was missing completes the join phase."""
    rules = JoinRules(_room_to_wait, _park_again, replace_static_then, join_phase.complete_if_all_joined)
    yield from _join(group, arrived, rules)


def join_completing(group: ClassicGroup, arrived: Arrived[JoinGroup]) -> Effects:
    """Completing: a member that is new or has other metadata restarts the rebalance; others get the current answer."""
    rules = JoinRules(_room_in_group, _rejoin_completing, replace_static_then, join_phase.restart_rebalance)
    yield from _join(group, arrived, rules)


def join_stable(group: ClassicGroup, arrived: Arrived[JoinGroup]) -> Effects:
    """Stable: a new member, a leader, or a follower with other metadata begins a rebalance."""
    rules = JoinRules(_room_in_group, _rejoin_stable, replace_static_stable, join_phase.begin_rebalance)
    yield from _join(group, arrived, rules)


def _join(group: ClassicGroup, arrived: Arrived[JoinGroup], rules: JoinRules) -> Effects:
    request = arrived.request
    settings = group.settings
    if not settings.min_session_ms <= request.session_timeout_ms <= settings.max_session_ms:
        yield from _refuse(group, arrived, "INVALID_SESSION_TIMEOUT", MESSAGES["INVALID_SESSION_TIMEOUT"])
    elif not rules.has_room(group, request):
        yield from _forget(group, request.member_id)
        yield from _refuse(group, arrived, "GROUP_MAX_SIZE_REACHED", MESSAGES["GROUP_MAX_SIZE_REACHED"])
    elif not group.supports([name for name, _ in request.protocols]):
        yield from _refuse(
            group, arrived, "INCONSISTENT_GROUP_PROTOCOL", MESSAGES["INCONSISTENT_GROUP_PROTOCOL"]
        )
    elif request.member_id:
        yield from _join_with_id(group, arrived, rules)
    elif request.instance_id is not None:
        yield from _join_static(group, arrived, rules)
    else:
        yield from _hand_out_id(group, arrived)


# --- by who asks ------------------------------------------------------------------------------
def _hand_out_id(group: ClassicGroup, arrived: Arrived[JoinGroup]) -> Effects:
    """A dynamic member's first JoinGroup: it is to join again with the id it is given (KIP-394)."""
    client = arrived.request.client
    member_id = group.settings.new_id(client, client)
    group.pending[member_id] = client
    yield SetTimer((Timer.PENDING, member_id), arrived.request.session_timeout_ms)
    yield group.note("member_pending", member_id, name=client, state=group.state.value)
    yield Reply(arrived.token, JoinAnswer("MEMBER_ID_REQUIRED", member_id))


def _join_static(group: ClassicGroup, arrived: Arrived[JoinGroup], rules: JoinRules) -> Effects:
    instance_id = arrived.request.instance_id
    assert instance_id is not None
    member_id = group.settings.new_id(arrived.request.client, instance_id)
    if instance_id in group.statics:
        yield from rules.static_returns(group, arrived, member_id, rules.then)
    else:
        yield from _add(group, arrived, member_id, rules.then)


def _join_with_id(group: ClassicGroup, arrived: Arrived[JoinGroup], rules: JoinRules) -> Effects:
    request = arrived.request
    if request.member_id in group.pending:
        del group.pending[request.member_id]
        yield CancelTimer((Timer.PENDING, request.member_id))
        yield from _add(group, arrived, request.member_id, rules.then)
        return
    error = identity_error(group, request.member_id, request.instance_id)
    if error is not None:
        yield from _refuse(group, arrived, error)
    else:
        yield from rules.rejoin(group, arrived)


def _add(group: ClassicGroup, arrived: Arrived[JoinGroup], member_id: str, then: Then) -> Effects:
    request = arrived.request
    if group.in_initial_phase:
        group.new_member_added = True
    member = ClassicGroupMember(
        member_id,
        request.instance_id,
        request.client,
        request.session_timeout_ms,
        request.rebalance_timeout_ms,
        request.protocols,
        parked_join=arrived.token,
    )
    leads = group.leader is None
    group.add(member)
    why = told_reason(request)
    yield group.note(
        "member_added",
        member_id,
        name=request.client,
        instance_id=request.instance_id,
        reason=why,
        state=group.state.value,
    )
    if leads:
        yield group.note("leader_elected", member_id, name=request.client)
    yield SetTimer((Timer.SESSION, member_id), NEW_MEMBER_JOIN_TIMEOUT_MS)
    reason = f"Adding new member {member_id} with group instance id {request.instance_id or 'null'}; client reason: {why}"
    yield from then(group, Cause(reason, Trigger.JOIN, request.client))


# --- a known member joins again ---------------------------------------------------------------
def _refuse_unknown(group: ClassicGroup, arrived: Arrived[JoinGroup]) -> Effects:
    yield from _refuse(group, arrived, "UNKNOWN_MEMBER_ID")


def _park_again(group: ClassicGroup, arrived: Arrived[JoinGroup]) -> Effects:
    _update_and_park(group, arrived)
    yield from join_phase.complete_if_all_joined(group)


def _rejoin_completing(group: ClassicGroup, arrived: Arrived[JoinGroup]) -> Effects:
    member = group.members[arrived.request.member_id]
    if member.protocols == arrived.request.protocols:
        yield Reply(arrived.token, group.join_answer(member))
        return
    cause = _changed_metadata(group, arrived.request)
    _update_and_park(group, arrived)
    yield from join_phase.restart_rebalance(group, cause)


def _rejoin_stable(group: ClassicGroup, arrived: Arrived[JoinGroup]) -> Effects:
    request = arrived.request
    member = group.members[request.member_id]
    if member.member_id == group.leader:
        reason = (
            f"Leader {member.member_id} re-joining group during Stable; client reason: {told_reason(request)}"
        )
        cause = Cause(reason, _trigger(request), member.client)
    elif member.protocols != request.protocols:
        cause = _changed_metadata(group, request)
    else:
        yield Reply(arrived.token, group.join_answer(member))
        return
    _update_and_park(group, arrived)
    yield from join_phase.begin_rebalance(group, cause)


def _changed_metadata(group: ClassicGroup, request: JoinGroup) -> Cause:
    reason = f"Updating metadata for member {request.member_id} during {group.state.value}; client reason: {told_reason(request)}"
    return Cause(reason, _trigger(request), group.members[request.member_id].client)


def _trigger(request: JoinGroup) -> Trigger:
    return Trigger.REJOIN if request.reason is None else request.reason.trigger


def _update_and_park(group: ClassicGroup, arrived: Arrived[JoinGroup]) -> None:
    """Take over what a re-joining member says and keep its request."""
    request = arrived.request
    member = group.members[request.member_id]
    group.set_protocols(member, request.protocols)
    member.session_timeout_ms = request.session_timeout_ms
    member.rebalance_timeout_ms = request.rebalance_timeout_ms
    group.park_join(member, arrived.token)


# --- group.max.size ---------------------------------------------------------------------------
def _unlimited(group: ClassicGroup, request: JoinGroup) -> bool:
    return True


def _room_to_wait(group: ClassicGroup, request: JoinGroup) -> bool:
    """While joining, the parked requests count."""
    known = group.members.get(request.member_id)
    waits = known is not None and known.parked_join is not None
    return waits or group.joined < group.settings.max_size


def _room_in_group(group: ClassicGroup, request: JoinGroup) -> bool:
    return request.member_id in group.members or len(group.members) < group.settings.max_size


def _forget(group: ClassicGroup, member_id: str) -> Effects:
    """Whoever finds a full group on re-joining is out of it (classicGroupJoinToClassicGroup)."""
    group.pending.pop(member_id, None)
    if member_id in group.members:
        member = group.remove(member_id)
        yield CancelTimer((Timer.SESSION, member_id))
        yield group.note(
            "member_removed",
            member_id,
            name=member.client,
            how="late",
            reason="the group has reached its max size",
        )


def _refuse(
    group: ClassicGroup, arrived: Arrived[JoinGroup], error: str, message: str | None = None
) -> Effects:
    request = arrived.request
    yield group.note(
        "member_refused",
        request.member_id or None,
        name=request.client,
        api="JoinGroup",
        error=error,
        message=message,
    )
    yield Reply(arrived.token, JoinAnswer(error, request.member_id, message=message))
