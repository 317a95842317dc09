"""Every code exercise: the solution is green, the stub is red, and each wrong answer is told its own mistake."""

from __future__ import annotations

import ast
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

import pytest

from rebalance_kit.exercises.code_task import check_code, load, names
from rebalance_kit.exercises.runner import FromFile
from rebalance_kit.simulation.permalink import read_link
from tests.support.exercises.learner import SEED

WRONG = Path(__file__).parent / "wrong_code"
ANSWERS = sorted(WRONG.glob("*/*.py"))


ON_REAL_CLIENTS = ("c7-", "c8-")


@lru_cache
def report(name, path, seed=None):
    return check_code(load(name), FromFile(path, load(name).task.function), seed=seed)


@pytest.fixture(scope="module", autouse=True)
def _clients_run_beside_each_other(request):
    """Each check of real clients takes seconds in which little happens: those that are asked for run at once."""
    asked = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    paths = {params["path"] for params in asked if "path" in params and params["path"] in ANSWERS}
    jobs = [(path.parent.name, path) for path in paths if path.parent.name.startswith(ON_REAL_CLIENTS)]
    solved = {params["name"] for params in asked if str(params.get("name")).startswith(ON_REAL_CLIENTS)}
    jobs += [(name, load(name).folder / "solution.py", SEED) for name in solved]
    with ThreadPoolExecutor(max(len(jobs), 1)) as pool:
        list(pool.map(lambda job: report(*job), jobs))


@pytest.mark.parametrize("name", names())
def test_the_solution_earns_all_points_of_the_public_and_the_hidden_cases(name):
    checked = report(name, load(name).folder / "solution.py", SEED)
    assert checked.green, str(checked)
    assert checked.hidden
    assert checked.earned == checked.points > 0


@pytest.mark.parametrize("name", names())
def test_the_stub_passes_no_check_and_says_that_it_is_not_written_yet(name):
    checked = report(name, load(name).folder / "answer.py")
    assert not any(line.passed for line in checked.public)
    assert "not written yet" in str(checked)
    assert checked.earned == 0


@pytest.mark.parametrize("path", ANSWERS, ids=[f"{path.parent.name}-{path.stem}" for path in ANSWERS])
def test_a_wrong_answer_is_told_its_mistake_and_gets_a_link_that_opens_it(path):
    checked = report(path.parent.name, path)
    failing = [line for line in checked.public if line.passed is False]
    assert failing, str(checked)
    words = ast.get_docstring(ast.parse(path.read_text("utf-8")))
    assert words in " ".join(line.words for line in failing), str(checked)
    for line in failing:
        if line.link:
            assert read_link(line.link).scenario.members


@pytest.mark.parametrize("name", names())
def test_an_exercise_has_all_its_parts_and_at_least_four_wrong_answers(name):
    exercise = load(name)
    assert len(exercise.hints) == 3
    readme = exercise.text("README.md")
    assert readme.startswith(f"# {name.partition('-')[0].upper()} · {exercise.task.title}\n")
    assert f"*{exercise.task.level.title()}, {exercise.task.minutes} minutes" in readme
    for file in ("README.md", "solution.py", "answer.py"):
        assert exercise.task.function in exercise.text(file)
    assert len(list((WRONG / name).glob("*.py"))) >= 4


@pytest.mark.parametrize("name", names())
def test_two_learners_have_other_hidden_cases_and_each_the_same_again(name):
    exercise = load(name)
    assert exercise.hidden(1) == exercise.hidden(1)
    assert exercise.hidden(1) != exercise.hidden(2)
