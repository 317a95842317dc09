from __future__ import annotations

from dataclasses import replace

import pytest

from rebalance_kit.quiz.items import lint
from rebalance_kit.quiz.items.item import Choice, Matching, Prompt, Short, WrongText


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
        (
            1,
            "four of them, since each member revokes all it owns before it joins the next generation",
            "length",
        ),
        (1, "<script>alert(1)</script>", "markup"),
    ],
)
def test_a_give_away_in_an_option_is_found(single, place, text, rule):
    assert rule in rules(with_text(single, place, text))


@pytest.mark.parametrize(
    ("stem", "rule"),
    [("Which of these is NOT sent?", "negative-stem"), ("Which members are not asked?", "negative-stem")],
)
def test_a_stem_by_denial_is_found(single, stem, rule):
    assert rule in rules(replace(single, head=replace(single.head, stem=stem)))


def test_a_long_stem_needs_an_exhibit(single):
    long = replace(single.head, stem=" ".join(["word"] * (lint.LONG_STEM + 1)) + "?")
    at_the_limit = replace(single.head, stem=" ".join(["word"] * lint.LONG_STEM))
    assert rules(replace(single, head=replace(long, exhibit=None))) == {"long-stem"}
    assert rules(replace(single, head=replace(long, exhibit="10:04:02 svc-1 88120"))) == set()
    assert rules(replace(single, head=replace(at_the_limit, exhibit=None))) == set()


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
    crowd = [
        replace(single, head=replace(single.head, id=word, stem=f"{word} {word}x {word}y {word}z?"))
        for word in words
    ]
    assert "positions" in rules(*crowd)
    assert "positions" not in rules(*crowd[:11])


def test_an_explanation_that_stands_twice_or_repeats_its_answer_is_found(single):
    twice = replace(
        single, options=tuple(replace(option, why=single.options[0].why) for option in single.options)
    )
    assert rules(twice) == {"explanation"}
    repeated = replace(single.options[0], text="Two of them do rest here.", why="Two of them do rest here!")
    assert rules(replace(single, options=(repeated, *single.options[1:]))) == {"explanation"}


def test_a_matching_and_a_short_item_with_equal_answers_are_found(single):
    why = "Because the rule says so."
    prompts = (Prompt("1", "one", "a", f"{why} 1"), Prompt("2", "two", "b", f"{why} 2"))
    assert rules(Matching(single.head, prompts, (("a", "10 s"), ("b", "10  s.")))) == {"equal-options"}
    short = Short(single.head, ("LEAVE",), why, (WrongText("leave", "kip848-is-instant", f"{why} 3"),))
    assert rules(short) == {"equal-options"}
