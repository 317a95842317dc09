"""Records: what is produced, delivered, processed and committed, counted without an event per record.

Nothing here is sampled: production is a rate, an application polls at known moments, so positions
follow by arithmetic whenever somebody looks (``Consumption.settle``). Offsets count from 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rebalance_kit.model.topology import TopicPartition

Offsets = dict[TopicPartition, int]


@dataclass(slots=True)
class Log:
    """One partition's log: records come at ``rate_per_s`` from ``since_ms`` on."""

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
        again = max(0, min(end, self.high) - first)
        self.delivered += end - first
        self.redelivered += again
        self.high = max(self.high, end)
        return again

    def process(self, first: int, end: int) -> None:
        """Remember ``[first, end)`` as processed."""
        if end <= first:
            return
        spans = self.processed
        if spans and first <= spans[-1][1] and first >= spans[-1][0]:
            spans[-1][1] = max(spans[-1][1], end)
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
    ledgers: dict[tuple[str, TopicPartition], Ledger] = field(default_factory=dict)

    def ledger(self, group: str, tp: TopicPartition) -> Ledger:
        """The group's ledger of a partition, made when first asked for."""
        ledger = self.ledgers.get((group, tp))
        if ledger is None:
            ledger = self.ledgers[group, tp] = Ledger()
        return ledger

    def end(self, tp: TopicPartition, at_ms: int) -> int:
        """Log end offset; 0 for a partition that does not exist (any more)."""
        log = self.logs.get(tp)
        return log.end(at_ms) if log else 0
