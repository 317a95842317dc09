"""What checks are made of: pairs of answered and true rows, and words about the first row that is wrong."""

from __future__ import annotations

import ast
from string import Formatter

import pytest

from rebalance_kit.exercises.task import Case, CheckInput, NotYet, in_order, load, names, need_none

KEY = ("run", "at_ms")


def rows(*values):
    return in_order([{"run": run, "at_ms": at_ms, "moved": moved} for run, at_ms, moved in values], KEY)


@pytest.fixture
def seen():
    got = rows(("b", 100, 7), ("b", 20, None), ("a", 5, 1), ("a", 5, 2), ("c", 1, 9))
    return CheckInput(got, rows(("b", 20, 3), ("b", 100, 4), ("a", 5, 1), ("d", 1, 1)), Case(), KEY)


def test_a_check_of_values_looks_at_every_answered_row_that_has_a_true_one(seen):
    pairs = seen.pairs(lambda got, true: got["moved"] != true["moved"])
    assert [(got["moved"], true["moved"]) for got, true in pairs] == [(2, 1), (None, 3), (7, 4)]


def test_missing_extra_and_repeated_rows_are_found_by_their_key(seen):
    found = (seen.missing(), seen.extra(), seen.repeated())
    assert [[(row["run"], row["moved"]) for row in some] for some in found] == [
        [("d", 1)],
        [("c", 9)],
        [("a", 2)],
    ]


def test_a_number_of_a_column_is_told_of_the_answer_and_of_the_truth(seen):
    assert seen.both(sum, "moved") == (19, 9)
    assert seen.both(max, "moved", "b") == (7, 4)
    assert seen.both(max, "moved", "d") == (0, 1)


def test_the_first_wrong_row_is_told_with_its_values_and_the_true_ones(seen):
    wrong = seen.pairs(lambda got, true: got["moved"] is None)
    with pytest.raises(NotYet, match=r"^b at 20: null, not 3 \(of 4\)$"):
        need_none(wrong, "{run} at {at_ms}: {moved}, not {true[moved]} (of {most})", most=4)


def test_nothing_is_said_where_nothing_is_wrong():
    need_none([], "{run} and what no row has, {nosuch}")


@pytest.mark.parametrize("name", names())
def test_words_name_only_columns_of_their_exercise(name):
    columns = set(load(name).task.columns)
    for call in ast.walk(ast.parse(load(name).text("task.py"))):
        if not (isinstance(call, ast.Call) and getattr(call.func, "id", None) == "need_none"):
            continue
        wrong, words = call.args
        paired = isinstance(wrong, ast.Call) and getattr(wrong.func, "attr", None) == "pairs"
        known = columns | {word.arg for word in call.keywords}
        known |= {f"true[{column}]" for column in columns} if paired else set()
        assert {field for _, field, _, _ in Formatter().parse(ast.literal_eval(words)) if field} <= known
