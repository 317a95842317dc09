"""JoinGroup, by the state of the group (order of the checks: GroupMetadataManager.classicGroupJoin).

Who asks decides first: without an id it is given one, or admitted at once if it is static; with a pending
id it is new; with a known id it joins again. What that leads to is the state's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from rebalance_kit.model.kafka_errors import MESSAGES
from rebalance_kit.protocol.classic_group.group import (
    NEW_MEMBER_JOIN_TIMEOUT_MS,
    Cause,
    ClassicGroup,
    ClassicGroupMember,
)
from rebalance_kit.protocol.classic_group.identity import identity_error
from rebalance_kit.protocol.classic_group.join_phase import (
    begin_first_rebalance,
    begin_rebalance,
    complete_if_all_joined,
    restart_rebalance,
)
from rebalance_kit.protocol.classic_group.leaving import Then
from rebalance_kit.protocol.classic_group.static_members import (
    replace_static_stable,
    replace_static_then,
    told_reason,
)
from rebalance_kit.protocol.effects import Arrived, CancelTimer, Effects, Reply, SetTimer, Timer
from rebalance_kit.protocol.messages import JoinAnswer, JoinGroup
from rebalance_kit.protocol.triggers import Trigger


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
    rules = JoinRules(_unlimited, _refuse_unknown, replace_static_then, begin_first_rebalance)
    yield from _join(group, arrived, rules)


def join_preparing(group: ClassicGroup, arrived: Arrived[JoinGroup]) -> Effects:
    """Preparing: the request is parked; the last one that was missing completes the join phase."""
    rules = JoinRules(_room_to_wait, _park_again, replace_static_then, complete_if_all_joined)
    yield from _join(group, arrived, rules)


def join_completing(group: ClassicGroup, arrived: Arrived[JoinGroup]) -> Effects:
    """Completing: a member that is new or has other metadata restarts the rebalance; others get the current answer."""
    rules = JoinRules(_room_in_group, _rejoin_completing, replace_static_then, restart_rebalance)
    yield from _join(group, arrived, rules)


def join_stable(group: ClassicGroup, arrived: Arrived[JoinGroup]) -> Effects:
    """Stable: a new member, a leader, or a follower with other metadata begins a rebalance."""
    rules = JoinRules(_room_in_group, _rejoin_stable, replace_static_stable, begin_rebalance)
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
    yield from complete_if_all_joined(group)


def _rejoin_completing(group: ClassicGroup, arrived: Arrived[JoinGroup]) -> Effects:
    member = group.members[arrived.request.member_id]
    if member.protocols == arrived.request.protocols:
        yield Reply(arrived.token, group.join_answer(member))
        return
    cause = _changed_metadata(group, arrived.request)
    _update_and_park(group, arrived)
    yield from restart_rebalance(group, cause)


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
    yield from begin_rebalance(group, cause)


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
