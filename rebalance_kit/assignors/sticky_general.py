"""The sticky family when members read different topics: fill up, then move one by one.

The rules of ``AbstractStickyAssignor.GeneralAssignmentBuilder``:

1. A member keeps what it owns of topics it still reads. Dropping anything else makes a *revocation required*.
2. Partitions nobody has, topics with few readers first, go to the reader with the fewest (then by id).
3. Set aside: topics with one reader, and members that hold all they can get and share none of it.
4. Sweep over the partitions, first the new ones alone unless a revocation is required. A partition goes back
   to the member that claimed it from an older generation if that member has at least two fewer; else, if any
   reader has at least two fewer, to the reader with the fewest. Sweeps go on until one changes nothing.
5. If the sum of differences is no better than after step 3, all of step 4 is undone. (Nearly every move lowers
   that sum, so this guard is hard to reach: no group out of 240,000 small random ones did.)

Kafka defect, kept here: step 4 may look up an older claimant that step 3 has set aside, and then the leader
fails with a NullPointerException (``KafkaFailure``). It takes three members, say A reading T with nothing
owned in generation 5, B reading T and U and owning T-2 without generation, and C reading nothing and still
claiming T-1 from generation 4.

Levels of load among one topic's readers: who is next to get a partition, who is next to give one.

Readers stand in line by load, then by number. Getting works like filling a vessel: the lowest level from left
to right, then the level rises by one and takes in those who are there already. Giving works from the other end,
right to left, level by level downwards. Both go by the loads at the start: what is moved meanwhile is what the
two levels count (``UniformHeterogeneousAssignmentBuilder.MemberAssignmentBalancer``).

>>> levels = LoadLevels([0, 1, 2], loads := [1, 0, 2])
>>> [levels.next_least() for _ in range(4)]
[1, 1, 0, 1]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from heapq import heapify, heapreplace

from rebalance_kit.assignors.contract import KafkaFailure, MemberSubscription, RackMap, Step
from rebalance_kit.assignors.java_order import hash_map_order, java_sorted, partition_hash
from rebalance_kit.assignors.sticky_claims import Claims, generation_of
from rebalance_kit.model.topology import TopicPartition

# Record the moves of the general sticky path, so that a later move can undo an earlier one.
#
# Kafka's rule (``AbstractStickyAssignor.PartitionMovements``): before a partition of a topic moves from A to B,
# look whether one of the same topic has moved from B to A. If so, that one moves back instead.


Pair = tuple[str, str]


class Movements:
    """Moves per topic and pair of members (from, to)."""

    __slots__ = ("_by_topic", "_pair_of")

    def __init__(self) -> None:
        """Start with nothing moved."""
        self._pair_of: dict[TopicPartition, Pair] = {}
        self._by_topic: dict[str, dict[Pair, _Moved]] = {}

    def to_move(self, partition: TopicPartition, source: str, target: str) -> TopicPartition:
        """Return the partition that really moves when this one is to go from ``source`` to ``target``."""
        pairs = self._by_topic.get(partition.topic)
        if not pairs:
            return partition
        if partition in self._pair_of:
            source = self._pair_of[partition][0]
        opposite = pairs.get((target, source))
        return partition if opposite is None else opposite.first()

    def record(self, partition: TopicPartition, source: str, target: str) -> None:
        """Book a move; a partition that comes home leaves the books."""
        earlier = self._pair_of.pop(partition, None)
        if earlier is None:
            self._add(partition, (source, target))
            return
        pairs = self._by_topic[partition.topic]
        moved = pairs[earlier]
        moved.remove(partition)
        if not moved:
            del pairs[earlier]
        if earlier[0] != target:
            self._add(partition, (earlier[0], target))

    def _add(self, partition: TopicPartition, pair: Pair) -> None:
        self._pair_of[partition] = pair
        self._by_topic.setdefault(partition.topic, {}).setdefault(pair, _Moved()).add(partition)


class _Moved:
    """A Java ``HashSet`` of partitions that grows and shrinks; its table never does the latter."""

    __slots__ = ("_capacity", "_partitions")

    def __init__(self) -> None:
        self._partitions: dict[TopicPartition, None] = {}
        self._capacity = 16

    def __bool__(self) -> bool:
        return bool(self._partitions)

    def add(self, partition: TopicPartition) -> None:
        self._partitions[partition] = None
        while 4 * len(self._partitions) > 3 * self._capacity:
            self._capacity *= 2

    def remove(self, partition: TopicPartition) -> None:
        del self._partitions[partition]

    def first(self) -> TopicPartition:
        return hash_map_order(list(self._partitions), partition_hash, self._capacity)[0]


class GeneralDeal:
    """One run of the general algorithm; ``lists`` holds the outcome."""

    __slots__ = (
        "_counts",
        "_explain",
        "_former",
        "_has_strays",
        "_least",
        "_movements",
        "_owner",
        "_racks",
        "_rank",
        "_readers",
        "_reads",
        "_room",
        "_sharing",
        "lists",
    )

    def __init__(
        self,
        members: Sequence[MemberSubscription],
        counts: dict[str, int],
        claims: Claims,
        racks: RackMap,
        explain: list[Step] | None,
    ) -> None:
        """Take members in map order, the partition counts of their topics and their claims."""
        self._counts = counts
        self._racks = racks
        self._explain = explain
        self._rank = {member_id: rank for rank, member_id in enumerate(java_sorted(claims.owned))}
        self._reads = {m.member_id: [topic for topic in m.topics if topic in counts] for m in members}
        self._room = {m: sum(counts[topic] for topic in topics) for m, topics in self._reads.items()}
        self._readers: dict[str, list[str]] = {topic: [] for topic in counts}
        for member_id, topics in self._reads.items():
            for topic in topics:
                self._readers[topic].append(member_id)
        self._former = _former_claims(members, claims.max_generation)
        self._owner = {
            partition: member_id for member_id, owned in claims.owned.items() for partition in owned
        }
        self._movements = Movements()
        self._sharing: dict[str, Counter[str]] = {}
        self._least: dict[str, int] = {}
        self._has_strays = False
        self.lists = claims.owned

    def run(self) -> None:
        """Deal everything."""
        revoked = self._drop_unread()
        starts_empty = not any(self.lists.values())
        universe = self._universe()
        unassigned = self._missing(universe)
        self._hand_out(unassigned)
        shared = [topic for topic, readers in self._readers.items() if len(readers) >= 2]
        movable = [partition for partition in universe if partition.topic in shared]
        fresh = [partition for partition in unassigned if partition.topic in shared]
        aside = self._set_aside(set(shared))
        before = {member_id: list(share) for member_id, share in self.lists.items()}
        self._count_owners()
        if not revoked:
            self._sweep(fresh)
        moved = self._sweep(movable)
        if moved and not starts_empty and _spread(self.lists) >= _spread(before):
            self._note("these moves make the group no more even: all of them are undone")
            self.lists = before
        self.lists.update(aside)

    def _drop_unread(self) -> bool:
        """Step 1; returns True if a revocation is required."""
        revoked = False
        for member_id, owned in self.lists.items():
            read = set(self._reads[member_id])
            kept = [p for p in owned if p.topic in read and not self._racks.mismatch(member_id, p)]
            if len(kept) != len(owned):
                gone = [p for p in owned if p not in kept] if self._explain is not None else []
                self._note("no longer reads this, or it is on another rack: given up", member_id, gone)
                revoked = True
                self.lists[member_id] = kept
            if kept:
                self._note("keeps what it owns", member_id, kept)
        return revoked

    def _universe(self) -> list[TopicPartition]:
        """All partitions: topics with few readers first, then by name and number."""
        topics = sorted(java_sorted(self._counts), key=lambda topic: len(self._readers[topic]))
        return [TopicPartition(topic, number) for topic in topics for number in range(self._counts[topic])]

    def _missing(self, universe: Sequence[TopicPartition]) -> list[TopicPartition]:
        """Return what nobody holds.

        A held partition that its topic no longer has blinds Kafka's two-pointer walk: whatever is held
        behind it in that order counts as unassigned too.
        """
        held = {partition for share in self.lists.values() for partition in share}
        missing = [partition for partition in universe if partition not in held]
        if len(missing) + len(held) == len(universe):
            return missing
        self._has_strays = True

        def place(p: TopicPartition) -> tuple[int, str, int]:
            return len(self._readers[p.topic]), p.topic, p.partition

        stray = min((p for p in held if p.partition >= self._counts[p.topic]), key=place)
        seen = {p for p in held if place(p) < place(stray)}
        return [partition for partition in universe if partition not in seen]

    def _hand_out(self, unassigned: Iterable[TopicPartition]) -> None:
        """Step 2, matching racks first."""
        rest = list(unassigned)
        if self._racks.active:
            rest = [p for p in rest if not self._hand_out_near(p)]
        heaps: dict[str, list[tuple[int, int, str]]] = {}
        for partition in rest:
            topic = partition.topic
            heap = heaps.get(topic)
            if heap is None:
                heap = heaps[topic] = [(len(self.lists[m]), self._rank[m], m) for m in self._readers[topic]]
                heapify(heap)
            size, rank, member_id = heap[0]
            while size != len(self.lists[member_id]):  # it has grown through another topic since
                heapreplace(heap, (len(self.lists[member_id]), rank, member_id))
                size, rank, member_id = heap[0]
            self._hand(partition, member_id, "nobody has it: goes to the reader with the fewest")

    def _hand_out_near(self, partition: TopicPartition) -> bool:
        near = [m for m in self._readers[partition.topic] if not self._racks.mismatch(m, partition)]
        if near:
            self._hand(
                partition,
                self._fewest(near),
                "nobody has it: the reader with the fewest whose rack has a replica",
            )
        return bool(near)

    def _hand(self, partition: TopicPartition, member_id: str, rule: str) -> None:
        self.lists[member_id].append(partition)
        self._owner[partition] = member_id
        if self._explain is not None:
            self._note(rule, member_id, (partition,))

    def _fewest(self, member_ids: Iterable[str]) -> str:
        return min(member_ids, key=lambda member_id: (len(self.lists[member_id]), self._rank[member_id]))

    def _set_aside(self, shared: set[str]) -> dict[str, list[TopicPartition]]:
        """Step 3: take out the members that cannot take part."""
        aside = {
            member_id: share
            for member_id, share in self.lists.items()
            if len(share) >= self._room[member_id] and shared.isdisjoint(p.topic for p in share)
        }
        for member_id, share in aside.items():
            del self.lists[member_id]
            self._note("holds all it can get and shares none of it: set aside", member_id, share)
        return aside

    def _sweep(self, partitions: Sequence[TopicPartition]) -> bool:
        """Step 4 over one list, again and again until a sweep changes nothing."""
        anything = False
        changed = bool(partitions)
        while changed:
            changed = False
            balanced = self._balanced()
            for partition in partitions:
                if balanced:
                    break
                if self._improve(partition):
                    changed = anything = True
                    balanced = self._balanced()
        return anything

    def _improve(self, partition: TopicPartition) -> bool:
        owner = self._owner[partition]
        size = len(self.lists[owner])
        former = self._former.get(partition)
        if former is not None:
            if former not in self.lists:
                raise KafkaFailure(
                    "NullPointerException",
                    f"{partition} was claimed from an older generation by {former}, which has been set aside",
                )
            if size > len(self.lists[former]) + 1:
                self._move(
                    partition, former, "goes back to the member that claimed it from an older generation"
                )
                return True
        if size <= self._fewest_of(partition.topic, size) + 1:
            return False
        readers = [member_id for member_id in self._readers[partition.topic] if member_id in self.lists]
        self._move(
            partition,
            self._fewest(readers),
            "its owner has at least two more: goes to the reader with the fewest",
        )
        return True

    def _fewest_of(self, topic: str, size: int) -> int:
        """Return the smallest share among the readers of a topic; remembered until the next move."""
        least = self._least.get(topic)
        if least is None:
            least = sum(self._counts.values())
            for member_id in self._readers[topic]:
                share = self.lists.get(member_id)
                if share is None:
                    if least + 1 < size:
                        return least  # Kafka stops at the first reader with two fewer
                    raise KafkaFailure(
                        "NullPointerException", f"{member_id} reads {topic} and has been set aside"
                    )
                least = min(least, len(share))
            self._least[topic] = least
        return least

    def _move(self, partition: TopicPartition, target: str, rule: str) -> None:
        moving = self._movements.to_move(partition, self._owner[partition], target)
        source = self._owner[moving]
        self._movements.record(moving, source, target)
        self.lists[source].remove(moving)
        self.lists[target].append(moving)
        self._owner[moving] = target
        self._least.clear()
        owners = self._sharing[moving.topic]
        owners[source] -= 1
        if not owners[source]:
            del owners[source]
        owners[target] += 1
        if self._explain is not None:
            back = (
                ""
                if moving == partition
                else f" (in place of {partition}: it had moved the other way before)"
            )
            self._note(f"{rule}{back}, taken from {source}", target, (moving,))

    def _count_owners(self) -> None:
        """Count, topic by topic, how many partitions each member holds."""
        self._sharing = {topic: Counter() for topic in self._counts}
        for member_id, share in self.lists.items():
            for partition in share:
                self._sharing[partition.topic][member_id] += 1

    def _balanced(self) -> bool:
        """True if sizes differ by at most one, or no member could take one from a member with two more."""
        sizes = {member_id: len(share) for member_id, share in self.lists.items()}
        if min(sizes.values()) >= max(sizes.values()) - 1:
            return True
        if self._has_strays:
            return self._balanced_with_strays(sizes)
        largest = {
            topic: max(map(sizes.__getitem__, owners), default=0) for topic, owners in self._sharing.items()
        }
        for member_id, size in sizes.items():
            if size != self._room[member_id] and any(
                largest[topic] > size + 1 for topic in self._reads[member_id]
            ):
                return False
        return True

    def _balanced_with_strays(self, sizes: dict[str, int]) -> bool:
        """The same question when a partition may have two holders: Kafka then goes by the last one in map order."""
        holder = {p: member_id for member_id, share in self.lists.items() for p in share}
        for member_id in sorted(sizes, key=lambda m: (sizes[m], self._rank[m])):
            if sizes[member_id] == self._room[member_id]:
                continue
            mine = set(self.lists[member_id])
            for topic in self._reads[member_id]:
                for partition in (TopicPartition(topic, number) for number in range(self._counts[topic])):
                    if partition in mine:
                        continue
                    if partition not in holder:
                        raise KafkaFailure(
                            "NullPointerException", f"the holder of {partition} has been set aside"
                        )
                    if sizes[member_id] + 1 < sizes[holder[partition]]:
                        return False
        return True

    def _note(
        self, rule: str, member_id: str | None = None, partitions: Iterable[TopicPartition] = ()
    ) -> None:
        if self._explain is not None:
            self._explain.append(Step(rule, member_id, tuple(partitions)))


def _former_claims(members: Sequence[MemberSubscription], max_generation: int) -> dict[TopicPartition, str]:
    """Return, for partitions claimed from an older generation, the latest such claimant."""
    former: dict[TopicPartition, tuple[str, int]] = {}
    for member in members:
        generation = generation_of(member)
        if generation < max_generation:
            for partition in member.owned:
                known = former.get(partition)
                if known is None or generation > known[1]:
                    former[partition] = (member.member_id, generation)
    return {partition: member_id for partition, (member_id, _) in former.items()}


def _spread(lists: dict[str, list[TopicPartition]]) -> int:
    """Sum of the differences in size over all pairs of members."""
    sizes = sorted(map(len, lists.values()))
    return sum(size * (2 * place - len(sizes) + 1) for place, size in enumerate(sizes))


class LoadLevels:
    """The readers of one topic in line, with a low range that fills up and a high range that empties."""

    __slots__ = (
        "_high_end",
        "_high_level",
        "_high_next",
        "_high_start",
        "_line",
        "_loads",
        "_low_end",
        "_low_level",
        "_low_next",
        "imbalance",
    )

    def __init__(self, readers: Sequence[int], loads: Sequence[int]) -> None:
        """Line up ``readers`` (numbers into ``loads``, at least one); ``loads`` is read live."""
        self._line = sorted(readers, key=lambda reader: (loads[reader], reader))
        self._loads = loads
        lowest, highest = loads[self._line[0]], loads[self._line[-1]]
        self.imbalance = highest - lowest
        self._low_end = self._low_next = 0
        self._low_level = lowest - 1
        self._high_start = self._high_end = len(self._line)
        self._high_next = len(self._line) - 1
        self._high_level = highest + 1

    def is_balanced(self) -> bool:
        """True once the two levels differ by one at most."""
        return self._high_level - self._low_level <= 1

    def next_least(self) -> int:
        """Return the reader that gets the next partition."""
        if self._low_next >= self._low_end:
            self._low_level += 1
            while self._low_end < len(self._line) and self._load(self._low_end) == self._low_level:
                self._low_end += 1
            self._low_next = 0
        self._low_next += 1
        return self._line[self._low_next - 1]

    def next_most(self) -> int | None:
        """Return the reader that gives the next partition; None when nobody is left that could."""
        if self._high_next < self._high_start:
            if self._high_end <= self._high_start and self._high_start > 0:
                self._high_level = self._load(self._high_start - 1)
            else:
                self._high_level -= 1
            while self._high_start > 0 and self._load(self._high_start - 1) == self._high_level:
                self._high_start -= 1
            self._high_next = self._high_end - 1
        if self._high_next < 0:
            return None
        self._high_next -= 1
        return self._line[self._high_next + 1]

    def exclude_most(self) -> None:
        """Take the reader last returned by ``next_most`` out of the high range: it has nothing to give."""
        place, end = self._high_next + 1, self._high_end - 1
        self._line[place], self._line[end] = self._line[end], self._line[place]
        self._high_end -= 1

    def _load(self, place: int) -> int:
        return self._loads[self._line[place]]
