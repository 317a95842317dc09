"""A client's topic metadata: refreshed with age, after a failing fetch, and while a topic is unknown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rebalance_kit.model.versions import has
from rebalance_kit.protocol import effects as fx
from rebalance_kit.simulation.client.machine import ClientMachine
from rebalance_kit.simulation.cluster.cluster import Cluster
from rebalance_kit.simulation.kernel.host import Host
from rebalance_kit.simulation.kernel.latencies import jitter

METADATA = ("metadata",)


class ClientMetadata:
    """One life's metadata (org.apache.kafka.clients.Metadata), with the timer of its next refresh."""

    __slots__ = ("_apply", "_cluster", "_host", "_machine", "_max_age_ms", "_named", "_stream", "_unknown")

    def __init__(
        self,
        host: Host,
        machine: ClientMachine,
        cluster: Cluster,
        max_age_ms: int,
        apply: Callable[[Any], None],
        *,
        named: bool,
    ) -> None:
        """``named``: topics are subscribed by name; ``apply`` hands an event to the machine."""
        self._host, self._machine, self._cluster, self._apply = host, machine, cluster, apply
        self._max_age_ms, self._named = max_age_ms, named
        self._stream = host.own_stream("metadata")
        self._unknown = 0

    def tell(self) -> None:
        """Give the client machine what the broker knows now."""
        cluster = self._cluster
        self._apply(fx.MetadataSeen(dict(cluster.topics.counts), cluster.replicas.seen()))

    def tell_before_join(self) -> None:
        """A pattern is matched anew before every JoinGroup."""
        if self._machine.matches_pattern_anew and self._cluster.broker.up:
            self.tell()

    def read(self) -> None:
        """A refresh: tell, and ask again when the answer is old, or soon while a subscribed topic is unknown."""
        if self._cluster.broker.up:
            self.tell()
            self._again_in(self._wait_ms())
        else:
            self._again_in(self._host.latencies.metadata_backoff_max_ms)

    def soon(self, after_ms: int) -> None:
        """A failing fetch makes the client refresh its metadata."""
        self._host.set_timer(METADATA, self._host.now_ms + after_ms, self.read)

    def refresh(self, *, new: bool) -> None:
        """Somebody waits for the next answer: ask at once for new topics, else as soon as the backoff is over."""
        if new or not self._unknown:
            self.soon(2 * self._host.latencies.one_way.draw(self._stream))

    def _again_in(self, wait_ms: int) -> None:
        self.soon(wait_ms + self._host.latencies.metadata_round.draw(self._stream))

    def _wait_ms(self) -> int:
        """metadata.max.age.ms, or retry.backoff.ms, doubled up to its maximum, while a topic is unknown (KIP-580)."""
        counts = self._cluster.topics.counts
        if not self._named or all(topic in counts for topic in self._machine.topics):
            self._unknown = 0
            return self._max_age_ms
        doubled = self._unknown if has("metadata-backoff", self._cluster.kafka_version) else 0
        self._unknown += 1
        latencies = self._host.latencies
        wait_ms = min(latencies.metadata_backoff_ms * 2 ** min(doubled, 4), latencies.metadata_backoff_max_ms)
        return int(wait_ms * jitter(self._stream.random()))
