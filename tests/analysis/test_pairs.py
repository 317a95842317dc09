"""Pairs of draws: the sign test against counted cases, and what is called clear."""

from __future__ import annotations

from itertools import product

from rebalance_kit.analysis.draws import LEVEL, least, pairs


def test_the_sign_test_counts_the_outcomes_at_least_as_clear():
    for less in range(9):
        signs = [-1.0] * less + [1.0] * (8 - less)
        told = pairs([0.0] * 8, [-sign for sign in signs])
        clearer = sum(abs(sum(outcome)) >= abs(sum(signs)) for outcome in product((-1, 1), repeat=8))
        assert told.less == less
        assert told.chance == clearer / 2**8


def test_a_sure_difference_smaller_than_what_the_moment_changes_is_not_clear():
    moments = [float(number) for number in range(30)]
    told = pairs(moments, [value + 0.1 for value in moments])
    assert told.less == 30
    assert told.chance < LEVEL
    assert not told.clear()
    assert least([moments, [value + 0.1 for value in moments]]) is None
    assert least([moments, [value + 20.0 for value in moments]]) == 0


def test_few_draws_and_many_comparisons_make_nothing_clear():
    assert not pairs([1.0] * 5, [2.0] * 5).clear()
    assert pairs([1.0] * 12, [2.0] * 12).clear()
    assert not pairs([1.0] * 12, [2.0] * 12).clear(comparisons=28)


def test_who_ties_with_one_is_not_least_of_three():
    assert least([[1.0] * 20, [1.0] * 20, [5.0] * 20]) is None
    assert least([[1.0] * 20, [3.0] * 20, [5.0] * 20]) == 0
