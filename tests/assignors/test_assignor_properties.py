"""What every assignor owes a group, whatever the group looks like."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rebalance_kit.assignors.contract import KafkaFailure
from rebalance_kit.assignors.registry import ASSIGNORS, assign
from rebalance_kit.assignors.sticky_classes import plan_cooperative
from tests.support.assignors.assignor_groups import claiming, clusters, dealt, members, owning, readable

EAGER = ("range", "roundrobin", "sticky", "server.range", "server.uniform")


@pytest.mark.parametrize("name", EAGER)
@given(data=st.data())
def test_each_partition_goes_to_exactly_one_member_that_reads_its_topic(name, data):
    racks = ASSIGNORS[name].rack_aware and data.draw(st.booleans())
    cluster = data.draw(clusters(racks=racks))
    group = data.draw(members(cluster, racks=racks))
    if ASSIGNORS[name].sticky:
        group = data.draw(owning(cluster, group))
    assignment = assign(name, cluster, group)
    assert dealt(assignment) == readable(cluster, group)
    for member in group:
        assert {partition.topic for partition in assignment[member.member_id]} <= set(member.topics)


@pytest.mark.parametrize("name", ["range", "roundrobin", "server.range"])
@given(data=st.data())
def test_the_order_of_joining_never_matters_without_stickiness(name, data):
    racks = name == "range" and data.draw(st.booleans())
    cluster = data.draw(clusters(racks=racks))
    group = data.draw(members(cluster, racks=racks))
    shuffled = data.draw(st.permutations(group))
    assert assign(name, cluster, group) == assign(name, cluster, shuffled)


@pytest.mark.parametrize("name", ["sticky", "server.uniform"])
@given(data=st.data())
def test_shares_differ_by_one_at_most_when_all_read_the_same(name, data):
    cluster = data.draw(clusters())
    group = data.draw(owning(cluster, data.draw(members(cluster, alike=True))))
    sizes = [len(share) for share in assign(name, cluster, group).values()]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("name", ["sticky", "cooperative-sticky", "server.uniform"])
@given(data=st.data())
def test_an_assignment_that_is_taken_up_does_not_change_the_next_time(name, data):
    cluster = data.draw(clusters())
    group = data.draw(members(cluster, alike=True))
    once = assign(name, cluster, group)
    settled = tuple(
        type(m)(m.member_id, m.topics, m.group_instance_id, once[m.member_id], 1, None, 1) for m in group
    )
    twice = assign(name, cluster, settled)
    assert {m: set(share) for m, share in twice.items()} == {m: set(share) for m, share in once.items()}


@given(data=st.data())
def test_a_cooperative_group_hands_out_nothing_that_another_member_still_owns(data):
    cluster = data.draw(clusters())
    group = data.draw(owning(cluster, data.draw(members(cluster))))
    plan = plan_cooperative(cluster, group)
    owner = {partition: member.member_id for member in group for partition in member.owned}
    for member_id, share in plan.assignment.items():
        assert all(owner.get(partition, member_id) == member_id for partition in share)


@given(data=st.data())
def test_what_a_cooperative_group_holds_back_is_what_sticky_would_have_given(data):
    cluster = data.draw(clusters())
    group = data.draw(owning(cluster, data.draw(members(cluster))))
    plan = plan_cooperative(cluster, group)
    whole = {member_id: set(share) for member_id, share in plan.assignment.items()}
    for partition, member_id in plan.changing_hands.items():
        assert partition not in whole[member_id]
        whole[member_id].add(partition)
    assert whole == {member_id: set(share) for member_id, share in assign("sticky", cluster, group).items()}


@given(data=st.data())
def test_the_second_cooperative_generation_hands_out_the_rest(data):
    cluster = data.draw(clusters())
    group = data.draw(owning(cluster, data.draw(members(cluster, alike=True))))
    first = assign("cooperative-sticky", cluster, group)
    kept = tuple(type(m)(m.member_id, m.topics, m.group_instance_id, first[m.member_id], 8) for m in group)
    assert dealt(assign("cooperative-sticky", cluster, kept)) == readable(cluster, group)


@pytest.mark.parametrize("name", ASSIGNORS)
@settings(max_examples=settings.default.max_examples // 2)
@given(data=st.data())
def test_asking_for_an_explanation_changes_nothing_and_accounts_for_every_partition(name, data):
    cluster = data.draw(clusters(racks=ASSIGNORS[name].rack_aware))
    group = data.draw(members(cluster, racks=ASSIGNORS[name].rack_aware))
    if name != "server.uniform":
        group = data.draw(claiming(cluster, group))
    steps = []
    try:
        silent = assign(name, cluster, group)
    except KafkaFailure as failure:
        with pytest.raises(KafkaFailure, match=failure.java_exception):
            assign(name, cluster, group, steps)
        return
    assert assign(name, cluster, group, steps) == silent
    told = {(step.member, partition) for step in steps for partition in step.partitions}
    assert {(m, partition) for m, share in silent.items() for partition in share} <= told
    assert all(step.rule for step in steps)
