"""What an answer that raises, loops or returns nonsense is told."""

from __future__ import annotations

import textwrap

import pytest

from rebalance_kit.exercises.checking import check_answer
from rebalance_kit.exercises.runner import FromFile, run_answer
from rebalance_kit.exercises.task import load

pytestmark = pytest.mark.spark
EASY = "03-count-rebalances"
HEAD = "from pyspark.sql import functions as F\n\n\ndef rebalances_per_run(events):\n"


@pytest.fixture
def told(bench, tmp_path):
    """The words about an answer with this body (lines 5 and on of the file), or with this whole text."""

    def words(body, whole=False, limit_s=60.0):
        file = tmp_path / "answer.py"
        file.write_text(body if whole else HEAD + textwrap.indent(textwrap.dedent(body), "    "), "utf-8")
        task = load(EASY).task
        report = check_answer(load(EASY), FromFile(file, task.function), bench, limit_s=limit_s)
        assert [line.passed for line in report.public] == [False] + [None] * (len(report.public) - 1)
        assert str(tmp_path) not in report.public[0].words
        return report.public[0].words

    return words


def test_an_error_is_told_with_the_line_of_the_answer(told):
    assert told("x = 1\nreturn events.nosuch().x").startswith("line 6: ")


def test_an_unknown_column_is_told_with_the_line_and_a_next_step(told):
    words = told('return events.groupBy("run").agg(F.count("events").alias("rebalances"))')
    assert words.startswith("line 5: ")
    assert "There is no column of that name" in words


def test_an_error_that_comes_only_when_rows_are_made_is_told_with_the_line(told):
    words = told(
        'n = F.col("text").cast("int")\nreturn events.select("run", n.cast("long").alias("rebalances"))'
    )
    assert words.startswith("line 5: ")
    assert "try_cast" in words


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("events.count()", "returned None. Did the last line lose its `return`?"),
        ("return events.toPandas()", "returned a DataFrame, expected a Spark DataFrame"),
        ("return events.collect()", "returned a list, expected a Spark DataFrame"),
        ("return 7", "returned a int, expected a Spark DataFrame"),
        ("return events", "column 'rebalances' is missing"),
        (
            'return events.select("run", F.lit("3").alias("rebalances"))',
            "column 'rebalances' is of type string, expected bigint",
        ),
    ],
)
def test_nonsense_is_named(told, body, words):
    assert words in told(body)


def test_a_file_that_python_cannot_read_is_told_with_its_line(told):
    assert told("def rebalances_per_run(events)\n    pass\n", whole=True).startswith(
        "line 1: Python cannot read this"
    )


def test_a_file_without_the_function_is_told_so(told):
    assert "has no function rebalances_per_run" in told("def other(): pass\n", whole=True)


def test_a_missing_file_is_told_how_to_get_one(bench, tmp_path):
    done = run_answer(load(EASY).task, FromFile(tmp_path / "answer.py", "f"), [], bench)
    assert "exercise start" in done.problem


def test_a_loop_ends_with_the_limit_and_the_session_goes_on(told):
    words = told("while True:\n    pass", limit_s=1.5)
    assert "no answer within 1.5 s (at line " in words
    assert "returned None" in told("pass")


def test_a_job_that_takes_too_long_is_interrupted(told):
    words = told("n = events.sparkSession.range(10**13).where('id % 7 = 3').count()\nreturn n", limit_s=2)
    assert "no answer within 2 s" in words
    assert "returned None" in told("pass")


def test_an_answer_of_too_many_rows_is_not_collected(told):
    assert "more than 20,000 rows" in told(
        'return events.sparkSession.range(10**6).selectExpr("\'a\' as run", "id as rebalances")'
    )


def test_exit_is_an_error_like_any_other(told):
    assert "SystemExit" in told("raise SystemExit(3)")
