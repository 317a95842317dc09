"""``CooperativeStickyAssignor``: the sticky outcome, but what changes hands goes unread for one generation.

A cooperative member keeps reading while the group rebalances, so a partition must not be handed to its new
owner before the old one has let go. The leader therefore takes every partition that changes hands out of the
new owner's share. The old owner sees it missing, revokes it and joins again; then nobody owns it, and the
second generation hands it out.

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

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rebalance_kit.assignors.contract import NO_GENERATION, Cluster, MemberSubscription, Step
from rebalance_kit.assignors.sticky.claims import generation_of
from rebalance_kit.assignors.sticky.plan import StickyPlan, as_printed, deal_sticky
from rebalance_kit.model.topology import TopicPartition


def plan_cooperative(
    cluster: Cluster,
    members: Sequence[MemberSubscription],
    explain: list[Step] | None = None,
    max_generation: int = NO_GENERATION,
) -> StickyPlan:
    """Assign as ``org.apache.kafka.clients.consumer.CooperativeStickyAssignor`` does, list for list; return with it the partitions held back this generation (``changing_hands``)."""
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
