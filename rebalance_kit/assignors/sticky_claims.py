"""Who owns what before a sticky assignor starts: contradicting claims cleaned up.

Members are heard in map order, each with the partitions it says it owns and the generation that is from.
A partition nobody claimed yet is its own. Claimed by another already: the higher generation keeps it, and
in the same generation *nobody* owns it any more (both were told it is theirs, so neither can be trusted).
Topics without metadata are passed over. This is ``AbstractStickyAssignor.allSubscriptionsEqual``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter, itemgetter

from rebalance_kit.assignors.contract import NO_GENERATION, MemberSubscription, Step
from rebalance_kit.model.topology import TopicPartition


@dataclass(frozen=True, slots=True)
class Claims:
    """The cleaned claims: ``owned`` per member in map order, ``contested`` ones nobody may keep.

    ``taken`` holds every owned partition. ``max_generation`` is the highest generation heard, now or in earlier calls.
    """

    owned: dict[str, list[TopicPartition]]
    taken: set[TopicPartition]
    contested: set[TopicPartition]
    max_generation: int


def hear_claims(
    members: Sequence[MemberSubscription],
    topics: Collection[str],
    max_generation: int,
    votes: Callable[[MemberSubscription], int],
    explain: list[Step] | None,
) -> Claims:
    """Clean up what ``members`` (in map order) claim of ``topics`` (those with metadata).

    ``votes`` reads the generation a holder's claim has when a later one is measured against it: Kafka takes
    it from the subscription, not from the user data in which a sticky member sends its claims.
    """
    generation = max((generation_of(member) for member in members), default=NO_GENERATION)
    generation = max(generation, max_generation)
    everything = list(chain.from_iterable(map(attrgetter("owned"), members)))
    taken = set(everything)
    if len(taken) == len(everything) and set(map(itemgetter(0), taken)).issubset(topics):
        undisputed = {member.member_id: list(member.owned) for member in members}
        return Claims(undisputed, taken, set(), generation)
    owned, contested = _settle(members, topics, list(map(votes, members)), explain)
    return Claims(owned, set(chain.from_iterable(owned.values())), contested, generation)


def generation_of(member: MemberSubscription) -> int:
    """Return the generation the member's claims come from; -1 if it sent none."""
    return NO_GENERATION if member.generation is None else member.generation


def all_alike(members: Sequence[MemberSubscription]) -> bool:
    """True if all members, in map order, read the same topics; decides which path a sticky assignor takes.

    Kafka compares each topic list with the first *non-empty* one, so members without topics that come first in map order count as alike.
    """
    first: set[str] = set()
    last: tuple[str, ...] | None = None
    for member in members:
        topics = member.topics
        if not first:
            first.update(topics)
        elif topics is not last and (len(topics) != len(first) or not first.issuperset(topics)):
            return False
        last = topics
    return True


def _settle(
    members: Sequence[MemberSubscription],
    topics: Collection[str],
    votes: Sequence[int],
    explain: list[Step] | None,
) -> tuple[dict[str, list[TopicPartition]], set[TopicPartition]]:
    """Go through the claims one by one; returns what is owned and what nobody may keep."""
    owned: dict[str, list[TopicPartition]] = {}
    contested: set[TopicPartition] = set()
    holder: dict[TopicPartition, int] = {}
    for place, member in enumerate(members):
        mine = owned[member.member_id] = []
        generation = generation_of(member)
        for partition in member.owned:
            if partition.topic not in topics:
                continue
            other = holder.get(partition)
            if other is None:
                mine.append(partition)
                holder[partition] = place
                continue
            rival = members[other].member_id
            _note(explain, _verdict(generation, votes[other], rival), member, partition)
            if generation < votes[other]:
                continue
            if generation == votes[other]:
                contested.add(partition)
            else:
                mine.append(partition)
            # after the append: the rival is this very member if it named the partition twice
            if partition in owned[rival]:
                owned[rival].remove(partition)
            holder[partition] = place
    return owned, contested


def _verdict(generation: int, other: int, rival: str) -> str:
    if generation < other:
        return f"claims it from generation {generation}, {rival} from {other}"
    if generation == other:
        return f"claims it in generation {generation} like {rival}: nobody keeps it"
    return f"claims it from a newer generation than {rival}, so it counts"


def _note(
    explain: list[Step] | None, rule: str, member: MemberSubscription, partition: TopicPartition
) -> None:
    if explain is not None:
        explain.append(Step(rule, member.member_id, (partition,)))
