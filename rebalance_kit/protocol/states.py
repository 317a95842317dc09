"""States that carry Kafka's own description: what is done in each, and what leads out of it."""

from __future__ import annotations

from enum import Enum
from typing import Self


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
