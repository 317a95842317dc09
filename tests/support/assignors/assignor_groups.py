"""Random groups for the assignor tests: what members read, own and claim, all drawn by hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from rebalance_kit.assignors.contract import Assignment, Cluster, MemberSubscription
from rebalance_kit.model.topology import TopicId, TopicPartition

TOPICS = ("orders", "payments", "pay.v1", "x_y", "topic10", "topic9")
RACKS = ("rack-0", "rack-1", "rack-2")


@st.composite
def clusters(draw: st.DrawFn, *, racks: bool = False) -> Cluster:
    """One to six topics of one to ten partitions, with ids, and with racks if asked."""
    names = draw(st.lists(st.sampled_from(TOPICS), min_size=1, max_size=6, unique=True))
    counts = {name: draw(st.integers(1, 10)) for name in names}
    half = st.integers(-(1 << 63), (1 << 63) - 1)
    ids = {name: TopicId(draw(half), draw(half)) for name in names}
    placed: dict[str, tuple[tuple[str | None, ...], ...]] = {}
    if racks:
        some = st.lists(st.sampled_from(RACKS), min_size=1, max_size=2, unique=True).map(tuple)
        placed = {name: tuple(draw(some) for _ in range(count)) for name, count in counts.items()}
    return Cluster(counts, ids, placed)


@st.composite
def members(
    draw: st.DrawFn, cluster: Cluster, *, alike: bool = False, racks: bool = False
) -> tuple[MemberSubscription, ...]:
    """One to eight members with distinct ids and distinct instance ids, owning nothing."""
    numbers = draw(st.lists(st.integers(0, 99_999), min_size=1, max_size=8, unique=True))
    topics = sorted(cluster.partitions)
    some = st.lists(st.sampled_from(topics), min_size=1, unique=True).map(tuple)
    everybody = draw(some)
    return tuple(
        MemberSubscription(
            f"consumer-{number}",
            everybody if alike else draw(some),
            f"pod-{number * 7919 % 100_003}" if draw(st.booleans()) else None,
            rack=draw(st.sampled_from((*RACKS, None))) if racks else None,
        )
        for number in numbers
    )


@st.composite
def owning(
    draw: st.DrawFn, cluster: Cluster, group: tuple[MemberSubscription, ...]
) -> tuple[MemberSubscription, ...]:
    """The same members in one generation, each partition owned by one of its readers or by nobody."""
    owned: dict[str, list[TopicPartition]] = {member.member_id: [] for member in group}
    for topic, count in cluster.partitions.items():
        readers = [member.member_id for member in group if topic in member.topics]
        for number in range(count):
            owner = draw(st.sampled_from([None, *readers]))
            if owner is not None:
                owned[owner].append(TopicPartition(topic, number))
    return tuple(
        MemberSubscription(
            member.member_id,
            member.topics,
            member.group_instance_id,
            tuple(owned[member.member_id]),
            7,
            member.rack,
        )
        for member in group
    )


@st.composite
def claiming(
    draw: st.DrawFn, cluster: Cluster, group: tuple[MemberSubscription, ...]
) -> tuple[MemberSubscription, ...]:
    """The same members with claims of any generation, some of them on one another's partitions."""
    everything = [
        TopicPartition(topic, n) for topic, count in sorted(cluster.partitions.items()) for n in range(count)
    ]
    claims = st.lists(st.sampled_from(everything), max_size=12, unique=True).map(tuple)
    generation = st.sampled_from((None, -1, 4, 5))
    return tuple(
        MemberSubscription(
            m.member_id,
            m.topics,
            m.group_instance_id,
            draw(claims),
            draw(generation),
            m.rack,
            draw(generation),
        )
        for m in group
    )


def readable(cluster: Cluster, group: tuple[MemberSubscription, ...]) -> list[TopicPartition]:
    """All partitions of topics that somebody reads, sorted."""
    topics = {topic for member in group for topic in member.topics}
    return sorted(
        TopicPartition(t, n) for t, count in cluster.partitions.items() if t in topics for n in range(count)
    )


def dealt(assignment: Assignment) -> list[TopicPartition]:
    """All partitions of an assignment, sorted, as often as they occur."""
    return sorted(partition for share in assignment.values() for partition in share)
