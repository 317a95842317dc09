"""``StickyAssignor``: balanced, and as little as possible moves; an EAGER member's claims travel as user data.

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
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rebalance_kit.assignors.contract import NO_GENERATION, Assignment, Cluster, MemberSubscription, Step
from rebalance_kit.assignors.java_order import hash_map_order, string_hash
from rebalance_kit.assignors.sticky.claims import generation_of
from rebalance_kit.assignors.sticky.plan import StickyPlan, as_printed, deal_sticky
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
