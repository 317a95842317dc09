from __future__ import annotations

from dataclasses import replace

import pytest

from rebalance_kit.quiz import lint
from rebalance_kit.quiz.item import Choice


def rules(*items: Choice) -> set[str]:
    return {problem.rule for check in lint.LINTS for problem in check(items)}


def with_text(item: Choice, place: int, text: str) -> Choice:
    options = list(item.options)
    options[place] = replace(options[place], text=text)
    return replace(item, options=tuple(options))


def test_a_plain_item_breaks_no_rule(single):
    assert rules(single) == set()
    assert rules(with_text(single, 2, "none of them waits")) == set()


@pytest.mark.parametrize(
    ("place", "text", "rule"),
    [
        (2, "All of the above", "catch-all"),
        (2, "A and C", "catch-all"),
        (2, "Both.", "catch-all"),
        (2, "It always waits", "absolute"),
        (2, "four!", "equal-options"),
        (1, "four of them, since each member revokes all it owns before it joins the next generation", "length"),
        (1, "<script>alert(1)</script>", "markup"),
    ],
)
def test_a_give_away_in_an_option_is_found(single, place, text, rule):
    assert rule in rules(with_text(single, place, text))


@pytest.mark.parametrize(("stem", "rule"), [("Which of these is NOT sent?", "negative-stem"), ("Which members are not asked?", "negative-stem")])
def test_a_stem_by_denial_is_found(single, stem, rule):
    assert rule in rules(replace(single, head=replace(single.head, stem=stem)))


def test_numbers_that_do_not_ascend_are_found(single):
    for place, text in enumerate(("4 s", "2 s", "9 s")):
        single = with_text(single, place, text)
    assert rules(single) == {"order"}


def test_a_multiple_item_has_to_say_how_many(multiple):
    assert "how-many" in rules(multiple)
    assert "how-many" not in rules(replace(multiple, head=replace(multiple.head, stem="Which two are sent?")))


def test_an_item_that_repeats_another_is_found(single):
    twin = replace(single, head=replace(single.head, id="twin"))
    assert "duplicate" in rules(single, twin)


def test_keys_that_stand_too_often_at_one_place_are_found(single):
    words = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda my ny".split()
    crowd = [replace(single, head=replace(single.head, id=word, stem=f"{word} {word}x {word}y {word}z?")) for word in words]
    assert "positions" in rules(*crowd)
    assert "positions" not in rules(*crowd[:11])
