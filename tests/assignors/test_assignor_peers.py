"""Beside kafka-python, a second implementation: the same where it follows Kafka, Kafka's answer where it does not."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.structs import TopicPartition as PeerPartition

from rebalance_kit.assignors.contract import Cluster, MemberSubscription
from rebalance_kit.assignors.registry import assign
from rebalance_kit.model.topology import TopicPartition
from tests.support.assignors.assignor_groups import clusters, members, owning


@dataclass
class PeerCluster:
    counts: dict

    def topics(self):
        return set(self.counts)

    def partitions_for_topic(self, topic):
        return set(range(self.counts[topic])) if topic in self.counts else None


@dataclass
class PeerMember:
    member_id: str
    group_instance_id: str | None
    metadata: object


def peer_answer(assignor, cluster, group):
    listed = []
    for member in group:
        if assignor is StickyPartitionAssignor:
            owned = [PeerPartition(*partition) for partition in member.owned]
            metadata = assignor._metadata(member.topics, owned, member.generation)
        else:
            metadata = assignor.metadata(member.topics)
        listed.append(PeerMember(member.member_id, member.group_instance_id, metadata))
    target = assignor() if isinstance(assignor, type) else assignor
    answer = target.assign(PeerCluster(dict(cluster.partitions)), listed)
    return {
        member_id: {TopicPartition(topic, n) for topic, numbers in share.assigned_partitions for n in numbers}
        for member_id, share in answer.items()
    }


@settings(max_examples=settings.default.max_examples // 3)
@given(data=st.data())
def test_range_is_the_same_as_in_kafka_python_for_dynamic_members(data):
    cluster = data.draw(clusters())
    group = tuple(MemberSubscription(m.member_id, m.topics) for m in data.draw(members(cluster)))
    ours = {member_id: set(share) for member_id, share in assign("range", cluster, group).items()}
    assert ours == peer_answer(RangePartitionAssignor, cluster, group)


def test_range_gives_a_static_member_its_share_where_kafka_python_forgets_it():
    group = (
        MemberSubscription("a", ("t",), "pod-0"),
        MemberSubscription("b", ("t",)),
        MemberSubscription("c", ("t",), "pod-1"),
    )
    cluster = Cluster({"t": 6})
    assert [len(share) for share in assign("range", cluster, group).values()] == [2, 2, 2]
    assert len(peer_answer(RangePartitionAssignor, cluster, group)["a"]) == 0


@settings(max_examples=settings.default.max_examples // 3)
@given(data=st.data())
def test_sticky_is_as_even_as_kafka_python_and_keeps_at_least_as_much_when_all_read_the_same(data):
    cluster = data.draw(clusters())
    group = data.draw(owning(cluster, data.draw(members(cluster, alike=True))))
    ours = {member_id: set(share) for member_id, share in assign("sticky", cluster, group).items()}
    theirs = peer_answer(StickyPartitionAssignor, cluster, group)
    assert sorted(map(len, ours.values())) == sorted(map(len, theirs.values()))

    def kept(shares):
        return sum(len(shares[member.member_id].intersection(member.owned)) for member in group)

    assert kept(ours) >= kept(theirs)
