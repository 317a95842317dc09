"""When racks matter to a client assignor, and what the sticky family needs to know of them (KIP-881)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from rebalance_kit.assignors.contract import Cluster, MemberSubscription
from rebalance_kit.model.topology import TopicPartition

ReplicaRacks = Mapping[str, tuple[tuple[str | None, ...], ...]]


def racks_of(topic: str, count: int, replica_racks: ReplicaRacks) -> tuple[frozenset[str], ...]:
    """Return the racks of each partition's replicas; a replica without a rack does not count."""
    listed = replica_racks.get(topic, ())
    return tuple(
        frozenset(rack for rack in listed[number] if rack is not None)
        if number < len(listed)
        else frozenset()
        for number in range(count)
    )


def racks_decide(member_racks: Iterable[str], partition_racks: Sequence[frozenset[str]]) -> bool:
    """True if racks can make a difference (``AbstractPartitionAssignor.useRackAwareAssignment``)."""
    every = frozenset().union(*partition_racks)
    if every.isdisjoint(member_racks):
        return False
    return any(racks != every for racks in partition_racks)


class RackMap:
    """Which member sits where, and which racks each partition has a replica on.

    ``active`` is False when racks make no difference: then nothing mismatches and nothing is sorted.
    """

    __slots__ = ("_by_partition", "_nearby", "active", "of_member")

    def __init__(
        self, cluster: Cluster, topics: Iterable[str], members: Sequence[MemberSubscription]
    ) -> None:
        """Read the racks of the members and, only if there are any, of the partitions."""
        self.of_member = {member.member_id: member.rack for member in members if member.rack}
        self._by_partition: dict[TopicPartition, frozenset[str]] = {}
        self._nearby: dict[TopicPartition, int] = {}
        self.active = False
        if not self.of_member:
            return
        for topic in topics:
            for number, racks in enumerate(racks_of(topic, cluster.partitions[topic], cluster.replica_racks)):
                self._by_partition[TopicPartition(topic, number)] = racks
        self.active = racks_decide(self.of_member.values(), tuple(self._by_partition.values()))
        if not self.active:
            self.of_member = {}
            return
        members_on = Counter(self.of_member.values())
        self._nearby = {
            partition: sum(members_on[rack] for rack in racks)
            for partition, racks in self._by_partition.items()
        }

    def mismatch(self, member_id: str, partition: TopicPartition) -> bool:
        """True if the member has a rack and no replica of the partition is on it."""
        rack = self.of_member.get(member_id)
        return rack is not None and rack not in self._by_partition.get(partition, frozenset())

    def matches(self, member_id: str, partition: TopicPartition) -> bool:
        """True if the member has a rack and a replica of the partition is on it."""
        rack = self.of_member.get(member_id)
        return rack is not None and rack in self._by_partition.get(partition, frozenset())

    def scarcest_first(self, partitions: list[TopicPartition]) -> list[TopicPartition]:
        """Sort by how many members sit on the partition's racks; equal ones keep their order."""
        if not self.active:
            return partitions
        return sorted(partitions, key=lambda partition: self._nearby.get(partition, 0))
