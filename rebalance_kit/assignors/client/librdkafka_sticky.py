"""cooperative-sticky as librdkafka computes it when one of its clients leads (rdkafka_sticky_assignor.c).

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

from collections.abc import Sequence

from rebalance_kit.assignors.contract import NO_GENERATION, Assignment, Cluster, MemberSubscription
from rebalance_kit.model.topology import TopicPartition

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
