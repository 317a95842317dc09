"""``RangeAssignor``: topic by topic, consecutive partitions, the first in line get the remainder.

For each topic by itself: its subscribers stand in line (static members first), P partitions and C
subscribers make ``q = P // C`` each and ``r = P % C`` left over, and the first r in line get ``q + 1``.
So two topics with as many partitions and the same subscribers are dealt alike (co-partitioning), and
the first in line collect every remainder (skew). Nothing is remembered: it is not sticky.

>>> from rebalance_kit.assignors.contract import Cluster, MemberSubscription as M
>>> shares = assign_range(Cluster({"orders": 7}), [M("a", ("orders",)), M("b", ("orders",)), M("c", ("orders",))])
>>> for member, share in shares.items():
...     print(member, *share)
a orders-0 orders-1 orders-2
b orders-3 orders-4
c orders-5 orders-6

Rack aware since 3.5 (KIP-881): ``client_range_racks``.
"""

from __future__ import annotations

from collections.abc import Sequence

from rebalance_kit.assignors.client import range_racks as racks
from rebalance_kit.assignors.contract import Assignment, Cluster, MemberSubscription, Step
from rebalance_kit.assignors.java_order import hash_map_order, string_hash
from rebalance_kit.assignors.member_order import in_line, in_map_order, topics_in_map_order
from rebalance_kit.model.topology import TopicPartition


def assign_range(
    cluster: Cluster, members: Sequence[MemberSubscription], explain: list[Step] | None = None
) -> Assignment:
    """Assign as ``org.apache.kafka.clients.consumer.RangeAssignor`` does, list for list."""
    mapped = in_map_order(members)
    known = [topic for topic in topics_in_map_order(mapped) if cluster.partitions.get(topic)]
    subscribers: dict[str, list[MemberSubscription]] = {topic: [] for topic in known}
    for member in mapped:
        for topic in member.topics:
            if topic in subscribers:
                subscribers[topic].append(member)
    topics = [
        racks.TopicDeal(topic, cluster.partitions[topic], in_line(subscribers[topic]), cluster.replica_racks)
        for topic in hash_map_order(known, string_hash)
    ]
    lists: dict[str, list[TopicPartition]] = {member.member_id: [] for member in members}
    rack_aware = any(deal.needs_racks for deal in topics)
    if rack_aware:
        racks.deal_by_racks(topics, lists, explain)
    for deal in topics:
        _deal_ranges(deal, lists, explain)
    if rack_aware:
        for share in lists.values():
            share.sort()
    return {member_id: tuple(share) for member_id, share in lists.items()}


def _deal_ranges(
    deal: racks.TopicDeal, lists: dict[str, list[TopicPartition]], explain: list[Step] | None
) -> None:
    """Give each subscriber in line the next partitions up to its quota."""
    left = list(deal.unassigned)
    start = 0
    for place, member_id in enumerate(deal.line):
        if start == len(left):
            break
        quota = deal.quota_left(member_id)
        share = [TopicPartition(deal.topic, number) for number in left[start : start + quota]]
        if not share:
            continue
        start += len(share)
        lists[member_id] += share
        deal.take(member_id, [partition.partition for partition in share])
        if explain is not None:
            explain.append(Step(deal.sentence(place, len(share)), member_id, tuple(share)))
