"""The services a run offers to its parts: the time, a later call, a random draw, a row of the trace."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from rebalance_kit.model.trace import Detail, TraceRow
from rebalance_kit.simulation.kernel.agenda import Agenda, Key
from rebalance_kit.simulation.kernel.latencies import Latencies

# Chance: random streams by name, so that a new draw in one never shifts another.


class Streams:
    """Named random streams, all made from one seed."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._streams: dict[str, random.Random] = {}

    def __getitem__(self, name: str) -> random.Random:
        stream = self._streams.get(name)
        if stream is None:
            stream = self._streams[name] = random.Random(f"{self._seed}/{name}")
        return stream


def draw_uuid(stream: random.Random) -> str:
    """A version 4 UUID in its usual spelling, as in classic member ids."""
    bits = stream.getrandbits(128) & ~(0xF << 76) | (0x4 << 76)
    bits = bits & ~(0x3 << 62) | (0x2 << 62)
    text = f"{bits:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def draw_kafka_uuid(stream: random.Random) -> str:
    """A Kafka Uuid: 22 characters of URL-safe base64 that do not begin with a dash."""
    while True:
        text = base64.urlsafe_b64encode(stream.getrandbits(128).to_bytes(16, "big")).decode().rstrip("=")
        if not text.startswith("-"):
            return text


new_row = tuple.__new__
"""Skips the named tuple's own constructor: a run writes a row for every message."""
Drawn_co = TypeVar("Drawn_co", covariant=True)
Value = TypeVar("Value")


class Latency(Protocol[Drawn_co]):
    """What can be drawn: a ``Spread``, a ``Uniform``, a ``Chance``."""

    def draw(self, stream: random.Random) -> Drawn_co:
        """One value."""


class Host(Protocol):
    """The run as one life of a process sees it: what it asks for late never happens once that life is over."""

    name: str
    protocol: str
    group_id: str
    frozen: bool
    latencies: Latencies

    @property
    def now_ms(self) -> int:
        """The time of the run."""

    def at(self, at_ms: int, run: Callable[..., None], *arguments: Any) -> None:
        """Call ``run`` at that moment."""

    def set_timer(self, key: Key, at_ms: int, run: Callable[..., None], *arguments: Any) -> None:
        """Call ``run`` at that moment; a live timer of the same key is replaced."""

    def cancel_timer(self, key: Key) -> None:
        """Forget the timer of that key, if there is one."""

    def draw(self, latency: Latency[Value]) -> Value:
        """One value of the latency, from this life's own stream."""

    def chance(self) -> float:
        """A number from 0 to 1, from this life's own stream."""

    def own_stream(self, purpose: str) -> random.Random:
        """Another stream of this life, so that what draws from it shifts nobody else's luck."""

    def row(
        self,
        kind: str,
        detail: Detail,
        generation: int | None = None,
        member_id: str | None = None,
        *,
        topic: str | None = None,
        partition: int | None = None,
    ) -> None:
        """Append a row of this process to the trace."""


class RunHost:
    """A whole run's clock, chance, latencies and trace."""

    __slots__ = ("agenda", "at", "cancel_timer", "latencies", "rows", "set_timer", "streams")

    def __init__(self, seed: int, latencies: Latencies, agenda: Agenda | None = None) -> None:
        self.agenda = agenda or Agenda()
        self.at, self.set_timer = self.agenda.at, self.agenda.set_timer
        self.cancel_timer = self.agenda.cancel_timer
        self.latencies = latencies
        self.streams = Streams(seed)
        self.rows: list[TraceRow] = []

    @property
    def now_ms(self) -> int:
        """The time of the run."""
        return self.agenda.now_ms

    def row(
        self,
        actor: str,
        kind: str,
        protocol: str | None,
        generation: int | None,
        member_id: str | None,
        detail: Detail,
        *,
        topic: str | None = None,
        partition: int | None = None,
    ) -> None:
        """Append one row to the trace."""
        rows = self.rows
        at_ms, seq = self.agenda.now_ms, len(rows)
        rows.append(
            new_row(
                TraceRow, (at_ms, seq, actor, kind, protocol, generation, member_id, topic, partition, detail)
            )
        )
