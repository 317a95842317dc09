from __future__ import annotations

from dataclasses import replace

import pytest

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.item import Choice, Generated, Numeric, RunSpec, WorkedOption
from rebalance_kit.quiz.proof.expressions import (
    HELPERS,
    after_join,
    after_leave,
    assigned,
    moves_on_join,
    moves_on_leave,
)
from rebalance_kit.quiz.proof.generate import fill, question
from rebalance_kit.quiz.proof.run_book import RunBook

WHY = "Because the rule says so and no other."


@pytest.fixture
def recipe(single) -> Generated:
    return Generated(
        replace(single.head, stem="{a} and {b}: how many in all?"),
        "single",
        {"a": (1, 2, 3), "b": (4, 5, 6)},
        WorkedOption("a + b", "The sum is {value}.", "{value} in all"),
        (
            WorkedOption("a * b", WHY, None, "session-default-10s"),
            WorkedOption("b", WHY, None, "kip848-is-instant"),
        ),
    )


def test_the_same_seed_gives_the_same_variant_and_another_seed_another(recipe):
    variants = [question(recipe, seed) for seed in range(1, 30)]
    assert [question(recipe, seed) for seed in range(1, 30)] == variants
    assert len({variant.head.stem for variant in variants}) > 3


def test_the_key_is_the_computed_value_wherever_it_stands(recipe):
    places = set()
    for seed in range(1, 40):
        variant = question(recipe, seed)
        a, b = (int(word.strip(":")) for word in variant.head.stem.split(":")[0].split(" and "))
        (key,) = variant.key
        assert next(option.text for option in variant.options if option.right) == f"{a + b} in all"
        places.add(key)
    assert places == {"a", "b", "c"}


def test_options_of_a_variant_are_distinct_though_values_may_coincide(recipe):
    tight = replace(recipe, draw={"a": (1, 2), "b": (2, 4)}, key=WorkedOption("a + b", WHY))
    for seed in range(1, 40):
        texts = [option.text for option in question(tight, seed).options]
        assert len(set(texts)) == 3


def test_a_recipe_without_a_possible_variant_says_so(recipe):
    with pytest.raises(DataError, match="200 draws gave no variant"):
        question(replace(recipe, where="a > b"), 1)


def test_a_numeric_variant_keeps_wrong_numbers_outside_the_tolerance(recipe):
    made = replace(recipe, form="numeric", unit="s", tolerance=2.0)
    for seed in range(1, 30):
        variant = question(made, seed)
        assert isinstance(variant, Numeric)
        assert all(abs(wrong.value - variant.key) > 2 for wrong in variant.wrong)


def test_a_slot_without_a_value_is_refused():
    with pytest.raises(DataError, match=r"\{gone\} in .*: no such value; expected one of here"):
        fill("{gone}", {"here": 1})


def test_an_authored_item_is_its_own_question(single):
    assert question(single, 7) is single


# --- helpers ------------------------------------------------------------------------------------------
def test_range_piles_remainders_on_the_first_member():
    assert assigned("range", ["bills:3", "orders:3"], ["c1", "c2"], "c1") == [
        "bills-0",
        "bills-1",
        "orders-0",
        "orders-1",
    ]


def test_a_leave_moves_the_leavers_share_under_sticky_and_more_under_range():
    group = (["orders:6"], ["c1", "c2", "c3"], "c1")
    assert moves_on_leave("cooperative-sticky", *group) == 2
    assert moves_on_leave("range", *group) == 3  # 0 1, 2 3, 4 5 become 0 1 2, 3 4 5: P0 P1 and P3 move
    assert len(after_leave("range", *group[:2], "c1", "c2")) == 3


def test_a_cooperative_join_settles_though_it_takes_two_generations():
    assert moves_on_join("cooperative-sticky", ["orders:6"], ["c1", "c2"], "c3") == 2
    assert len(after_join("cooperative-sticky", ["orders:6"], ["c1", "c2"], "c3", "c3")) == 2


@pytest.mark.parametrize(
    "expression",
    [
        'assigned("range", ["orders"], ["c1"], "c1")',
        'assigned("range", ["orders:1"], ["c1"], "c9")',
        'names("c", 100000)',
        "pick([1], 2)",
        "count(1)",
        "count()",
    ],
)
def test_a_helper_refuses_what_it_cannot_use(expression):
    with pytest.raises(DataError, match="expected"):
        RunBook().work_out(expression, {}, 1)


def test_a_fact_asked_of_no_run_or_an_unknown_run_is_refused():
    for expression, runs in (
        ("unread()", {}),
        ("unread()", {"a": RunSpec("x"), "b": RunSpec("x")}),
        ("c.unread()", {"a": RunSpec("x")}),
    ):
        with pytest.raises(DataError, match="expected"):
            RunBook().work_out(expression, runs, 1)


def test_every_helper_says_what_it_is():
    assert all((one.__doc__ or "").endswith(".") for one in HELPERS.values())


# --- the kit's own recipes -------------------------------------------------------------------------------
def test_thirty_seeds_of_each_recipe_have_distinct_options_and_one_key(bank, book):
    recipes = [item for item in bank.items if isinstance(item, Generated)]
    assert len(recipes) >= 15
    for recipe in recipes:
        for seed in range(1, 31):
            variant = question(recipe, seed, book)
            if isinstance(variant, Choice):
                assert len({option.text for option in variant.options}) == len(variant.options)
                assert len(variant.key) == 1
            else:
                assert len({variant.key, *(wrong.value for wrong in variant.wrong)}) == len(variant.wrong) + 1
