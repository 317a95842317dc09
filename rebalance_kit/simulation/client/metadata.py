"""What a client knows of topics: its metadata, read again with age, after a failing fetch, and while a topic is unknown."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from rebalance_kit.model.versions import has
from rebalance_kit.protocol import effects as fx

if TYPE_CHECKING:
    from rebalance_kit.simulation.client.process import Process

METADATA = ("metadata",)


class ClientMetadata:
    """One life's metadata (org.apache.kafka.clients.Metadata), with the timer of its next refresh."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._life = process.life
        self._stream: random.Random = process.world.streams[f"metadata/{process.name}/{process.life}"]
        self._unknown = 0

    def tell(self) -> None:
        """Give the client machine what the broker knows now."""
        world = self._process.world
        self._process.apply(fx.MetadataSeen(dict(world.broker.topics), world.replicas.seen()))

    def read(self) -> None:
        """A refresh: tell, and ask again when the answer is old, or soon while a subscribed topic is unknown."""
        process = self._process
        if self._life != process.life or not process.alive:
            return
        if process.world.broker.up:
            self.tell()
            self._again_in(self._wait_ms())
        else:
            self._again_in(process.world.scenario.latencies.metadata_backoff_max_ms)

    def soon(self, after_ms: int) -> None:
        """A failing fetch makes the client refresh its metadata."""
        agenda = self._process.world.agenda
        agenda.set_timer((self._process.name, METADATA), agenda.now_ms + after_ms, ClientMetadata.read, self)

    def refresh(self, *, new: bool) -> None:
        """Somebody waits for the next answer: ask at once for new topics, else as soon as the pause is over."""
        process = self._process
        if new or not self._unknown:
            self.soon(2 * process.world.scenario.latencies.one_way.draw(self._stream))

    def _again_in(self, wait_ms: int) -> None:
        process = self._process
        late = process.world.scenario.latencies.metadata_round.draw(self._stream)
        self.soon(wait_ms + late)

    def _wait_ms(self) -> int:
        """metadata.max.age.ms, or retry.backoff.ms, doubled up to its maximum, while a topic is unknown (KIP-580)."""
        process = self._process
        machine = process.machine
        age: int = process.config.metadata_max_age_ms
        named = process.spec.pattern is None and process.spec.server_pattern is None
        if not named or all(topic in process.world.broker.topics for topic in machine.topics):
            self._unknown = 0
            return age
        doubled = self._unknown if has("metadata-backoff", process.world.scenario.kafka_version) else 0
        self._unknown += 1
        latencies = process.world.scenario.latencies
        wait = min(latencies.metadata_backoff_ms * 2 ** min(doubled, 4), latencies.metadata_backoff_max_ms)
        return int(wait * (0.8 + 0.4 * self._stream.random()))
