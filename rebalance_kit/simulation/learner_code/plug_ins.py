"""The learner's own code inside the engine: listeners by member, assignors by name.

A class is built anew for every life of a process, as a consumer builds its own; anything else is used as it
is, so that what it remembers outlives the process and the run.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from types import MappingProxyType, NoneType
from typing import Any

from rebalance_kit.model.client_keys import CLASSES
from rebalance_kit.model.errors import ScenarioError, nearest, require_kind
from rebalance_kit.model.topology import TopicPartition, parse_partition

# Calling code that the learner wrote: it may raise, it may return anything, and it may never come back.


CALL_TIMEOUT_S = 3.0
"""Real seconds that a call may take; a callback that waits for something waits in simulated time instead."""


class CallTimedOut(Exception):
    """The call did not come back."""


class _Stop(BaseException):
    """Ends a loop of the learner's in the thread that nobody waits for any more."""


class _Worker(threading.Thread):
    """A thread that makes one call after the other."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.calls: SimpleQueue[Callable[[], Any]] = SimpleQueue()
        self.answers: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        self.abandoned = False

    def run(self) -> None:
        with suppress(_Stop):
            while not self.abandoned:
                self._answer(self.calls.get())

    def _answer(self, call: Callable[[], Any]) -> None:
        try:
            self.answers.put((call(), None))
        except BaseException as error:  # noqa: BLE001 - it is raised again where it is waited for
            self.answers.put((None, error))

    def abandon(self) -> None:
        """Stop waiting for the call: end it, and the thread with it."""
        self.abandoned = True
        if self.ident is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.ident), ctypes.py_object(_Stop))


_IDLE: list[_Worker] = []
"""Workers that wait for a call: a thread for each call would take longer than the run around it."""


def call_with_timeout(call: Callable[[], Any]) -> Any:
    """Return what ``call`` returns; raises ``CallTimedOut``, or what it raises.

    It runs in a thread that makes one call after the other, and is given up when a call takes too long. Where there are no threads (a
    Python inside a browser) it is simply called.
    """
    try:
        worker = _idle_worker()
    except RuntimeError:
        return call()
    worker.calls.put(call)
    try:
        answer, raised = worker.answers.get(timeout=CALL_TIMEOUT_S)
    except Empty:
        worker.abandon()
        raise CallTimedOut(f"did not return within {CALL_TIMEOUT_S:g} s") from None
    except BaseException:  # Ctrl-C, for instance: its answer is nobody's
        worker.abandon()
        raise
    _IDLE.append(worker)
    if raised is not None:
        raise raised
    return answer


def _idle_worker() -> _Worker:
    while _IDLE:
        worker = _IDLE.pop()
        if worker.is_alive():  # a fork leaves its threads behind
            return worker
    worker = _Worker()
    worker.start()
    return worker


# Partitions as learners write them.


def as_partition(value: Any) -> TopicPartition:
    """A partition as the kit has it, from one, from a pair, or from Kafka's way to print it (``orders-4``)."""
    if isinstance(value, str):
        return parse_partition(value)
    topic, number = value
    if not isinstance(topic, str) or isinstance(number, bool) or not isinstance(number, int):
        raise TypeError(f"{value!r} is not a partition: expected (topic, number) or 'orders-4'")
    return TopicPartition(topic, number)


OwnAssignor = Callable[..., Any]
Supports = Mapping[str, tuple[str, ...]]
NOTHING: Mapping[str, Any] = MappingProxyType({})
CALLBACKS = ("on_assigned", "on_revoked", "on_lost", "on_records")
EAGER = ("EAGER",)
"""The protocols of an assignor that declares none (``ConsumerPartitionAssignor.supportedProtocols``)."""


@dataclass(frozen=True, slots=True)
class PlugIns:
    """What was plugged in: listeners by the member's name, assignors by the name that travels in JoinGroup."""

    listeners: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    assignors: Mapping[str, OwnAssignor] = field(default_factory=lambda: NOTHING)

    def make_listener(self, member: str) -> Any | None:
        """The listener of one life of a member's process."""
        listener = self.listeners.get(member)
        return listener() if isinstance(listener, type) else listener

    def make_assignors(self) -> Mapping[str, OwnAssignor]:
        """The assignors of one life of a process."""
        return {
            name: assignor() if isinstance(assignor, type) else assignor
            for name, assignor in self.assignors.items()
        }


NO_PLUG_INS = PlugIns()


def supports(assignors: Mapping[str, OwnAssignor] | None) -> Supports:
    """Rebalance protocols of each own assignor, from its ``supported_protocols``; EAGER where it has none.

    Raises ``ScenarioError`` for a name that is Kafka's and for what cannot be called.
    """
    supported: dict[str, tuple[str, ...]] = {}
    taken = {word for name, java in CLASSES.items() for word in (name, java, java.rpartition(".")[2])}
    require_kind(assignors, (Mapping, NoneType), "assignors", "functions by name, as {'mine': function}")
    for name, assignor in (assignors or {}).items():
        require_kind(name, str, "assignors: a name", "text")
        if not name or name in taken or "," in name:
            raise ScenarioError(
                f"assignors: {name!r} cannot name an assignor of your own; expected a name that Kafka's do not have"
            )
        if not callable(assignor):
            raise ScenarioError(
                f"assignors[{name!r}] is {assignor!r}; expected a function (partition_counts, members) -> assignment"
            )
        given = tuple(getattr(assignor, "supported_protocols", EAGER))
        if not given or not set(given) <= {"EAGER", "COOPERATIVE"}:
            raise ScenarioError(
                f"assignors[{name!r}].supported_protocols is {given!r}; expected EAGER, COOPERATIVE or both"
            )
        supported[name] = tuple(sorted(given))  # COOPERATIVE, the higher one, comes first
    return MappingProxyType(supported)


def check_listeners(listeners: Mapping[str, Any] | None, members: Iterable[str]) -> None:
    """Raise ``ScenarioError`` for a listener of nobody, and for one that listens to nothing."""
    known = sorted(members)
    require_kind(
        listeners, (Mapping, NoneType), "listeners", "listeners by member, as {'consumer-1': listener}"
    )
    for name, one in (listeners or {}).items():
        if name not in known:
            raise ScenarioError(
                f"listeners: no member is named {name!r}{nearest(name, known)} (expected one of {', '.join(known)})"
            )
        has = [callback for callback in CALLBACKS if hasattr(one, callback)]
        if not has or not all(callable(getattr(one, callback)) for callback in has):
            raise ScenarioError(
                f"listeners[{name!r}] is {one!r}; expected an object with any of {', '.join(CALLBACKS)} as (partitions, consumer)"
            )
