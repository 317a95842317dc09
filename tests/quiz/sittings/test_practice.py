"""A practice, its widget and its terminal: the key stays behind until the answer is given."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.exports.marked import whys
from rebalance_kit.quiz.proof.generate import question
from rebalance_kit.quiz.sittings.page import public
from rebalance_kit.quiz.sittings.practice import Practice, beliefs_shown, pick_questions
from rebalance_kit.quiz.sittings.terminal import run_quiz

SECRETS = ("why", "misconception", "right", "key", "wrong")


@pytest.fixture
def practice(single, numeric) -> Practice:
    return Practice("sample", (single, numeric))


def keys_in(value):
    if isinstance(value, dict):
        for key, held in value.items():
            yield key
            yield from keys_in(held)
    elif isinstance(value, (list, tuple)):
        for held in value:
            yield from keys_in(held)


def test_what_the_page_gets_before_an_answer_tells_no_key(bank, book):
    for item in bank.items:
        asked = question(item, 1, book)
        shown = public(asked)
        assert not set(SECRETS) & set(keys_in(shown))
        assert not any(why in json.dumps(shown) for _, why in whys(asked))


def test_options_of_a_page_look_the_same_whether_right_or_not(single):
    assert [set(option) for option in public(single)["options"]] == [{"id", "text"}] * 3


def test_the_text_twin_tells_a_key_only_once_it_is_answered(practice, single):
    assert "Not right" not in practice.text() and single.options[0].why not in practice.text()
    practice.answer("a")
    assert "Not right; the answer is b." in practice.text()
    assert "[chosen" not in practice.text().partition("2. ")[2]


def test_answers_go_to_one_question_after_another(practice):
    assert practice.answer("b").right
    assert practice.answer(4.5).right
    assert practice.right == 2
    with pytest.raises(DataError, match="all 2 questions of 'sample' are answered"):
        practice.answer("a")


def test_a_refused_answer_leaves_the_question_open(practice):
    with pytest.raises(DataError):
        practice.answer("z")
    assert practice.verdicts == {}
    assert practice.page()["verdict"] is None


def test_a_belief_is_told_once_two_items_showed_it_and_the_most_frequent_comes_first(single, numeric):
    other = replace(single, head=replace(single.head, id="other"))
    practice = Practice("s", (single, single, numeric))
    for given in ("a", "a", "10"):
        practice.answer(given)
    assert beliefs_shown(practice.verdicts.values()) == ()
    practice = Practice("s", (single, other, other, single, single))
    for given in ("a", "a", "c", "c", "c"):
        practice.answer(given)
    assert beliefs_shown(practice.verdicts.values()) == ("crash-is-noticed-at-once", "cooperative-is-default")


def test_an_unknown_tag_or_id_names_what_there_is(bank):
    with pytest.raises(DataError, match=r"no item has the tag 'eagr'; expected one of .*eager"):
        pick_questions("eagr", bank=bank)
    with pytest.raises(DataError, match="no item has the id 'x'"):
        pick_questions(ids=["x"], bank=bank)


# --- the terminal ------------------------------------------------------------------------------------------
def test_a_terminal_quiz_asks_again_after_no_answer_and_ends_with_the_beliefs():
    out = io.StringIO()
    source = io.StringIO("zzz\na\nb\nq\n")
    ids = ["eager-crash-which-unread", "default-strategy-list", "classic-who-computes"]
    assert run_quiz(ids=ids, source=source, out=out) == 0
    text = out.getvalue()
    assert "answer 'zzz' received, expected one of a, b, c" in text
    assert "Not right; the answer is b." in text
    assert "0 right of 2 answered." in text
    assert "(cooperative-is-default)" in text


def test_a_terminal_quiz_asks_as_many_as_wanted_and_at_least_one():
    out = io.StringIO()
    run_quiz("eager", 2, source=io.StringIO("\n" * 5), out=out)
    assert "\n2. " in out.getvalue() and "\n3. " not in out.getvalue()
    with pytest.raises(DataError, match="count 0 received, expected at least 1"):
        run_quiz("eager", 0, source=io.StringIO(), out=out)


def test_a_terminal_quiz_ends_with_its_input():
    out = io.StringIO()
    assert run_quiz(ids=["eager-crash-which-unread"], source=io.StringIO(""), out=out) == 0
    assert "0 right of 0 answered." in out.getvalue()


# --- the widget --------------------------------------------------------------------------------------------
@pytest.fixture
def quiz():
    pytest.importorskip("anywidget", reason="the lab extra is not installed: the widget cannot be made")
    from rebalance_kit.view.quiz.page import Quiz

    return Quiz(ids=["eager-crash-which-unread", "eager-join-how-many-unread"])


def test_widget_state_before_an_answer_holds_no_key(quiz):
    state = quiz.get_state(["page"])
    assert not {*SECRETS} - {"right"} & set(keys_in(state["page"]["question"]))
    assert state["page"]["verdict"] is None
    assert "go unread from the crash on" not in json.dumps(state)


def test_an_answer_from_code_and_one_from_the_page_do_the_same(quiz):
    from rebalance_kit.view.quiz.page import Quiz

    other = Quiz(ids=["eager-crash-which-unread", "eager-join-how-many-unread"])
    quiz.answer("b")
    other.handle({"do": "answer", "given": "b"})
    assert other.page["verdict"] == quiz.page["verdict"]
    assert quiz.page["verdict"]["right"] is True
    other.handle({"do": "next"})
    assert other.page["number"] == 2 and other.page["verdict"] is None


def test_a_page_that_sends_nonsense_is_told_so_and_nothing_is_counted(quiz):
    quiz.handle({"do": "answer", "given": "zz"})
    assert "expected one of a, b, c" in quiz.page["error"]
    quiz.handle({"do": "reveal"})
    quiz.handle({})
    assert quiz.page["answered"] == 0 and quiz.page["verdict"] is None


def test_a_page_cannot_answer_a_question_twice(quiz):
    quiz.handle({"do": "answer", "given": "a"})
    quiz.handle({"do": "answer", "given": "b"})
    assert quiz.page["answered"] == 1 and quiz.page["verdict"]["right"] is False


def test_the_notebook_file_gets_the_text_twin_without_a_key(quiz):
    bundle = quiz._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert data["text/plain"] == quiz.text() == repr(quiz)
    assert "1. The topic orders has four partitions." in data["text/plain"]
    assert "[right]" not in json.dumps(data)
