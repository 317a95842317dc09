"""The classic group machine: one table, total for requests, and ``step``.

Empty <- Preparing; Preparing <- {Stable, Completing, Empty}; Completing <- Preparing;
Stable <- Completing. A heartbeat in Completing answers NONE, in Preparing REBALANCE_IN_PROGRESS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from rebalance_kit.model.errors import ProtocolViolation
from rebalance_kit.protocol.classic_group import join as joins
from rebalance_kit.protocol.classic_group.state import ClassicGroup, GroupMember, State
from rebalance_kit.protocol.effects import (
    Appended,
    Arrived,
    CancelTimer,
    Effect,
    Load,
    SetTimer,
    TimerFired,
    Unload,
)
from rebalance_kit.protocol.messages import (
    NONE,
    Answer,
    Heartbeat,
    JoinAnswer,
    JoinGroup,
    LeaveGroup,
    OffsetCommit,
    SyncAnswer,
    SyncGroup,
)

GroupEvent = Arrived | TimerFired | Appended | Load | Unload


class Rule(NamedTuple):
    """What decides a cell of the table, and the states it may lead to (none named: stays)."""

    run: Callable[[ClassicGroup, GroupEvent], None]
    targets: frozenset[State]


# --- rules -----------------------------------------------------------------------------------
def _sync(group: ClassicGroup, event: GroupEvent) -> None:
    assert isinstance(event, Arrived)
    assert isinstance(event.request, SyncGroup)
    request = event.request
    error = _member_error(group, request.member_id, request.instance_id, request.generation)
    if error is None and request.protocol is not None and request.protocol != group.protocol:
        error = "INCONSISTENT_GROUP_PROTOCOL"
    if error is None and group.state is State.PREPARING:
        error = "REBALANCE_IN_PROGRESS"
    if error is not None:
        group.reply(event.token, SyncAnswer(error))
        return
    member = group.members[request.member_id]
    group.pending_sync.discard(member.member_id)
    if not group.pending_sync:
        group.out.append(CancelTimer(joins.SYNC_TIMER))
    if group.state is State.STABLE:
        group.reply(event.token, SyncAnswer(NONE, member.assignment))
        return
    member.parked_sync = event.token
    if member.member_id == group.leader and group.plan is None:
        group.plan = dict(request.assignment or {})
        joins.append(group, ("assignment", str(group.generation)))


def _stored(group: ClassicGroup, event: GroupEvent) -> None:
    assert isinstance(event, Appended)
    if (
        group.state is not State.COMPLETING
        or event.key != ("assignment", str(group.generation))
        or group.plan is None
    ):
        return
    order = group.in_map_order()
    for member in order:
        member.assignment = tuple(group.plan.get(member.member_id, ()))
    named = group.labels()
    given = {named[one.member_id]: [str(tp) for tp in one.assignment] for one in order}
    group.note(
        "assignment",
        group.leader,
        leader=group.name(group.leader or ""),
        assignment=given,
        assignor=group.protocol,
        ids={one.member_id: named[one.member_id] for one in order},
    )
    group.move(State.STABLE)
    group.store()
    for member in order:
        if member.parked_sync is not None:
            group.reply(member.parked_sync, SyncAnswer(NONE, member.assignment))
            member.parked_sync = None
            group.out.append(SetTimer(("session", member.member_id), member.session_timeout_ms))


def _heartbeat(group: ClassicGroup, event: GroupEvent) -> None:
    assert isinstance(event, Arrived)
    assert isinstance(event.request, Heartbeat)
    request = event.request
    error = _member_error(group, request.member_id, request.instance_id, request.generation)
    if error is not None:
        if error == "FENCED_INSTANCE_ID":
            group.note(
                "member_refused",
                request.member_id,
                name=request.sender,
                api="Heartbeat",
                error=error,
                message=None,
                instance_id=request.instance_id,
                holder=group.statics.get(request.instance_id or ""),
            )
        group.reply(event.token, Answer(error))
        return
    member = group.members[request.member_id]
    group.out.append(SetTimer(("session", member.member_id), member.session_timeout_ms))
    group.reply(event.token, Answer("REBALANCE_IN_PROGRESS" if group.state is State.PREPARING else NONE))


def _member_error(
    group: ClassicGroup, member_id: str, instance_id: str | None, generation: int
) -> str | None:
    if group.state is State.EMPTY:
        return "UNKNOWN_MEMBER_ID"
    error = joins.identity_error(group, member_id, instance_id)
    if error is not None:
        return error
    return None if generation == group.generation else "ILLEGAL_GENERATION"


def _leave(group: ClassicGroup, event: GroupEvent) -> None:
    assert isinstance(event, Arrived)
    assert isinstance(event.request, LeaveGroup)
    request = event.request
    member_id = request.member_id or group.statics.get(request.instance_id or "", "")
    if member_id in group.pending:
        sender = group.pending.pop(member_id)
        group.out.append(CancelTimer(("pending", member_id)))
        group.note(
            "member_removed",
            member_id,
            name=sender,
            how="leave",
            reason=request.reason or "not provided",
            pending=True,
        )
        group.reply(event.token, Answer(NONE))
        if group.state is not State.EMPTY:
            joins.prepare_or_complete(
                group, f"explicit `LeaveGroup` request for ({member_id}) members.", "leave", sender
            )
        return
    error = joins.identity_error(group, member_id, request.instance_id)
    if error is not None:
        group.reply(event.token, Answer(error))
        return
    member = group.members[member_id]
    joins.remove_member(
        group, member, "admin" if request.admin else "leave", request.reason or "not provided"
    )
    group.reply(event.token, Answer(NONE))
    listed = "" if request.admin and not request.member_id else member_id
    joins.prepare_or_complete(
        group,
        f"explicit `LeaveGroup` request for ({listed}) members.",
        "admin" if request.admin else "leave",
        member.sender,
    )


def _commit(group: ClassicGroup, event: GroupEvent) -> None:
    assert isinstance(event, Arrived)
    assert isinstance(event.request, OffsetCommit)
    error = commit_error(group, event.request)
    if (
        error == NONE
        and event.request.member_id in group.members
        and group.state in {State.STABLE, State.PREPARING}
    ):
        member = group.members[event.request.member_id]
        group.out.append(SetTimer(("session", member.member_id), member.session_timeout_ms))
    group.reply(event.token, Answer(error))


def commit_error(group: ClassicGroup, request: OffsetCommit) -> str:
    """What OffsetCommit answers (ClassicGroup.validateOffsetCommit)."""
    if request.generation < 0 and group.state is State.EMPTY:
        return NONE
    error = joins.identity_error(group, request.member_id, request.instance_id)
    if error is None and request.generation != group.generation:
        error = "ILLEGAL_GENERATION"
    if error is None and group.state is State.COMPLETING:
        error = "REBALANCE_IN_PROGRESS"
    return error or NONE


def _timer(group: ClassicGroup, event: GroupEvent) -> None:
    assert isinstance(event, TimerFired)
    kind = event.key[0]
    if kind == "join":
        group.note(
            "timer_fired", timer="initial" if group.previous is State.EMPTY else "rebalance", name=None
        )
        joins.join_timer_fired(group)
    elif kind == "session":
        _session_expired(group, event.key[1])
    elif kind == "pending":
        _pending_expired(group, event.key[1])
    else:
        _sync_expired(group)


def _session_expired(group: ClassicGroup, member_id: str) -> None:
    member = group.members.get(member_id)
    if member is None:
        return
    waits = member.parked_join is not None or member.parked_sync is not None
    if waits and not member.is_new:
        return
    group.note("timer_fired", member_id, timer="session", name=member.sender)
    joins.remove_member(group, member, "session", "the member session expired")
    if group.state is State.PREPARING:
        joins.complete_after_expiry(group)
    else:
        joins.prepare(
            group, f"removing member {member_id} on heartbeat expiration.", "session", member.sender
        )


def _pending_expired(group: ClassicGroup, member_id: str) -> None:
    sender = group.pending.pop(member_id, None)
    if sender is None:
        return
    group.note(
        "member_removed",
        member_id,
        name=sender,
        how="session",
        reason="pending member never joined",
        pending=True,
    )
    joins.complete_after_expiry(group)


def _sync_expired(group: ClassicGroup) -> None:
    missing = sorted(group.pending_sync)
    if group.state not in {State.COMPLETING, State.STABLE} or not missing:
        return
    removed = [group.members[member_id] for member_id in missing if member_id in group.members]
    group.pending_sync.clear()
    for member in removed:
        joins.remove_member(group, member, "sync_timeout", "never sent SyncGroup")
    joins.prepare_or_complete(
        group,
        f"Removing [{', '.join(missing)}] on pending sync request expiration",
        "sync_timeout",
        removed[0].sender if removed else None,
    )


def _unload(group: ClassicGroup, event: GroupEvent) -> None:
    for member in list(group.members.values()):
        group.answer_join(member, JoinAnswer("NOT_COORDINATOR", member.member_id))
        if member.parked_sync is not None:
            group.reply(member.parked_sync, SyncAnswer("NOT_COORDINATOR"))
            member.parked_sync = None
        group.out.append(CancelTimer(("session", member.member_id)))
    for member_id in group.pending:
        group.out.append(CancelTimer(("pending", member_id)))
    group.out.append(CancelTimer(joins.JOIN_TIMER))
    group.out.append(CancelTimer(joins.SYNC_TIMER))


def _load(group: ClassicGroup, event: GroupEvent) -> None:
    """Read the stored generation back: members mean Stable, sessions re-armed, no rebalance."""
    for held in (group.members, group.statics, group.pending, group.pending_sync, group.supported):
        held.clear()
    group.joined, group.plan, group.leader, group.protocol = 0, None, None, None
    group.new_member_added = False
    group.previous = group.state
    group.state = State.EMPTY
    stored = group.stored
    if stored is None:
        group.generation = 0
        _say_loaded(group)
        return
    group.generation = stored.generation
    for member_id, instance, sender, session, rebalance, protocols, assignment in stored.members:
        group.add(
            GroupMember(member_id, instance, sender, session, rebalance, protocols, assignment, is_new=False)
        )
        group.out.append(SetTimer(("session", member_id), session))
    group.leader, group.protocol = stored.leader, stored.protocol
    if stored.members:
        group.state = State.STABLE
    _say_loaded(group)
    group.note("group_loaded", members=len(stored.members))


def _say_loaded(group: ClassicGroup) -> None:
    """A rebalance that was under way is forgotten: the state is that of the stored generation, without a transition."""
    if group.previous is not group.state:
        told = {
            "from": group.previous.value,
            "to": group.state.value,
            "reason": "",
            "trigger": "load",
            "culprit": None,
        }
        group.note("group_state", **told)


# --- the table -------------------------------------------------------------------------------
def _to(run: Callable[[ClassicGroup, GroupEvent], None], *targets: State) -> Rule:
    return Rule(run, frozenset(targets))


def _joined(group: ClassicGroup, event: GroupEvent) -> None:
    assert isinstance(event, Arrived)
    joins.join(group, event)


_E, _P, _C, _S = State.EMPTY, State.PREPARING, State.COMPLETING, State.STABLE
TRANSITIONS: Mapping[tuple[State, type], Rule] = MappingProxyType(
    {
        (_E, JoinGroup): _to(_joined, _P),
        (_P, JoinGroup): _to(_joined, _C),
        (_C, JoinGroup): _to(_joined, _P, _C),
        (_S, JoinGroup): _to(_joined, _P, _C),
        (_E, SyncGroup): _to(_sync),
        (_P, SyncGroup): _to(_sync),
        (_C, SyncGroup): _to(_sync),
        (_S, SyncGroup): _to(_sync),
        (_E, Heartbeat): _to(_heartbeat),
        (_P, Heartbeat): _to(_heartbeat),
        (_C, Heartbeat): _to(_heartbeat),
        (_S, Heartbeat): _to(_heartbeat),
        (_E, LeaveGroup): _to(_leave),
        (_P, LeaveGroup): _to(_leave, _C, _E),
        (_C, LeaveGroup): _to(_leave, _P, _C, _E),
        (_S, LeaveGroup): _to(_leave, _P, _C, _E),
        (_E, OffsetCommit): _to(_commit),
        (_P, OffsetCommit): _to(_commit),
        (_C, OffsetCommit): _to(_commit),
        (_S, OffsetCommit): _to(_commit),
        (_E, TimerFired): _to(_timer),
        (_P, TimerFired): _to(_timer, _C, _E),
        (_C, TimerFired): _to(_timer, _P, _C, _E),
        (_S, TimerFired): _to(_timer, _P, _C, _E),
        (_E, Appended): _to(_stored),
        (_P, Appended): _to(_stored),
        (_C, Appended): _to(_stored, _S),
        (_S, Appended): _to(_stored),
        **{(state, Unload): _to(_unload) for state in (_E, _P, _C, _S)},
        **{(state, Load): _to(_load, _E, _S) for state in (_E, _P, _C, _S)},
    }
)


def step(group: ClassicGroup, event: GroupEvent) -> list[Effect]:
    """Apply one event to the group and return the effects it asks for, in order.

    Raises ``ProtocolViolation`` for an event that the driver must never send; nothing has changed then.
    """
    kind = type(event.request) if isinstance(event, Arrived) else type(event)
    rule = TRANSITIONS.get((group.state, kind))
    if rule is None:
        raise ProtocolViolation(f"{kind.__name__} in state {group.state.value} of a classic group")
    before = group.state
    group.out = []
    rule.run(group, event)
    if group.state is not before and group.state not in rule.targets:
        raise ProtocolViolation(f"{kind.__name__} led from {before.value} to undeclared {group.state.value}")
    return group.out
