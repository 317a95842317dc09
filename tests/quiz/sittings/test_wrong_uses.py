"""Twenty-five wrong uses of quiz and exam that an examiner tried: each is answered by a sentence, and nothing is lost."""

from __future__ import annotations

import io
import re
from contextlib import suppress

import pytest

from rebalance_kit import cli
from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.sittings.exam import ExamSitting
from rebalance_kit.quiz.sittings.store import Store
from rebalance_kit.quiz.sittings.terminal import run_exam, run_quiz

TWELVE = "exam CCDAK --questions 12"
BY_COMMAND = [
    ("exam", "", "name is missing, expected CCDAK or CCAAK"),
    ("exam CKA", "", "exam 'CKA' is unknown; expected one of CCDAK, CCAAK"),
    ("exam CCDAK --seed x", "", "--seed: 'x' received, expected a whole number"),
    ("exam CCDAK --seed 0", "", "mock 0 received, expected 1 or more"),
    ("exam CCDAK --seed=-5", "", "mock -5 received, expected 1 or more"),
    ("exam CCDAK --questions 0", "", "an exam of 0 questions received, expected 1 to 200"),
    ("exam CCDAK --questions 500", "", "an exam of 500 questions received, expected 1 to 200"),
    ("exam CCDAK --minutes nan", "", "an exam of nan minutes received, expected more than 0"),
    ("exam CCDAK --minutes inf", "", "an exam of inf minutes received, expected more than 0"),
    ("exam CCDAK --minutes=-1", "", "an exam of -1 minutes received, expected more than 0"),
    ("quiz eager --count 0", "", "count 0 received, expected at least 1"),
    ("exam CCDAK --store garbage.db", "", "garbage.db cannot be read"),
    ("exam CCDAK --store none/a.db", "", "none: does not exist; expected a folder"),
    ("answers export --to none/a.jsonl", "", "cannot be written (No such file or directory); expected a folder"),
    ("answers delete", "no\n", "Delete? (yes or no): Nothing was deleted."),
    (TWELVE, "\n99 g\nq\n", "question 99 received, expected 1 to 12"),
    (TWELVE, "\nx z\nq\n", "option 'z' received, expected one of a, b, c, d"),
    (TWELVE, "\nquit\n", "The exam is kept and its clock runs on"),
    (TWELVE, "\n?\nhelp\nq\n", "r(eview screen), hand in, h(elp), q(uit;"),
    (TWELVE, "\nhand in\nno\nq\n", "Open: 1 2 3 4 5 6 7 8 9 10 11 12. Flagged: none. Hand in? (yes or no): Not handed in."),
    ("quiz eager --count 1 --confidence", "zzz\nq\n", "answer 'zzz' received, expected"),
]  # fmt: skip


@pytest.fixture
def typed(tmp_path, monkeypatch, capsys):
    """Type a line in a folder of one's own: what it says, in one line."""
    monkeypatch.setenv("REBALANCE_KIT_ATTEMPTS", str(tmp_path / "attempts.sqlite"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "garbage.db").write_text("no database", "utf-8")

    def type_it(line, answers=""):
        monkeypatch.setattr("sys.stdin", io.StringIO(answers))
        out = io.StringIO()
        with suppress(SystemExit):
            cli.main(line.split(), out)
        return re.sub(r"\s+", " ", out.getvalue() + capsys.readouterr().err)

    return type_it


@pytest.mark.parametrize(("line", "answers", "sentence"), BY_COMMAND)
def test_it_is_answered_by_a_sentence(typed, tmp_path, line, answers, sentence):
    said = typed(line, answers)
    assert sentence in said and "Traceback" not in said
    assert "Sure, think so or guess" not in said
    assert not (tmp_path / "none").exists()


def test_help_and_quit_are_no_short_answers(tmp_path):
    out, store = io.StringIO(), Store(tmp_path / "a.sqlite")
    run_quiz(ids=["error-of-newcomer-kip848"], source=io.StringIO("help\nquit\n"), out=out, store=store)
    assert "an answer, Enter to pass the question over, q to stop" in out.getvalue()
    assert store.attempts() == ()


def test_another_length_does_not_hide_or_change_the_mock_that_is_open(typed):
    typed(TWELVE, "\nq\n")
    assert "30 minutes received for an exam that is open with 18; expected the same" in typed(
        f"{TWELVE} --minutes 30"
    )
    typed(TWELVE, "hand in\nyes\n\n")
    assert "60 questions, 90 minutes" in typed("exam CCDAK", "q\n")


def test_as_many_are_chosen_as_are_asked_for_with_or_without_blanks(tmp_path):
    exam = ExamSitting.begin("CCDAK", questions=12, store=Store(tmp_path / "a.sqlite")).start()
    place = next(n for n, one in enumerate(exam.questions) if getattr(one, "many", False))
    exam.go(place)
    exam.answer("cd")
    assert exam.places()[place]["answered"]
    for given, number in (("a", 1), ("a b c", 3)):
        with pytest.raises(DataError, match=f"{number} chosen, expected exactly 2, as in a b"):
            exam.answer(given)


def test_a_second_window_is_told(tmp_path, typed):
    store = tmp_path / "attempts.sqlite"

    class Elsewhere(io.StringIO):
        """A terminal whose learner opens the exam once more, elsewhere, before the second line."""

        def readline(self, *_):
            line = super().readline()
            if line.startswith("f"):
                ExamSitting.begin("CCDAK", questions=12, store=Store(store)).start().flag()
            return line

    typed(TWELVE, "\nq\n")
    out = io.StringIO()
    run_exam("CCDAK", questions=12, store=Store(store), source=Elsewhere("f\nq\n"), out=out)
    assert "opened in another window" in out.getvalue()
