"""``RoundRobinAssignor``: one circle of members, one partition each, all topics through.

Members stand in a circle (static ones first), partitions are dealt by topic name and number. For each
partition the pointer moves on to the next member that reads its topic. The pointer is *not* set back
between topics, so a member that reads one topic only makes the deal uneven.

>>> from rebalance_kit.assignors.contract import Cluster, MemberSubscription as M
>>> both, one = ("orders", "payments"), ("orders",)
>>> shares = assign_roundrobin(Cluster({"orders": 3, "payments": 2}), [M("a", both), M("b", one), M("c", both)])
>>> for member, share in shares.items():
...     print(member, *share)
a orders-0 payments-0
b orders-1
c orders-2 payments-1
"""

from __future__ import annotations

from collections.abc import Sequence

from rebalance_kit.assignors.contract import (
    Assignment,
    Cluster,
    KafkaFailure,
    MemberSubscription,
    Step,
    in_line,
    in_map_order,
)
from rebalance_kit.assignors.java_order import java_sorted
from rebalance_kit.model.topology import TopicPartition


def assign_roundrobin(
    cluster: Cluster, members: Sequence[MemberSubscription], explain: list[Step] | None = None
) -> Assignment:
    """Assign as ``org.apache.kafka.clients.consumer.RoundRobinAssignor`` does, list for list.

    Raises ``KafkaFailure`` (IllegalArgumentException) for a group without members, as Kafka's circle does.
    """
    if not members:
        raise KafkaFailure("IllegalArgumentException", "CircularIterator can only be used on non-empty lists")
    circle = in_line(in_map_order(members))
    subscribed = [frozenset(member.topics) for member in circle]
    lists: dict[str, list[TopicPartition]] = {member.member_id: [] for member in members}
    pointer = 0
    for topic in java_sorted(frozenset().union(*subscribed)):
        readers = [topic in topics for topics in subscribed]
        for number in range(cluster.partitions.get(topic, 0)):
            skipped = 0
            while not readers[pointer]:
                pointer = (pointer + 1) % len(circle)
                skipped += 1
            partition = TopicPartition(topic, number)
            lists[circle[pointer].member_id].append(partition)
            if explain is not None:
                rule = "next in the circle" + (
                    f", after {skipped} that do not read {topic}" if skipped else ""
                )
                explain.append(Step(rule, circle[pointer].member_id, (partition,)))
            pointer = (pointer + 1) % len(circle)
    return {member_id: tuple(share) for member_id, share in lists.items()}
