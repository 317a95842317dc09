"""Topics as the controller knows them: partition counts, ids, and the log of each partition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from rebalance_kit.model.topology import TopicId, TopicPartition
from rebalance_kit.protocol.effects import Racks
from rebalance_kit.simulation.kernel import RunHost

# Records: what is produced, delivered, processed and committed, counted without an event per record.
#
# Nothing here is sampled: production is a rate, an application polls at known moments, so positions
# follow by arithmetic whenever somebody looks (``Consumption.settle``). Offsets count from 0.


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


_HALF = 1 << 63


class Topics:
    """All topics of a run."""

    __slots__ = ("_host", "_plane", "counts", "ids")

    def __init__(self, host: RunHost, plane: DataPlane) -> None:
        self._host, self._plane = host, plane
        self.counts: dict[str, int] = {}
        self.ids: dict[str, TopicId] = {}

    def put(
        self, name: str, partitions: int, rate_per_s: float, topic_id: tuple[int, int] | None = None
    ) -> None:
        """Create a topic or grow it; without a ``topic_id`` one is drawn."""
        now_ms = self._host.now_ms
        before = self.counts.get(name, 0)
        self.counts[name] = partitions
        if name not in self.ids:
            stream = self._host.streams[f"topic/{name}/{now_ms}"]
            self.ids[name] = TopicId(
                *(topic_id or (stream.getrandbits(64) - _HALF, stream.getrandbits(64) - _HALF))
            )
        log = Log(now_ms, rate_per_s)  # one for all of them: records come into each at the same moments
        for number in range(before, partitions):
            self._plane.create(TopicPartition(name, number), log)

    def delete(self, name: str) -> tuple[TopicPartition, ...]:
        """A topic and its logs are gone; returns its partitions."""
        partitions = tuple(TopicPartition(name, number) for number in range(self.counts.pop(name, 0)))
        for tp in partitions:
            self._plane.drop(tp)
        return partitions


# Brokers that hold replicas: which one leads a partition, and what their racks look like to a client.
#
# Partition ``p`` of each topic has a replica on every broker; its first leader is broker ``p`` modulo their number
# (in the order of the scenario). The first broker of a scenario coordinates all groups, and stops by ``broker_down``.


class Fetcher(Protocol):
    """A process that reads partitions, while it is alive."""

    def lose_leaders(self, gone: frozenset[TopicPartition]) -> None:
        """Fetches of these fail."""

    def find_leaders(self) -> None:
        """Look again who leads what is owned."""


class Replicas:
    """Leaders and racks of all partitions; without brokers in the scenario, one broker leads everything."""

    def __init__(
        self,
        host: RunHost,
        racks: Mapping[int, str | None],
        plane: DataPlane,
        topics: Topics,
        fetchers: Mapping[str, Fetcher],
    ) -> None:
        self._host, self._plane, self._topics, self._fetchers = host, plane, topics, fetchers
        self.racks = racks
        self._up = dict.fromkeys(racks, True)
        self._leaders: dict[TopicPartition, int | None] = {}

    def leader(self, tp: TopicPartition) -> int | None:
        """The broker that leads this partition, None while it is offline."""
        ids = list(self.racks)
        return self._leaders.get(tp, ids[tp.partition % len(ids)]) if ids else 0

    def seen(self) -> Racks:
        """What a client's metadata says of the replicas: per partition, (broker, its rack or None while it is away)."""
        here = tuple((node, rack if self._up[node] else None) for node, rack in self.racks.items())
        return {topic: (here,) * count for topic, count in self._topics.counts.items()} if here else {}

    def stop(self, node: int, *, crash: bool) -> None:
        """A broker goes: a clean stop hands its partitions over first, after a crash the controller has to notice."""
        if not self._up[node]:
            return
        self._up[node] = False
        led = [tp for tp in sorted(self._plane.logs) if self.leader(tp) == node]
        if crash:
            self._tell(led)
            self._host.at(self._host.now_ms + self._host.latencies.fenced_broker_ms, self._fence, node)
        else:
            self._move(led, node)
            self._tell(led)

    def stop_first(self) -> None:
        """The coordinators' broker stops cleanly, if the scenario names brokers."""
        for node in list(self.racks)[:1]:
            self.stop(node, crash=False)

    def start_first(self) -> None:
        """The coordinators' broker is back."""
        for node in list(self.racks)[:1]:
            self.start(node)

    def start(self, node: int) -> None:
        """A broker is back and takes the partitions that nobody leads.

        Others stay where they are (``leader.imbalance.check.interval.seconds``, five minutes, would give them back).
        """
        self._up[node] = True
        self._move([tp for tp in sorted(self._plane.logs) if self.leader(tp) is None], None)
        for fetcher in self._fetchers.values():
            fetcher.find_leaders()

    def _fence(self, node: int) -> None:
        if not self._up[node]:
            self._move([tp for tp in sorted(self._plane.logs) if self.leader(tp) == node], node)

    def _move(self, partitions: list[TopicPartition], away_from: int | None) -> None:
        """Elect the next broker in the order of the replicas that is up."""
        ids = list(self.racks)
        for tp in partitions:
            order = [ids[(tp.partition + step) % len(ids)] for step in range(len(ids))]
            to = next((node for node in order if self._up[node]), None)
            before, self._leaders[tp] = self.leader(tp), to
            self._host.row(
                "broker",
                "leader_changed",
                None,
                None,
                None,
                {"from": before if away_from is None else away_from, "to": to},
                topic=tp.topic,
                partition=tp.partition,
            )

    def _tell(self, partitions: list[TopicPartition]) -> None:
        """Who fetches from these hears at once that its broker is gone, and asks for metadata."""
        gone = frozenset(partitions)
        for fetcher in self._fetchers.values():
            fetcher.lose_leaders(gone)

    def leads(self, tp: TopicPartition) -> bool:
        """Whether a broker that is up leads this partition."""
        leader = self.leader(tp)
        return leader is not None and self._up.get(leader, True)
