"""Records: what is produced, delivered, processed and committed, counted without an event per record.

Nothing here is sampled: production is a rate, an application polls at known moments, so positions
follow by arithmetic whenever somebody looks (``Consumption.settle``). Offsets count from 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rebalance_kit.model.topology import TopicPartition

Offsets = dict[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class Log:
    """A partition's log: records come at ``rate_per_s`` from ``since_ms`` on."""

    since_ms: int
    rate_per_s: float

    def end(self, at_ms: int) -> int:
        """Log end offset at that moment."""
        return int((at_ms - self.since_ms) * self.rate_per_s / 1000) if at_ms > self.since_ms else 0


@dataclass(slots=True)
class Ledger:
    """What one group has done with one partition."""

    high: int = 0
    delivered: int = 0
    redelivered: int = 0
    committed: int | None = None
    begun: int | None = None
    """Where the group began to read; what lies before was never its to lose."""
    processed: list[list[int]] = field(default_factory=list)

    def deliver(self, first: int, end: int) -> int:
        """Count records handed to an application; returns how many of them were so before."""
        self.delivered += end - first
        high = self.high
        if end > high:
            self.high = end
        if first >= high:  # nearly always
            return 0
        again = (end if end < high else high) - first  # noqa: FURB136 - as busy as every record
        self.redelivered += again
        return again

    def process(self, first: int, end: int) -> None:
        """Remember ``[first, end)`` as processed."""
        if end <= first:
            return
        spans = self.processed
        if spans:
            last = spans[-1]
            if last[0] <= first <= last[1]:
                if end > last[1]:  # noqa: PLR1730 - as busy as every record
                    last[1] = end
                return
        spans.append([first, end])

    def lost(self) -> int:
        """Records below the committed offset that nobody ever processed."""
        limit = self.committed or 0
        covered = 0
        reached = begun = self.begun or 0
        for first, end in sorted(self.processed):
            begin, stop = max(first, reached), min(end, limit)
            if stop > begin:
                covered += stop - begin
            reached = max(reached, end)
        return max(limit - begun, 0) - covered


@dataclass(slots=True)
class DataPlane:
    """All logs, and every group's ledger of them."""

    logs: dict[TopicPartition, Log] = field(default_factory=dict)
    version: int = 0
    """Counts how often logs came and went."""
    _ledgers: dict[str, dict[TopicPartition, Ledger]] = field(default_factory=dict)

    def create(self, tp: TopicPartition, log: Log) -> None:
        """A partition is there from now on."""
        self.logs[tp] = log
        self.version += 1

    def drop(self, tp: TopicPartition) -> None:
        """A partition is gone."""
        self.logs.pop(tp, None)
        self.version += 1

    def ledger(self, group: str, tp: TopicPartition) -> Ledger:
        """The group's ledger of a partition, made when first asked for."""
        ledgers = self.ledgers_of(group)
        ledger = ledgers.get(tp)
        if ledger is None:
            ledger = ledgers[tp] = Ledger()
        return ledger

    def ledgers_of(self, group: str) -> dict[TopicPartition, Ledger]:
        """The group's ledgers so far."""
        ledgers = self._ledgers.get(group)
        if ledgers is None:
            ledgers = self._ledgers[group] = {}
        return ledgers

    def end(self, tp: TopicPartition, at_ms: int) -> int:
        """Log end offset; 0 for a partition that does not exist (any more)."""
        log = self.logs.get(tp)
        return log.end(at_ms) if log else 0
