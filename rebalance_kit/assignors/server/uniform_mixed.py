"""The broker's ``uniform`` assignor when members read different topics (``UniformHeterogeneousAssignmentBuilder``).

1. Members, numbered in map order, keep the previous target of topics they still read.
2. Topics with the most partitions per reader first (then fewer readers, then topic id): each partition nobody
   has goes to the least loaded reader; readers at the same load are filled left to right, level by level.
3. Topics with two readers or more, at most 16 times round, until a whole round changes nothing: the most loaded
   readers hand their last partitions of this topic to the least loaded ones until the two levels differ by one
   at most. Balance is kept per topic only: members that read 9, 10 and 11 partitions in a chain of topics stay so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rebalance_kit.assignors.contract import Cluster, KafkaFailure, MemberSubscription, Step
from rebalance_kit.assignors.server.topics import known_topics
from rebalance_kit.assignors.sticky.load_levels import LoadLevels
from rebalance_kit.model.topology import TopicPartition

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
