from __future__ import annotations

from dataclasses import replace

import pytest

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.sittings.grade import grade


def test_the_key_is_right_and_every_option_is_explained(single):
    verdict = grade(single, "b")
    assert verdict.right and verdict.credit == 1.0 and verdict.misconceptions == ()
    assert [remark.option for remark in verdict.remarks] == ["a", "b", "c"]
    assert all(remark.why for remark in verdict.remarks)


def test_a_wrong_option_names_the_belief_it_comes_from(single):
    verdict = grade(single, " A) ")
    assert not verdict.right and verdict.credit == 0.0
    assert verdict.key == ("b",) and verdict.misconceptions == ("cooperative-is-default",)


@pytest.mark.parametrize("answer", ["", "d", "a b", 1, [], ["a", "b"], "<b>"])
def test_what_is_no_answer_to_a_single_item_is_refused(single, answer):
    with pytest.raises(DataError, match="expected one of a, b, c"):
        grade(single, answer)


@pytest.mark.parametrize(
    ("answer", "right", "credit"),
    [
        ("a c", True, 1.0),
        (["c", "a"], True, 1.0),
        ("a", False, 0.5),
        ("a,b", False, 0.0),
        ("a b c", False, 0.5),
        ("b d", False, 0.0),
    ],
)
def test_multiple_gives_credit_for_right_choices_less_wrong_ones(multiple, answer, right, credit):
    verdict = grade(multiple, answer)
    assert (verdict.right, verdict.credit) == (right, credit)


@pytest.mark.parametrize(
    ("answer", "right"),
    [(4.5, True), ("5", True), ("4,1 s", True), ("4.0", True), (3.9, False), ("5.1", False), (10, False)],
)
def test_a_number_is_right_within_the_tolerance_and_not_beyond(numeric, answer, right):
    assert grade(numeric, answer).right is right


def test_one_is_told_and_taken_in_the_singular(numeric):
    rebalances = replace(numeric, key=1, unit="rebalances", tolerance=0)
    assert grade(rebalances, "1 rebalance").key == ("1 rebalance",)
    assert grade(rebalances, "2 rebalances").remarks[0].text == "1 rebalance"
    assert grade(replace(rebalances, key=2), "2").key == ("2 rebalances",)
    assert grade(replace(numeric, key=1), "1 s").key == ("1 s",)


def test_a_believers_number_names_the_belief(numeric):
    assert grade(numeric, "10").misconceptions == ("session-default-10s",)
    assert grade(numeric, "7").misconceptions == ()


@pytest.mark.parametrize("answer", ["", "four", "4 min", "4 5", True, float("nan"), "inf", ["4"]])
def test_what_is_no_number_is_refused(numeric, answer):
    with pytest.raises(DataError, match="expected a number of s"):
        grade(numeric, answer)


def test_a_verdict_prints_the_outcome_and_every_explanation(single):
    text = str(grade(single, "a"))
    assert text.startswith("Not right; the answer is b.")
    assert "a) two [wrong, chosen]" in text and "b) four [right]" in text
