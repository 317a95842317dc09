"""A mock exam: its paper, its clock, its silence until the end, and its report."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest

from rebalance_kit.cli import main
from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.blueprint import blueprint, cell_of, compose, enemies, reading, spread
from rebalance_kit.quiz.items.item import Choice
from rebalance_kit.quiz.sittings.exam import ExamSitting
from rebalance_kit.quiz.sittings.store import ExamClock, Store
from rebalance_kit.quiz.sittings.terminal import run_exam
from tests.support.paths import ROOT


class Hands:
    """A clock whose hands a test moves."""

    def __init__(self) -> None:
        self.wall_s, self.steady_s, self.name = 1_000_000.0, 500.0, "boot-1"

    def on(self, seconds: float) -> None:
        self.wall_s += seconds
        self.steady_s += seconds

    def clock(self) -> ExamClock:
        return ExamClock(lambda: self.wall_s, lambda: self.steady_s, lambda: self.name)


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path / "answers.sqlite")


@pytest.fixture
def sit(store, bank, hands):
    return lambda seed=1, questions=12, **named: ExamSitting.begin(
        "CCDAK", seed, questions=questions, store=store, bank=bank, clock=hands.clock(), **named
    ).start()


# --- the paper -------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["CCDAK", "CCAAK"])
def test_a_paper_has_the_weights_of_its_blueprint_or_says_what_is_missing(bank, name):
    plan = blueprint(name)
    paper = compose(plan, bank)
    held = {domain: sum(one.domain == domain for one in paper.asked) for domain in plan.weights}
    assert sum(plan.quotas().values()) == 60
    assert {domain: held[domain] + paper.missing.get(domain, 0) for domain in plan.weights} == plan.quotas()
    assert len({one.item for one in paper.asked}) == len(paper.asked)


def test_quotas_follow_the_weights(bank):
    assert blueprint("ccdak").quotas() == {
        "Application Development": 17,
        "Fundamentals": 14,
        "Connect": 9,
        "Observability": 8,
        "Streams": 7,
        "Testing": 5,
    }


def test_two_mocks_share_no_question_of_a_domain_that_has_enough(bank):
    one, two = (compose(blueprint("CCDAK"), bank, seed) for seed in (1, 2))
    for domain in ("Application Development",):
        assert not {a.item for a in one.asked if a.domain == domain} & {
            a.item for a in two.asked if a.domain == domain
        }


@pytest.mark.parametrize("name", ["CCDAK", "CCAAK"])
def test_the_papers_of_a_series_are_parallel_in_every_cell(bank, name):
    plan = blueprint(name)
    papers = [
        [(bank.item(one.item), one.domain) for one in compose(plan, bank, seed).asked] for seed in (1, 2, 3)
    ]
    assert [len(paper) for paper in papers] == [60, 60, 60]
    cells = spread(papers)
    assert {kind for _, kind, _ in cells} == {"single", "multiple", "matching", "ordering"}
    assert all(max(counts) - min(counts) <= 1 for counts in cells.values())
    for number in (0, 1):
        kinds = [Counter(cell_of(item)[number] for item, _ in paper) for paper in papers]
        assert all(
            max(every) - min(every) <= 3 for every in ([one[part] for one in kinds] for part in kinds[0])
        )


@pytest.mark.parametrize("name", ["CCDAK", "CCAAK"])
def test_no_paper_holds_two_items_of_a_fact_or_a_key_in_anothers_question(bank, name):
    for seed in range(1, 10):
        items = [bank.item(one.item) for one in compose(blueprint(name), bank, seed).asked]
        assert not [(items[one].head.id, items[other].head.id) for one, other in enemies(items)]


def test_enemies_share_a_fact_a_key_or_are_named(single):
    def other(name, **changed):
        return replace(single, head=replace(single.head, id=name, **changed))

    key = "every member gives up all it owns"
    telling = replace(single, options=(replace(single.options[1], text=key), *single.options[::2]))
    assert enemies([single, other("two", stem="Something else?")]) == []
    assert enemies([other("one", fact="same-fact"), other("two", fact="same-fact")]) == [(0, 1)]
    assert enemies([other("one", enemies=("two",)), other("two")]) == [(0, 1)]
    assert enemies([telling, other("two", stem=f"Once {key}, what follows?")]) == [(0, 1)]


def test_an_unknown_exam_names_those_there_are():
    with pytest.raises(DataError, match="exam 'CKA' is unknown; expected one of CCDAK, CCAAK"):
        blueprint("CKA")


# --- silence ---------------------------------------------------------------------------------
def test_nothing_of_right_or_wrong_is_told_before_the_end(sit, store):
    exam = sit()
    for place in range(len(exam.questions)):
        exam.go(place)
        answer_something(exam)
        shown = json.dumps(exam.page())
        assert not any(
            f'"{word}"' in shown for word in ("why", "right", "verdict", "remarks", "misconception", "key")
        )
    kept = json.dumps(store.kept("exam"))
    assert (
        not any(f'"{word}"' in kept for word in ("why", "right", "key", "verdict")) and store.attempts() == ()
    )
    with pytest.raises(DataError, match="not over"):
        exam.report()


def answer_something(exam: ExamSitting) -> None:
    """The first answer that the question takes; whether it is right is not looked at."""
    for given in (
        "a",
        "1",
        "a b",
        "a b c",
        "1a 2a",
        "1a 2a 3a",
        "1a 2a 3a 4a",
        "a b c",
        "a b c d",
        "a b c d e",
        "word",
    ):
        try:
            exam.answer(given)
        except DataError:
            continue
        return
    raise AssertionError(exam.text())


# --- before the clock --------------------------------------------------------------------------
def test_nothing_is_kept_and_no_time_passes_before_an_exam_begins(store, bank, hands):
    exam = ExamSitting.begin("CCAAK", store=store, bank=bank, clock=hands.clock())
    said = exam.text()
    for told in (
        "60 questions, 90 minutes",
        "Security 9",
        "Not asked here",
        "setting up TLS and SASL",
        "80 %",
        "put into order",
    ):
        assert told in said
    assert exam.page()["start"] and "question" not in exam.page()
    hands.on(3600)
    with pytest.raises(DataError, match="the exam has not begun"):
        exam.answer("a")
    with pytest.raises(DataError, match="the exam has not begun"):
        exam.finish()
    assert store.kept("exam") == {} and exam.left_s == 90 * 60
    exam.start()
    assert exam.left_s == 90 * 60 and len(store.kept("exam")) == 1


def test_a_sitting_is_shuffled_anew_and_its_history_is_told(sit, store, bank, hands):
    first = sit()
    hands.on(240)
    first.finish()
    draws = {tuple(one.item for one in sit(again=True).start().asked) for _ in range(1)}
    again = sit()
    assert {one.item for one in again.asked} == {one.item for one in first.asked}
    assert [one.seed for one in again.asked] != [one.seed for one in first.asked] and draws
    hands.on(10_000)
    assert "time ran out" in again.page()["report"] and "Left open: 1, 2, 3" in again.page()["report"]
    fresh = ExamSitting.begin("CCDAK", 2, store=store, bank=bank, clock=hands.clock())
    told = [line for line in fresh.start_lines() if " mock 1: " in line]
    assert len(told) == 2 and "CCDAK mock 1: 0 of 12 right, 0 %, 18 of 18 minutes" in told[0]
    assert "4 of 18 minutes" in told[1]


def test_a_short_exam_and_a_whole_one_do_not_stand_for_each_other(sit, store, bank, hands):
    sit().finish()
    whole = ExamSitting.begin("CCDAK", store=store, bank=bank, clock=hands.clock())
    assert not whole.begun and len(whole.asked) == 60
    with pytest.raises(DataError, match="30 minutes received for an exam that is open with 18"):
        sit(again=True).begin("CCDAK", questions=12, minutes=30, store=store, bank=bank, clock=hands.clock())


# --- steps -----------------------------------------------------------------------------------
def test_flags_strikes_and_answers_can_be_changed_until_the_end(sit):
    exam = sit()
    place = next(
        place
        for place, asked in enumerate(exam.questions)
        if isinstance(asked, Choice) and not asked.many and not asked.form
    )
    exam.go(place)
    exam.answer("b")
    exam.answer("a")
    exam.flag()
    exam.strike("c")
    page = exam.page()
    assert (page["given"], page["struck"], page["places"][place]) == (
        "a",
        ["c"],
        {"answered": True, "lacking": 0, "flagged": True},
    )
    exam.flag()
    exam.strike("c")
    exam.answer("")
    assert (
        exam.page()["places"][place] == {"answered": False, "lacking": 0, "flagged": False}
        and exam.page()["struck"] == []
    )
    with pytest.raises(DataError, match="expected one of a, b, c"):
        exam.answer("z")
    with pytest.raises(DataError, match="question 99 received"):
        exam.go(98)


def test_as_many_as_asked_for_are_chosen_and_fewer_stay_open(sit):
    exam = sit(questions=60)
    place = next(
        place for place, shown in enumerate(exam.questions) if isinstance(shown, Choice) and shown.many
    )
    number = len(exam.questions[place].key)
    exam.go(place)
    for given in ("a", "abcdef"[: number + 1]):
        with pytest.raises(DataError, match=f"expected exactly {number}"):
            exam.answer(given)
    exam.answer("a", draft=True)
    assert exam.places()[place] == {"answered": False, "lacking": number - 1, "flagged": False}
    with pytest.raises(DataError, match="expected exactly"):
        exam.answer("abcdef"[: number + 1], draft=True)
    exam.answer("abcdef"[:number])
    assert exam.places()[place]["answered"] and exam.next_open() and exam.place != place
    exam.flag()
    flagged = exam.place
    exam.go(place)
    assert exam.next_flagged() and exam.place == flagged


def test_a_report_counts_what_was_answered_and_says_what_to_read(sit, store):
    exam = sit()
    for place in range(6):
        exam.go(place)
        exam.answer(right_answer(exam, place))
    report = exam.finish()
    assert (report.total.right, report.total.asked) == (6, len(exam.questions))
    assert sum(score.asked for score in report.domains) == len(exam.questions)
    assert report.read and report.objectives and "it is no verdict on whether you are ready" in report.text()
    assert len(store.attempts(mode="exam")) == len(exam.questions)
    with pytest.raises(DataError, match="the exam is over"):
        exam.answer("a")
    assert exam.finish() == report and len(store.attempts()) == len(exam.questions)


def right_answer(exam: ExamSitting, place: int) -> str:
    asked = exam.questions[place]
    return str(asked.key) if isinstance(asked.key, (str, int, float)) else " ".join(asked.key)


# --- the clock -------------------------------------------------------------------------------
def test_time_runs_and_ends_the_exam(sit, hands):
    exam = sit()
    assert exam.left_s == pytest.approx(12 * 90)
    hands.on(60)
    assert exam.left_s == pytest.approx(12 * 90 - 60)
    hands.on(2000)
    with pytest.raises(DataError, match="the exam is over"):
        exam.answer("a")
    assert exam.ended and exam.page()["report"]


def test_a_clock_set_back_gives_no_time_and_one_set_forward_takes_none(sit, hands):
    exam = sit()
    hands.on(100)
    hands.wall_s -= 5000
    assert exam.spent_s == pytest.approx(100)
    hands.wall_s += 90_000
    hands.on(1)
    assert exam.spent_s == pytest.approx(101)


def test_a_killed_kernel_comes_back_to_its_answers_with_the_time_right(sit, hands):
    exam = sit()
    exam.go(3)
    answer_something(exam)
    given = exam.given(3)
    hands.on(120)
    hands.wall_s -= 7200  # set back while the kernel is dead
    again = sit()
    assert again.given(3) == given and again.place == 3
    assert again.spent_s == pytest.approx(120)
    assert [one.head.id for one in again.questions] == [one.head.id for one in exam.questions]


def test_after_a_restart_of_the_machine_the_wall_clock_counts_but_never_backwards(sit, hands):
    sit()
    hands.wall_s += 300
    hands.steady_s, hands.name = 5.0, "boot-2"
    assert sit().spent_s == pytest.approx(300)
    hands.wall_s -= 9000
    hands.steady_s, hands.name = 7.0, "boot-3"
    assert sit().spent_s == pytest.approx(300)


def test_an_exam_that_was_handed_in_stays_handed_in_until_it_is_begun_again(sit, store):
    exam = sit()
    exam.answer(" ".join(exam.questions[0].key) if isinstance(exam.questions[0], Choice) else "1")
    report = exam.finish()
    back = sit()
    assert back.ended and back.report().text() == report.text()
    with pytest.raises(DataError, match="over"):
        back.answer("b")
    assert len(store.attempts()) == 12
    fresh = sit(again=True)
    assert not fresh.ended and not any(place["answered"] for place in fresh.page()["places"])
    assert not sit().ended


KILLED = """
import os, signal, sys
from rebalance_kit.quiz.items.blueprint import cell_of, enemies, spread
from rebalance_kit.quiz.sittings.exam import ExamSitting
from rebalance_kit.quiz.sittings.store import Store
exam = ExamSitting.begin("CCDAK", questions=12, store=Store(sys.argv[1])).start()
exam.go(2); exam.flag()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_really_killed_process_loses_no_step(store, bank):
    subprocess.run([sys.executable, "-c", KILLED, str(store.path)], check=False)
    exam = ExamSitting.begin("CCDAK", questions=12, store=store, bank=bank)
    assert exam.place == 2 and exam.page()["places"][2]["flagged"]
    assert 0 < exam.spent_s < 60


def test_a_database_that_cannot_be_written_does_not_stop_an_exam(sit, store):
    exam = sit()
    store.path.unlink()
    for name in ("-wal", "-shm"):
        store.path.with_name(store.path.name + name).unlink(missing_ok=True)
    store.path.write_bytes(b"damaged" * 500)
    exam.flag()
    assert "your answers so far are kept in" in exam.page()["notice"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("asked", [["no-such-item", 1, "Streams"]]),
        ("asked", "../../etc/passwd"),
        ("given", {"0": "zz"}),
        ("minutes", "<b>"),
        ("spent", None),
    ],
)
def test_an_exam_that_cannot_be_gone_on_with_is_set_aside_and_a_new_one_says_so(sit, store, key, value):
    first = sit()
    (name,) = store.kept("exam")
    store.keep("exam", name, {**store.kept("exam")[name], key: value})
    exam = sit()
    assert list(store.kept("exam set aside")) == [name] and name not in store.kept("exam")
    assert "set aside" in exam.page()["notice"] and str(store.path) in exam.page()["notice"]
    assert {one.item for one in exam.asked} == {one.item for one in first.asked} and exam.spent_s == 0
    exam.finish()


# --- after the end ---------------------------------------------------------------------------
def test_after_the_end_every_question_tells_its_key_reasons_and_runs(sit):
    exam = sit()
    answer_something(exam)
    exam.finish()
    told = []
    for place in range(len(exam.questions)):
        exam.go(place)
        page = exam.page()
        assert page["verdict"]["key"] and all(remark["why"] for remark in page["verdict"]["remarks"])
        told += page["replays"]
        if place:
            assert page["verdict"]["given"] == () and not page["verdict"]["right"]
            assert not any(remark["chosen"] for remark in page["verdict"]["remarks"])
    assert told and len(page["right"]) == len(exam.questions)
    with pytest.raises(DataError, match="over"):
        exam.answer("b")


# --- terminal and widget ---------------------------------------------------------------------
def test_an_exam_in_a_terminal_takes_commands_and_comes_back(store):
    out = io.StringIO()
    run_exam(
        "CCDAK", questions=12, store=store, source=io.StringIO("\nf\nn\n2 g\nr\nzz z\n?\nm\nq\n"), out=out
    )
    text = out.getvalue()
    assert (
        "flagged" in text
        and "Flagged: 1" in text
        and "received, expected" in text
        and "comes back to it" in text
    )
    assert "Not right" not in text and "Right." not in text
    out = io.StringIO()
    run_exam("CCDAK", questions=12, store=store, source=io.StringIO("submit\nno\nhand in\nyes\n"), out=out)
    assert out.getvalue().count("Hand in? (yes or no)") == 2 and "Not handed in." in out.getvalue()
    assert (
        "rebalance-kit lab rk1." in out.getvalue()
        and "0 of" in out.getvalue()
        and "By domain:" in out.getvalue()
    )


def test_a_widget_obeys_its_page_and_holds_no_key(store):
    from rebalance_kit.view.quiz.page import Exam

    exam = Exam("CCDAK", questions=12, store=store)
    exam.handle({"do": "finish"})
    assert exam.page["begun"] is False and exam.page["start"]
    exam.handle({"do": "start"})
    exam.handle({"do": "flag", "given": ""})
    exam.handle({"do": "go", "place": 5, "given": ""})
    exam.handle({"do": "go", "place": 700})
    assert exam.page["number"] == 6 and "expected 1 to" in exam.page["error"]
    exam.handle({"do": "reveal"})
    exam.handle({"do": "strike", "option": "<b>"})
    assert "received, expected one of" in exam.page["error"]
    exam.handle({"do": "lab"})
    assert exam.lab is None
    state = json.dumps(exam.get_state(["page"]))
    assert '"why"' not in state and '"right"' not in state
    bundle = exam._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert data["text/plain"].split() == repr(exam).split()
    exam.handle({"do": "finish"})
    assert exam.page["ended"] and "By domain" in exam.page["report"]
    proved = next(place for place in range(12) if exam.sitting.go(place) or exam.sitting.replays())
    exam.handle({"do": "go", "place": proved})
    exam.handle({"do": "lab", "run": 0})
    assert exam.lab.cursor_ms == exam.sitting.replays()[0].at_ms


# --- what a report advises -------------------------------------------------------------------
def test_every_notebook_lesson_and_document_that_a_report_names_is_there():
    import re

    from rebalance_kit.scenarios import names
    from rebalance_kit.view.lab.lessons import lessons

    root = ROOT
    advice = "\n".join(reading([f"A{number}" for number in range(1, 15)] + ["D"]))
    numbers = set(re.findall(r"notebook (\d\d)", advice))
    assert len(numbers) >= 6 and all(
        list((root / "notebooks").glob(f"{number}-*.ipynb")) for number in numbers
    )
    known = {one.name for one in lessons()}
    told = {
        word for line in advice.splitlines() if "lesson" in line for word in line.split() if word in names()
    }
    assert told == {"poll-timeout", "two-bounces", "bounce-gone-wrong"} <= known
    assert (root / "docs" / "forensics.md").is_file() and "docs/forensics.md" in advice


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["exam", "CCDAK", "--seed", "0"], "mock 0 received, expected 1 or more"),
        (["exam", "CCDAK", "--seed", "-5"], "mock -5 received"),
        (["answers", "report", "--store", "nowhere/answers.db"], "does not exist; expected a folder"),
        (["answers", "export", "--to", "nowhere/answers.jsonl"], "expected a folder that can be written to"),
        (["exam", "CKA"], "exam 'CKA' is unknown; expected one of CCDAK, CCAAK"),
        (["exam", "CCDAK", "--questions", "0"], "an exam of 0 questions received, expected 1 to 200"),
        (["exam", "CCDAK", "--questions", "500"], "an exam of 500 questions received"),
        (["exam", "CCDAK", "--minutes", "nan"], "an exam of nan minutes received, expected more than 0"),
        (["exam", "CCDAK", "--minutes", "inf"], "an exam of inf minutes received"),
        (["exam", "CCDAK", "--minutes", "-1"], "an exam of -1 minutes received"),
        (["quiz", "--count", "0"], "count 0 received, expected at least 1"),
    ],
)
def test_a_wrong_use_is_refused_in_words_and_leaves_nothing_behind(tmp_path, monkeypatch, capsys, more, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REBALANCE_KIT_ATTEMPTS", str(tmp_path / "answers.db"))
    assert main(more, io.StringIO()) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_command_of_the_terminal_is_never_taken_for_an_answer(store):
    out = io.StringIO()
    lines = ["", "help", "h", "99 g", "x z", "zz", "r", "quit"]
    source = io.StringIO("\n".join(lines) + "\n")
    run_exam("CCDAK", questions=12, store=store, source=source, out=out)
    text = out.getvalue()
    assert text.count("strike out") >= 2, "the help can be had again"
    assert text.count("received") >= 3, "a place, a letter and an answer that are none"
    assert "0 of 12 answered" in text and "1 of 12 answered" not in text
    assert "comes back to it" in text


def test_in_a_terminal_each_question_is_looked_back_at_once_it_is_over(store):
    out = io.StringIO()
    source = io.StringIO("\nhand in\nyes\n1\n700\nzz\nq\n")
    run_exam("CCDAK", questions=12, store=store, source=source, out=out)
    before, after = out.getvalue().split("Not right: 1 2 3")
    assert "Not right; the answer is" not in before
    assert after.count("[your answer: none]") == 1 and after.count("expected a number from 1 to 12") == 2
    assert "Not right; the answer is" in after and "[right]" in after


def test_a_report_names_runs_to_replay_and_their_links_open(store, bank):
    from rebalance_kit.quiz.sittings.progress import progress, to_replay
    from rebalance_kit.simulation.permalink import read_link

    exam = ExamSitting.begin("CCDAK", store=store, bank=bank).start()
    exam.finish()
    assert len(exam.to_replay()) == 8 and len(exam.page()["report_replays"]) == 8
    found = to_replay(progress(store.attempts(), bank), bank)
    assert len(found) == 8 and len({one.name for one in found}) == 8
    assert all(read_link(one.link).scenario.members for one in found)


def test_a_sitting_fits_a_terminal_of_eighty_columns(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = io.StringIO()
    typed = "\n" + "n\n" * 23 + "r\nhand in\nyes\n1\n2\n3\n\n"
    run_exam("CCAAK", questions=24, store=Store(tmp_path / "a.sqlite"), source=io.StringIO(typed), out=out)
    text = out.getvalue()
    table_or_link = re.compile(r"\S {3,}\S|rebalance-kit lab rk1|^ *\(?[\w.$]+\)?$|yes or no|to see its key")
    assert not [line for line in text.splitlines() if len(line) > 80 and not table_or_link.search(line)]
    review = text.partition("0 of 24 answered\n")[2].partition("\n\n")[0]
    assert "Answered: none" in text and "Flagged: none" in text and len(review.splitlines()) <= 16
