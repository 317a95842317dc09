"""The KIP-848 group machine: one table, and ``step``.

The group's state is no input: it follows from the epochs, so one rule per event answers in every state. Each
row names the event, the rule, and the steps of the group's state that it may cause.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import TypeVar, cast

from rebalance_kit.model.errors import ProtocolViolation
from rebalance_kit.protocol import messages
from rebalance_kit.protocol.consumer_group import heartbeating
from rebalance_kit.protocol.consumer_group.group import LEFT_FOR_A_WHILE, ConsumerGroup, ConsumerGroupState
from rebalance_kit.protocol.consumer_group.migration import classic_heartbeat, classic_join, classic_sync
from rebalance_kit.protocol.effects import (
    Appended,
    Arrived,
    Effect,
    Effects,
    EventKind,
    GroupEvent,
    Load,
    Rule,
    Timer,
    TimerFired,
    Unload,
    kind_of,
    name_of,
)

Step = tuple[ConsumerGroupState, ConsumerGroupState]
R = TypeVar("R", bound=messages.Request)
E = TypeVar("E", Appended, Load, Unload)


class Beat(StrEnum):
    """What a ConsumerGroupHeartbeat means, by its member epoch."""

    JOIN = "heartbeat to join"
    MEMBER = "heartbeat of a member"
    LEAVE = "heartbeat to leave"
    LEAVE_FOR_A_WHILE = "heartbeat to leave for a while"

    @classmethod
    def of(cls, request: messages.ConsumerGroupHeartbeat) -> Beat:
        """The meaning of this heartbeat."""
        if request.member_epoch == LEFT_FOR_A_WHILE:
            return cls.LEAVE_FOR_A_WHILE
        if request.member_epoch < 0:
            return cls.LEAVE
        return cls.MEMBER if request.member_epoch else cls.JOIN


Row = tuple[EventKind, Rule[ConsumerGroup, Step]]


def _on(
    request: type[R] | Beat, run: Callable[[ConsumerGroup, Arrived[R]], Effects], *steps: frozenset[Step]
) -> Row:
    """A request's row; its type is that of the rule's argument, so the cast is safe."""
    return request, Rule(
        cast("Callable[[ConsumerGroup, GroupEvent], Effects]", run), frozenset().union(*steps)
    )


def _after(timer: Timer, run: Callable[[ConsumerGroup, TimerFired], Effects], *steps: frozenset[Step]) -> Row:
    """The row of a timer that ran out."""
    return timer, Rule(cast("Callable[[ConsumerGroup, GroupEvent], Effects]", run), frozenset().union(*steps))


def _when(event: type[E], run: Callable[[ConsumerGroup, E], Effects], *steps: frozenset[Step]) -> Row:
    """The row of any other event."""
    return event, Rule(cast("Callable[[ConsumerGroup, GroupEvent], Effects]", run), frozenset().union(*steps))


def _from(state: ConsumerGroupState, *targets: ConsumerGroupState) -> frozenset[Step]:
    return frozenset((state, target) for target in targets)


_E, _A, _R, _S = (
    ConsumerGroupState.EMPTY,
    ConsumerGroupState.ASSIGNING,
    ConsumerGroupState.RECONCILING,
    ConsumerGroupState.STABLE,
)
_JOINED = _from(_E, _A, _S) | _from(_A, _R, _S) | _from(_R, _A, _S) | _from(_S, _A, _R)
"""The epoch rises, the target is computed at once or later, and the sender is led a step towards it."""
_GONE = _from(_A, _E) | _from(_R, _A, _E) | _from(_S, _A, _E)
"""A member is out: the epoch rises, and nobody is left or somebody's next heartbeat computes the target."""
RULES: Mapping[EventKind, Rule[ConsumerGroup, Step]] = MappingProxyType(
    dict(
        [
            _on(Beat.JOIN, heartbeating.heartbeat_to_join, _JOINED),
            _on(Beat.MEMBER, heartbeating.heartbeat_of_member, _JOINED - _from(_E, _A, _S)),
            _on(Beat.LEAVE, heartbeating.heartbeat_to_leave, _GONE),
            _on(Beat.LEAVE_FOR_A_WHILE, heartbeating.heartbeat_to_leave_for_a_while, _from(_S, _R)),
            _on(messages.OffsetCommit, heartbeating.commit),
            # classic members (online migration)
            _on(messages.JoinGroup, classic_join, _JOINED),
            _on(messages.SyncGroup, classic_sync),
            _on(messages.Heartbeat, classic_heartbeat),
            _on(messages.LeaveGroup, heartbeating.leave_group, _GONE),
            # silence
            _after(Timer.SESSION, heartbeating.session_expired, _GONE),
            _after(Timer.REBALANCE, heartbeating.rebalance_expired, _GONE - _from(_S, _A, _E)),
            _after(Timer.JOIN, heartbeating.join_expired, _GONE - _from(_S, _A, _E)),
            _after(Timer.SYNC, heartbeating.sync_expired, _GONE),
            # the coordinator's own
            _when(Appended, heartbeating.regexes_resolved, _from(_R, _A) | _from(_S, _A)),
            _when(Unload, heartbeating.unload),
            _when(Load, heartbeating.load),
        ]
    )
)


def consumer_kind_of(event: GroupEvent) -> EventKind:
    """What this table asks about an event: heartbeats are told apart by what they mean."""
    if isinstance(event, Arrived) and isinstance(event.request, messages.ConsumerGroupHeartbeat):
        return Beat.of(event.request)
    return kind_of(event)


def step(group: ConsumerGroup, event: GroupEvent) -> list[Effect]:
    """Apply one event to a consumer group and return the effects it asks for, in order.

    Raises ``ProtocolViolation`` for an event that the driver must never send; nothing has changed then.
    """
    kind = consumer_kind_of(event)
    rule = RULES.get(kind)
    if rule is None:
        raise ProtocolViolation(f"a consumer group is never sent {name_of(kind)}")
    before = group.state
    effects = list(rule.run(group, event))
    if group.state is not before and (before, group.state) not in rule.targets:
        raise ProtocolViolation(f"{name_of(kind)} led from {before.value} to undeclared {group.state.value}")
    return effects
