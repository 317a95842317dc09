"""Messages between processes and the broker: how they travel, which are lost, and who waits for an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from rebalance_kit.protocol import messages
from rebalance_kit.protocol.effects import Arrived
from rebalance_kit.simulation.kernel import Host, RunHost, new_tuple
from rebalance_kit.simulation.scenario.scenario import ReplayPins

# The fields of a message's trace row, per kind of request and response.


def generation_of(request: messages.Request) -> int | None:
    """Generation or member epoch that a request carries."""
    if isinstance(request, messages.ConsumerGroupHeartbeat):
        return request.member_epoch
    generation = getattr(request, "generation", -1)
    return generation if generation >= 0 else None


def request_fields(request: messages.Request) -> Mapping[str, Any]:
    """What the row of a request tells beside its api and times."""
    if isinstance(request, messages.Heartbeat):
        return {}
    if isinstance(request, messages.OffsetCommit):
        return {"how": request.how, "offsets": {str(tp): offset for tp, offset in request.offsets.items()}}
    if isinstance(request, messages.ConsumerGroupHeartbeat):
        return {
            "epoch": request.member_epoch,
            "topics": None if request.topics is None else list(request.topics),
            "owned": None if request.owned is None else [str(tp) for tp in request.owned],
            "instance_id": request.instance_id,
        }
    if isinstance(request, messages.JoinGroup):
        subscription = request.protocols[0][1]
        return {
            "protocols": [name for name, _ in request.protocols],
            "topics": list(subscription.topics),
            "owned": [str(tp) for tp in subscription.owned],
            "reason": None if request.reason is None else request.reason.text,
            "instance_id": request.instance_id,
        }
    if isinstance(request, messages.SyncGroup):
        return {"assignor": request.protocol, "leads": request.assignment is not None}
    return {"reason": request.reason, "instance_id": request.instance_id}


def answered_generation(response: messages.Response) -> int | None:
    """Generation or member epoch that an answer brings."""
    if isinstance(response, messages.ConsumerGroupHeartbeatAnswer):
        return response.member_epoch
    if isinstance(response, messages.JoinAnswer):
        return response.generation if response.generation >= 0 else None
    return None


def answer_fields(response: messages.Response) -> Mapping[str, Any]:
    """What the row of an answer tells beside its api, times and error."""
    if isinstance(response, messages.JoinAnswer):
        return {"leader": response.leader, "assignor": response.protocol, "members": len(response.members)}
    if isinstance(response, messages.SyncAnswer):
        return {"assignment": [str(tp) for tp in response.assignment]}
    if isinstance(response, messages.ConsumerGroupHeartbeatAnswer):
        return {
            "epoch": response.member_epoch,
            "assignment": None if response.assignment is None else [str(tp) for tp in response.assignment],
        }
    return {}


# One life's connection to the coordinator's broker: the order of its messages, its slow first ones, its faults.


BEATS = frozenset({messages.Heartbeat, messages.ConsumerGroupHeartbeat})


class Receiver(Protocol):
    """Who sent a request, and hears what becomes of it."""

    def answered(self, request: messages.Request, response: messages.Response) -> None:
        """The answer is there."""

    def disconnected(self, request: messages.Request, cause: str) -> None:
        """No answer will come."""


@dataclass(slots=True)
class Faults:
    """What is wrong with one process's network, over all its lives."""

    cut: bool = False
    drop: list[str] = field(default_factory=list)
    delay: dict[str, int] = field(default_factory=dict)
    unsent: list[tuple[int, messages.Response | None]] = field(default_factory=list)
    """What TCP goes on sending while the network is cut: requests (None) and answers, by correlation."""

    def takes(self, api: str) -> bool:
        """Whether this message is lost for good; a single drop is used up."""
        if api in self.drop:
            self.drop.remove(api)
            return True
        return False


class Trip(NamedTuple):
    """How long a request and its answer travel."""

    there_ms: int
    back_ms: int
    answer_ms: int | None
    """When the answer reaches the process, where the life's pins say so."""


class Connection:
    """Messages of one life of a process; a connection carries them in the order in which they are sent."""

    __slots__ = (
        "_committed_once",
        "_joined_once",
        "_last_answer_ms",
        "_last_arrival_ms",
        "_librdkafka",
        "_sync_answered_once",
        "_synced_once",
        "faults",
        "host",
        "pins",
        "receiver",
        "requests_sent",
        "successor",
    )

    def __init__(
        self,
        host: Host,
        receiver: Receiver,
        faults: Faults,
        pins: ReplayPins | None,
        *,
        librdkafka: bool = False,
    ) -> None:
        """Librdkafka has no classes to load: its first requests take as long as its later ones.

        Medians of 19 to 44 recorded each: JoinGroup 12 ms, SyncGroup 8, acknowledgement 4, commit 6; Java's 30, 47, 30, 45.
        """
        self.host, self.receiver, self.faults, self.pins = host, receiver, faults, pins
        self._joined_once = self._synced_once = self._sync_answered_once = self._committed_once = librdkafka
        self._librdkafka = librdkafka
        self.successor: Connection | None = None
        """That of the next life: nobody hears the answers that are still due here."""
        self.requests_sent = self._last_arrival_ms = self._last_answer_ms = 0

    def trip(self, request: messages.Request) -> Trip:
        """Draw how long the next request and its answer take, or take it from the pins."""
        now_ms = self.host.now_ms
        there_ms = drawn_ms = self._there_ms(request)
        self.requests_sent = number = self.requests_sent + 1
        answer_ms = None
        pinned = False
        if self.pins is not None:
            arrival_ms, answer_ms = (
                self.pins.arrival_ms(number, request),
                self.pins.answer_ms(number, request),
            )
            if arrival_ms is not None:
                there_ms = max(arrival_ms - now_ms, 1)
                pinned = number > 1 and self.host.latencies.second_answer_own_percent >= 50
        if now_ms + there_ms >= self._last_arrival_ms:
            self._last_arrival_ms = now_ms + there_ms
        else:
            there_ms = self._last_arrival_ms - now_ms
        acknowledges = number == 2 and isinstance(request, messages.ConsumerGroupHeartbeat)
        back_ms = drawn_ms if acknowledges or pinned else self._back_ms(request, there_ms)
        if self.faults.delay:
            there_ms += self.faults.delay.pop(type(request).__name__, 0)  # the way there alone
        return new_tuple(Trip, (there_ms, back_ms, answer_ms))

    def _there_ms(self, request: messages.Request) -> int:
        latencies, draw, kind = self.host.latencies, self.host.draw, type(request)
        if kind is messages.Heartbeat:
            return draw(latencies.one_way)
        if kind is messages.OffsetCommit:
            first, self._committed_once = not self._committed_once, True
            return max(draw(latencies.first_commit if first else latencies.commit) // 2, 1)
        if kind is messages.JoinGroup and not self._joined_once:
            self._joined_once = True
            return max(draw(latencies.first_request) // 2, 1)
        if kind is messages.SyncGroup and not self._synced_once:
            self._synced_once = True
            return max(round(draw(latencies.first_sync) * latencies.first_sync_there_percent / 100), 1)
        if kind is messages.ConsumerGroupHeartbeat and self.requests_sent == 1 and not self._librdkafka:
            return max(draw(latencies.first_ack) // 2, 1)
        return draw(latencies.one_way)

    def _back_ms(self, request: messages.Request, there_ms: int) -> int:
        if isinstance(request, messages.SyncGroup) and not self._sync_answered_once:
            self._sync_answered_once = True
            percent = self.host.latencies.first_sync_there_percent
            return round(there_ms / percent * (100 - percent))
        return there_ms

    def _newest(self) -> Connection:
        newest = self
        while newest.successor is not None:
            newest = newest.successor
        return newest

    def reply_latency_ms(self, request: messages.Request, trip: Trip) -> int:
        """How long an answer that leaves now travels: as long as its request did where that was slow.

        A slow first request is slow in both directions; heartbeats on a warm connection are drawn anew.
        """
        now_ms, one_way = self.host.now_ms, self.host.latencies.one_way
        _, delay_ms, answer_ms = trip
        if type(request) in BEATS and delay_ms <= one_way.most:
            delay_ms = self._newest().host.draw(one_way)
        if answer_ms is not None and answer_ms > now_ms:
            delay_ms = answer_ms - now_ms
        if self.successor is not None:
            return delay_ms
        if now_ms + delay_ms <= self._last_answer_ms:
            delay_ms = self._last_answer_ms + 1 - now_ms
        self._last_answer_ms = now_ms + delay_ms
        return delay_ms


class Coordinator(Protocol):
    """Where requests arrive."""

    up: bool

    def receive(self, event: Arrived[messages.Request]) -> None:
        """Take a request."""


@dataclass(slots=True)
class Waiting:
    """A request on its way or parked at the coordinator."""

    connection: Connection
    request: messages.Request
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

    def send(self, connection: Connection, request: messages.Request) -> None:
        """Put a request on its way; a lost one ends in the client's request timeout."""
        host, faults, kind = self._host, connection.faults, type(request)
        self._corr = corr = self._corr + 1
        now_ms = host.now_ms
        trip = connection.trip(request)
        lost = faults.cut or faults.takes(kind.__name__)
        arrives_ms = now_ms + trip.there_ms
        self.waiting[corr] = Waiting(connection, request, trip)
        if host.tells_messages:
            told = {"api": kind.__name__, "corr": corr, "arrives_ms": None if lost else arrives_ms}
            if kind is not messages.Heartbeat:
                told |= request_fields(request)
            connection.host.row("request", told, generation_of(request), request.member_id or None)
        if faults.cut:
            faults.unsent.append((corr, None))
        if lost:
            wait_ms = host.latencies.lost_request_ms
            if isinstance(request, messages.JoinGroup):
                wait_ms = max(wait_ms, request.rebalance_timeout_ms + host.latencies.lost_join_extra_ms)
            host.at(now_ms + wait_ms, self._timed_out, corr)
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

    def reply(self, corr: int, response: messages.Response, group: str) -> None:
        """Put an answer on its way back."""
        host = self._host
        waiting = self.waiting.pop(corr, None)
        if waiting is None:
            return
        connection, request = waiting.connection, waiting.request
        self._take_next(connection)
        lost = connection.faults.cut
        arrives_ms = host.now_ms + connection.reply_latency_ms(request, waiting.trip)
        if host.tells_messages:
            told = {
                "api": type(request).__name__,
                "corr": corr,
                "to": connection.host.name,
                "error": response.error,
                "arrives_ms": None if lost else arrives_ms,
                "group": group,
            }
            generation, member_id = None, request.member_id or None
            if type(response) is not messages.Answer:
                told |= answer_fields(response)
                generation = answered_generation(response)
                member_id = getattr(response, "member_id", None) or member_id
            host.row("coordinator", "response", connection.host.protocol, generation, member_id, told)
        if lost:
            connection.faults.unsent.append((corr, response))
            self.waiting[corr] = waiting
            host.at(host.now_ms + host.latencies.lost_request_ms, self._timed_out, corr)
        else:
            _deliver(waiting, response, arrives_ms)


def _deliver(waiting: Waiting, response: messages.Response, at_ms: int) -> None:
    """The answer reaches the process then, if that life of it lasts so long."""
    connection = waiting.connection
    connection.host.at(at_ms, connection.receiver.answered, waiting.request, response)
