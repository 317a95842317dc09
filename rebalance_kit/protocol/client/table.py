"""The table of a client machine: which rule answers which event, in any step of the application thread or in some."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Generic, TypeVar, cast

from rebalance_kit.model.errors import ProtocolViolation
from rebalance_kit.protocol.client.member import Member, PollStep
from rebalance_kit.protocol.effects import (
    Answered,
    ClientEvent,
    Disconnected,
    Effect,
    Effects,
    Timer,
    TimerFired,
)
from rebalance_kit.protocol.messages import Request, Response

M = TypeVar("M", bound=Member)
E = TypeVar("E", bound=ClientEvent)
R = TypeVar("R", bound=Request)
A = TypeVar("A", bound=Response)
ClientKind = type | Timer | tuple[type, type]
"""What an event is: its type, the kind of its timer, or (Answered or Disconnected, the request's type)."""
ClientRule = Callable[[M, ClientEvent], Effects]
ClientRow = tuple[ClientKind, tuple[PollStep | None, ...], ClientRule[M]]


def on(event: type[E], run: Callable[[M, E], Effects], *steps: PollStep) -> ClientRow[M]:
    """The row of an event; without ``steps``, of every step that has no row of its own."""
    return event, steps or (None,), cast("ClientRule[M]", run)


def after(timer: Timer, run: Callable[[M, TimerFired], Effects], *steps: PollStep) -> ClientRow[M]:
    """The row of a timer that ran out."""
    return timer, steps or (None,), cast("ClientRule[M]", run)


def answered(
    request: type[R], answer: type[A], run: Callable[[M, R, A], Effects], *steps: PollStep
) -> ClientRow[M]:
    """The row of the answer to a request."""

    def rule(member: M, event: ClientEvent) -> Effects:
        assert isinstance(event, Answered)
        return run(member, cast("R", event.request), cast("A", event.response))

    return (Answered, request), steps or (None,), rule


def unanswered(request: type[R], run: Callable[[M, R, str], Effects], *steps: PollStep) -> ClientRow[M]:
    """The row of a request that gets no answer: the connection broke, for the cause that is given."""

    def rule(member: M, event: ClientEvent) -> Effects:
        assert isinstance(event, Disconnected)
        return run(member, cast("R", event.request), event.cause)

    return (Disconnected, request), steps or (None,), rule


def ignore(member: Member, event: ClientEvent) -> Effects:
    """The event comes too late to matter, or means nothing here."""
    return iter(())


def ignore_answer(member: Member, request: Request, answer: Response) -> Effects:
    """Nothing waits for this answer."""
    return iter(())


def kind_of(event: ClientEvent) -> ClientKind:
    """What a client's table asks about an event."""
    if isinstance(event, Answered):
        return Answered, type(event.request)
    if isinstance(event, Disconnected):
        return Disconnected, type(event.request)
    return Timer(event.key[0]) if isinstance(event, TimerFired) else type(event)


class ClientTable(Generic[M]):
    """Rules by event and step. A consumer that is closed hears nothing."""

    def __init__(self, machine: str, *rows: ClientRow[M]) -> None:
        self._machine = machine
        self.rules: Mapping[tuple[ClientKind, PollStep | None], ClientRule[M]] = MappingProxyType(
            {(kind, step): rule for kind, steps, rule in rows for step in steps}
        )
        self._kinds = frozenset(kind for kind, _, _ in rows)

    def step(self, member: M, event: ClientEvent) -> list[Effect]:
        """Apply one event to the client and return the effects it asks for, in order."""
        kind = kind_of(event)
        if kind not in self._kinds:
            raise ProtocolViolation(f"{self._machine} is never sent {_name(kind)}")
        if member.poll_step is PollStep.CLOSED:
            return []
        rule = self.rules.get((kind, member.poll_step)) or self.rules.get((kind, None))
        return [] if rule is None else list(rule(member, event))


def _name(kind: ClientKind) -> str:
    if isinstance(kind, tuple):
        return f"{kind[0].__name__} of {kind[1].__name__}"
    return kind.__name__ if isinstance(kind, type) else f"timer {kind.value}"
