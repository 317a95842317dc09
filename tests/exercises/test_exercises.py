"""Every exercise: the solution is green, the stub is red, and wrong answers are told what is wrong with them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from rebalance_kit.exercises.checking import check_answer, expected
from rebalance_kit.exercises.runner import FromCell, FromFile
from rebalance_kit.exercises.task import load, names
from tests.support.exercises.learner import HIDDEN, SEED
from tests.support.thinning import LONG, one_of_each

WRONG = Path(__file__).parent / "wrong"
NAMES = names()
REAL = ("01-log-lines", "02-coordinator-table", "11-duplicates", "18-captured")


def wrong_answers():
    found = []
    for path in sorted(WRONG.glob("*/*.py"), key=lambda path: path.stem):
        spec = importlib.util.spec_from_file_location(f"wrong_{path.stem.replace('-', '_')}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found += [
            (path.stem, function) for name, function in vars(module).items() if name.startswith("wrong_")
        ]
    return found


ANSWERS = wrong_answers()


def folder_file(name, file):
    return FromFile(load(name).folder / file, load(name).task.function)


def test_there_are_enough_exercises_and_enough_wrong_answers_to_each():
    assert len(NAMES) >= 15
    counted = {name: sum(one == name for one, _ in ANSWERS) for name in NAMES}
    assert min(counted.values()) >= 3, counted
    assert sum(load(name).task.per_learner for name in NAMES) >= 2
    assert [name for name in NAMES if any(run.recorded for run in load(name).task.public.runs)] == list(REAL)


@pytest.mark.spark
@pytest.mark.parametrize("name", [name for name in NAMES if name not in HIDDEN])
def test_the_solution_passes_the_public_checks(bench, name):
    report = check_answer(load(name), folder_file(name, "solution.py"), bench)
    assert report.green, str(report)


@pytest.mark.spark
@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in HIDDEN else LONG) for name in NAMES])
def test_the_solution_passes_the_public_and_the_hidden_checks(bench, name):
    report = check_answer(load(name), folder_file(name, "solution.py"), bench, seed=SEED)
    assert report.green, str(report)
    assert report.hidden


@pytest.mark.spark
@pytest.mark.parametrize("name", NAMES)
def test_the_stub_passes_no_check_and_says_that_it_is_not_written_yet(bench, name):
    report = check_answer(load(name), folder_file(name, "answer.py"), bench)
    assert not any(line.passed for line in report.public)
    assert "not written yet" in str(report)


@pytest.mark.spark
@pytest.mark.parametrize(
    ("name", "answer"), one_of_each(ANSWERS, lambda one: one[0], lambda one: f"{one[0]}-{one[1].__name__}")
)
def test_a_wrong_answer_is_told_its_mistake(bench, name, answer):
    report = check_answer(load(name), FromCell(answer), bench)
    assert not report.green
    told = " ".join(line.words for line in report.public if line.passed is False)
    assert " ".join(answer.__doc__.split()) in told, str(report)


@pytest.mark.parametrize("name", NAMES)
def test_an_exercise_has_all_its_parts(name):
    exercise = load(name)
    assert len(exercise.hints) == 3
    readme = exercise.text("README.md")
    assert readme.startswith(f"# {name[:2]} · {exercise.task.title}\n")
    assert f"{exercise.task.minutes} minutes" in readme
    assert exercise.task.level.title() in readme
    for column in exercise.task.columns:
        assert f"| `{column}` |" in readme
    for file in ("answer.py", "solution.py"):
        assert f"def {exercise.task.function}(" in exercise.text(file)


@pytest.mark.golden
@pytest.mark.parametrize("name", NAMES)
def test_the_expected_output_is_the_truth(name, request):
    exercise = load(name)
    if request.config.getoption("--update-golden"):
        (exercise.folder / "expected.txt").write_text(expected(exercise.task), "utf-8")
    assert exercise.text("expected.txt") == expected(exercise.task)
