"""All that clients talk to: topics and their logs, replicas, the coordinating broker, and the network between."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from rebalance_kit.model.config import BrokerConfig
from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.simulation.cluster.broker import Broker, Sender
from rebalance_kit.simulation.cluster.network import Network
from rebalance_kit.simulation.cluster.topics import DataPlane, Fetcher, Offsets, Replicas, Topics
from rebalance_kit.simulation.kernel import RunHost
from rebalance_kit.simulation.scenario.scenario import Scenario


class ClusterClient(Sender, Fetcher, Protocol):
    """A process as the cluster knows it."""


class Cluster:
    """The cluster of one run."""

    __slots__ = (
        "_host",
        "broker",
        "counts_records",
        "kafka_version",
        "network",
        "plane",
        "replicas",
        "topics",
    )

    def __init__(self, host: RunHost, scenario: Scenario, processes: Mapping[str, ClusterClient]) -> None:
        self._host = host
        self.kafka_version, self.counts_records = scenario.kafka_version, scenario.data_plane
        self.plane = DataPlane()
        self.topics = Topics(host, self.plane)
        self.network = Network(host)
        config = BrokerConfig.of(scenario.broker, scenario.kafka_version)
        self.broker = Broker(
            host, config, scenario.kafka_version, self.topics, self.plane, self.network, processes
        )
        self.network.coordinator = self.broker
        self.replicas = Replicas(host, scenario.nodes, self.plane, self.topics, processes)
        for topic in scenario.topics:
            self.topics.put(topic.name, topic.partitions, topic.rate_per_s, topic.topic_id)

    def log_end(self, tp: TopicPartition) -> int:
        """Log end offset at this moment."""
        return self.plane.end(tp, self._host.now_ms)

    def committed(self, group: str, tp: TopicPartition) -> int | None:
        """The group's committed offset, None where there is none."""
        return self.plane.ledger(group, tp).committed

    def store(self, group: str, offsets: Offsets) -> None:
        """Commit these offsets without a message."""
        for tp, offset in offsets.items():
            self.plane.ledger(group, tp).committed = offset

    def close(self) -> None:
        """The run is over: break the network's reference to the broker, which refers to it."""
        del self.network.coordinator
