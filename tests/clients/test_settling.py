"""When a run of real clients is over."""

from __future__ import annotations

import pytest

from rebalance_kit.clients.child import MOST_S, SETTLE_S, Settling


def settling(**reports):
    one = Settling(14, list(reports))
    for name, records in reports.items():
        for number in records:
            one.read(name, number)
    return one


def test_a_run_in_which_all_members_read_ends_after_its_seconds():
    one = settling(a=[0, 20], b=[20])
    one.stirred(13.9)
    assert not one.over(13.9)
    assert one.over(14)


def test_a_member_that_has_nothing_yet_is_waited_for_while_the_assignment_changes():
    one = settling(a=[20, 20], b=[20, 0])
    one.stirred(12)
    assert not one.over(14)
    assert not one.over(12 + SETTLE_S - 0.01)
    assert one.over(12 + SETTLE_S)


def test_a_callback_that_never_leads_to_a_record_ends_all_the_same():
    one = settling(a=[0, 0])
    one.stirred(14 + MOST_S)
    assert not one.over(14 + MOST_S - 0.01)
    assert one.over(14 + MOST_S)


def test_the_end_is_the_same_for_all_members():
    one = settling(a=[20])
    assert one.over(14)
    one.read("a", 0)
    one.stirred(14)
    assert one.over(14.1)


@pytest.mark.parametrize("reports", [{"a": [20]}, {"a": [20], "b": [20]}])
def test_a_member_that_leaves_on_its_own_is_not_waited_for(reports):
    one = settling(**reports)
    one.read("gone", 0)
    assert one.over(14)
