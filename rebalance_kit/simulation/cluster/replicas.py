"""Brokers that hold replicas: which one leads a partition, and what their racks look like to a client.

Partition ``p`` of each topic has a replica on every broker; its first leader is broker ``p`` modulo their number
(in the order of the scenario). The first broker of a scenario coordinates all groups, and stops by ``broker_down``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.protocol.effects import Racks
from rebalance_kit.simulation.cluster.data_plane import DataPlane
from rebalance_kit.simulation.cluster.topics import Topics
from rebalance_kit.simulation.kernel.host import RunHost


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
