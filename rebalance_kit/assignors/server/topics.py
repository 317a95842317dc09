"""A server assignor's view of the group: resolved topics, and the iteration order of a stored target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rebalance_kit.assignors.contract import Cluster, KafkaFailure, MemberSubscription
from rebalance_kit.assignors.java_order import hash_map_order, hash_set_of, int_hash, uuid_hash
from rebalance_kit.model.errors import AssignorError
from rebalance_kit.model.topology import TopicPartition


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
