"""Exercises for Gradescope and nbgrader: the marks are the kit's own, and nothing of the solution goes out."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from rebalance_kit.classroom import graders
from rebalance_kit.cli import main
from rebalance_kit.exercises.workspace import all_names, find

RANGE = "c1-write-range"


@pytest.fixture
def handed_in(tmp_path):
    (tmp_path / "submission").mkdir()
    about = {"users": [{"email": "ada@example.org"}], "assignment": {"title": "Range"}}
    (tmp_path / "submission_metadata.json").write_text(json.dumps(about), "utf-8")

    def results(text, name="answer.py"):
        if text is not None:
            (tmp_path / "submission" / name).write_text(text, "utf-8")
        assert graders.main([RANGE, str(tmp_path)]) == 0
        return json.loads((tmp_path / "results" / "results.json").read_text("utf-8"))

    return results


def test_a_right_answer_earns_a_hundred_and_the_tests_add_up_to_it(handed_in):
    results = handed_in(find(RANGE).text("solution.py"), "mine.py")
    assert results["score"] == 100
    assert sum(test["score"] for test in results["tests"]) == pytest.approx(100, abs=0.1)
    assert sum(test["max_score"] for test in results["tests"]) == pytest.approx(100, abs=0.1)


def test_a_wrong_answer_is_told_its_mistake_and_nothing_earns_nothing(handed_in):
    assert "expected answer.py, which defines assign" in handed_in(None)["tests"][0]["output"]
    wrong = handed_in(find(RANGE).text("solution.py").replace("place < rest", "place <= rest"))
    assert wrong["score"] == 0
    assert wrong["tests"][0]["output"] == "partition orders-7 does not exist."


def test_every_exercise_becomes_an_assignment_that_holds_no_solution(tmp_path):
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed: nothing to validate by")
    target = tmp_path / "course.zip"
    assert main(["classroom", "nbgrader", *all_names(), "--to", str(target)], io.StringIO()) == 0
    with zipfile.ZipFile(target) as packed:
        assert {name.split("/")[1] for name in packed.namelist()} == set(all_names())
        for name in packed.namelist():
            notebook = nbformat.reads(packed.read(name).decode(), as_version=4)
            nbformat.validate(notebook)
            answer = notebook.cells[1].source
            assert answer.count("### BEGIN SOLUTION") == answer.count("### END SOLUTION") > 0
            kept = answer.split("### BEGIN SOLUTION")[1].split("### END SOLUTION")[0].strip()
            assert kept == "raise NotImplementedError" or kept.startswith("ANSWER = ")
