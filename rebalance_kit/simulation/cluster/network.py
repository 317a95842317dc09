"""Messages between processes and the broker: how they travel, which are lost, and who waits for an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from rebalance_kit.protocol.effects import Arrived
from rebalance_kit.protocol.messages import JoinGroup, Request, Response
from rebalance_kit.simulation.cluster.connection import Connection, Faults, Trip
from rebalance_kit.simulation.cluster.message_rows import (
    answer_fields,
    answered_generation,
    generation_of,
    request_fields,
)
from rebalance_kit.simulation.kernel.host import RunHost


class Coordinator(Protocol):
    """Where requests arrive."""

    up: bool

    def receive(self, event: Arrived[Request]) -> None:
        """Take a request."""


@dataclass(slots=True)
class Waiting:
    """A request on its way or parked at the coordinator."""

    connection: Connection
    request: Request
    trip: Trip


class Network:
    """The way of all processes to the broker that hosts the coordinator."""

    __slots__ = ("_busy", "_corr", "_host", "_queued", "coordinator", "waiting")

    def __init__(self, host: RunHost) -> None:
        self._host = host
        self._corr = 0
        self.coordinator: Coordinator
        self.waiting: dict[int, Waiting] = {}
        self._busy: dict[Connection, int] = {}
        self._queued: dict[Connection, list[int]] = {}

    def send(self, connection: Connection, request: Request) -> None:
        """Put a request on its way; a lost one ends in the client's request timeout."""
        host, faults = self._host, connection.faults
        self._corr = corr = self._corr + 1
        api = type(request).__name__
        trip = connection.trip(request)
        lost = faults.cut or faults.takes(api)
        arrives_ms = host.now_ms + trip.there_ms
        self.waiting[corr] = Waiting(connection, request, trip)
        connection.host.row(
            "request",
            {"api": api, "corr": corr, "arrives_ms": None if lost else arrives_ms, **request_fields(request)},
            generation_of(request),
            request.member_id or None,
        )
        if faults.cut:
            faults.unsent.append((corr, None))
        if lost:
            wait_ms = host.latencies.lost_request_ms
            if isinstance(request, JoinGroup):
                wait_ms = max(wait_ms, request.rebalance_timeout_ms + host.latencies.lost_join_extra_ms)
            host.at(host.now_ms + wait_ms, self._timed_out, corr)
        else:
            host.at(arrives_ms, self._arrive, corr)

    def heal(self, faults: Faults) -> None:
        """A process's network carries again: TCP sends what it still holds, unless its request has timed out."""
        if not faults.cut:
            return
        host = self._host
        faults.cut = False
        unsent, faults.unsent = faults.unsent, []
        for corr, response in unsent:
            waiting = self.waiting.get(corr)
            if waiting is None:
                continue
            if response is None:
                host.at(host.now_ms + waiting.trip.there_ms, self._arrive, corr)
            else:
                del self.waiting[corr]
                _deliver(waiting, response, host.now_ms + waiting.trip.back_ms)

    def _timed_out(self, corr: int) -> None:
        waiting = self.waiting.pop(corr, None)
        if waiting is not None:
            waiting.connection.receiver.disconnected(waiting.request, "request timed out")

    def _arrive(self, corr: int) -> None:
        waiting = self.waiting.get(corr)
        if waiting is None:
            return
        if not self.coordinator.up:
            self.break_off(corr)
            return
        if waiting.connection in self._busy:  # a broker takes one request of a connection at a time
            self._queued.setdefault(waiting.connection, []).append(corr)
            return
        self._busy[waiting.connection] = corr
        self.coordinator.receive(Arrived(waiting.request, corr))

    def _take_next(self, connection: Connection) -> None:
        """The connection is free again: what came behind a parked request is taken now."""
        self._busy.pop(connection, None)
        queued = self._queued.get(connection)
        if queued:
            self._host.at(self._host.now_ms, self._arrive, queued.pop(0))

    def break_off(self, corr: int) -> None:
        """The connection of a waiting request breaks: its client hears of it in a moment."""
        waiting = self.waiting.pop(corr, None)
        if waiting is not None:
            self._busy.pop(waiting.connection, None)
            self._queued.pop(waiting.connection, None)
            waiting.connection.receiver.disconnected(waiting.request, "coordinator unavailable")

    def reply(self, corr: int, response: Response, group: str) -> None:
        """Put an answer on its way back."""
        host = self._host
        waiting = self.waiting.pop(corr, None)
        if waiting is None:
            return
        connection, request = waiting.connection, waiting.request
        self._take_next(connection)
        lost = connection.faults.cut
        arrives_ms = host.now_ms + connection.reply_latency_ms(request, waiting.trip)
        host.row(
            "coordinator",
            "response",
            connection.host.protocol,
            answered_generation(response),
            getattr(response, "member_id", None) or request.member_id or None,
            {
                "api": type(request).__name__,
                "corr": corr,
                "to": connection.host.name,
                "error": response.error,
                "arrives_ms": None if lost else arrives_ms,
                "group": group,
                **answer_fields(response),
            },
        )
        if lost:
            connection.faults.unsent.append((corr, response))
            self.waiting[corr] = waiting
            host.at(host.now_ms + host.latencies.lost_request_ms, self._timed_out, corr)
        else:
            _deliver(waiting, response, arrives_ms)


def _deliver(waiting: Waiting, response: Response, at_ms: int) -> None:
    """The answer reaches the process then, if that life of it lasts so long."""
    connection = waiting.connection
    connection.host.at(at_ms, connection.receiver.answered, waiting.request, response)
