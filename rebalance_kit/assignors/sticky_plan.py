"""The engine of the sticky family: clean claims, choose the path, deal.

All members read the same topics: the constrained path. Otherwise: the general one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from operator import itemgetter

from rebalance_kit.assignors import contract
from rebalance_kit.assignors.java_order import hash_map_order, java_sorted, string_hash
from rebalance_kit.assignors.sticky_claims import Claims, all_alike, hear_claims
from rebalance_kit.assignors.sticky_general import GeneralDeal
from rebalance_kit.model.topology import TopicPartition

# The sticky family when all members read the same topics: keep as much as balance allows.
#
# N members, T partitions: everyone gets ``min = T // N``, and ``E = T % N`` of them one more. The rules of
# ``AbstractStickyAssignor.ConstrainedAssignmentBuilder``:
#
# 1. Members in map order, what each owns sorted by partition number, then topic. Fewer than min: keeps all.
#    More than min while one of the E larger shares is free: keeps min + 1. Else: keeps min.
# 2. What nobody kept, sorted by topic and number, goes round the members below min (in the order of their
#    ids), then one each to members at min until the E larger shares are used up.
# 3. A partition that another member had to give up is *changing hands*: a cooperative group hands it out one
#    generation later.
#
# With racks, owned partitions on foreign racks are given up first, scarce partitions are dealt first, and a
# round in which partitions only go to matching racks precedes step 2.


Lists = dict[str, list[TopicPartition]]
_NUMBER = itemgetter(1)
_TOPIC = itemgetter(0)


class ConstrainedDeal:
    """One run of the constrained algorithm; ``lists`` and ``changing_hands`` hold the outcome."""

    __slots__ = (
        "_at_min",
        "_below_min",
        "_contested",
        "_expected_over",
        "_explain",
        "_given_up",
        "_max",
        "_min",
        "_over",
        "_racks",
        "changing_hands",
        "lists",
    )

    def __init__(
        self, total: int, claims: Claims, racks: contract.RackMap, explain: list[contract.Step] | None
    ) -> None:
        """Start with ``total`` partitions to share among the members of ``claims``."""
        if not claims.owned:
            raise contract.KafkaFailure("ArithmeticException", "/ by zero: the group has no members")
        self._min, self._expected_over = divmod(total, len(claims.owned))
        self._max = self._min + (1 if self._expected_over else 0)
        self._over = 0
        self._racks = racks
        self._explain = explain
        self._contested = claims.contested
        self._given_up: dict[TopicPartition, str] = {}
        self._below_min: list[str] = []
        self._at_min: list[str] = []
        self.lists: Lists = {}
        self.changing_hands: dict[TopicPartition, str] = {}

    def run(self, claims: Claims, counts: dict[str, int]) -> None:
        """Deal the partitions of the topics in ``counts``."""
        several_topics = len(counts) > 1
        for member_id, owned in claims.owned.items():
            if several_topics:
                owned.sort(key=_TOPIC)
            owned.sort(key=_NUMBER)
            self._keep(member_id, owned)
        left = self._unassigned(claims, counts)
        self._below_min = java_sorted(self._below_min)
        self._at_min = java_sorted(self._at_min)
        left = self._racks.scarcest_first(left)
        if self._racks.active:
            left = self._deal_near(left)
        self._deal_round(left)
        self._verify()

    def _keep(self, member_id: str, owned: list[TopicPartition]) -> None:
        """Step 1 for one member; takes over its sorted list."""
        if self._racks.active:
            owned = self._drop_foreign(member_id, owned)
        if self._contested:
            owned = [partition for partition in owned if partition not in self._contested]
        size = len(owned)
        if size < self._min:
            self._below_min.append(member_id)
        elif size >= self._max and self._over < self._expected_over:
            self._over += 1
            if self._over == self._expected_over:
                self._at_min.clear()
            self._cut(member_id, owned, self._max)
        else:
            self._cut(member_id, owned, self._min)
            if self._over < self._expected_over:
                self._at_min.append(member_id)
        self.lists[member_id] = owned
        if self._explain is not None:
            self._explain_keep(member_id, owned, size)

    def _drop_foreign(self, member_id: str, owned: list[TopicPartition]) -> list[TopicPartition]:
        near = [partition for partition in owned if not self._racks.mismatch(member_id, partition)]
        for partition in owned:
            if self._racks.mismatch(member_id, partition):
                self._given_up[partition] = member_id
        return near

    def _cut(self, member_id: str, owned: list[TopicPartition], quota: int) -> None:
        for partition in owned[quota:]:
            self._given_up[partition] = member_id
        del owned[quota:]

    def _unassigned(self, claims: Claims, counts: dict[str, int]) -> list[TopicPartition]:
        """Return what nobody kept, by topic and number.

        A kept partition that its topic no longer has blinds Kafka's two-pointer walk: whatever is kept
        behind it in sorted order counts as unassigned too.
        """
        kept = claims.taken
        if self._given_up or self._contested:
            kept = {partition for share in self.lists.values() for partition in share}
        left = _missing(counts, kept)
        if len(left) + len(kept) != sum(counts.values()):
            stray = min(partition for partition in kept if partition.partition >= counts[partition.topic])
            left = _missing(counts, {partition for partition in kept if partition < stray})
        return left

    def _give(self, partition: TopicPartition, member_id: str, rule: str) -> int:
        share = self.lists[member_id]
        share.append(partition)
        if partition in self._contested or self._given_up.get(partition, member_id) != member_id:
            self.changing_hands[partition] = member_id
        if self._explain is not None:
            self._explain.append(contract.Step(rule, member_id, (partition,)))
        return len(share)

    def _deal_round(self, left: Sequence[TopicPartition]) -> None:
        """Step 2: round the members below min, then the head of those at min."""
        turn = 0
        below, at_min = self._below_min, self._at_min
        served = 0  # how many of at_min have had their one more
        for partition in left:
            if below:
                turn %= len(below)
                member_id = below[turn]
                size = self._give(partition, member_id, _BELOW)
                turn += 1
                if size == self._min:
                    turn -= 1
                    at_min.append(below.pop(turn))
                    turn = turn if turn < len(below) else 0
                continue
            if served == len(at_min):
                raise contract.KafkaFailure(
                    "IllegalStateException", "No more unfilled consumers to be assigned."
                )
            member_id = at_min[served]
            served += 1
            if self._give(partition, member_id, _AT_MIN) == self._max:
                self._over += 1

    def _deal_near(self, left: Sequence[TopicPartition]) -> list[TopicPartition]:
        """Deal what has a replica on a waiting member's rack; returns the rest."""
        rest = []
        turn = 0
        for partition in left:
            place = self._next_near(partition, self._below_min, turn)
            if place is not None:
                member_id = self._below_min[place]
                size = self._give(partition, member_id, _NEAR)
                if size >= self._min:
                    del self._below_min[place]
                    if size < self._max and self._over < self._expected_over:
                        self._at_min.append(member_id)
                else:
                    place += 1
                turn = place % len(self._below_min) if self._below_min else 0
            elif not self._near_at_min(partition):
                rest.append(partition)
        return rest

    def _near_at_min(self, partition: TopicPartition) -> bool:
        place = self._next_near(partition, self._at_min, 0)
        if place is None:
            return False
        member_id = self._at_min[place]
        if self._give(partition, member_id, _NEAR) == self._max:
            del self._at_min[place]
            self._over += 1
            if self._over == self._expected_over:
                self._at_min.clear()
        return True

    def _next_near(self, partition: TopicPartition, waiting: Sequence[str], turn: int) -> int | None:
        for step in range(len(waiting)):
            place = (turn + step) % len(waiting)
            if self._racks.matches(waiting[place], partition):
                return place
        return None

    def _verify(self) -> None:
        """Kafka's closing check: nobody may be left below min."""
        if self._below_min and self._over != self._expected_over:
            reason = "fewer members than expected hold more than min, and no partition is left"
            raise contract.KafkaFailure("IllegalStateException", reason)
        for member_id in self._below_min:
            if len(self.lists[member_id]) != self._min:
                raise contract.KafkaFailure(
                    "IllegalStateException", f"{member_id} does not reach min and no partition is left"
                )

    def _explain_keep(self, member_id: str, kept: list[TopicPartition], size: int) -> None:
        assert self._explain is not None
        if size < self._min:
            keeps = (
                f"owns {size}, fewer than {self._min}: keeps all of it and" if size else "owns nothing yet:"
            )
            rule = f"{keeps} waits for its share"
        elif len(kept) > self._min:
            may = f"{self._expected_over} member{'s' if self._expected_over > 1 else ''} may"
            rule = f"owns {size}: keeps {len(kept)}, one more than the smaller share ({may})"
        else:
            rule = f"owns {size}: keeps {self._min}, the smaller share"
        self._explain.append(contract.Step(rule, member_id, tuple(kept)))
        gone = tuple(partition for partition, owner in self._given_up.items() if owner == member_id)
        if gone:
            self._explain.append(contract.Step("gives these up", member_id, gone))


_BELOW = "nobody has it: next in the round of members below the smaller share"
_AT_MIN = "nobody has it: next member at the smaller share takes one more"
_NEAR = "nobody has it: next waiting member with a replica on its rack"


def _missing(counts: dict[str, int], kept: set[TopicPartition]) -> list[TopicPartition]:
    """Return the partitions of the topics that are not in ``kept``, by topic and number."""
    missing: list[TopicPartition] = []
    for topic in java_sorted(counts):
        numbered = zip(repeat(topic), range(counts[topic]))
        missing.extend(TopicPartition(*pair) for pair in numbered if pair not in kept)
    return missing


@dataclass(frozen=True, slots=True)
class StickyPlan:
    """The outcome of a sticky assignor with what it keeps for later.

    ``changing_hands``: partitions another member must give up first, each with its new owner (Kafka's
    ``partitionsTransferringOwnership``); None when the general path left it to be computed.
    ``max_generation``: pass it to the next call of the same leader. ``printed``: what the class logs as its
    final assignment, before anything is held back, in the order of its own map (sticky family, else None).
    """

    assignment: contract.Assignment
    changing_hands: Mapping[TopicPartition, str] | None
    max_generation: int = contract.NO_GENERATION
    printed: contract.Assignment | None = None


def deal_sticky(
    cluster: contract.Cluster,
    members: Sequence[contract.MemberSubscription],
    explain: list[contract.Step] | None,
    max_generation: int,
    votes: Callable[[contract.MemberSubscription], int],
    regroup: Callable[[tuple[TopicPartition, ...]], tuple[TopicPartition, ...]] | None = None,
) -> tuple[Lists, dict[TopicPartition, str] | None, int]:
    """Run the algorithm of ``AbstractStickyAssignor``; returns lists, partitions changing hands, max generation.

    ``votes`` reads the generation that a rival's claim is measured against (see ``hear_claims``);
    ``regroup`` puts claims into the order in which the leader reads them (only the general path shows it).
    """
    mapped = contract.in_map_order(members)
    subscribed: set[str] = set()
    last: tuple[str, ...] | None = None
    for member in mapped:
        if member.topics is not last:
            last = member.topics
            subscribed.update(last)
    counts = {
        topic: cluster.partitions[topic] for topic in sorted(subscribed) if cluster.partitions.get(topic)
    }
    alike = all_alike(mapped)
    if not alike and regroup is not None:
        mapped = [replace(member, owned=regroup(member.owned)) for member in mapped]
    claims = hear_claims(mapped, counts, max_generation, votes, explain)
    racks = contract.RackMap(cluster, counts, mapped)
    if alike:
        deal = ConstrainedDeal(sum(counts.values()), claims, racks, explain)
        deal.run(claims, counts)
        return deal.lists, deal.changing_hands, claims.max_generation
    general = GeneralDeal(mapped, counts, claims, racks, explain)
    general.run()
    return general.lists, None, claims.max_generation


def as_printed(
    members: Sequence[contract.MemberSubscription], lists: Mapping[str, Sequence[TopicPartition]]
) -> contract.Assignment:
    """The lists in the order of the map that ``AbstractStickyAssignor`` logs.

    The constrained path copies its map (``new HashMap<>(map)``), which sizes the copy's table for the number of
    members; the general path prints the map it was given.
    """
    given = list(lists)
    if all_alike(members):
        given = hash_map_order(given, string_hash, int(len(given) / 0.75) + 1)
    return {member_id: tuple(lists[member_id]) for member_id in given}
