"""The broker's ``range`` assignor of Kafka 3.7 and 3.8, which keeps what it can of the previous target.

Topic by topic, each subscriber, in the order of the coordinator's map, keeps its lowest ``P // C`` partitions, and one
more while extras remain. Whoever lacks some then takes the next free ones, the first of them an extra each.

>>> from rebalance_kit.assignors.contract import Cluster, MemberSubscription as M
>>> from rebalance_kit.model.topology import TopicId, TopicPartition as P
>>> cluster = Cluster({"orders": 3}, {"orders": TopicId(1, 2)})
>>> kept = (P("orders", 1), P("orders", 2))
>>> for member, share in assign_sticky_range(cluster, [M("a", ("orders",)), M("b", ("orders",), owned=kept)]).items():
...     print(member, *share)
a orders-0
b orders-1 orders-2
"""

from __future__ import annotations

from collections.abc import Sequence

from rebalance_kit.assignors.contract import Assignment, Cluster, MemberSubscription
from rebalance_kit.assignors.member_order import in_map_order
from rebalance_kit.assignors.server.topics import known_topics
from rebalance_kit.model.topology import TopicPartition


def assign_sticky_range(cluster: Cluster, members: Sequence[MemberSubscription]) -> Assignment:
    """Assign as ``org.apache.kafka.coordinator.group.assignor.RangeAssignor`` did before KAFKA-16944; shares are sorted."""
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
