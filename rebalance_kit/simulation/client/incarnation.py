"""One life of a process: the token that its timers carry, and its way to the run."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from rebalance_kit.model.trace import Detail, TraceRow
from rebalance_kit.simulation.kernel.agenda import Key
from rebalance_kit.simulation.kernel.host import Latency, RunHost, Value, new_row

Call = tuple[Callable[..., None], tuple[Any, ...]]


class Incarnation:
    """A ``Host`` for one life: what is due after the process has ended does not happen.

    A frozen process is alive, but nothing runs in it: who is called then postpones itself until it is thawed.
    """

    __slots__ = (
        "_agenda",
        "_postponed",
        "_rows",
        "_stream",
        "_streams",
        "alive",
        "frozen",
        "group_id",
        "latencies",
        "name",
        "number",
        "protocol",
    )

    def __init__(self, run: RunHost, name: str, number: int, protocol: str, group_id: str) -> None:
        self._agenda, self._rows, self._streams, self.latencies = (
            run.agenda,
            run.rows,
            run.streams,
            run.latencies,
        )
        self._stream = run.streams[f"{name}/{number}"]
        self._postponed: list[tuple[bool, Call]] = []
        self.name, self.number, self.protocol, self.group_id = name, number, protocol, group_id
        self.alive, self.frozen = True, False

    @property
    def now_ms(self) -> int:
        """The time of the run."""
        return self._agenda.now_ms

    def at(self, at_ms: int, run: Callable[..., None], *arguments: Any) -> None:
        """Call ``run`` at that moment, if this life lasts until then."""
        self._agenda.at(at_ms, self._fire, (run, arguments))

    def set_timer(self, key: Key, at_ms: int, run: Callable[..., None], *arguments: Any) -> None:
        """The same as a timer: one that is live under this key, of whichever life, is replaced."""
        self._agenda.set_timer((self.name, key), at_ms, self._fire, (run, arguments))

    def cancel_timer(self, key: Key) -> None:
        """Forget the timer of that key, if there is one."""
        self._agenda.cancel_timer((self.name, key))

    def _fire(self, call: Call) -> None:
        if self.alive:
            call[0](*call[1])

    def postpone(self, run: Callable[..., None], *arguments: Any, first: bool = False) -> None:
        """Call ``run`` as soon as the process is thawed, before everything that is not ``first``."""
        self._postponed.append((not first, (run, arguments)))

    def catch_up(self) -> None:
        """The process is thawed: do what was postponed."""
        postponed, self._postponed = self._postponed, []
        for _, call in sorted(postponed, key=lambda entry: entry[0]):
            self._fire(call)

    def forget(self) -> None:
        """Forget what was postponed."""
        self._postponed.clear()

    def draw(self, latency: Latency[Value]) -> Value:
        """One value of the latency, from this life's own stream."""
        return latency.draw(self._stream)

    def chance(self) -> float:
        """A number from 0 to 1, from this life's own stream."""
        return self._stream.random()

    def own_stream(self, purpose: str) -> random.Random:
        """Another stream of this life, so that what draws from it shifts nobody else's luck."""
        return self._streams[f"{purpose}/{self.name}/{self.number}"]

    def id_stream(self, what: str) -> random.Random:
        """The stream of one id that this life is given, or makes itself."""
        return self._streams[f"id/{self.name}/{self.number}/{what}"]

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
        rows = self._rows
        rows.append(
            new_row(
                TraceRow,
                (
                    self._agenda.now_ms,
                    len(rows),
                    self.name,
                    kind,
                    self.protocol,
                    generation,
                    member_id,
                    topic,
                    partition,
                    detail,
                ),
            )
        )
