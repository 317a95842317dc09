"""The broker's ``range`` assignor (KIP-848): the shares of client range without racks, computed by the coordinator.

Members stand in line (static first, by instance id; then by member id). Topic by topic, each subscriber takes
the next ``P // C`` partitions, and one more while extras remain. It keeps nothing of the previous target:
not sticky since 3.9 (KAFKA-16944); ``sticky_range`` is the one of 3.7 and 3.8.

>>> from rebalance_kit.assignors.contract import Cluster, MemberSubscription as M
>>> from rebalance_kit.model.topology import TopicId
>>> cluster = Cluster({"orders": 3}, {"orders": TopicId(1, 2)})
>>> for member, share in assign_server_range(cluster, [M("b", ("orders",)), M("a", ("orders",))]).items():
...     print(member, *share)
b orders-2
a orders-0 orders-1
"""

from __future__ import annotations

from collections.abc import Sequence

from rebalance_kit.assignors.contract import Assignment, Cluster, MemberSubscription, Step
from rebalance_kit.assignors.member_order import in_line, in_map_order
from rebalance_kit.assignors.server.topics import known_topics
from rebalance_kit.model.topology import TopicPartition


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
