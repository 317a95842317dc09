"""One test a rule of the broker's assignors (KIP-848) and of range and round robin."""

from __future__ import annotations

import pytest

from rebalance_kit.assignors.contract import Cluster, KafkaFailure, MemberSubscription
from rebalance_kit.assignors.registry import ASSIGNORS, assign, by_java_class, plan
from rebalance_kit.assignors.server import assign_sticky_range, target_order, uniform_targets
from rebalance_kit.model.errors import AssignorError
from rebalance_kit.model.topology import TopicId, TopicPartition


def parts(topic, *numbers):
    return tuple(TopicPartition(topic, number) for number in numbers)


def member(member_id, topics, owned=(), instance=None):
    return MemberSubscription(member_id, tuple(topics.split()), instance, tuple(owned))


ORDERS = Cluster({"orders": 5, "payments": 5}, {"orders": TopicId(1, 1), "payments": TopicId(2, 2)})


@pytest.mark.parametrize("name", ["range", "server.range"])
def test_the_first_in_line_collect_every_remainder(name):
    shares = assign(name, ORDERS, [member(m, "orders payments") for m in "ba"])
    assert sorted(map(len, shares.values())) == [4, 6]
    assert len(shares["a"]) == 6


@pytest.mark.parametrize("name", ["range", "roundrobin", "server.range"])
def test_static_members_stand_before_dynamic_ones(name):
    group = [
        member("a", "orders"),
        member("z", "orders", instance="pod-1"),
        member("y", "orders", instance="pod-0"),
    ]
    shares = assign(name, ORDERS, group)
    assert [shares[m][0].partition for m in "yza"] == sorted(shares[m][0].partition for m in "yza")
    assert shares["y"][0] == TopicPartition("orders", 0)


def test_a_rack_never_buys_a_partition_beyond_the_quota():
    # x and y are dealt together; b has used up the one extra when partition 3 comes to a's rack (checked in Java).
    racks = (("r0",), ("r1",), ("r1",), ("r0",))
    cluster = Cluster({"x": 4, "y": 4}, replica_racks={"x": racks, "y": racks})
    group = [
        MemberSubscription(m, ("x", "y"), rack=rack) for m, rack in (("a", "r0"), ("b", "r1"), ("c", "r2"))
    ]
    assert assign("range", cluster, group) == {
        "a": (*parts("x", 0), *parts("y", 0)),
        "b": (*parts("x", 1, 2), *parts("y", 1, 2)),
        "c": (*parts("x", 3), *parts("y", 3)),
    }


def test_server_range_of_3_8_keeps_the_lowest_of_the_previous_target_and_extras_while_they_last():
    group = [member("a", "orders", parts("orders", 2, 3, 4)), member("b", "orders", parts("orders", 0, 1))]
    assert assign_sticky_range(ORDERS, group) == {"a": parts("orders", 2, 3, 4), "b": parts("orders", 0, 1)}
    grown = [*group, member("c", "orders")]
    assert assign_sticky_range(ORDERS, grown) == {
        "a": parts("orders", 2, 3),
        "b": parts("orders", 0, 1),
        "c": parts("orders", 4),
    }
    two_have_extras = [member("a", "orders", parts("orders", 2, 3, 4)), member("b", "orders")]
    assert assign_sticky_range(ORDERS, two_have_extras)["b"] == parts("orders", 0, 1)


def test_server_range_forgets_the_previous_target():
    group = [member("a", "orders", parts("orders", 3, 4)), member("b", "orders", parts("orders", 0, 1, 2))]
    assert assign("server.range", ORDERS, group)["a"] == parts("orders", 0, 1, 2)


def test_server_uniform_moves_nothing_that_fits():
    group = [member("a", "orders", parts("orders", 3, 4)), member("b", "orders", parts("orders", 0, 1, 2))]
    assert assign("server.uniform", ORDERS, group) == {
        "a": parts("orders", 3, 4),
        "b": parts("orders", 0, 1, 2),
    }


def test_a_member_hands_its_extra_on_rather_than_take_a_new_partition():
    # KAFKA-18688: a holds its minimum of two, so the extra goes to b, which already holds three.
    group = [member("a", "orders", parts("orders", 0, 1)), member("b", "orders", parts("orders", 2, 3, 4))]
    steps = []
    assert assign("server.uniform", ORDERS, group, steps)["b"] == parts("orders", 2, 3, 4)
    assert [step.rule for step in steps if step.member == "a"] == [
        "keeps of its previous target what fits into a share of 2"
    ]


def test_server_uniform_keeps_the_first_of_the_stored_target_when_it_must_take_some():
    group = [member("a", "orders", parts("orders", 4, 3, 2, 1, 0)), member("b", "orders")]
    assert assign("server.uniform", ORDERS, group)["a"] == parts("orders", 2, 3, 4)


def test_a_stored_target_is_read_in_the_order_of_javas_sets():
    cluster = Cluster({"orders": 40}, {"orders": TopicId(1, 1)})
    assert target_order(parts("orders", 33, 2, 17, 1), cluster) == parts("orders", 33, 17, 1, 2)
    assert target_order(parts("gone", 1), cluster) == ()


def test_of_two_numbers_in_one_bucket_the_one_that_came_later_goes_first():
    # Semantics 3.7 step 2: the first in set order stay. 18 and 2 share a bucket of 16, and 2 came later.
    # Recorded in nine-members.consumer.4.3.1, where c1 gave up 2 and kept 16, 17, 18.
    cluster = Cluster({"orders": 22}, {"orders": TopicId(1, 1)})
    others = member("b", "orders", parts("orders", 0, 1, *range(3, 12)))
    first = uniform_targets(cluster, [member("a", "orders", parts("orders", *range(12, 22))), others])
    kept = target_order(first["a"], cluster)
    assert kept == parts("orders", 16, 17, 18, 2, 19, 20, 21, 12, 13, 14, 15)
    newcomers = [member(name, "orders") for name in "cdefgh"]
    second = uniform_targets(cluster, [member("a", "orders", kept), others, *newcomers])
    assert second["a"] == parts("orders", 16, 17, 18)


def test_chains_of_topics_stay_uneven_in_server_uniform():
    cluster = Cluster({"x": 14, "y": 16}, {"x": TopicId(0, 1), "y": TopicId(0, 2)})
    group = [
        member("1", "x", parts("x", *range(9))),
        member("2", "x y", (*parts("x", *range(9, 14)), *parts("y", *range(5)))),
        member("3", "y", parts("y", *range(5, 16))),
    ]
    sizes = [len(share) for share in assign("server.uniform", cluster, group).values()]
    assert sizes == [9, 10, 11]


@pytest.mark.parametrize("name", ["server.range", "server.uniform"])
@pytest.mark.parametrize("other", ["orders", "payments"])
def test_a_topic_with_an_id_and_no_partitions_fails_as_in_kafka(name, other):
    cluster = Cluster({"payments": 1}, {"orders": TopicId(1, 1), "payments": TopicId(2, 2)})
    with pytest.raises(KafkaFailure, match="PartitionAssignorException"):
        assign(name, cluster, [member("a", "orders"), member("b", other)])


@pytest.mark.parametrize("name", ["server.range", "server.uniform"])
def test_a_topic_nobody_knows_is_passed_over_and_one_without_id_is_refused(name):
    group = [member("a", "orders unheard")]
    assert assign(name, ORDERS, group)["a"] == parts("orders", *range(5))
    with pytest.raises(AssignorError, match="'orders' has partitions and no id"):
        assign(name, Cluster({"orders": 1}), group)


def test_a_partition_beyond_the_topic_fails_the_mixed_builder_as_in_kafka():
    group = [member("a", "orders", parts("orders", 9)), member("b", "orders payments")]
    with pytest.raises(KafkaFailure, match="ArrayIndexOutOfBoundsException"):
        assign("server.uniform", ORDERS, group)


def test_the_registry_knows_the_protocols_of_kafkas_classes():
    assert by_java_class("org.apache.kafka.clients.consumer.CooperativeStickyAssignor").protocols == (
        "COOPERATIVE",
        "EAGER",
    )
    assert by_java_class("org.apache.kafka.clients.consumer.RangeAssignor").protocols == ("EAGER",)
    assert by_java_class("org.apache.kafka.coordinator.group.assignor.UniformAssignor").name == "uniform"
    with pytest.raises(AssignorError, match=r"'x\.Y' is not the class of an assignor"):
        by_java_class("x.Y")


def test_an_unknown_assignor_is_refused_with_the_nearest_name():
    with pytest.raises(AssignorError, match=r"'cooperative-stiky'.*did you mean 'cooperative-sticky'"):
        assign("cooperative-stiky", ORDERS, [])


@pytest.mark.parametrize("name", ASSIGNORS)
def test_every_registered_name_can_be_planned(name):
    outcome = plan(name, ORDERS, [member("a", "orders")])
    assert set(outcome.assignment["a"]) == set(parts("orders", *range(5)))
