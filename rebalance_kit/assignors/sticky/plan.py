"""The engine of the sticky family: clean claims, choose the path, deal.

All members read the same topics: the constrained path. Otherwise: the general one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from rebalance_kit.assignors.contract import NO_GENERATION, Assignment, Cluster, MemberSubscription, Step
from rebalance_kit.assignors.java_order import hash_map_order, string_hash
from rebalance_kit.assignors.member_order import in_map_order
from rebalance_kit.assignors.racks import RackMap
from rebalance_kit.assignors.sticky.claims import all_alike, hear_claims
from rebalance_kit.assignors.sticky.constrained import ConstrainedDeal, Lists
from rebalance_kit.assignors.sticky.general import GeneralDeal
from rebalance_kit.model.topology import TopicPartition


@dataclass(frozen=True, slots=True)
class StickyPlan:
    """The outcome of a sticky assignor with what it keeps for later.

    ``changing_hands``: partitions another member must give up first, each with its new owner (Kafka's
    ``partitionsTransferringOwnership``); None when the general path left it to be computed.
    ``max_generation``: pass it to the next call of the same leader. ``printed``: what the class logs as its
    final assignment, before anything is held back, in the order of its own map (sticky family, else None).
    """

    assignment: Assignment
    changing_hands: Mapping[TopicPartition, str] | None
    max_generation: int = NO_GENERATION
    printed: Assignment | None = None


def deal_sticky(
    cluster: Cluster,
    members: Sequence[MemberSubscription],
    explain: list[Step] | None,
    max_generation: int,
    votes: Callable[[MemberSubscription], int],
    regroup: Callable[[tuple[TopicPartition, ...]], tuple[TopicPartition, ...]] | None = None,
) -> tuple[Lists, dict[TopicPartition, str] | None, int]:
    """Run the algorithm of ``AbstractStickyAssignor``; returns lists, partitions changing hands, max generation.

    ``votes`` reads the generation that a rival's claim is measured against (see ``sticky_claims``);
    ``regroup`` puts claims into the order in which the leader reads them (only the general path shows it).
    """
    mapped = in_map_order(members)
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
    racks = RackMap(cluster, counts, mapped)
    if alike:
        deal = ConstrainedDeal(sum(counts.values()), claims, racks, explain)
        deal.run(claims, counts)
        return deal.lists, deal.changing_hands, claims.max_generation
    general = GeneralDeal(mapped, counts, claims, racks, explain)
    general.run()
    return general.lists, None, claims.max_generation


def as_printed(
    members: Sequence[MemberSubscription], lists: Mapping[str, Sequence[TopicPartition]]
) -> Assignment:
    """The lists in the order of the map that ``AbstractStickyAssignor`` logs.

    The constrained path copies its map (``new HashMap<>(map)``), which sizes the copy's table for the number of
    members; the general path prints the map it was given.
    """
    given = list(lists)
    if all_alike(members):
        given = hash_map_order(given, string_hash, int(len(given) / 0.75) + 1)
    return {member_id: tuple(lists[member_id]) for member_id in given}
