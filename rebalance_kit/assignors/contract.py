"""Input and output of every assignor.

An assignor is a pure function ``(cluster, members, explain) -> Assignment``. It keeps nothing between
calls: what Kafka's classes remember (``maxGeneration``, the sticky user data) is an argument here.

Members stand in the order in which they were put into the Java map of the group leader (client
assignors) or of the coordinator (server assignors). Java's map then has an order of its own, which
decides some outcomes; the assignors apply it themselves (see ``java_order``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rebalance_kit.assignors.java_order import hash_map_order, java_key, string_hash
from rebalance_kit.model.errors import AssignorError
from rebalance_kit.model.topology import TopicId, TopicPartition

Assignment = dict[str, tuple[TopicPartition, ...]]
"""Every member is present, possibly with an empty tuple. Client assignors: Kafka's own list order.
Server assignors answer with sets, so theirs are sorted."""

NO_GENERATION = -1
"""The generation that Kafka assumes for a member that sent none (``AbstractStickyAssignor.DEFAULT_GENERATION``)."""


@dataclass(frozen=True, slots=True)
class MemberSubscription:
    """What one member told the group: its topics and, where the assignor asks for it, what it owns.

    ``owned`` is what the assignor sees as the member's present partitions: owned partitions or user
    data for the sticky family, the previous *target* assignment for ``server.uniform`` (in the
    iteration order of Kafka's map, see ``target_order``). ``generation`` is the one
    those claims come from; None means that none was sent.

    ``subscription_generation`` matters to ``sticky`` alone, whose claims travel as user data with a
    generation of their own: it is the one in the subscription beside them, which Kafka compares the
    *other* claimant's with. None: none was sent, as after the member lost its generation.
    """

    member_id: str
    topics: tuple[str, ...]
    group_instance_id: str | None = None
    owned: tuple[TopicPartition, ...] = ()
    generation: int | None = None
    rack: str | None = None
    subscription_generation: int | None = None


@dataclass(frozen=True, slots=True)
class Cluster:
    """What the assignor knows of the topics: partition counts, ids (server), racks of the replicas (client)."""

    partitions: Mapping[str, int]
    topic_ids: Mapping[str, TopicId] = field(default_factory=dict)
    replica_racks: Mapping[str, tuple[tuple[str | None, ...], ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an explanation: which rule gave or took which partitions, in plain words."""

    rule: str
    member: str | None = None
    partitions: tuple[TopicPartition, ...] = ()

    def __str__(self) -> str:
        who = f"{self.member}: " if self.member is not None else ""
        what = f" [{', '.join(map(str, self.partitions))}]" if self.partitions else ""
        return f"{who}{self.rule}{what}"


class KafkaFailure(AssignorError):
    """Kafka's own class throws on this input; ``java_exception`` is the simple name of what it throws."""

    def __init__(self, java_exception: str, reason: str) -> None:
        super().__init__(f"Kafka's assignor throws {java_exception} on this input: {reason}")
        self.java_exception = java_exception


# In which order the members line up: the leader's map order, and the sorted line of range and round robin.


def in_map_order(members: Sequence[MemberSubscription]) -> list[MemberSubscription]:
    """Return the members as a default ``HashMap`` keyed by member id reads them."""
    by_id = {member.member_id: member for member in members}
    return [by_id[member_id] for member_id in hash_map_order(list(by_id), string_hash)]


def in_line(members: Sequence[MemberSubscription]) -> list[MemberSubscription]:
    """Static members first, by instance id; then dynamic ones by member id (``MemberInfo.compareTo``).

    Two members with one instance id keep their order, as in Java's stable sort.

    >>> from rebalance_kit.assignors.contract import MemberSubscription as M
    >>> [m.member_id for m in in_line([M("b", ()), M("a", ()), M("z", (), "pod-0")])]
    ['z', 'a', 'b']
    """
    return sorted(members, key=_place)


def _place(member: MemberSubscription) -> tuple[int, bytes]:
    if member.group_instance_id is not None:
        return 0, java_key(member.group_instance_id)
    return 1, java_key(member.member_id)


def topics_in_map_order(members: Sequence[MemberSubscription]) -> list[str]:
    """Return all subscribed topics in the order the leader's maps read them.

    ``AbstractPartitionAssignor.assign`` collects them in a ``HashSet``, member by member in map order.
    """
    seen: dict[str, None] = {}
    for member in members:
        seen.update(dict.fromkeys(member.topics))
    return hash_map_order(list(seen), string_hash)


# When racks matter to a client assignor, and what the sticky family needs to know of them (KIP-881).


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
