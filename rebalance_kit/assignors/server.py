"""The assignors that a KIP-848 coordinator runs: ``range`` and ``uniform``.

The broker's ``range`` assignor (KIP-848): the shares of client range without racks, computed by the coordinator.

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

The broker's ``uniform`` assignor (KIP-848's default): balanced over all topics together, and sticky.

If all members read the same topics the homogeneous rules apply, else the heterogeneous ones.

Homogeneous (``UniformHomogeneousAssignmentBuilder``): N members, T partitions, ``min = T // N``, ``E = T % N``.
Members in map order each get a quota of min, plus one while extras are left. A member keeps of its previous
target, topic by topic, what fits into the quota; what does not fit goes to the end of the unassigned list. A
member that would need a *new* partition to use its extra hands the extra on, unless so few members are left
that it must take it (since 4.0.1, KAFKA-18688). At last each member with room takes, in map order, its whole
rest from the head of the unassigned list: a block, not a round.

>>> from rebalance_kit.assignors.contract import Cluster, MemberSubscription as M
>>> from rebalance_kit.model.topology import TopicId
>>> cluster = Cluster({"orders": 5}, {"orders": TopicId(1, 2)})
>>> for member, share in assign_server_uniform(cluster, [M("a", ("orders",)), M("b", ("orders",))]).items():
...     print(member, *share)
a orders-0 orders-1
b orders-2 orders-3 orders-4
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter

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
from rebalance_kit.assignors.sticky_general import LoadLevels
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


# The broker's ``uniform`` assignor when members read different topics (``UniformHeterogeneousAssignmentBuilder``).
#
# 1. Members, numbered in map order, keep the previous target of topics they still read.
# 2. Topics with the most partitions per reader first (then fewer readers, then topic id): each partition nobody
#    has goes to the least loaded reader; readers at the same load are filled left to right, level by level.
# 3. Topics with two readers or more, at most 16 times round, until a whole round changes nothing: the most loaded
#    readers hand their last partitions of this topic to the least loaded ones until the two levels differ by one
#    at most. Balance is kept per topic only: members that read 9, 10 and 11 partitions in a chain of topics stay so.


_ROUNDS = 16  # UniformHeterogeneousAssignmentBuilder.MAX_ITERATION_COUNT


class MixedDeal:
    """One run of the heterogeneous algorithm; members are numbered in map order."""

    __slots__ = (
        "_cluster",
        "_explain",
        "_loads",
        "_member_ids",
        "_members",
        "_owners",
        "_readers",
        "_shares",
    )

    def __init__(
        self, cluster: Cluster, members: Sequence[MemberSubscription], explain: list[Step] | None
    ) -> None:
        """Take the members in map order; raises ``KafkaFailure`` for a topic without metadata."""
        self._cluster = cluster
        self._members = members
        self._explain = explain
        self._member_ids = [member.member_id for member in members]
        self._loads = [0] * len(members)
        self._shares: list[set[TopicPartition]] = [set() for _ in members]
        self._readers: dict[str, list[int]] = {}
        for number, member in enumerate(members):
            for topic in known_topics(cluster, member):
                self._readers.setdefault(topic, []).append(number)
        self._owners: dict[str, list[int | None]] = {t: [None] * cluster.partitions[t] for t in self._readers}

    def run(self) -> dict[str, set[TopicPartition]]:
        """Deal everything; returns the share of each member."""
        if self._readers:
            self._keep()
            self._hand_out()
            self._balance()
        return dict(zip(self._member_ids, self._shares, strict=True))

    def _keep(self) -> None:
        for number, member in enumerate(self._members):
            reads = set(member.topics)
            kept = [p for p in member.owned if p.topic in reads and p.topic in self._readers]
            for topic, partition in kept:
                if partition >= len(self._owners[topic]):
                    reason = f"{member.member_id} had {topic}-{partition}, which the topic no longer has"
                    raise KafkaFailure("ArrayIndexOutOfBoundsException", reason)
                self._owners[topic][partition] = number
            self._shares[number].update(kept)
            self._loads[number] = len(self._shares[number])
            if self._explain is not None:
                self._explain.append(
                    Step("keeps its previous target of topics it still reads", member.member_id, tuple(kept))
                )

    def _in_order(self, topics: Iterable[str]) -> list[str]:
        """Most partitions per reader first; then fewer readers, then topic id."""

        def place(topic: str) -> tuple[float, int, tuple[int, int]]:
            readers = len(self._readers[topic])
            return -(self._cluster.partitions[topic] / readers), readers, self._cluster.topic_ids[topic]

        return sorted(topics, key=place)

    def _hand_out(self) -> None:
        vacant = {
            topic: [n for n, owner in enumerate(owners) if owner is None]
            for topic, owners in self._owners.items()
        }
        for topic in self._in_order(topic for topic, numbers in vacant.items() if numbers):
            levels = LoadLevels(self._readers[topic], self._loads)
            for number in vacant[topic]:
                self._give(
                    TopicPartition(topic, number),
                    levels.next_least(),
                    "nobody has it: goes to the least loaded reader",
                )

    def _give(self, partition: TopicPartition, member: int, rule: str) -> None:
        owner = self._owners[partition.topic][partition.partition]
        if owner is not None:
            self._shares[owner].discard(partition)
            self._loads[owner] -= 1
        self._shares[member].add(partition)
        self._loads[member] += 1
        self._owners[partition.topic][partition.partition] = member
        if self._explain is not None:
            taken = "" if owner is None else f", taken from {self._member_ids[owner]}"
            self._explain.append(Step(rule + taken, self._member_ids[member], (partition,)))

    def _balance(self) -> None:
        topics = self._in_order(topic for topic, readers in self._readers.items() if len(readers) >= 2)
        last_changed: int | None = None
        for _ in range(_ROUNDS):
            for place, topic in enumerate(topics):
                if place == last_changed:
                    return
                if self._balance_topic(topic) or last_changed is None:
                    last_changed = place

    def _balance_topic(self, topic: str) -> int:
        """Level one topic's readers; returns how many partitions moved."""
        levels = LoadLevels(self._readers[topic], self._loads)
        if levels.imbalance <= 1:
            return 0
        held: dict[int, list[int]] = {}
        for number, owner in enumerate(self._owners[topic]):
            if owner is not None:
                held.setdefault(owner, []).append(number)
        moved = 0
        while not levels.is_balanced():
            giver = levels.next_most()
            while giver is not None and not held.get(giver):
                levels.exclude_most()
                giver = levels.next_most()
            if giver is None:
                break
            partition = TopicPartition(topic, held[giver].pop())
            taker = levels.next_least()
            if levels.is_balanced():
                break
            self._give(
                partition, taker, "its owner is among the most loaded readers, this member among the least"
            )
            moved += 1
        return moved


def assign_server_uniform(
    cluster: Cluster,
    members: Sequence[MemberSubscription],
    explain: list[Step] | None = None,
    *,
    passes_extra_on: bool = True,
) -> Assignment:
    """Assign as ``org.apache.kafka.coordinator.group.assignor.UniformAssignor`` does; shares are sorted.

    A member's ``owned`` is its previous target, in the order Kafka reads it (``target_order``).
    ``passes_extra_on``: who holds too little leaves the extra partition to members that hold one more already
    (``UniformHomogeneousAssignmentBuilder`` since 4.1); before, the first in map order had them.
    Raises ``KafkaFailure`` (PartitionAssignorException) for a topic that has an id but no partitions known.
    """
    targets = uniform_targets(cluster, members, explain, passes_extra_on=passes_extra_on)
    return {member_id: tuple(sorted(share)) for member_id, share in targets.items()}


def uniform_targets(
    cluster: Cluster,
    members: Sequence[MemberSubscription],
    explain: list[Step] | None = None,
    *,
    passes_extra_on: bool = True,
) -> Assignment:
    """The same shares, each in the order in which it entered the ``HashSet`` of its target.

    What a member keeps comes first, in the order of its previous target, then what it takes. Numbers that share a
    bucket stay in this order, so it decides which of them the next computation keeps.
    """
    mapped = in_map_order(members)
    shares: Mapping[str, Iterable[TopicPartition]]
    if reads_alike(mapped):
        shares = _assign_alike(cluster, mapped, explain, passes_extra_on)
    else:
        dealt = MixedDeal(cluster, mapped, explain).run()
        shares = {member_id: sorted(share) for member_id, share in dealt.items()}
    return {member.member_id: tuple(shares.get(member.member_id, ())) for member in members}


def _assign_alike(
    cluster: Cluster, members: Sequence[MemberSubscription], explain: list[Step] | None, passes_extra_on: bool
) -> dict[str, list[TopicPartition]]:
    topics = _subscribed(cluster, members)
    if not topics:
        return {}
    unassigned = _untargeted(cluster, topics, members)
    total = sum(cluster.partitions[topic] for topic in topics)
    quota, extras = divmod(total, len(members))
    subscribed = set(topics)
    shares: dict[str, list[TopicPartition]] = {}
    waiting: list[tuple[str, int]] = []
    for place, member in enumerate(members):
        room = quota + (1 if extras else 0)
        kept, surplus = _keep(member.owned, subscribed, room)
        room -= len(kept)
        unassigned += surplus
        with_extra = extras > 0
        if passes_extra_on and room > 0 and with_extra and len(members) - place > extras:
            room -= 1
            with_extra = False
        if room > 0:
            waiting.append((member.member_id, room))
        if with_extra:
            extras -= 1
        shares[member.member_id] = kept
        if explain is not None:
            size = quota + 1 if with_extra else quota
            had = (
                "keeps of its previous target what fits into"
                if member.owned
                else "has no previous target, and"
            )
            explain.append(Step(f"{had} a share of {size}", member.member_id, tuple(kept)))
            if surplus:
                explain.append(Step("gives these up: they do not fit", member.member_id, tuple(surplus)))
    _fill(shares, waiting, unassigned, explain)
    return shares


def _subscribed(cluster: Cluster, members: Sequence[MemberSubscription]) -> list[str]:
    """Return the topics of the first member in the order of ``new HashSet<>(subscribedTopicIds)``."""
    if not members:
        return []
    topics = known_topics(cluster, members[0])
    room = max(int(len(set(members[0].topics)) / 0.75) + 1, 16)
    return hash_map_order(topics, lambda topic: uuid_hash(cluster.topic_ids[topic]), room)


def _untargeted(
    cluster: Cluster, topics: Iterable[str], members: Iterable[MemberSubscription]
) -> list[TopicPartition]:
    """Return the partitions that no member has in its previous target."""
    targeted = set(chain.from_iterable(map(attrgetter("owned"), members)))
    everything = (TopicPartition(topic, n) for topic in topics for n in range(cluster.partitions[topic]))
    return [partition for partition in everything if partition not in targeted]


def _keep(
    owned: Sequence[TopicPartition], subscribed: set[str], room: int
) -> tuple[list[TopicPartition], list[TopicPartition]]:
    """Split a previous target into what fits and what does not; unsubscribed topics are in neither."""
    kept = [partition for partition in owned if partition.topic in subscribed]
    if len(kept) <= room:
        return kept, []
    by_topic: dict[str, list[TopicPartition]] = {}
    for partition in kept:
        by_topic.setdefault(partition.topic, []).append(partition)
    kept, surplus = [], []
    for share in by_topic.values():
        fits = room - len(kept)
        kept += share[:fits]
        surplus += share[fits:]
    return kept, surplus


def _fill(
    shares: dict[str, list[TopicPartition]],
    waiting: Sequence[tuple[str, int]],
    unassigned: Sequence[TopicPartition],
    explain: list[Step] | None,
) -> None:
    """Give each waiting member its whole rest as one block."""
    start = 0
    for member_id, room in waiting:
        block = unassigned[start : start + room]
        start += len(block)
        shares[member_id] += block
        if explain is not None and block:
            explain.append(
                Step(f"has room for {room}: takes the next of those nobody has", member_id, tuple(block))
            )
    if start < len(unassigned):
        raise KafkaFailure("PartitionAssignorException", "Partitions were left unassigned")
