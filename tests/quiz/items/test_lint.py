from __future__ import annotations

from dataclasses import replace

import pytest

from rebalance_kit.quiz.items import form, lint
from rebalance_kit.quiz.items.bank import read_bank
from rebalance_kit.quiz.items.item import Choice, Matching, Option, Prompt, Short, WrongText


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


def test_answers_in_the_order_of_the_prompts_are_found(single):
    options = (("a", "one second"), ("b", "two of them"), ("c", "three parts"))
    prompts = tuple(
        Prompt(str(at), f"prompt {at}", key, f"Because of rule {at}.") for at, key in enumerate("abc")
    )
    assert rules(Matching(single.head, prompts, options)) == {"pairs"}
    assert rules(Matching(single.head, prompts[::-1], options)) == set()
    assert rules(Matching(single.head, prompts[:2], options)) == set()


def four(single: Choice, *texts: str, stem: str = "A stem?") -> Choice:
    """A single-choice item with these options, the first one right."""
    options = tuple(
        replace(
            single.options[0],
            id=letter,
            text=text,
            right=letter == "a",
            why=f"{letter} because of a rule.",
            misconception=None if letter == "a" else "one-step-switch",
        )
        for letter, text in zip("abcd", texts, strict=False)
    )
    return replace(single, options=options, head=replace(single.head, stem=stem, options_note=""))


def test_a_single_choice_item_has_four_options_or_says_why_not(single):
    assert rules(replace(single, head=replace(single.head, options_note=""))) == {"options"}
    assert rules(four(single, "alpha", "gamma", "delta", "theta")) == set()


@pytest.mark.parametrize(
    ("tag", "versions", "stem", "missing"),
    [
        ("clocks", "2.4+", "A consumer is killed. When?", ["protocol", "client"]),
        ("clocks", "2.4+", "A Java consumer with default settings is killed. When?", []),
        ("clocks", "2.4+", "A classic librdkafka consumer is killed. When?", []),
        ("static", "2.4+", "A static member is killed. When?", ["protocol"]),
        ("operations", "4.0-4.2", "A commit is late. Is it accepted?", ["version"]),
        ("versions", "4.0+", "On Kafka 4.0 a commit is late. Is it accepted?", []),
        ("operations", "2.4+", "What is lag?", []),
    ],
)
def test_a_stem_names_the_premises_that_its_theme_needs(single, tag, versions, stem, missing):
    head = replace(single.head, tags=(tag,), versions=versions, stem=stem)
    found = [problem.message.split()[4].strip(",") for problem in form.premises([replace(single, head=head)])]
    assert found == missing
    told = replace(single, head=replace(head, regardless=("protocol", "client", "version")))
    assert not list(form.premises([told]))


def test_a_diagnose_item_without_evidence_is_found(single):
    told = replace(single, head=replace(single.head, difficulty="diagnose", exhibit=None))
    assert rules(told) == {"evidence"}
    assert rules(replace(told, head=replace(told.head, exhibit="10:04:02 svc-1 88120"))) == set()


def test_a_third_item_of_one_kind_about_one_fact_is_found(single, numeric):
    three = [
        replace(single, head=replace(single.head, id=f"item-{n}", fact="session-of-45-s")) for n in "abc"
    ]
    assert [problem.item for problem in form.facts(three)] == ["item-c"]
    other_kind = replace(numeric, head=replace(numeric.head, fact="session-of-45-s"))
    assert not list(form.facts([*three[:2], other_kind]))


@pytest.mark.parametrize(
    "text", ["It is thrown out", "It waits, for it is slow", "It dies of an error", "It joins anew"]
)
def test_fable_words_are_found(single, text):
    assert rules(with_text(single, 0, text)) == {"vocabulary"}


def test_a_bank_in_which_the_longest_option_is_right_is_found(single):
    words = ["north", "south", "east", "west", "up", "down"]
    fair = [
        four(single, *(f"{words[(n + k) % 6]} {'x' * ((n + k) % 4)}" for k in range(4)), stem=f"Stem {n}?")
        for n in range(60)
    ]
    told = [
        replace(item, options=(replace(item.options[0], text="much the longest"), *item.options[1:]))
        for item in fair
    ]
    assert "longest" in " ".join(problem.message for problem in lint.no_lucky_guesser(told))
    assert "longest" not in " ".join(problem.message for problem in lint.no_lucky_guesser(fair))
    assert "position answers" in " ".join(problem.message for problem in lint.no_lucky_guesser(fair))


def test_choosing_the_two_longest_of_five_is_found_too(multiple):
    words = ["north", "south", "east", "west", "up", "down"]
    told = []
    for n in range(60):
        texts = [f"{words[(n + k) % 6]} side" for k in range(5)]
        long = {n % 5, (n + 2) % 5}
        options = tuple(
            Option("abcde"[k], f"{text} and a longer rest" if k in long else text, f"Reason {k}.", k in long)
            for k, text in enumerate(texts)
        )
        told.append(replace(multiple, options=options))
    longest = next(one for one in lint.guessers(told) if (one.name, one.kind) == ("longest", "multiple"))
    assert (longest.score, longest.chance) == (60, pytest.approx(6))
    assert "longest answers 60.0 of 60 items (multiple)" in " ".join(
        problem.message for problem in lint.no_lucky_guesser(told)
    )


def test_no_guesser_beats_chance_over_the_bank_in_any_kind():
    table = lint.guessers(read_bank().items)
    assert {guesser.kind for guesser in table} == {"single", "multiple", "both"}
    assert len(table) == 8 + 7 + 7
    assert [guesser.name for guesser in table if guesser.score > guesser.limit] == []
