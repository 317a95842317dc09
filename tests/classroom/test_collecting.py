"""What learners hand in: folders, zips, links, pipes, damaged and enormous files, notebooks, votes and exams."""

from __future__ import annotations

import csv
import io
import json
import os
import threading
import zipfile
from pathlib import PurePosixPath

import pytest

from rebalance_kit.classroom.class_report import as_page, as_text, sections
from rebalance_kit.classroom.course import Course
from rebalance_kit.classroom.gradebook import gradebook
from rebalance_kit.classroom.handed_in import HandedIn, learner_of, read_entry
from rebalance_kit.classroom.marking import CourseMarks, SparkChecker, mark_course, mark_of
from rebalance_kit.classroom.questions import bank, exam_marks, mark_questions
from rebalance_kit.classroom.similarity import alike
from rebalance_kit.classroom.submissions import sorted_out
from rebalance_kit.exercises.checking import AnswerReport, CheckLine
from rebalance_kit.exercises.child.attempt import OUT_OF_TIME
from rebalance_kit.exercises.code_task import CaseLine, CodeReport
from rebalance_kit.exercises.task import load
from rebalance_kit.exercises.workspace import find
from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.blueprint import blueprint, compose
from rebalance_kit.quiz.sittings.poll import Ballot, asked_in_poll, write_code

NAME = load("01").name
POLL = "eager-crash-which-unread"


def handed_in(learner="ada", **files):
    return HandedIn(learner, {PurePosixPath(name): text.encode() for name, text in files["files"].items()})


def refuse(name, answer, seed):
    raise AssertionError(f"{name}, {answer}, {seed}: nothing is to be run")


def test_a_second_download_is_the_same_learner(tmp_path):
    assert learner_of(tmp_path / "ada (3).zip") == "ada"
    assert learner_of(tmp_path / "ada (née King)") == "ada (née King)"


def test_links_and_pipes_are_noted_and_not_read(tmp_path):
    entry = tmp_path / "ada"
    entry.mkdir()
    (tmp_path / "secret.py").write_text("x = 1")
    (entry / "answer.py").symlink_to(tmp_path / "secret.py")
    os.mkfifo(entry / "pipe.py")
    work = read_entry(entry)
    assert work.files == {}
    assert len(work.notes) == 2


def test_a_damaged_and_an_enormous_zip_are_noted(tmp_path):
    (tmp_path / "bad.zip").write_bytes(b"PK no zip")
    assert "damaged zip" in read_entry(tmp_path / "bad.zip").notes[0]
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("answer.py", b"0" * 50_000_000)
        packed.writestr("../../outside.py", "def log_events(lines): return lines")
    work = read_entry(tmp_path / "bomb.zip")
    assert "more than 1,000,000 bytes" in work.notes[0]
    assert work.files == {}  # a path that leaves its zip is not read


def test_the_same_work_twice_is_one_attempt(tmp_path):
    (tmp_path / "in" / "ada" / NAME).mkdir(parents=True)
    (tmp_path / "in" / "ada" / NAME / "answer.py").write_text("x = 1")
    course = Course.begin(tmp_path / "course")
    assert "attempt 1" in course.collect(tmp_path / "in")[0]
    assert "nothing new" in course.collect(tmp_path / "in")[0]
    assert len(course.attempts()) == 1


def test_a_folder_with_other_files_and_a_foreign_course_are_refused(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(DataError, match="holds other files"):
        Course.begin(tmp_path)
    Course.begin(tmp_path / "c", "spring")
    with pytest.raises(DataError, match="of the course 'spring'"):
        Course.begin(tmp_path / "c", "autumn")


def test_a_function_in_a_notebook_is_an_answer_with_its_imports():
    cells = [
        {
            "cell_type": "code",
            "source": ["from pyspark.sql import functions as F\n", "%time 1\n", "LIMIT = 3"],
        },
        {
            "cell_type": "code",
            "source": "print('run')\ndef log_events(lines):\n    return lines.limit(LIMIT)",
        },
    ]
    work = sorted_out(handed_in(files={"01.ipynb": json.dumps({"nbformat": 4, "cells": cells})}), "c")
    text = work.answers[NAME].decode()
    assert "import functions as F" in text
    assert "LIMIT = 3" in text
    assert "print" not in text


def test_a_file_that_answers_nothing_is_named():
    work = sorted_out(handed_in(files={"shopping.py": "milk = 2"}), "c")
    assert work.answers == {}
    assert "shopping.py: answers no exercise" in work.notes[0]


def test_claimed_credit_counts_nothing():
    item = bank().item(POLL)
    choice = asked_in_poll(item, 1)
    wrong = next(option.id for option in choice.options if not option.right)
    claim = {
        "mode": "exam",
        "exam": "e1",
        "item": POLL,
        "seed": 1,
        "given": wrong,
        "correct": True,
        "credit": 1.0,
    }
    marks, notes = mark_questions([json.dumps(claim), "no json", '{"item": "unknown"}'], [])
    assert [mark.credit for mark in marks] == [0.0]
    assert any("claim another credit" in note for note in notes)
    assert any(note.startswith("2 lines") for note in notes)


def test_a_right_answer_of_an_exam_counts():
    key = next(option.id for option in asked_in_poll(bank().item(POLL), 1).options if option.right)
    line = {
        "mode": "exam",
        "exam": "e1",
        "item": POLL,
        "seed": 1,
        "given": key,
        "correct": True,
        "credit": 1.0,
    }
    marks, notes = mark_questions([json.dumps(line)], [])
    assert [mark.credit for mark in marks] == [1.0]
    assert notes == ()


def sat(exam, at, seed=1, *, given="", items=None):
    """The lines of a sitting of CCDAK."""
    asked = items or [entry.item for entry in compose(blueprint("CCDAK"), bank(), seed).asked]
    line = {"mode": "exam", "exam": exam, "seed": seed, "given": given, "correct": False, "credit": 0.0}
    return [json.dumps({**line, "item": item, "at": at}) for item in asked]


def test_the_first_whole_sitting_of_a_paper_is_an_exam_and_a_part_of_one_or_a_made_up_one_is_none():
    whole, again, other = sat("first", 20.0), sat("second", 30.0), sat("third", 10.0, seed=2)
    marks, notes = exam_marks([*again, *whole, *other])
    assert [(mark.paper, mark.percent) for mark in marks] == [("CCDAK 2", 0.0), ("CCDAK 1", 0.0)]
    paper = {entry.item for entry in compose(blueprint("CCDAK"), bank(), 1).asked}
    foreign = next(item.head.id for item in bank().items if item.head.id not in paper)
    assert notes == ("exam second: CCDAK 1 was sat before; the first sitting counts",)
    for forged in (whole[:-1], sat("one", 1.0, items=[POLL]), [*whole, *sat("first", 1.0, items=[foreign])]):
        marks, notes = exam_marks(forged)
        assert marks == ()
        assert "no whole paper" in notes[0]


def test_beliefs_and_votes_reach_the_report(tmp_path):
    choice = asked_in_poll(bank().item(POLL), 1)
    believed = next(option for option in choice.options if option.misconception)
    (tmp_path / "in" / "=cmd()").mkdir(parents=True)
    code = write_code(Ballot(POLL, 1, "0a1b2c3d", believed.id), "k2m4p")
    (tmp_path / "in" / "=cmd()" / "my.vote").write_text(code)
    (tmp_path / "in" / "=cmd()" / "<b>.py").write_text("x = 1")
    course = Course.begin(tmp_path / "course")
    course.collect(tmp_path / "in")
    assert "of no room of this course" in mark_course(course, refuse).learners[0].notes[-1]
    course.add_rooms(["k2m4p"])
    marks = mark_course(Course.open(course.folder), refuse)
    parts = sections(marks, bank().beliefs)
    assert believed.misconception in as_text(marks, parts)
    assert "0 of 1" in as_text(marks, parts)
    assert "<b>" not in as_page(marks, parts)
    rows = list(csv.DictReader(io.StringIO(gradebook(marks))))
    assert rows[0]["learner"] == "'=cmd()"


def test_half_is_for_the_public_checks_and_half_for_the_hidden_ones():
    passed, failed = CheckLine("a", True), CheckLine("b", False, "words")
    assert mark_of("x", AnswerReport("x", (passed, failed))).points == 25
    mark = mark_of("x", AnswerReport("x", (passed,), (passed, failed)))
    assert (mark.points, mark.stalled_at) == (75, "on unseen data: b")


def test_answers_that_only_share_what_all_have_are_not_alike():
    text = "def f(x):\n    y = g(x, 1) + h(x, 2) - k(x, 3)\n    return y.a(1).b(2).c(3)\n"
    renamed = text.replace("y", "result").replace("x", "frame") + "# mine\n"
    assert [(pair.first, pair.second) for pair in alike("e", {"ada": text, "ben": renamed})] == [
        ("ada", "ben")
    ]
    assert alike("e", {"ada": text, "ben": renamed}, own=[text]) == ()
    assert alike("e", dict.fromkeys(("ada", "ben", "cleo", "dan"), text)) == ()


def test_an_empty_course_has_a_report():
    marks = CourseMarks("c", (), (), ())
    assert "No exercise was handed in." in as_text(marks, sections(marks, {}))


def test_a_code_exercise_is_marked_without_spark(tmp_path):
    exercise = find("c1")
    stub, solution = exercise.text("answer.py"), exercise.text("solution.py")
    for learner, text in (("ada", solution), ("ben", stub), ("cleo", "import os\nos._exit(0)\n" + solution)):
        (tmp_path / "in" / learner / exercise.name).mkdir(parents=True)
        (tmp_path / "in" / learner / exercise.name / "answer.py").write_text(text)
    course = Course.begin(tmp_path / "course")
    course.collect(tmp_path / "in")
    check = SparkChecker()
    marks = mark_course(course, check, [exercise.name])
    assert [learner.best[exercise.name].points for learner in marks.learners] == [100, 0, 0]
    assert not check._benches  # no Spark was begun


def _course_of(tmp_path, learners):
    for learner in learners:
        (tmp_path / "in" / learner / "c1-write-range").mkdir(parents=True)
        (tmp_path / "in" / learner / "c1-write-range" / "answer.py").write_text(f"# {learner}\n")
    course = Course.begin(tmp_path / "course")
    course.collect(tmp_path / "in")
    return course


def _report(passed, words=""):
    line = CaseLine("assigns", passed, float(passed), 1, words)
    return CodeReport("c1-write-range", (line,), (line,))


def test_an_answer_that_is_late_beside_another_is_tried_once_more_alone(tmp_path):
    course, running, beside, tries = _course_of(tmp_path, ["ada", "ben", "cleo"]), set(), [], []
    together = threading.Barrier(2, timeout=30)

    def check(name, path, seed):
        who = path.read_text()[2:].strip()
        tries.append(who)
        running.add(who)
        if who in ("ada", "ben") and tries.count(who) == 1:
            together.wait()
        beside.append((who, len(running)))
        running.discard(who)
        late = who == "ben" or (who == "ada" and tries.count("ada") == 1)
        return _report(not late, f"{OUT_OF_TIME} 30 s" if late else "")

    told = []
    marks = mark_course(course, check, ["c1-write-range"], told.append, 2)
    assert sorted(tries) == ["ada", "ada", "ben", "ben", "cleo"]
    assert beside[-2:] == [("ada", 1), ("ben", 1)]
    assert [learner.best["c1-write-range"].points for learner in marks.learners] == [100, 0, 100]
    assert told[:3] == ["1 of 3 answers", "2 of 3 answers", "3 of 3 answers"]


def test_what_is_stopped_beside_another_gets_no_mark(tmp_path):
    course, both, may_end = _course_of(tmp_path, ["ada", "ben"]), threading.Barrier(2), threading.Event()

    def check(name, path, seed):
        both.wait(30)
        if path.read_text().startswith("# ben"):
            may_end.wait(30)
        return _report(False)

    def stop(_):
        raise KeyboardInterrupt

    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt):
        mark_course(course, check, ["c1-write-range"], stop, 2)
    may_end.set()
    for thread in set(threading.enumerate()) - before:
        thread.join(30)
    assert len(json.loads((course.folder / "marks.json").read_text())) == 1
