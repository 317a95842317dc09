"""Thirty submissions, nine of them hostile or not as asked: every mark is right, nothing is harmed, and words say why."""

from __future__ import annotations

import csv
import io

import pytest

from rebalance_kit.classroom.course import Course
from rebalance_kit.classroom.marking import SparkChecker, mark_course
from rebalance_kit.classroom.writing import mark_and_write, write_report
from rebalance_kit.exercises.spark_bench import SparkBench
from rebalance_kit.model.errors import DataError
from tests.support.classroom.class_of_thirty import COURSE, EXERCISE, HONEST, HOSTILE, hand_in

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]  # the first test marks them all
ONE_OF_EACH = {"not-filtered", "stub-0", "own-way", "copied", "again-1", "renamed"}
ODD = {"nothing", "old-version", "other-seed", "loop", "fake-marks"}


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    """One of each kind, marked on one Spark, which is renewed only where an answer breaks it: a Java per answer took most of the time.

    At the end the bench is told that the next answer must meet nothing of this one, as whoever marks tells it.
    Thirty take as long as the benchmark says. Other hostile answers are in ``tests/exercises``.
    """
    top = tmp_path_factory.mktemp("class")
    wanted = hand_in(top / "in")
    for entry in (top / "in").iterdir():
        if entry.name.split(" ")[0].removesuffix(".zip") not in ONE_OF_EACH | ODD:
            entry.rename(top / entry.name)
    course = Course.begin(top / "course", COURSE)
    course.collect(top / "in")
    bench = SparkBench()
    told = []
    marks = mark_and_write(course, SparkChecker(25.0, bench), (), told.append)
    last, bench._fresh = bench._host(), True
    bench.next_answer()
    status = last.wait(0)
    bench.close()
    return course, wanted, marks, status


def points(marks):
    return {
        learner.learner: learner.best[EXERCISE.name].points if EXERCISE.name in learner.best else 0
        for learner in marks.learners
    }


def test_there_are_thirty(tmp_path):
    assert len(hand_in(tmp_path)) == 30
    assert len(HONEST) + len(HOSTILE) == 24


def test_every_mark_is_right(marked):
    _, wanted, marks, _ = marked
    given = points(marks)
    assert set(given) == ONE_OF_EACH | ODD
    for learner, mark in given.items():
        if wanted[learner] is None:
            assert 0 < mark < 100, learner
        else:
            assert mark == wanted[learner], learner


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        ("loop", "no answer within 25 s (at line 2)"),
        ("fake-marks", "column 'at_ms' is missing"),
        ("stub-0", "not written yet"),
        ("nothing", "no work found"),
        ("renamed", "taken as the answer to 01-log-lines"),
        ("old-version", "a notebook of format 3; expected 4"),
        ("old-version", "begun with version 0.0.1"),
        ("other-seed", "marked with the data of 'other-seed'"),
    ],
)
def test_the_learner_reads_why(marked, learner, words):
    course = marked[0]
    assert words in (course.folder / "feedback" / f"{learner}.txt").read_text("utf-8")


def test_nothing_but_the_course_was_written(marked):
    course = marked[0]
    top = {path.name for path in course.folder.iterdir()}
    assert top == {"course.json", "submissions", "marks.json", "gradebook.csv", "asked.txt", "feedback"} | (
        top & {"report.txt", "report.html"}
    )
    assert not list(course.folder.parent.rglob("escaped.py"))


def test_where_answers_must_not_meet_the_spark_of_the_one_before_has_ended(marked):
    assert marked[3] is not None


def test_the_gradebook_has_a_row_per_learner(marked):
    course, _, marks, _ = marked
    rows = list(csv.DictReader(io.StringIO((course.folder / "gradebook.csv").read_text("utf-8"))))
    assert {row["learner"]: int(row[EXERCISE.name] or 0) for row in rows} == points(marks)
    assert {row["learner"]: row["attempts"] for row in rows}["again-1"] == "2"


def test_only_the_copied_pair_is_to_be_looked_at(marked):
    assert [(pair.first, pair.second) for pair in marked[2].pairs] == [("copied", "own-way")]


def test_the_report_names_where_the_exercise_stalls_and_escapes(marked):
    course = marked[0]
    text = write_report(course)
    assert "look at these two: copied, own-way" in text
    assert "return a DataFrame with the requested columns (" in text
    assert "<script" not in (course.folder / "report.html").read_text("utf-8")


def test_marks_once_given_are_not_computed_again(marked):
    course, _, marks, _ = marked

    def refuse(name, answer, seed):
        raise DataError(f"{name} {answer} {seed} would run again")

    assert points(mark_course(course, refuse)) == points(marks)
