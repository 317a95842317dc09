"""One test a rule of Kafka's sticky family (``AbstractStickyAssignor``, KIP-54, KIP-341, KIP-429)."""

from __future__ import annotations

import pytest

from rebalance_kit.assignors.contract import Cluster, KafkaFailure, MemberSubscription
from rebalance_kit.assignors.registry import assign
from rebalance_kit.assignors.sticky_classes import (
    StickyMemory,
    as_user_data,
    assign_sticky,
    plan_cooperative,
    plan_sticky,
)
from rebalance_kit.model.topology import TopicPartition


def parts(topic, *numbers):
    return tuple(TopicPartition(topic, number) for number in numbers)


def member(member_id, topics, owned=(), generation=5, **more):
    return MemberSubscription(member_id, tuple(topics.split()), None, tuple(owned), generation, **more)


ORDERS = Cluster({"orders": 6})


def test_one_who_leaves_costs_only_their_own_partitions():
    group = [member("a", "orders", parts("orders", 0, 1)), member("b", "orders", parts("orders", 2, 3))]
    assert assign("cooperative-sticky", ORDERS, group) == {
        "a": parts("orders", 0, 1, 4),
        "b": parts("orders", 2, 3, 5),
    }


def test_a_newcomer_gets_nothing_in_the_first_cooperative_generation_if_all_is_owned():
    group = [
        member("a", "orders", parts("orders", 0, 1, 2)),
        member("b", "orders", parts("orders", 3, 4, 5)),
        member("c", "orders", generation=None),
    ]
    plan = plan_cooperative(ORDERS, group)
    assert plan.assignment["c"] == ()
    assert plan.changing_hands == dict.fromkeys(parts("orders", 2, 5), "c")


def test_two_claims_of_one_generation_leave_the_partition_with_neither_for_now():
    group = [member("a", "orders", parts("orders", 0, 1)), member("b", "orders", parts("orders", 0, 2))]
    plan = plan_cooperative(ORDERS, group)
    assert TopicPartition("orders", 0) in plan.changing_hands
    assert all(TopicPartition("orders", 0) not in share for share in plan.assignment.values())


def test_the_claim_of_the_newer_generation_counts():
    group = [
        member("a", "orders", parts("orders", 0, 1, 2), 4),
        member("b", "orders", parts("orders", 0, 1, 2), 5),
    ]
    assert assign("cooperative-sticky", ORDERS, group)["b"] == parts("orders", 0, 1, 2)


def test_a_sticky_claim_is_measured_against_the_generation_in_the_rivals_subscription():
    # Kafka reads the rival's generation from the subscription, not from its user data; a comes first in map order.
    def outcome(rival_generation):
        first = member("a", "orders", parts("orders", 0, 1, 2), 5, subscription_generation=rival_generation)
        return assign_sticky(ORDERS, [first, member("b", "orders", parts("orders", 0, 1, 2), 5)])

    assert outcome(None)["b"] == parts("orders", 0, 1, 2)
    assert outcome(5)["b"] != parts("orders", 0, 1, 2)


def test_members_without_topics_that_come_first_count_as_alike():
    # AbstractStickyAssignor.allSubscriptionsEqual compares with the first topic list that is not empty.
    group = [member("a", "", generation=None), member("b", "orders", generation=None)]
    assert assign_sticky(ORDERS, group)["a"] == parts("orders", 0, 2, 4)
    late = [member("a", "orders", generation=None), member("b", "", generation=None)]
    assert assign_sticky(ORDERS, late)["b"] == ()


def test_topics_without_metadata_are_passed_over_with_the_claims_on_them():
    group = [member("a", "orders gone", parts("gone", 0)), member("b", "orders gone")]
    shares = assign_sticky(ORDERS, group)
    assert sorted(shares["a"] + shares["b"]) == list(parts("orders", *range(6)))


def test_the_known_defect_is_a_named_error():
    cluster = Cluster({"T": 3, "U": 3})
    group = [
        member("A", "T", generation=5),
        member("B", "T U", parts("T", 2), generation=-1),
        member("C", "", parts("T", 1), generation=4),
    ]
    with pytest.raises(
        KafkaFailure, match=r"NullPointerException.*T-1 was claimed from an older generation by C"
    ) as failure:
        assign("cooperative-sticky", cluster, group)
    assert failure.value.java_exception == "NullPointerException"


def test_a_partition_its_topic_no_longer_has_makes_the_leader_fail():
    # The topic was made anew and smaller; its claims still fill the quotas, so the rest finds nobody.
    group = [member("a", "orders", parts("orders", 7, 8))]
    with pytest.raises(KafkaFailure, match="IllegalStateException"):
        assign("cooperative-sticky", Cluster({"orders": 2}), group)


def test_max_generation_outlives_the_call_and_sends_older_claims_back():
    cluster = Cluster({"T": 4, "U": 1})
    group = [member("A", "T", generation=3), member("B", "T U", parts("T", 0), generation=3)]
    plan = plan_sticky(cluster, group)
    assert plan.max_generation == 3
    assert plan_sticky(cluster, group, max_generation=9).max_generation == 9


def test_a_member_that_lost_everything_still_claims_by_its_memory_and_loses_to_a_newer_claim():
    memory = StickyMemory(parts("orders", 0, 1, 2), generation=4)
    back = member("a", "orders", as_user_data(memory.partitions), memory.generation)
    alone = assign_sticky(ORDERS, [back, member("b", "orders", generation=None)])
    assert alone["a"] == memory.partitions
    newer = member("b", "orders", parts("orders", 0, 1, 2), 5, subscription_generation=5)
    assert assign_sticky(ORDERS, [back, newer])["b"] == parts("orders", 0, 1, 2)


def test_user_data_travels_by_topic_with_the_newest_topic_first_in_its_bucket():
    mixed = (*parts("a", 4), *parts("q", 1), *parts("a", 0))
    assert as_user_data(mixed) == (*parts("q", 1), *parts("a", 4, 0))


def test_a_group_without_members_fails_as_in_kafka():
    with pytest.raises(KafkaFailure, match="ArithmeticException"):
        assign("sticky", ORDERS, [])
    with pytest.raises(KafkaFailure, match="IllegalArgumentException"):
        assign("roundrobin", ORDERS, [])
    assert (
        assign("range", ORDERS, [])
        == assign("server.range", ORDERS, [])
        == assign("server.uniform", ORDERS, [])
        == {}
    )


def test_racks_outweigh_stickiness():
    racks = tuple(("r0",) if number < 3 else ("r1",) for number in range(6))
    cluster = Cluster({"orders": 6}, replica_racks={"orders": racks})
    group = [
        member("a", "orders", parts("orders", 3, 4, 5), rack="r0"),
        member("b", "orders", parts("orders", 0, 1, 2), rack="r1"),
    ]
    assert assign_sticky(cluster, group) == {"a": parts("orders", 0, 1, 2), "b": parts("orders", 3, 4, 5)}
