"""The learner's day: due, weak and new in fifteen minutes, nothing twice; a plan with gates; a predicted mark."""

from __future__ import annotations

import io
import random
import re
import time
from collections import Counter
from datetime import date, timedelta

import pytest

from rebalance_kit.cli import main
from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.blueprint import blueprint
from rebalance_kit.quiz.sittings.daily import (
    MINUTES,
    Wanted,
    by_domain,
    minutes_of,
    practise_today,
    practise_wanted,
    predicted,
    progress_lines,
    session,
    themes,
    today_lines,
    weak_themes,
)
from rebalance_kit.quiz.sittings.practice import due, due_in_days
from rebalance_kit.quiz.sittings.progress import (
    dated,
    day_of,
    first_answers,
    gate_open,
    keep_plan,
    plan_lines,
    read_day,
    steps,
)
from rebalance_kit.quiz.sittings.store import Attempt, Store
from rebalance_kit.quiz.sittings.terminal import run_today
from tests.support.paths import ROOT

NOW = 1_790_000_000.0
DAY = 86_400.0


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path / "answers.sqlite")


def answer(
    item: str, at: float = NOW, *, right: bool = True, mode: str = "practice", given: str = "a"
) -> Attempt:
    return Attempt(f"{item}/{at}", at, mode, item, 1, given, right, float(right), "sure")


def test_a_day_takes_at_most_its_minutes_and_asks_nothing_twice(store, bank):
    draw = random.Random(3)
    for day in range(6):
        now = NOW + day * DAY
        asked = session(store, "CCDAK", now, bank)
        assert 0 < minutes_of(asked) <= MINUTES
        names = [each.item.head.id for each in asked]
        assert len(set(names)) == len(names)
        store.add(
            *(
                answer(name, now + at, right=draw.random() < 0.5, mode="today")
                for at, name in enumerate(names)
            )
        )
        again = session(store, "CCDAK", now + 3600, bank)
        assert not {each.item.head.id for each in again} & set(names)
        assert minutes_of(again) + minutes_of(asked) <= MINUTES
    assert Counter(each.why for each in asked)["due"]


def test_what_was_left_open_is_not_due_and_a_miss_comes_tomorrow(store, bank):
    store.add(
        answer("classic-who-computes", right=False, given=""), answer("eager-crash-which-unread", right=False)
    )
    assert due(store, NOW, bank) == () and due_in_days(store, NOW, bank) == {1: 1}
    assert [one.item for one in due(store, NOW + DAY, bank)] == ["eager-crash-which-unread"]
    assert "tomorrow 1, within seven days 1" in "\n".join(today_lines(store, "CCDAK", NOW, bank))


def test_new_questions_come_in_the_order_of_the_plan(store, bank):
    topics = [each.item.head.topics[0] for each in session(store, "CCAAK", NOW, bank)]
    first = [topic for step in steps()[:2] for topic in step.topics]
    assert set(topics) <= set(first)


def test_weak_themes_are_told_with_their_interval_and_asked(store, bank):
    static = [item.head.id for item in bank.tagged("static")][:8]
    connect = [item.head.id for item in bank.tagged("connect")][:8]
    store.add(*(answer(name, right=False) for name in static), *(answer(name) for name in connect))
    weak = weak_themes(store.attempts(), bank)
    assert weak[0].name == "static" and weak[0].low < weak[0].share < weak[0].high < 0.4
    assert "connect" in {each.name for each in themes(store.attempts(), bank)} - {each.name for each in weak}
    asked = practise_wanted(Wanted(weak=True), store, 5, seed=1, bank=bank)
    assert all({each.name for each in weak} & set(item.head.tags) for item, _ in asked.sources)
    assert any(each.why == "weak" for each in session(store, "CCAAK", NOW, bank))


def test_a_practice_asks_first_what_was_never_answered(store, bank):
    first = practise_wanted(Wanted("eager"), store, 3, bank=bank)
    store.add(*(answer(item.head.id) for item, _ in first.sources))
    second = practise_wanted(Wanted("eager"), store, 3, bank=bank)
    asked = [{item.head.id for item, _ in practice.sources} for practice in (first, second)]
    assert not asked[0] & asked[1]
    left = practise_wanted(Wanted("eager", new=True), store, bank=bank)
    assert not asked[0] & {item.head.id for item, _ in left.sources}
    assert all(
        "CCDAK Connect" in item.head.domains
        for item, _ in practise_wanted(Wanted(domain="ccdak connect"), store, 4, bank=bank).sources
    )
    for wanted, said in ((Wanted(domain="Cooking"), "CCDAK Connect"), (Wanted(objective="cook"), "'cook'")):
        with pytest.raises(DataError, match=said):
            practise_wanted(wanted, store, bank=bank)


@pytest.mark.parametrize("knows", [0.4, 0.8])
def test_a_predicted_mark_holds_what_a_candidate_knows_four_times_of_five(store, bank, knows):
    plan, held = blueprint("CCDAK"), 0
    asked = [item.head.id for item in bank.items if any(d.startswith("CCDAK") for d in item.head.domains)]
    for seed in range(80):
        draw = random.Random(f"{seed}/{knows}")
        attempts = [answer(name, right=draw.random() < knows) for name in draw.sample(asked, 60)]
        mark = predicted(plan, by_domain(plan, attempts, bank, NOW))
        held += mark.low <= sum(draw.random() < knows for _ in range(60)) / 60 <= mark.high
    assert 53 <= held <= 75  # 64 of 80, give or take three standard errors


def test_the_simulated_fortnight_keeps_to_its_minutes_and_is_the_one_in_the_document():
    from scripts.fortnight import BEGIN, DOCUMENT, END, table

    made = table()
    assert made in DOCUMENT.read_text("utf-8").partition(BEGIN)[2].partition(END)[0], (
        "run python -m scripts.fortnight --write"
    )
    most = [float(row.split("(")[1].split(")")[0]) for row in made.split("\n\n")[0].splitlines()[2:]]
    assert len(most) == 6 and max(most) <= MINUTES


def test_progress_says_so_where_answers_are_few(store, bank):
    assert "Too few answers for a predicted mark." in progress_lines(store, "CCAAK", NOW, bank)
    store.add(*(answer(item.head.id) for item in bank.items[:200]))
    said = "\n".join(progress_lines(store, "CCAAK", NOW, bank))
    assert "Predicted mark" in said and "#" in said and "does not predict" in said


# --- the plan --------------------------------------------------------------------------------
def test_every_notebook_and_exercise_of_the_plan_is_there_and_the_mocks_are_three():
    said = " ".join(step.what for step in steps())
    for number in re.findall(r"\b\d\d[a-z]?\b", said):
        assert list((ROOT / "notebooks").glob(f"{number}-*.ipynb")), number
    for name in re.findall(r"\bc\d\b", said):
        assert list((ROOT / "exercises" / "code").glob(f"{name}-*")), name
    assert [step.mock for step in steps() if step.mock] == [1, 2, 3]


def test_a_plan_spreads_its_steps_up_to_the_day_before_the_last(store, bank):
    first = date(2026, 11, 24)
    for days in (1, 3, 14, 60):
        until = first + timedelta(days=days)
        path = [day for day, _ in dated(first, until)]
        assert (
            path == sorted(path)
            and path[0] == first
            and first <= path[-1] <= max(first, until - timedelta(days=1))
        )
    assert "No plan" in plan_lines(store, bank, "CCDAK", first)[0]
    keep_plan(store, "CCDAK", first, first + timedelta(days=14))
    lines = plan_lines(store, bank, "CCDAK", first + timedelta(days=10))
    assert sum("<- today" in line for line in lines) >= 1 and any(
        "shut, gate: 60 %" in line for line in lines
    )
    assert "repeat the notebooks above" in lines[-1]
    for last in (first, first - timedelta(days=3), first + timedelta(days=400)):
        with pytest.raises(DataError, match="expected one after"):
            keep_plan(store, "CCDAK", first, last)
    with pytest.raises(DataError, match="expected one such as"):
        read_day("Tuesday")


def test_a_gate_opens_by_first_answers(bank):
    step = next(step for step in steps() if step.answers)
    names = [item.head.id for item in bank.items[: step.answers]]
    good = first_answers(answer(name) for name in names)
    assert gate_open(step, good)[0] and not gate_open(step, dict(list(good.items())[1:]))[0]
    twice = [answer(name, right=False) for name in names] + [answer(name, NOW + 1) for name in names]
    assert not gate_open(step, first_answers(twice))[0]


# --- terminal --------------------------------------------------------------------------------
def test_today_in_a_terminal_asks_and_ends_with_what_comes(store):
    out = io.StringIO()
    run_today("CCDAK", store=store, source=io.StringIO("help\nzzz\nq\n"), out=out, now=NOW)
    text = out.getvalue()
    assert "questions, about" in text and "received, expected" in text and "Sure, think" not in text
    assert text.rstrip().endswith("Reviews: tomorrow 0, within seven days 0.")
    practice = practise_today(store, "CCDAK", NOW)
    assert practice.mode == "today" and practice.questions


def test_answers_are_deleted_only_after_a_yes(store, monkeypatch, capsys):
    store.add(answer("classic-who-computes"))
    for said, left in (("\n", 1), ("no\n", 1), ("yes\n", 0)):
        monkeypatch.setattr("sys.stdin", io.StringIO(said))
        assert main(["answers", "delete", "--store", str(store.path)]) == 0
        assert len(store.attempts()) == left
    assert "1 answers and 0 exams" in capsys.readouterr().out


def test_a_plan_in_a_terminal(store, capsys):
    until = day_of(time.time()) + timedelta(days=20)
    assert main(["plan", "CCAAK", "--until", until.isoformat(), "--store", str(store.path)]) == 0
    text = capsys.readouterr().out
    assert str(until) in text and "mock 3" in text and "by domain" in text
    assert main(["plan", "CCAAK", "--until", "2020-01-01", "--store", str(store.path)]) == 2
