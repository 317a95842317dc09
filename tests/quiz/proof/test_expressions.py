from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.proof.expressions import HELPERS, evaluate, parse
from rebalance_kit.quiz.proof.run_book import FACTS, RunFacts, ask
from tests.support.paths import ROOT


def value(text, **names):
    return evaluate(text, names, lambda name, arguments, named: (name, arguments, named))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 3 - 2", 5),
        ("-(2 - 5)", 3),
        ("7 // 2 + 7 % 2", 4),
        ("1.5s", 1500),
        ("2m", 120_000),
        ("1 < 2 and not 2 < 1", True),
        ("1 == 2 or 3 in [1, 3]", True),
        ('"a" in ["b"]', False),
        ("none == none", True),
        ("true", True),
        ("x * 2", 8),
        ("1 ==\n  1", True),
        (r"'\n' == '\x0a'", False),
        ('"10s" == "10000"', False),
    ],
)
def test_an_expression_has_the_value_that_its_grammar_gives(text, expected):
    assert value(text, x=4) == expected


def test_arguments_reach_a_fact_as_numbers_texts_lists_and_names():
    assert value('run.owner("orders-0", [1, 2], at=3s)') == ("run.owner", ["orders-0", [1, 2]], {"at": 3000})


def test_what_yaml_has_read_already_stands_for_itself():
    assert value(4) == 4
    assert value(False) is False


@pytest.mark.parametrize(
    "text",
    [
        "1 +",
        "f(",
        "[1, 2",
        "1 2",
        "a..b",
        "x = 3",
        "3h",
        "lambda: 1",
        "x.__class__.__mro__",
        "'open",
        "a ** b",
        "",
        "f(1)(2)",
        "1 < 2 < 3",
        "x[0]",
        "f(*[1])",
        "[y for y in [1]]",
        "1 if 1 else 2",
        "True",
        "1in [1]",
        "1) + (2",
        "1,",
        "['a' 'b']",
        "1 == 1 # and the rest",
        "f(x := 1)",
        "f'{x}'",
        "0x10 + 1j",
    ],
)
def test_what_is_no_expression_is_refused_with_its_text(text):
    with pytest.raises(DataError) as caught:
        value(text, x=1, a=1, b=2)
    assert "expected" in str(caught.value)


def test_text_cannot_be_multiplied_until_the_memory_is_full():
    with pytest.raises(DataError, match="joins numbers"):
        value('"a" * 999999999')


def test_deep_and_long_expressions_are_refused_before_they_exhaust_the_stack():
    for text in ("(" * 300 + "1" + ")" * 200, "-" * 300 + "1", "1+" * 400 + "1"):
        with pytest.raises(DataError, match="expected"):
            parse(text)


@given(st.text(max_size=60))
def test_any_text_gives_a_value_or_a_refusal_and_no_other_error(text):
    try:
        evaluate(text, {"x": 1}, lambda *_: 1)
    except DataError:
        return


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(DataError, match=r"'y' is no name here; expected one of x"):
        value("y", x=1)


# --- facts ------------------------------------------------------------------------------------------
def fact(trace, text):
    return evaluate(text, {}, lambda name, arguments, named: ask(RunFacts(trace), name, arguments, named))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("unread()", ["orders-0", "orders-1", "orders-2", "orders-3"]),
        ("unread(until=5s)", ["orders-0", "orders-1"]),
        ('gap("orders-0")', 5300),
        ('gap("orders-2")', 300),
        ('gap("orders-0", until=3s)', 2000),
        ('gap("orders-0", since=6s)', 300),
        ("longest_gap()", 5300),
        ("gaps_over(1s)", ["orders-0", "orders-1"]),
        ('owner("orders-0", at=500)', "c1"),
        ('owner("orders-0", at=3s)', None),
        ('owner("orders-0")', "c2"),
        ('owned("c2", at=500)', ["orders-2", "orders-3"]),
        ("moved()", ["orders-0", "orders-1"]),
        ("generations()", 1),
        ("generations(since=0, until=6s)", 0),
        ("generation()", 2),
        ("state()", "PreparingRebalance"),
        ("states()", ["PreparingRebalance"]),
        ('said("heartbeat expiration")', True),
        ("leader()", "c2"),
        ("assignor()", "range"),
        ('callbacks("c2", "revoked")', 1),
        ('told("c2", "revoked")', ["orders-2", "orders-3"]),
        ('told("c2", "lost")', None),
        ('removed("c1")', "session"),
        ('removed_ms("c1")', 5000),
        ('removed("c2")', None),
        ("redelivered()", 7),
        ('redelivered("orders-1")', 0),
        ('rows("fetch_stopped", "c1", reason="crash")', 2),
        ('first_ms("fetch_resumed")', 6300),
        ('last_ms("fetch_resumed", since=0, until=1s)', 10),
        ('died("c1")', None),
    ],
)
def test_a_fact_is_read_from_the_rows_of_its_window(trace, text, expected):
    assert fact(trace, text) == expected


def test_a_window_begins_with_the_first_action_unless_told_otherwise(trace):
    assert fact(trace, 'rows("fetch_resumed")') == 4
    assert fact(trace, 'rows("fetch_resumed", since=0)') == 8


@pytest.mark.parametrize(
    "text",
    ["pause()", "unread(1, 2, 3, 4)", 'told("c2", "gone")', 'rows("fetch")', "_trace()", '__init__("x")'],
)
def test_an_unknown_fact_or_a_wrong_argument_is_refused(trace, text):
    with pytest.raises(DataError, match="expected"):
        fact(trace, text)


def test_every_fact_says_what_it_is():
    assert all((one.__doc__ or "").endswith(".") for one in FACTS.values())


def test_the_guide_names_every_fact_and_helper():
    guide = (ROOT / "docs" / "items.md").read_text(encoding="utf-8")
    assert [name for name in (*FACTS, *HELPERS) if f"`{name}(" not in guide] == []
