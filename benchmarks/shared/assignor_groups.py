"""The groups that the assignor benchmark deals, in the forms that each contestant takes."""

from __future__ import annotations

import random
import uuid
from dataclasses import dataclass, replace

from rebalance_kit.assignors.contract import Cluster, MemberSubscription
from rebalance_kit.assignors.registry import assign
from rebalance_kit.model.topology import TopicId, TopicPartition


@dataclass(frozen=True)
class Group:
    """A group in the middle of its life: one of the members has just left."""

    title: str
    assignor: str
    cluster: Cluster
    members: tuple[MemberSubscription, ...]


def one_leaves(assignor: str, members: int, partitions: int) -> Group:
    """All read the same ten topics, everything is dealt, and the member in the middle leaves."""
    draw = random.Random(f"{assignor}/{members}")
    topics = tuple(f"topic{number}" for number in range(10))
    cluster = Cluster(
        {topic: partitions // len(topics) for topic in topics},
        {topic: TopicId(draw.getrandbits(63), draw.getrandbits(63)) for topic in topics},
    )
    joined = tuple(MemberSubscription(_member_id(draw, number), topics) for number in range(members))
    left = _settled(assignor, cluster, joined)
    middle = members // 2
    title = f"{assignor}, one of {members:,} leaves, {partitions:,} partitions"
    return Group(title, assignor, cluster, left[:middle] + left[middle + 1 :])


def unlike(assignor: str, *, fresh: bool) -> Group:
    """100 members each read 10 of 20 topics of 50 partitions: dealt for the first time, or one leaves."""
    draw = random.Random("unlike")
    topics = [f"topic{number}" for number in range(20)]
    cluster = Cluster(
        dict.fromkeys(topics, 50), {t: TopicId(draw.getrandbits(63), draw.getrandbits(63)) for t in topics}
    )
    members = tuple(
        MemberSubscription(_member_id(draw, n), tuple(draw.sample(topics, 10))) for n in range(100)
    )
    if not fresh:
        members = _settled(assignor, cluster, members)[1:]
    what = "first deal" if fresh else "one leaves"
    return Group(
        f"{assignor}, unlike subscriptions, 100 members, 1,000 partitions, {what}", assignor, cluster, members
    )


def _member_id(draw: random.Random, number: int) -> str:
    return f"consumer-orders-app-{number}-{uuid.UUID(int=draw.getrandbits(128), version=4)}"


def _settled(
    assignor: str, cluster: Cluster, members: tuple[MemberSubscription, ...]
) -> tuple[MemberSubscription, ...]:
    """Return the members as they are after a finished generation."""
    share = assign(assignor, cluster, members)
    return tuple(
        replace(m, owned=share[m.member_id], generation=5, subscription_generation=5) for m in members
    )


CASES = {
    "cooperative-1000": lambda: one_leaves("cooperative-sticky", 1_000, 10_000),
    "sticky-1000": lambda: one_leaves("sticky", 1_000, 10_000),
    "cooperative-2000": lambda: one_leaves("cooperative-sticky", 2_000, 20_000),
    "sticky-2000": lambda: one_leaves("sticky", 2_000, 20_000),
    "unlike-fresh": lambda: unlike("sticky", fresh=True),
    "unlike-leave": lambda: unlike("sticky", fresh=False),
    "uniform-500": lambda: one_leaves("server.uniform", 500, 5_000),
    "uniform-unlike": lambda: unlike("server.uniform", fresh=False),
}


def as_lines(group: Group) -> str:
    """The group as the measuring processes read it, AssignorBench.java too."""
    lines = [f"group\t{group.assignor}\t{group.title}"]
    for topic, count in group.cluster.partitions.items():
        most, least = group.cluster.topic_ids[topic]
        lines.append(f"topic\t{topic}\t{count}\t{most}\t{least}")
    for m in group.members:
        owned = ",".join(f"{topic}:{number}" for topic, number in m.owned)
        generation = -1 if m.generation is None else m.generation
        lines.append(f"member\t{m.member_id}\t{','.join(m.topics)}\t{generation}\t{owned}")
    return "\n".join(lines) + "\n"


def from_lines(text: str) -> Group:
    """Read ``as_lines`` back; nothing is dealt on the way, so a measuring process starts cold."""
    rows = [line.split("\t") for line in text.splitlines()]
    topics = [row[1:] for row in rows if row[0] == "topic"]
    interned = {name: name for name, *_ in topics}
    lists: dict[str, tuple[str, ...]] = {}
    members = []
    for _, member_id, names, generation, owned in (row for row in rows if row[0] == "member"):
        read = lists.setdefault(names, tuple(interned[name] for name in names.split(",")))
        pairs = (text.rsplit(":", 1) for text in owned.split(",") if text)
        claims = tuple(TopicPartition(interned[topic], int(number)) for topic, number in pairs)
        sent = None if generation == "-1" else int(generation)
        members.append(MemberSubscription(member_id, read, None, claims, sent, None, sent))
    cluster = Cluster(
        {name: int(count) for name, count, *_ in topics},
        {name: TopicId(int(most), int(least)) for name, _, most, least in topics},
    )
    return Group(rows[0][2], rows[0][1], cluster, tuple(members))


@dataclass
class PeerCluster:
    """What kafka-python and aiokafka ask of their cluster metadata."""

    counts: dict[str, int]

    def topics(self):
        """All topics."""
        return set(self.counts)

    def partitions_for_topic(self, topic):
        """Partition numbers of a topic, None if it is unknown."""
        return set(range(self.counts[topic])) if topic in self.counts else None


@dataclass
class PeerMember:
    """What kafka-python asks of a member in a JoinGroup answer."""

    member_id: str
    group_instance_id: str | None
    metadata: object


def for_kafka_python(group: Group):
    """Return a call without arguments that runs kafka-python's sticky assignor on the group."""
    from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
    from kafka.structs import TopicPartition as Peer

    def metadata(m):
        owned = [Peer(*partition) for partition in m.owned] if m.owned else None
        generation = -1 if m.generation is None else m.generation
        return StickyPartitionAssignor._metadata(m.topics, owned, generation)  # noqa: SLF001  # as its own tests do

    members = [PeerMember(m.member_id, m.group_instance_id, metadata(m)) for m in group.members]
    cluster = PeerCluster(dict(group.cluster.partitions))
    return lambda: StickyPartitionAssignor().assign(cluster, members)


def for_aiokafka(group: Group):
    """Return a call without arguments that runs aiokafka's sticky assignor on the group."""
    from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
    from aiokafka.structs import TopicPartition as Peer

    def metadata(m):
        owned = [Peer(*partition) for partition in m.owned] if m.owned else None
        generation = -1 if m.generation is None else m.generation
        return StickyPartitionAssignor._metadata(m.topics, owned, generation)  # noqa: SLF001  # as its own tests do

    members = {m.member_id: metadata(m) for m in group.members}
    cluster = PeerCluster(dict(group.cluster.partitions))
    return lambda: StickyPartitionAssignor.assign(cluster, members)


def for_us(group: Group):
    """Return a call without arguments that runs our assignor on the group."""
    return lambda: assign(group.assignor, group.cluster, group.members)


CONTESTANTS = {"rebalance-kit": for_us, "kafka-python": for_kafka_python, "aiokafka": for_aiokafka}
