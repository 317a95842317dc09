"""Review: misses and lucky guesses come back, as fresh variants, when FSRS says so."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.sittings.practice import Practice, due, practise, practise_due, rating, schedule
from rebalance_kit.quiz.sittings.store import Attempt, Store
from rebalance_kit.quiz.sittings.terminal import run_quiz, run_review

DAY = 86_400.0
MISS = Attempt(
    "1", 1_700_000_000.0, "practice", "gen-range-skew", 1, "3", correct=False, credit=0.0, confidence="sure"
)


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path / "answers.sqlite")


@pytest.mark.parametrize(
    ("correct", "confidence", "expected"),
    [(False, "sure", 1), (True, "guess", 1), (True, "think", 2), (True, "sure", 3), (True, None, 3)],
)
def test_a_lucky_guess_is_rated_as_a_miss(correct, confidence, expected):
    assert rating(replace(MISS, correct=correct, confidence=confidence)) == expected


def test_what_was_never_missed_is_not_scheduled():
    assert schedule([replace(MISS, correct=True)]) == {}


def test_a_miss_is_due_tomorrow_and_later_after_each_right_answer():
    times = []
    answers = [MISS]
    for _ in range(4):
        moment, number = schedule(answers)["gen-range-skew"]
        times.append(moment.timestamp() - answers[-1].at)
        assert number == len(answers)
        answers.append(replace(MISS, at=moment.timestamp(), correct=True))
    assert times[0] == DAY and times == sorted(times) and times[-1] > 5 * DAY


def test_the_schedule_is_the_same_each_time():
    assert schedule([MISS]) == schedule([MISS])


def test_what_comes_back_is_another_variant(store, bank):
    store.add(MISS)
    practice = practise_due(store, MISS.at + DAY, bank=bank)
    (asked,), ((_, seed),) = practice.questions, practice.sources
    assert seed == 2 and asked.head.id == "gen-range-skew~2"


def test_an_authored_item_comes_back_with_its_options_in_another_order_at_times(store, bank):
    orders = set()
    for number in range(8):
        store.add(replace(MISS, id=str(number), item="eager-crash-which-unread", at=MISS.at + number))
        (asked,) = practise_due(store, MISS.at + DAY, bank=bank).questions
        orders.add(tuple(option.text for option in asked.options))
    assert len(orders) > 1


def test_items_that_the_bank_lost_are_left_out_and_the_longest_overdue_come_first(store, bank):
    for number, item in enumerate(("gone-item", "eager-crash-which-unread", "classic-who-computes")):
        store.add(replace(MISS, id=item, item=item, at=MISS.at - number * DAY))
    assert [one.item for one in due(store, MISS.at + DAY, bank)] == [
        "classic-who-computes",
        "eager-crash-which-unread",
    ]


def test_a_miss_in_a_quiz_is_asked_again_by_review_and_a_right_answer_puts_it_off(store):
    run_quiz(
        ids=["eager-crash-which-unread"],
        source=io.StringIO("a\ns\n"),
        out=io.StringIO(),
        store=store,
        confidence=True,
    )
    (kept,) = store.attempts()
    assert (kept.correct, kept.confidence, kept.beliefs) == (False, "sure", ("cooperative-is-default",))
    out = io.StringIO()
    run_review(store=store, source=io.StringIO("b\nt\nb\nt\n"), out=out, now=kept.at + DAY)
    assert "The topic orders has four partitions." in out.getvalue()
    assert [one.mode for one in store.attempts()] == ["practice", "review"]
    out = io.StringIO()
    run_review(store=store, source=io.StringIO(""), out=out, now=kept.at - DAY)
    assert "Nothing is due" in out.getvalue()


def test_a_confidence_that_is_none_is_refused(single, store):
    with pytest.raises(DataError, match="expected one of sure, think, guess"):
        Practice("s", (single,), store=store).answer("a", "maybe")
    assert store.attempts() == ()


def test_the_run_that_proves_an_answer_is_told_only_after_it():
    practice = practise(ids=["eager-crash-which-unread"])
    assert practice.replays == () and practice.page()["replays"] == []
    practice.answer("a")
    assert practice.page()["replays"] == ["crash, eager"]


def test_a_widget_opens_that_run_in_the_lab_at_its_event(store):
    from rebalance_kit.view.quiz.page import Quiz, Review

    quiz = Quiz(ids=["eager-crash-which-unread"], store=store)
    quiz.handle({"do": "lab"})
    assert quiz.lab is None
    quiz.handle({"do": "answer", "given": "a", "confidence": "guess"})
    quiz.handle({"do": "lab"})
    assert quiz.lab is not None and quiz.lab.cursor_ms == 29_000 and quiz.lab.protocol == "eager"
    nothing = Review(store=Store(store.path.with_name("other.sqlite")))
    assert nothing.page["of"] == 0 and "Nothing is due" in repr(nothing)
    nothing.handle({"do": "answer", "given": "a"})
    assert "expected no further answer" in nothing.page["error"]
