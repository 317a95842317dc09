"""The classic group machine: one table, total for requests, and ``step``.

Each row names the state, the event, the rule that answers it, and the states it may lead to (none named:
the group stays). Empty <- Preparing; Preparing <- {Stable, Completing, Empty}; Completing <- Preparing;
Stable <- Completing. Within one event Preparing may be passed through, when everybody has joined already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TypeVar, cast

from rebalance_kit.model.errors import ProtocolViolation
from rebalance_kit.protocol.classic_group import join_phase, joining, sessions
from rebalance_kit.protocol.classic_group.group import ClassicGroup, ClassicGroupState, refuse
from rebalance_kit.protocol.effects import (
    Appended,
    Arrived,
    Effect,
    Effects,
    EventKind,
    GroupEvent,
    Load,
    Reply,
    Rule,
    Timer,
    TimerFired,
    Unload,
    kind_of,
    name_of,
)
from rebalance_kit.protocol.messages import Heartbeat, JoinGroup, LeaveGroup, OffsetCommit, Request, SyncGroup

GroupRule = Rule[ClassicGroup, ClassicGroupState]
Row = tuple[tuple[ClassicGroupState, EventKind], GroupRule]
R = TypeVar("R", bound=Request)
E = TypeVar("E", Appended, Load, Unload)


def _on(
    state: ClassicGroupState,
    request: type[R],
    run: Callable[[ClassicGroup, Arrived[R]], Effects],
    *targets: ClassicGroupState,
) -> Row:
    """A request's row; its type is that of the rule's argument, so the cast is safe."""
    rule = cast("Callable[[ClassicGroup, GroupEvent], Effects]", run)
    return (state, request), Rule(rule, frozenset(targets))


def _after(
    state: ClassicGroupState,
    timer: Timer,
    run: Callable[[ClassicGroup, TimerFired], Effects],
    *targets: ClassicGroupState,
) -> Row:
    """The row of a timer that ran out."""
    rule = cast("Callable[[ClassicGroup, GroupEvent], Effects]", run)
    return (state, timer), Rule(rule, frozenset(targets))


def _when(
    state: ClassicGroupState,
    event: type[E],
    run: Callable[[ClassicGroup, E], Effects],
    *targets: ClassicGroupState,
) -> Row:
    """The row of any other event."""
    rule = cast("Callable[[ClassicGroup, GroupEvent], Effects]", run)
    return (state, event), Rule(rule, frozenset(targets))


def _ignore(group: ClassicGroup, event: GroupEvent) -> Iterator[Effect]:
    """The event comes too late to matter."""
    return iter(())


_E, _P, _C, _S, _D = (
    ClassicGroupState.EMPTY,
    ClassicGroupState.PREPARING_REBALANCE,
    ClassicGroupState.COMPLETING_REBALANCE,
    ClassicGroupState.STABLE,
    ClassicGroupState.DEAD,
)
TRANSITIONS: Mapping[tuple[ClassicGroupState, EventKind], GroupRule] = MappingProxyType(
    dict(
        [
            _on(_E, JoinGroup, joining.join_empty, _P),
            _on(_P, JoinGroup, joining.join_preparing, _C),
            _on(_C, JoinGroup, joining.join_completing, _P, _C),
            _on(_S, JoinGroup, joining.join_stable, _P, _C),
            _on(_D, JoinGroup, refuse("COORDINATOR_NOT_AVAILABLE")),
            _on(_E, SyncGroup, refuse("UNKNOWN_MEMBER_ID")),
            _on(_P, SyncGroup, join_phase.sync_preparing),
            _on(_C, SyncGroup, join_phase.sync_completing),
            _on(_S, SyncGroup, join_phase.sync_stable),
            _on(_D, SyncGroup, refuse("COORDINATOR_NOT_AVAILABLE")),
            _on(_E, Heartbeat, refuse("UNKNOWN_MEMBER_ID")),
            _on(_P, Heartbeat, sessions.heartbeat_preparing),
            _on(_C, Heartbeat, sessions.heartbeat_completing),
            _on(_S, Heartbeat, sessions.heartbeat_stable),
            _on(_D, Heartbeat, refuse("COORDINATOR_NOT_AVAILABLE")),
            _on(_E, LeaveGroup, sessions.leave_empty),
            _on(_P, LeaveGroup, sessions.leave_then(join_phase.complete_if_all_joined), _C, _E),
            _on(_C, LeaveGroup, sessions.leave_then(join_phase.restart_rebalance), _P, _E),
            _on(_S, LeaveGroup, sessions.leave_then(join_phase.begin_rebalance), _P, _E),
            _on(_D, LeaveGroup, refuse("COORDINATOR_NOT_AVAILABLE")),
            _on(_E, OffsetCommit, sessions.commit_empty),
            _on(_P, OffsetCommit, sessions.commit_of_member),
            _on(_C, OffsetCommit, sessions.commit_completing),
            _on(_S, OffsetCommit, sessions.commit_of_member),
            _on(_D, OffsetCommit, refuse("COORDINATOR_NOT_AVAILABLE")),
            _after(_P, Timer.INITIAL, join_phase.initial_delay_over, _C, _E),
            _after(_P, Timer.JOIN, join_phase.join_phase_over, _C, _E),
            _after(_C, Timer.SYNC, sessions.sync_expired_then(join_phase.restart_rebalance), _P, _E),
            _after(
                _S, Timer.SYNC, sessions.sync_expired_then(join_phase.begin_rebalance), _P
            ),  # the leader has synced
            _after(
                _P, Timer.SESSION, sessions.session_expired_then(join_phase.complete_after_expiry), _C, _E
            ),
            _after(_C, Timer.SESSION, sessions.session_expired_then(join_phase.restart_rebalance), _P, _E),
            _after(_S, Timer.SESSION, sessions.session_expired_then(join_phase.begin_rebalance), _P, _E),
            _after(_E, Timer.PENDING, sessions.pending_expired),
            _after(_P, Timer.PENDING, sessions.pending_expired_preparing, _C, _E),
            _after(_C, Timer.PENDING, sessions.pending_expired),
            _after(_S, Timer.PENDING, sessions.pending_expired),
            _when(_E, Appended, _ignore),
            _when(_P, Appended, _ignore),
            _when(_C, Appended, join_phase.assignment_stored, _S),
            _when(_S, Appended, _ignore),
            _when(_E, Unload, join_phase.unload, _D),
            _when(_P, Unload, join_phase.unload, _D),
            _when(_C, Unload, join_phase.unload, _D),
            _when(_S, Unload, join_phase.unload, _D),
            _when(_D, Load, join_phase.load, _E, _S),
        ]
    )
)


def step(group: ClassicGroup, event: GroupEvent) -> list[Effect]:
    """Apply one event to the group and return the effects it asks for, in order.

    Raises ``ProtocolViolation`` for an event that the driver must never send; nothing has changed then.
    """
    kind = kind_of(event)
    before = group.state
    rule = TRANSITIONS.get((before, kind))
    if rule is None:
        raise ProtocolViolation(f"{name_of(kind)} in state {before.value} of a classic group")
    effects = list(rule.run(group, event))
    if group.state is not before and group.state not in rule.targets:
        raise ProtocolViolation(f"{name_of(kind)} led from {before.value} to undeclared {group.state.value}")
    return effects


def commit_error(group: ClassicGroup, request: OffsetCommit) -> str:
    """What OffsetCommit would be answered now; nothing is carried out."""
    rule = TRANSITIONS[group.state, OffsetCommit]
    return next(
        effect.response.error for effect in rule.run(group, Arrived(request, 0)) if isinstance(effect, Reply)
    )
