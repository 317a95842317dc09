"""Record the moves of the general sticky path, so that a later move can undo an earlier one.

Kafka's rule (``AbstractStickyAssignor.PartitionMovements``): before a partition of a topic moves from A to B,
look whether one of the same topic has moved from B to A. If so, that one moves back instead.
"""

from __future__ import annotations

from rebalance_kit.assignors.java_order import hash_map_order, partition_hash
from rebalance_kit.model.topology import TopicPartition

Pair = tuple[str, str]


class Movements:
    """Moves per topic and pair of members (from, to)."""

    __slots__ = ("_by_topic", "_pair_of")

    def __init__(self) -> None:
        """Start with nothing moved."""
        self._pair_of: dict[TopicPartition, Pair] = {}
        self._by_topic: dict[str, dict[Pair, _Moved]] = {}

    def to_move(self, partition: TopicPartition, source: str, target: str) -> TopicPartition:
        """Return the partition that really moves when this one is to go from ``source`` to ``target``."""
        pairs = self._by_topic.get(partition.topic)
        if not pairs:
            return partition
        if partition in self._pair_of:
            source = self._pair_of[partition][0]
        opposite = pairs.get((target, source))
        return partition if opposite is None else opposite.first()

    def record(self, partition: TopicPartition, source: str, target: str) -> None:
        """Book a move; a partition that comes home leaves the books."""
        earlier = self._pair_of.pop(partition, None)
        if earlier is None:
            self._add(partition, (source, target))
            return
        pairs = self._by_topic[partition.topic]
        moved = pairs[earlier]
        moved.remove(partition)
        if not moved:
            del pairs[earlier]
        if earlier[0] != target:
            self._add(partition, (earlier[0], target))

    def _add(self, partition: TopicPartition, pair: Pair) -> None:
        self._pair_of[partition] = pair
        self._by_topic.setdefault(partition.topic, {}).setdefault(pair, _Moved()).add(partition)


class _Moved:
    """A Java ``HashSet`` of partitions that grows and shrinks; its table never does the latter."""

    __slots__ = ("_capacity", "_partitions")

    def __init__(self) -> None:
        self._partitions: dict[TopicPartition, None] = {}
        self._capacity = 16

    def __bool__(self) -> bool:
        return bool(self._partitions)

    def add(self, partition: TopicPartition) -> None:
        self._partitions[partition] = None
        while 4 * len(self._partitions) > 3 * self._capacity:
            self._capacity *= 2

    def remove(self, partition: TopicPartition) -> None:
        del self._partitions[partition]

    def first(self) -> TopicPartition:
        return hash_map_order(list(self._partitions), partition_hash, self._capacity)[0]
