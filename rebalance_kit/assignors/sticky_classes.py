"""The sticky assignors of a classic group's leader: Java's two classes, and librdkafka's cooperative-sticky.

``StickyAssignor``: balanced, and as little as possible moves; an EAGER member's claims travel as user data.

>>> from rebalance_kit.assignors.contract import Cluster, MemberSubscription as M
>>> orders = [TopicPartition("orders", number) for number in range(4)]
>>> before = [M("a", ("orders",), owned=tuple(orders[:2]), generation=1), M("b", ("orders",), owned=tuple(orders[2:]), generation=1)]
>>> for member, share in assign_sticky(Cluster({"orders": 4}), [*before, M("c", ("orders",))]).items():
...     print(member, *share)
a orders-0 orders-1
b orders-2
c orders-3

The class remembers its last assignment until the next one (``StickyMemory``): a member that lost everything
and joins again still claims it, with the generation it was from, and loses against any newer claim.

cooperative-sticky as librdkafka computes it when one of its clients leads (rdkafka_sticky_assignor.c).

It is a port of Java's general path, and has no constrained one. With like subscriptions it hands orphaned
partitions out from the last to the first, because its maps iterate the newest entry first; and it takes
what must move from the member with the most, lowest partition first.

>>> from rebalance_kit.assignors.contract import Cluster, MemberSubscription
>>> orders = [TopicPartition("orders", n) for n in range(6)]
>>> left = [MemberSubscription("c1", ("orders",), owned=(orders[0], orders[3]), generation=1),
...         MemberSubscription("c2", ("orders",), owned=(orders[1], orders[4]), generation=1)]
>>> {who: [tp.partition for tp in given] for who, given in assign_librdkafka_cooperative(Cluster({"orders": 6}), left).items()}
{'c1': [0, 3, 5], 'c2': [1, 2, 4]}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rebalance_kit.assignors.contract import NO_GENERATION, Assignment, Cluster, MemberSubscription, Step
from rebalance_kit.assignors.java_order import hash_map_order, string_hash
from rebalance_kit.assignors.sticky_claims import generation_of
from rebalance_kit.assignors.sticky_plan import StickyPlan, as_printed, deal_sticky
from rebalance_kit.model.topology import TopicPartition

# ``CooperativeStickyAssignor``: the sticky outcome, but what changes hands goes unread for one generation.
#
# A cooperative member keeps reading while the group rebalances, so a partition must not be handed to its new
# owner before the old one has let go. The leader therefore takes every partition that changes hands out of the
# new owner's share. The old owner sees it missing, revokes it and joins again; then nobody owns it, and the
# second generation hands it out.


def plan_cooperative(
    cluster: Cluster,
    members: Sequence[MemberSubscription],
    explain: list[Step] | None = None,
    max_generation: int = NO_GENERATION,
) -> StickyPlan:
    """Assign as ``org.apache.kafka.clients.consumer.CooperativeStickyAssignor`` does, list for list; return with it the partitions held back this generation (``changing_hands``).

    >>> from rebalance_kit.assignors.contract import Cluster, MemberSubscription as M
    >>> orders = [TopicPartition("orders", number) for number in range(4)]
    >>> before = [M("a", ("orders",), owned=tuple(orders[:2]), generation=1), M("b", ("orders",), owned=tuple(orders[2:]), generation=1)]
    >>> plan = plan_cooperative(Cluster({"orders": 4}), [*before, M("c", ("orders",))])
    >>> for member, share in plan.assignment.items():
    ...     print(member, *share)
    a orders-0 orders-1
    b orders-2
    c
    >>> [f"{partition} -> {owner}" for partition, owner in plan.changing_hands.items()]
    ['orders-3 -> c']
    """
    lists, changing_hands, generation = deal_sticky(cluster, members, explain, max_generation, generation_of)
    printed = as_printed(members, lists)
    if changing_hands is None:
        changing_hands = _find_changing_hands(members, lists)
    for partition, member_id in changing_hands.items():
        lists[member_id].remove(partition)
        if explain is not None:
            rule = "held back this generation: its old owner must revoke it first, then it goes here"
            explain.append(Step(rule, member_id, (partition,)))
    assignment = {member.member_id: tuple(lists[member.member_id]) for member in members}
    return StickyPlan(assignment, changing_hands, generation, printed)


def _find_changing_hands(
    members: Sequence[MemberSubscription], lists: Mapping[str, list[TopicPartition]]
) -> dict[TopicPartition, str]:
    """Return what one member gains and another loses, against what they *reported* to own."""
    gained: dict[TopicPartition, str] = {}
    lost: set[TopicPartition] = set()
    for member in members:
        reported, given = set(member.owned), lists[member.member_id]
        gained.update((partition, member.member_id) for partition in given if partition not in reported)
        lost.update(reported.difference(given))
    return {partition: member_id for partition, member_id in gained.items() if partition in lost}


def assign_sticky(
    cluster: Cluster,
    members: Sequence[MemberSubscription],
    explain: list[Step] | None = None,
    max_generation: int = NO_GENERATION,
) -> Assignment:
    """Assign as ``org.apache.kafka.clients.consumer.StickyAssignor`` does, list for list."""
    return plan_sticky(cluster, members, explain, max_generation).assignment


def plan_sticky(
    cluster: Cluster,
    members: Sequence[MemberSubscription],
    explain: list[Step] | None = None,
    max_generation: int = NO_GENERATION,
) -> StickyPlan:
    """Assign and return with it what the leader's assignor keeps (``max_generation``).

    ``generation`` of a member is the one in its user data, ``subscription_generation`` the one beside it.
    """
    lists, changing_hands, generation = deal_sticky(
        cluster, members, explain, max_generation, _vote, as_user_data
    )
    assignment = {member.member_id: tuple(lists[member.member_id]) for member in members}
    return StickyPlan(assignment, changing_hands, generation, as_printed(members, lists))


def as_user_data(partitions: Iterable[TopicPartition]) -> tuple[TopicPartition, ...]:
    """Return partitions in the order in which the leader reads them out of the user data.

    They travel grouped by topic, topics in the order of a ``HashMap`` filled by ``computeIfAbsent``
    (``CollectionUtils.groupPartitionsByTopic``); that puts the newest key *first* in its bucket.
    """
    by_topic: dict[str, list[TopicPartition]] = {}
    for partition in partitions:
        by_topic.setdefault(partition.topic, []).append(partition)
    return tuple(p for topic in hash_map_order(list(by_topic)[::-1], string_hash) for p in by_topic[topic])


def _vote(member: MemberSubscription) -> int:
    generation = member.subscription_generation
    return NO_GENERATION if generation is None else generation


@dataclass(frozen=True, slots=True)
class StickyMemory:
    """What a member's own ``StickyAssignor`` object remembers: its last assignment and generation.

    It is set by every ``onAssignment`` and by nothing else, so it outlives revocation and loss. None for a
    member that never had an assignment: then no user data is sent.
    """

    partitions: tuple[TopicPartition, ...]
    generation: int


Shares = dict[str, list[TopicPartition]]


def assign_librdkafka_cooperative(cluster: Cluster, members: Sequence[MemberSubscription]) -> Assignment:
    """Assign like a librdkafka leader: partitions that change hands are withheld for one generation."""
    topics = [topic for topic in sorted(cluster.partitions) if any(topic in one.topics for one in members)]
    everything = [
        TopicPartition(topic, number) for topic in topics for number in range(cluster.partitions[topic])
    ]
    takers = {tp: [one.member_id for one in members if tp.topic in one.topics] for tp in everything}
    shares, forced = _claims(members, takers)
    order = _order(everything, takers, shares)
    held = {tp for given in shares.values() for tp in given}
    for tp in [tp for tp in order if tp not in held]:
        taker = next((who for who in _by_load(shares) if who in takers[tp]), None)
        if taker is not None:
            shares[taker].append(tp)
    if not forced:
        _even_out([tp for tp in order if tp not in held], takers, shares)
    _even_out(order, takers, shares)
    return _withhold(members, shares)


def _claims(
    members: Sequence[MemberSubscription], takers: dict[TopicPartition, list[str]]
) -> tuple[Shares, bool]:
    """What each member keeps for now (the newest claim counts), and whether something had to go at once."""
    best: dict[TopicPartition, tuple[int, str]] = {}
    forced = False
    for one in members:
        generation = NO_GENERATION if one.generation is None else one.generation
        for tp in one.owned:
            if tp in takers and tp.topic not in one.topics:
                forced = True
            elif tp in takers and (tp not in best or best[tp][0] < generation):
                best[tp] = (generation, one.member_id)
    shares: Shares = {one.member_id: [] for one in members}
    for tp, (_, who) in best.items():
        shares[who].append(tp)
    return shares, forced


def _order(
    everything: list[TopicPartition], takers: dict[TopicPartition, list[str]], shares: Shares
) -> list[TopicPartition]:
    """sortPartitions: by taker count where subscriptions differ, else round robin from the fullest member."""
    alike = len({tuple(takers[tp]) for tp in everything}) <= 1
    if not alike or not any(shares.values()):
        return sorted(everything, key=lambda tp: (len(takers[tp]), tp))
    left = {who: sorted(given) for who, given in shares.items() if given}
    order: list[TopicPartition] = []
    while left:
        fullest = max(left, key=lambda who: (len(left[who]), who))
        order.append(left[fullest].pop(0))
        if not left[fullest]:
            del left[fullest]
    known = set(order)
    return order + [tp for tp in reversed(everything) if tp not in known]


def _by_load(shares: Shares) -> list[str]:
    return sorted(shares, key=lambda who: (len(shares[who]), who))


def _even_out(order: list[TopicPartition], takers: dict[TopicPartition, list[str]], shares: Shares) -> None:
    """performReassignments: sweep until nothing moves or the loads are within one of each other."""
    owner = {tp: who for who, given in shares.items() for tp in given}
    moved = True
    while moved:
        moved = False
        for tp in order:
            loads = [len(given) for given in shares.values()]
            if not loads or max(loads) - min(loads) <= 1:
                return
            who = owner.get(tp)
            if who is None or not any(len(shares[who]) > len(shares[other]) + 1 for other in takers[tp]):
                continue
            taker = next(other for other in _by_load(shares) if other in takers[tp])
            shares[who].remove(tp)
            shares[taker].append(tp)
            owner[tp] = taker
            moved = True


def _withhold(members: Sequence[MemberSubscription], shares: Shares) -> Assignment:
    """A partition that somebody else still reports as owned is given to nobody in this generation."""
    owner = {tp: one.member_id for one in members for tp in one.owned}
    return {
        one.member_id: tuple(
            sorted(tp for tp in shares[one.member_id] if owner.get(tp, one.member_id) == one.member_id)
        )
        for one in members
    }
