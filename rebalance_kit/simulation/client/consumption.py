"""One application's poll loop over the records that reach it, counted without an event per record.

Nothing here is sampled: an application polls at known moments, so positions follow by arithmetic
whenever somebody looks (``Consumption.settle``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.simulation.cluster.topics import DataPlane, Ledger, Log, Offsets

Source = tuple[TopicPartition, Log, Ledger]
"""A partition that is read, with its log and what the group has done with it."""
Span = tuple[TopicPartition, int, int]
"""Records of one partition, from one offset to before another."""
Records = tuple[TopicPartition, int, int, Ledger]
"""The same in a batch, with what the group has done with the partition."""


@dataclass(slots=True)
class Consumption:
    """One process's poll loop over the partitions whose records reach it.

    ``processing_ms`` a record; a poll returns at most ``max_poll_records``; without work the
    application polls again at the next record, at the latest after ``poll_step_ms``.
    """

    plane: DataPlane
    group: str
    max_poll_records: int
    processing_ms: float
    poll_step_ms: int
    on_redelivered: Callable[[TopicPartition, int, int], None]
    on_batch: Callable[[Offsets, bool], None] | None = None
    on_records: Callable[[list[Span]], None] | None = None
    """Takes what was processed, where the application is the learner's own."""
    fetching: dict[TopicPartition, None] = field(default_factory=dict)
    positions: Offsets = field(default_factory=dict)
    next_poll_ms: int = 0
    batch_ms: int = 0
    busy_until_ms: int = 0
    batch: list[Records] = field(default_factory=list)
    _sources: list[Source] | None = field(default=None, init=False)
    """What is fetched and exists, in order; None where that has to be looked up again."""
    _rate_per_s: float = field(default=0.0, init=False)
    """How many records a second come into all of it."""
    _seen_version: int = field(default=-1, init=False)
    _handling: bool = field(default=False, init=False)
    """Whether ``on_records`` runs: it asks where the application stands, and that does not move meanwhile."""

    def _read(self) -> list[Source]:
        """What the next poll reads, in order; whatever is fetched has a ledger (``start``)."""
        sources, plane = self._sources, self.plane
        if sources is None or self._seen_version != plane.version:
            logs, ledgers = plane.logs, plane.ledgers_of(self.group)
            sources = [(tp, logs[tp], ledgers[tp]) for tp in self.fetching if tp in logs]
            self._sources, self._seen_version = sources, plane.version
            self._rate_per_s = sum([log.rate_per_s for _, log, _ in sources], start=0.0)
        return sources

    def settle(self, now_ms: int) -> None:
        """Let every poll up to ``now_ms`` have happened."""
        if self._handling:
            return
        if not self.fetching:
            self.finish(now_ms)
            self.next_poll_ms = max(self.next_poll_ms, now_ms)
            return
        while self.next_poll_ms <= now_ms:
            self._poll(self.next_poll_ms)
            if self._keeps_up():
                self._skip_to(now_ms)
        self.finish(now_ms)

    def _keeps_up(self) -> bool:
        next_ms, read_ms = self.next_poll_ms, self.batch_ms
        if self.busy_until_ms > next_ms or self.on_records is not None:
            return False
        sources, step = self._read(), self.poll_step_ms
        most = self._rate_per_s * step / 1000 + len(self.fetching)  # records of the fullest poll
        if most > self.max_poll_records or most * self.processing_ms > step:
            return False
        positions = self.positions
        known, end = None, 0
        for tp, log, _ in sources:
            if log is not known:
                known, end = log, log.end(read_ms)
            if positions[tp] < end:
                return False
        return True

    def _skip_to(self, now_ms: int) -> None:
        """Everything is read as it comes: only the last poll before ``now_ms`` matters."""
        skipped = (now_ms - self.next_poll_ms) // self.poll_step_ms - 1
        if skipped <= 0:
            return
        self.finish(self.next_poll_ms)
        at_ms = self.next_poll_ms + skipped * self.poll_step_ms
        positions = self.positions
        for tp, log, ledger in self._read():
            first, end = positions[tp], log.end(at_ms)
            if end > first:
                self._deliver(tp, first, end, ledger)
                ledger.process(first, end)
        self.batch_ms = at_ms
        self.busy_until_ms = at_ms
        self.next_poll_ms = at_ms + self.poll_step_ms
        if self.on_batch is not None:
            self.on_batch({tp: positions[tp] for tp in self.fetching}, False)

    def _poll(self, at_ms: int) -> None:
        self.finish(at_ms)
        room = self.max_poll_records
        batch = []
        positions, sources = self.positions, self._read()
        known, log_end = None, 0
        for place, (tp, log, ledger) in enumerate(sources):
            if log is not known:  # partitions of one topic share theirs
                known, log_end = log, log.end(at_ms)
            first = positions[tp]
            end = log_end if log_end - first <= room else first + room
            if end > first:
                self._deliver(tp, first, end, ledger)
                batch.append((tp, first, end, ledger))
                room -= end - first
                if not room:  # the next poll begins with the others
                    self.fetching[tp] = self.fetching.pop(tp)
                    sources.append(sources.pop(place))
                    break
        self.batch, self.batch_ms = batch, at_ms
        count = self.max_poll_records - room
        self.busy_until_ms = at_ms + round(count * self.processing_ms)
        full = not room and self.processing_ms == 0
        self.next_poll_ms = max(self.busy_until_ms, at_ms + (1 if full else self.poll_step_ms))
        if not room and self.processing_ms > 0:
            self.next_poll_ms = self.busy_until_ms
        if self.on_batch is not None and batch:
            self.on_batch({tp: end for tp, _, end, _ in batch}, True)

    def _deliver(self, tp: TopicPartition, first: int, end: int, ledger: Ledger) -> None:
        again = ledger.deliver(first, end)
        self.positions[tp] = end
        if again:
            self.on_redelivered(tp, again, first)

    def finish(self, now_ms: int) -> None:
        """The batch in hand counts as processed once its time has passed."""
        if not self.batch or self.busy_until_ms > now_ms or self._handling:
            return
        batch, self.batch = self.batch, []
        self._handle(batch)
        if self.on_batch is not None:
            self.on_batch({tp: end for tp, _, end, _ in batch}, False)

    def keep(self) -> None:
        """The run ends with a batch in hand: a living process would finish it, so none of it is lost."""
        self._handle(self.batch)

    def _handle(self, batch: list[Records]) -> None:
        """These are processed, by the learner's own code where it does that."""
        for _, first, end, ledger in batch:
            ledger.process(first, end)
        if self.on_records is not None:
            self._handling = True
            try:
                self.on_records([(tp, first, end) for tp, first, end, _ in batch])
            finally:
                self._handling = False

    def abandon(self, now_ms: int) -> None:
        """The process dies: of the batch in hand only what its time allowed is processed."""
        self.finish(now_ms)
        done = int((now_ms - self.batch_ms) / self.processing_ms) if self.processing_ms else 0
        parts: list[Records] = []
        for tp, first, end, ledger in self.batch:
            part = min(end - first, max(done, 0))
            done -= part
            if part:
                parts.append((tp, first, first + part, ledger))
        self.batch = []
        if parts:
            self._handle(parts)

    def start(self, tp: TopicPartition, position: int, now_ms: int) -> None:
        """Records of ``tp`` reach the application from ``position`` on."""
        self.settle(now_ms - 1)
        ledger = self.plane.ledger(self.group, tp)
        if ledger.begun is None:
            ledger.begun = position
        self.positions[tp] = position
        self.fetching[tp], self._sources = None, None
        if self.busy_until_ms <= now_ms:
            self.next_poll_ms = min(max(self.next_poll_ms, now_ms), now_ms + self.poll_step_ms)

    def stop(self, tp: TopicPartition) -> None:
        """Records of ``tp`` reach the application no more (its position stays known)."""
        self.fetching.pop(tp, None)
        self._sources = None

    def ready_ms(self, now_ms: int) -> int:
        """When the application is next inside poll(): now, or when its batch is processed."""
        if self.processing_ms:
            self.settle(now_ms - 1)
            self.finish(now_ms)
            return max(now_ms, self.busy_until_ms)
        return now_ms
