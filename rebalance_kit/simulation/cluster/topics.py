"""Topics as the controller knows them: partition counts, ids, and the log of each partition."""

from __future__ import annotations

from rebalance_kit.model.topology import TopicId, TopicPartition
from rebalance_kit.simulation.cluster.data_plane import DataPlane, Log
from rebalance_kit.simulation.kernel.host import RunHost

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
