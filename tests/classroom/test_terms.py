"""What an instructor sets: roster, dates and the late rule, weights, attempts, words by hand, columns for a learning platform."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime

import pytest

from rebalance_kit.classroom.course import Course
from rebalance_kit.classroom.terms import read_terms
from rebalance_kit.classroom.writing import mark_and_write
from rebalance_kit.exercises.checking import AnswerReport, CheckLine
from rebalance_kit.model.errors import DataError

C1, C2 = "c1-write-range", "c2-write-sticky"
TERMS = """\
exercises:
  c1: {due: "2026-12-01T18:00+00:00", weight: 3}
  c2: {due: 2026-12-08}
late: {percent_per_day: 10, most_days: 5}
attempts: 2
"""
ROSTER = "learner,name,email,id,section\nada,Ada L.,ada@x.example,7,A\nben,Ben B.,ben@x.example,8,A\nzoe,=Zoe,,9,B\n"
COMMENTS = (
    "learner,exercise,comment,points\nben,c1,Read the sort key aloud.,55\nada,,Well done.,\nzoe,c2,Oral.,80\n"
)


def check(name, answer, seed):
    """As many lines pass as the answer says."""
    right = int(answer.read_text("utf-8"))
    lines = tuple(CheckLine(f"line {number}", number < right) for number in range(10))
    return AnswerReport(name, lines, lines)


def hand_in(course, tmp_path, at, **answers):
    place = tmp_path / f"in-{at:%d%H%M}"
    for who, (exercise, right) in answers.items():
        (place / who / exercise).mkdir(parents=True)
        (place / who / exercise / "answer.py").write_text(str(right), "utf-8")
    course.collect(place, at)


def moment(day, hour=12):
    return datetime(2026, 12, day, hour, tzinfo=UTC)


@pytest.fixture
def course(tmp_path):
    made = Course.begin(tmp_path / "course")
    for name, text in (("class.yaml", TERMS), ("roster.csv", ROSTER), ("comments.csv", COMMENTS)):
        (made.folder / name).write_text(text, "utf-8")
    return made


def rows(course, name="gradebook.csv"):
    text = (course.folder / name).read_text("utf-8")
    return {next(iter(row.values())): row for row in csv.DictReader(io.StringIO(text))}


def test_a_class_with_all_six_rules(course, tmp_path):
    hand_in(course, tmp_path, moment(1, 17), ada=(C1, 10), ben=(C1, 3), eve=(C1, 10))
    hand_in(course, tmp_path, moment(3, 19), ada=(C2, 0), ben=(C1, 9))
    hand_in(course, tmp_path, moment(4), ben=(C1, 10))
    marks = mark_and_write(course, check, (), lambda _: None)
    found = rows(course)
    assert set(found) == {"ada", "ben", "zoe", "eve"}
    assert (found["ada"][C1], found["ada"][C2], found["ada"]["mean"]) == ("100", "0", "75.0")
    assert (found["ben"][C1], found["ben"][C2], found["ben"]["not handed in"]) == ("55", "", C2)
    assert (found["zoe"][C1], found["zoe"][C2], found["zoe"]["attempts"]) == ("", "80", "0")
    assert found["zoe"]["name"] == "'=Zoe"
    assert "not on the roster" in found["eve"]["notes"]
    assert found["ben"]["late"] == f"{C1} 3 d"
    assert "3 attempts; the first 2 count" in found["ben"]["notes"]
    raw = next(one for one in marks.learners if one.learner == "ben").best[C1]
    assert raw.by_hand
    words = (course.folder / "feedback" / "ben.txt").read_text("utf-8")
    assert "Comment: Read the sort key aloud." in words
    assert f"{C2}: not handed in" in words
    page = (course.folder / "feedback" / "ben.html").read_text("utf-8")
    assert "Read the sort key aloud." in page
    assert "Content-Security-Policy" in page


def test_late_work_loses_by_the_day_that_has_begun_and_the_best_that_is_left_counts(course, tmp_path):
    terms = read_terms(course.folder)
    late = {hours: terms.days_late(C1, datetime(2026, 12, 1, 18, tzinfo=UTC) + hours * (moment(2) - moment(1)) / 24) for hours in (0, 1, 24, 25)}  # fmt: skip
    assert late == {0: 0, 1: 1, 24: 1, 25: 2}
    assert [terms.after_late(100, days) for days in (0, 1, 5, 6)] == [100, 90, 50, 0]
    hand_in(course, tmp_path, moment(1), ada=(C1, 8))
    hand_in(course, tmp_path, moment(4), ada=(C1, 10))
    mark_and_write(course, check, (), lambda _: None)
    assert rows(course)["ada"][C1] == "80"


def test_learning_platforms_get_their_columns_and_empty_is_not_zero(course, tmp_path):
    hand_in(course, tmp_path, moment(1), ada=(C1, 10), ben=(C2, 0))
    mark_and_write(course, check, (), lambda _: None)
    canvas = rows(course, "gradebook-canvas.csv")
    assert list(canvas)[:3] == ["    Points Possible", "Ada L.", "Ben B."]
    assert (canvas["Ada L."]["SIS User ID"], canvas["Ada L."][C1], canvas["Ada L."][C2]) == ("7", "100", "")
    moodle = rows(course, "gradebook-moodle.csv")
    assert (moodle["ben@x.example"][C2], moodle["ada@x.example"][C2]) == ("0", "")


def test_without_terms_nothing_is_set_and_there_is_no_mean(tmp_path):
    course = Course.begin(tmp_path / "course")
    hand_in(course, tmp_path, moment(1), ada=(C1, 10), gus=(C2, 10))
    mark_and_write(course, check, (), lambda _: None)
    assert (rows(course)["ada"][C1], rows(course)["ada"]["mean"]) == ("100", "")
    mark_and_write(course, check, (C1,), lambda _: None)
    assert rows(course)["ada"]["mean"] == "100.0"


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("class.yaml", "exercises: {c1: {due: soon}}", "class.yaml:1: exercises.c1.due 'soon' received"),
        ("class.yaml", "exercises: {nope: {}}", "nope"),
        ("class.yaml", "exercises: {c1: {weight: -1}}", "expected a number from 0 to 1000"),
        ("class.yaml", "late: {per_day: 3}", "per_day received; expected most_days, percent_per_day"),
        ("class.yaml", "attempts: 0", "expected a whole number from 1 on"),
        ("roster.csv", "name\nada\n", "columns name received; expected learner"),
        ("roster.csv", "learner\nada\nada\n", "'ada' stands there twice"),
        ("comments.csv", "learner,comment,points\nada,x,200\n", "points '200' of ada"),
    ],
)
def test_terms_that_cannot_hold_say_where_and_why(course, file, text, expected):
    (course.folder / file).write_text(text, "utf-8")
    with pytest.raises(DataError) as refused:
        read_terms(course.folder)
    assert expected in str(refused.value)
