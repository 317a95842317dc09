"""One life's connection to the coordinator's broker: the order of its messages, its slow first ones, its faults."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from rebalance_kit.protocol.messages import (
    ConsumerGroupHeartbeat,
    Heartbeat,
    JoinGroup,
    OffsetCommit,
    Request,
    Response,
    SyncGroup,
)
from rebalance_kit.simulation.kernel.host import Host
from rebalance_kit.simulation.scenario.replay_pins import ReplayPins


class Receiver(Protocol):
    """Who sent a request, and hears what becomes of it."""

    def answered(self, request: Request, response: Response) -> None:
        """The answer is there."""

    def disconnected(self, request: Request, cause: str) -> None:
        """No answer will come."""


@dataclass(slots=True)
class Faults:
    """What is wrong with one process's network, over all its lives."""

    cut: bool = False
    drop: list[str] = field(default_factory=list)
    delay: dict[str, int] = field(default_factory=dict)
    unsent: list[tuple[int, Response | None]] = field(default_factory=list)
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
        "_sync_answered_once",
        "_synced_once",
        "faults",
        "host",
        "pins",
        "receiver",
        "requests_sent",
        "successor",
    )

    def __init__(self, host: Host, receiver: Receiver, faults: Faults, pins: ReplayPins | None) -> None:
        self.host, self.receiver, self.faults, self.pins = host, receiver, faults, pins
        self._joined_once = self._synced_once = self._sync_answered_once = self._committed_once = False
        self.successor: Connection | None = None
        """That of the next life: nobody hears the answers that are still due here."""
        self.requests_sent = self._last_arrival_ms = self._last_answer_ms = 0

    def trip(self, request: Request) -> Trip:
        """Draw how long the next request and its answer take, or take it from the pins."""
        now_ms = self.host.now_ms
        there_ms = drawn_ms = self._there_ms(request)
        self.requests_sent = number = self.requests_sent + 1
        answer_ms = None
        if self.pins is not None:
            arrival_ms, answer_ms = (
                self.pins.arrival_ms(number, request),
                self.pins.answer_ms(number, request),
            )
            if arrival_ms is not None:
                there_ms = max(arrival_ms - now_ms, 1)
        self._last_arrival_ms = max(now_ms + there_ms, self._last_arrival_ms)
        there_ms = self._last_arrival_ms - now_ms
        acknowledges = number == 2 and isinstance(request, ConsumerGroupHeartbeat)
        back_ms = drawn_ms if acknowledges else self._back_ms(request, there_ms)
        delayed_ms = self.faults.delay.pop(type(request).__name__, 0)  # the way there alone
        return Trip(there_ms + delayed_ms, back_ms, answer_ms)

    def _there_ms(self, request: Request) -> int:
        latencies, draw, kind = self.host.latencies, self.host.draw, type(request)
        if kind is OffsetCommit:
            first, self._committed_once = not self._committed_once, True
            return max(draw(latencies.first_commit if first else latencies.commit) // 2, 1)
        if kind is JoinGroup and not self._joined_once:
            self._joined_once = True
            return max(draw(latencies.first_request) // 2, 1)
        if kind is SyncGroup and not self._synced_once:
            self._synced_once = True
            return max(round(draw(latencies.first_sync) * latencies.first_sync_there_percent / 100), 1)
        if kind is ConsumerGroupHeartbeat and self.requests_sent == 1:
            return max(draw(latencies.first_ack) // 2, 1)
        return draw(latencies.one_way)

    def _back_ms(self, request: Request, there_ms: int) -> int:
        if isinstance(request, SyncGroup) and not self._sync_answered_once:
            self._sync_answered_once = True
            percent = self.host.latencies.first_sync_there_percent
            return round(there_ms / percent * (100 - percent))
        return there_ms

    def _newest(self) -> Connection:
        newest = self
        while newest.successor is not None:
            newest = newest.successor
        return newest

    def reply_latency_ms(self, request: Request, trip: Trip) -> int:
        """How long an answer that leaves now travels: as long as its request did where that was slow.

        A slow first request is slow in both directions; heartbeats on a warm connection are drawn anew.
        """
        now_ms, one_way = self.host.now_ms, self.host.latencies.one_way
        delay_ms = trip.back_ms
        if isinstance(request, Heartbeat | ConsumerGroupHeartbeat) and delay_ms <= one_way.most:
            delay_ms = self._newest().host.draw(one_way)
        if trip.answer_ms is not None and trip.answer_ms > now_ms:
            delay_ms = trip.answer_ms - now_ms
        if self.successor is not None:
            return delay_ms
        self._last_answer_ms = max(now_ms + delay_ms, self._last_answer_ms + 1)
        return self._last_answer_ms - now_ms
