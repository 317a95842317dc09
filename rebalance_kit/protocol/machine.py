"""States that carry Kafka's own description: what is done in each, and what leads out of it."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, StrEnum
from typing import Generic, NamedTuple, Self, TypeVar

from rebalance_kit.protocol.effects import Arrived, Effects, GroupEvent, Timer, TimerFired


class DocumentedState(Enum):
    """A state under the name that Kafka prints, with its action and its transitions in words."""

    __hash__ = object.__hash__  # by identity: states are looked up all the time

    def __new__(cls, name: str, action: str, transition: str) -> Self:
        """A state is its name; the texts stand beside it."""
        state = object.__new__(cls)
        state._value_ = name
        state.action, state.transition = action, transition
        return state

    action: str
    """What is done in this state."""
    transition: str
    """What leads out of it, as ``cause => state``."""


# What the machines' tables are made of: rules that yield effects, and the states they may lead to.


M_contra = TypeVar("M_contra", contravariant=True)
StateT = TypeVar("StateT")
EventKind = type | StrEnum
"""What an event is, as a table asks: a request's type or meaning, a timer's kind, the type of anything else."""


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
    if isinstance(kind, type):
        return kind.__name__
    return f"timer {kind.value}" if isinstance(kind, Timer) else str(kind.value)
