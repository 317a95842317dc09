"""The assignors of a classic group's leader that remember nothing: range and round robin.

``RangeAssignor``: topic by topic, consecutive partitions, the first in line get the remainder.

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

Rack aware since 3.5 (KIP-881): ``deal_by_racks``.

``RoundRobinAssignor``: one circle of members, one partition each, all topics through.

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
    ReplicaRacks,
    Step,
    in_line,
    in_map_order,
    racks_decide,
    racks_of,
    topics_in_map_order,
)
from rebalance_kit.assignors.java_order import hash_map_order, java_sorted, string_hash
from rebalance_kit.model.topology import TopicPartition

# The rack-aware half of ``RangeAssignor`` (KIP-881, since 3.5): partitions near their readers first.
#
# It is used when some member has a rack, some replica sits on one of those racks, and not every partition
# has replicas on all racks. Topics with the same line of subscribers and the same number of partitions are
# dealt together: partition p of all of them goes to the first in line whose rack has a replica of each and
# who still has quota in each, so co-partitioning is kept. A topic of its own is dealt in line: each member
# takes, up to its quota, the partitions its rack has. What finds no match is dealt by plain range
# afterwards, with the quotas that are left. A member without a rack matches everything.


class TopicDeal:
    """One topic while it is dealt: its line of subscribers, their quotas, what is left."""

    __slots__ = (
        "_extras",
        "_quota",
        "_racks",
        "_taken",
        "count",
        "line",
        "needs_racks",
        "topic",
        "unassigned",
    )

    def __init__(
        self, topic: str, count: int, line: Sequence[MemberSubscription], replica_racks: ReplicaRacks
    ) -> None:
        """Take the topic with its subscribers in line; the line must not be empty."""
        self.topic = topic
        self.count = count
        self.line: dict[str, str | None] = {member.member_id: member.rack or None for member in line}
        self.unassigned: dict[int, None] = dict.fromkeys(range(count))
        self._quota, self._extras = divmod(count, len(self.line))
        self._taken = dict.fromkeys(self.line, 0)
        self._racks: tuple[frozenset[str], ...] = ()
        wanted = {rack for rack in self.line.values() if rack is not None}
        if wanted:
            self._racks = racks_of(topic, count, replica_racks)
        self.needs_racks = racks_decide(wanted, self._racks)

    @property
    def rack_count(self) -> int:
        """How many partitions have known racks; 0 when no subscriber has a rack."""
        return len(self._racks)

    def matches(self, member_id: str, number: int) -> bool:
        """True if the member may read this partition without leaving its rack."""
        rack = self.line[member_id]
        return rack is None or (number < len(self._racks) and rack in self._racks[number])

    def quota_left(self, member_id: str) -> int:
        """How many more partitions of this topic the member may take now."""
        extra = 1 if self._extras > 0 else 0
        return max(0, self._quota + extra - self._taken[member_id])

    def take(self, member_id: str, numbers: Sequence[int]) -> None:
        """Book the partitions for the member; reaching above the quota uses up one extra."""
        self._taken[member_id] += len(numbers)
        if self._taken[member_id] > self._quota:
            self._extras -= 1
        for number in numbers:
            self.unassigned.pop(number, None)

    def sentence(self, place: int, size: int) -> str:
        """Say for an explanation why the member at this place gets that many."""
        quota, extras = divmod(self.count, len(self.line))
        why = f"{self.topic}: {self.count} partitions for {len(self.line)} subscribers make {quota} each"
        if extras == 1:
            why += " and 1 left over for the first in line"
        elif extras:
            why += f" and {extras} left over, one each for the first {extras} in line"
        return f"{why}; this member is number {place + 1} and takes the next {size}"


def deal_by_racks(
    topics: Sequence[TopicDeal], lists: dict[str, list[TopicPartition]], explain: list[Step] | None
) -> None:
    """Give out what matches racks; leaves the rest in each deal for plain range."""
    groups: dict[tuple[tuple[tuple[str, str | None], ...], int], list[TopicDeal]] = {}
    for deal in topics:
        line = tuple(sorted(deal.line.items(), key=lambda item: item[0]))
        groups.setdefault((line, deal.rack_count), []).append(deal)
    for (_, count), alike in groups.items():
        if len(alike) > 1:
            _deal_together(alike, count, lists, explain)
        elif alike[0].needs_racks:
            _deal_alone(alike[0], lists, explain)


def _deal_together(
    alike: Sequence[TopicDeal], count: int, lists: dict[str, list[TopicPartition]], explain: list[Step] | None
) -> None:
    remaining = dict(alike[0].line)
    for number in range(count):
        chosen = next(
            (
                member_id
                for member_id in remaining
                if all(deal.matches(member_id, number) and deal.quota_left(member_id) for deal in alike)
            ),
            None,
        )
        if chosen is None:
            continue
        share = [TopicPartition(deal.topic, number) for deal in alike]
        lists[chosen] += share
        for deal in alike:
            deal.take(chosen, [number])
        if explain is not None:
            rule = "topics read by the same members stay together: first in line with quota whose rack has a replica of each"
            explain.append(Step(rule, chosen, tuple(share)))
        if not any(deal.quota_left(chosen) for deal in alike):
            del remaining[chosen]
            if not remaining:
                break


def _deal_alone(deal: TopicDeal, lists: dict[str, list[TopicPartition]], explain: list[Step] | None) -> None:
    for member_id in deal.line:
        if not deal.unassigned:
            break
        near = [number for number in deal.unassigned if deal.matches(member_id, number)]
        near = near[: deal.quota_left(member_id)]
        if not near:
            continue
        deal.take(member_id, near)
        share = [TopicPartition(deal.topic, number) for number in near]
        lists[member_id] += share
        if explain is not None:
            rule = "takes, up to its quota, the partitions that have a replica on its rack"
            explain.append(Step(rule, member_id, tuple(share)))


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
        TopicDeal(topic, cluster.partitions[topic], in_line(subscribers[topic]), cluster.replica_racks)
        for topic in hash_map_order(known, string_hash)
    ]
    lists: dict[str, list[TopicPartition]] = {member.member_id: [] for member in members}
    rack_aware = any(deal.needs_racks for deal in topics)
    if rack_aware:
        deal_by_racks(topics, lists, explain)
    for deal in topics:
        _deal_ranges(deal, lists, explain)
    if rack_aware:
        for share in lists.values():
            share.sort()
    return {member_id: tuple(share) for member_id, share in lists.items()}


def _deal_ranges(deal: TopicDeal, lists: dict[str, list[TopicPartition]], explain: list[Step] | None) -> None:
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
