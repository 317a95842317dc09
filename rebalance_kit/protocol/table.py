"""What the machines' tables are made of: rules that yield effects, and the states they may lead to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from rebalance_kit.protocol.effects import Arrived, Effects, GroupEvent, Timer, TimerFired

M_contra = TypeVar("M_contra", contravariant=True)
StateT = TypeVar("StateT")
EventKind = type | Timer
"""What an event is, as a table asks: the type of a request, the kind of a timer, the type of anything else."""


class Rule(NamedTuple, Generic[M_contra, StateT]):
    """What a cell of a table does, and the states it may lead to (none named: it stays)."""

    run: Callable[[M_contra, GroupEvent], Effects]
    targets: frozenset[StateT]


def kind_of(event: GroupEvent) -> EventKind:
    """What a coordinator's table asks about an event."""
    if isinstance(event, Arrived):
        return type(event.request)
    return Timer(event.key[0]) if isinstance(event, TimerFired) else type(event)


def name_of(kind: EventKind) -> str:
    """The kind as it is printed."""
    return f"timer {kind.value}" if isinstance(kind, Timer) else kind.__name__
