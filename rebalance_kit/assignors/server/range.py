"""The broker's ``range`` assignor (KIP-848): the shares of client range without racks, computed by the coordinator.

Members stand in line (static first, by instance id; then by member id). Topic by topic, each subscriber takes
the next ``P // C`` partitions, and one more while extras remain. It keeps nothing of the previous target:
not sticky since 3.9 (KAFKA-16944); ``assign_sticky_range`` is the one of 3.7 and 3.8.

>>> from rebalance_kit.assignors.contract import Cluster, MemberSubscription as M
>>> from rebalance_kit.model.topology import TopicId
>>> cluster = Cluster({"orders": 3}, {"orders": TopicId(1, 2)})
>>> for member, share in assign_server_range(cluster, [M("b", ("orders",)), M("a", ("orders",))]).items():
...     print(member, *share)
b orders-2
a orders-0 orders-1
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rebalance_kit.assignors.contract import (
    Assignment,
    Cluster,
    KafkaFailure,
    MemberSubscription,
    Step,
    in_line,
    in_map_order,
)
from rebalance_kit.assignors.java_order import hash_map_order, hash_set_of, int_hash, uuid_hash
from rebalance_kit.model.errors import AssignorError
from rebalance_kit.model.topology import TopicPartition

# A server assignor's view of the group: resolved topics, and the iteration order of a stored target.


def known_topics(cluster: Cluster, member: MemberSubscription) -> list[str]:
    """Return the member's topics that have an id; the coordinator passes over names it cannot resolve (``TopicIds``).

    Raises ``KafkaFailure`` for a topic whose id is known and whose partitions are not, ``AssignorError``
    for a topic with partitions and without an id.
    """
    topics = []
    for topic in dict.fromkeys(member.topics):
        if topic in cluster.topic_ids:
            if topic not in cluster.partitions:
                reason = f"members are subscribed to topic {topic} which doesn't exist in the topic metadata"
                raise KafkaFailure("PartitionAssignorException", reason)
            topics.append(topic)
        elif topic in cluster.partitions:
            raise AssignorError(
                f"topic {topic!r} has partitions and no id: expected one in Cluster.topic_ids"
            )
    return topics


def reads_alike(members: Sequence[MemberSubscription]) -> bool:
    """True if every topic anybody subscribes to is subscribed to by all (``SubscriptionType.HOMOGENEOUS``)."""
    first = set(members[0].topics) if members else set()
    last: tuple[str, ...] = members[0].topics if members else ()
    return all(member.topics is last or set(member.topics) == first for member in members)


def target_order(owned: Iterable[TopicPartition], cluster: Cluster) -> tuple[TopicPartition, ...]:
    """Return a member's target in the order in which the coordinator's stored copy of it is read.

    The coordinator replays its own record into a ``HashMap`` of topic ids, each with a ``HashSet`` of
    numbers (``Assignment.fromRecord``); ``server.uniform`` keeps the first ones when it must take some.
    Partitions of topics without an id are left out.
    """
    by_topic: dict[str, list[int]] = {}
    for partition in owned:
        if partition.topic in cluster.topic_ids:
            by_topic.setdefault(partition.topic, []).append(partition.partition)
    topics = hash_map_order(list(by_topic), lambda topic: uuid_hash(cluster.topic_ids[topic]))
    return tuple(TopicPartition(topic, n) for topic in topics for n in hash_set_of(by_topic[topic], int_hash))


# The broker's ``range`` assignor of Kafka 3.7 and 3.8, which keeps what it can of the previous target.
#
# Topic by topic, each subscriber, in the order of the coordinator's map, keeps its lowest ``P // C`` partitions, and one
# more while extras remain. Whoever lacks some then takes the next free ones, the first of them an extra each.


def assign_sticky_range(cluster: Cluster, members: Sequence[MemberSubscription]) -> Assignment:
    """Assign as ``org.apache.kafka.coordinator.group.assignor.RangeAssignor`` did before KAFKA-16944; shares are sorted.

    >>> from rebalance_kit.assignors.contract import Cluster, MemberSubscription as M
    >>> from rebalance_kit.model.topology import TopicId, TopicPartition as P
    >>> cluster = Cluster({"orders": 3}, {"orders": TopicId(1, 2)})
    >>> kept = (P("orders", 1), P("orders", 2))
    >>> for member, share in assign_sticky_range(cluster, [M("a", ("orders",)), M("b", ("orders",), owned=kept)]).items():
    ...     print(member, *share)
    a orders-0
    b orders-1 orders-2
    """
    shares: dict[str, list[TopicPartition]] = {member.member_id: [] for member in members}
    readers: dict[str, list[MemberSubscription]] = {}
    for member in in_map_order(members):
        for topic in known_topics(cluster, member):
            readers.setdefault(topic, []).append(member)
    for topic in sorted(readers):
        for member_id, numbers in _of_topic(topic, cluster.partitions[topic], readers[topic]).items():
            shares[member_id] += [TopicPartition(topic, number) for number in sorted(numbers)]
    return {member_id: tuple(share) for member_id, share in shares.items()}


def _of_topic(topic: str, partitions: int, readers: Sequence[MemberSubscription]) -> dict[str, list[int]]:
    """The partitions of one topic, by member id."""
    quota, extras = divmod(partitions, len(readers))
    given: dict[str, list[int]] = {}
    lacking: list[tuple[str, int]] = []
    for member in readers:
        before = sorted(tp.partition for tp in member.owned if tp.topic == topic)
        given[member.member_id] = before[:quota]
        if len(before) > quota and extras:
            extras -= 1
            given[member.member_id].append(before[quota])
        else:
            lacking.append((member.member_id, quota - len(before)))
    taken = {number for numbers in given.values() for number in numbers}
    free = [number for number in range(partitions) if number not in taken]
    for member_id, missing in lacking:
        wanted = missing + (1 if extras else 0)
        extras -= 1 if extras else 0
        given[member_id] += free[: max(wanted, 0)]
        free = free[max(wanted, 0) :]
    return given


def assign_server_range(
    cluster: Cluster, members: Sequence[MemberSubscription], explain: list[Step] | None = None
) -> Assignment:
    """Assign as ``org.apache.kafka.coordinator.group.assignor.RangeAssignor`` does; shares are sorted.

    Raises ``KafkaFailure`` (PartitionAssignorException) for a topic that has an id but no partitions known.
    """
    shares: dict[str, list[TopicPartition]] = {member.member_id: [] for member in members}
    line = in_line(in_map_order(members))
    readers: dict[str, list[str]] = {}
    for member in line:
        for topic in known_topics(cluster, member):
            readers.setdefault(topic, []).append(member.member_id)
    for topic in sorted(readers):
        quota, extras = divmod(cluster.partitions[topic], len(readers[topic]))
        start = 0
        for place, member_id in enumerate(readers[topic]):
            end = start + quota + (1 if place < extras else 0)
            share = [TopicPartition(topic, number) for number in range(start, end)]
            shares[member_id] += share
            start = end
            if explain is not None and share:
                rule = f"{topic}: number {place + 1} of {len(readers[topic])} in line takes the next {len(share)}"
                explain.append(Step(rule, member_id, tuple(share)))
    return {member_id: tuple(share) for member_id, share in shares.items()}
