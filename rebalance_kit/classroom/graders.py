"""Exercises for two other graders: an autograder zip for Gradescope, and assignments for nbgrader's course folder.

Both carry the kit's own checks; what a mark is made of stays as in ``marking``: half for the public checks, half for the hidden ones.
"""

from __future__ import annotations

import json
import os
import sys
import zipfile
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from rebalance_kit.classroom.handed_in import read_entry
from rebalance_kit.classroom.handing_out import pip
from rebalance_kit.classroom.marking import LIMIT_S, Report, SparkChecker, mark_of
from rebalance_kit.classroom.submissions import ANSWER, sorted_out
from rebalance_kit.exercises.checking import check_answer
from rebalance_kit.exercises.code_task import CaseLine, CodeExercise, check_code
from rebalance_kit.exercises.runner import FromFile
from rebalance_kit.exercises.spark_bench import shared_bench
from rebalance_kit.exercises.wall import kinds
from rebalance_kit.exercises.workspace import AnyExercise, Identity, find, whoever
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.files import draft_of, scratch_for

_ROOT = Path(__file__).resolve().parents[2]
_NAME = "rebalance-kit"
_SETUP = """#!/usr/bin/env bash
# Gradescope runs this once, as root, on its base image of Ubuntu 24.04 (Python 3.11 or later is needed).
set -e
apt-get update
apt-get install -y {packages}
python3 -m venv /autograder/kit
/autograder/kit/bin/pip install "{name}{extras} @ file:///autograder/source/{wheel}"
"""
_RUN = """#!/usr/bin/env bash
exec /autograder/kit/bin/python -m rebalance_kit.classroom.graders {exercise} /autograder
"""
HALF = 50


def gradescope(name: str, target: Path) -> str:
    """Write the autograder of one exercise: ``setup.sh``, ``run_autograder`` and the kit's wheel. Return the exercise's name."""
    exercise = find(name)
    extras, packages = _needs(exercise)
    with draft_of(target) as draft, scratch_for("wheel") as folder:
        wheel = own_wheel(folder)
        setup = _SETUP.format(packages=packages, name=_NAME, extras=extras, wheel=wheel.name)
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as packed:
            _put(packed, "setup.sh", setup)
            _put(packed, "run_autograder", _RUN.format(exercise=exercise.name))
            packed.write(wheel, wheel.name)
    return exercise.name


def _put(packed: zipfile.ZipFile, name: str, text: str) -> None:
    info = zipfile.ZipInfo(name)
    info.external_attr = 0o755 << 16
    packed.writestr(info, text)


def _needs(exercise: AnyExercise) -> tuple[str, str]:
    """The kit's extras, and Ubuntu's packages, that an exercise's check needs."""
    if not isinstance(exercise, CodeExercise):
        return "[spark]", "python3-venv openjdk-17-jre-headless bubblewrap"
    return ("[clients]" if exercise.name.startswith(("c7", "c8")) else ""), "python3-venv bubblewrap"


def own_wheel(folder: Path) -> Path:
    """The wheel of this kit in ``folder``: built in a checkout, else put together again from the installed files."""
    if (_ROOT / "pyproject.toml").is_file():
        pip("wheel", "--no-deps", "--wheel-dir", str(folder), str(_ROOT), scratch=folder)
        return next(folder.glob("rebalance_kit-*.whl"))
    try:
        installed = distribution(_NAME)
    except PackageNotFoundError as error:
        raise DataError(f"{_ROOT}: holds no installed {_NAME}; expected one that pip installed") from error
    target = folder / f"rebalance_kit-{installed.version}-py3-none-any.whl"
    info = f"rebalance_kit-{installed.version}.dist-info/"
    own = {f"{info}{name}" for name in ("INSTALLER", "REQUESTED", "direct_url.json", "RECORD")}
    record = []
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in installed.files or ():
            name = file.as_posix()
            if name.startswith("..") or "__pycache__" in name or name in own:
                continue
            packed.writestr(name, Path(str(installed.locate_file(file))).read_bytes())
            digest = "" if file.hash is None else f"{file.hash.mode}={file.hash.value}"
            record.append(f"{name},{digest},{file.size or ''}\n")
        packed.writestr(f"{info}RECORD", "".join([*record, f"{info}RECORD,,\n"]))
    return target


def grade(name: str, root: Path) -> Mapping[str, Any]:
    """Check what lies in ``root/submission`` and return Gradescope's results, out of 100.

    The hidden data are drawn for the first submitter's address and the assignment's title, as ``submission_metadata.json`` has them.
    """
    exercise = find(name)
    about = _about(root / "submission_metadata.json")
    answer = _answer(root / "submission", exercise)
    if answer is None:
        words = f"no answer to {exercise.name} was handed in; expected answer.py, which defines {exercise.task.function}"
        return {"score": 0, "tests": [_test("an answer", 0, 2 * HALF, words)]}
    with scratch_for("graded") as folder:
        file = folder / "answer.py"
        file.write_bytes(answer)
        check = SparkChecker(LIMIT_S, unconfined=kinds.best() == kinds.NONE)
        try:
            report = check(exercise.name, file, about.seed(exercise.name))
        finally:
            check.close()
    return {"score": mark_of(exercise.name, report).points, "tests": _tests(report)}


def _about(path: Path) -> Identity:
    try:
        said = json.loads(path.read_text("utf-8"))
        return Identity(str(said["users"][0]["email"]), str(said["assignment"]["title"]))
    except (OSError, ValueError, LookupError, TypeError):
        return Identity("nobody")


def _answer(folder: Path, exercise: AnyExercise) -> bytes | None:
    """The bytes of the answer in a folder of work: as ``classroom collect`` finds it, else ``answer.py``, else the one ``.py``."""
    work = read_entry(folder)
    found = sorted_out(work, "").answers.get(exercise.name)
    if found is not None:
        return found
    code = {path: data for path, data in work.files.items() if path.suffix == ".py"}
    named = [data for path, data in code.items() if path.name == ANSWER]
    return next(iter(named or (code.values() if len(code) == 1 else ())), None)


def _tests(report: Report) -> list[Mapping[str, Any]]:
    public = _half(report.public, "")
    if not report.hidden:
        return [*public, _test("data you have not seen", 0, HALF, "Looked at once the checks above pass.")]
    return [*public, *_half(report.hidden, "on data you have not seen: ")]


def _half(lines: Sequence[Any], before: str) -> list[Mapping[str, Any]]:
    whole = sum(line.points if isinstance(line, CaseLine) else 1 for line in lines)
    tests = []
    for line in lines:
        most = line.points if isinstance(line, CaseLine) else 1
        earned = line.earned if isinstance(line, CaseLine) else int(line.passed is True)
        words = "" if before else line.words
        tests.append(_test(before + line.title, HALF * earned / whole, HALF * most / whole, words))
    return tests


def _test(title: str, score: float, most: float, words: str) -> Mapping[str, Any]:
    return {
        "name": title,
        "score": round(score, 2),
        "max_score": round(most, 2),
        "output": words,
        "visibility": "visible",
    }


def nbgrader(names: Sequence[str], target: Path) -> tuple[str, ...]:
    """Write a zip to unpack into an nbgrader course: ``source/EXERCISE/EXERCISE.ipynb`` each. Return the names."""
    chosen = [find(name) for name in names]
    with draft_of(target) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as packed:
        for exercise in chosen:
            text = json.dumps(assignment(exercise), indent=1)
            packed.writestr(f"source/{exercise.name}/{exercise.name}.ipynb", text + "\n")
    return tuple(exercise.name for exercise in chosen)


def assignment(exercise: AnyExercise) -> Mapping[str, Any]:
    """A notebook of format 4.5 with nbgrader's metadata (schema 3): the task, a cell to answer in, and two that are graded."""
    stub = _marked(exercise.text("answer.py"))
    public = f'from rebalance_kit.classroom.graders import checked\n\nreport = checked("{exercise.name}", "answer.py")\nprint(report)\nassert report.green'
    hidden = f'### BEGIN HIDDEN TESTS\nassert checked("{exercise.name}", "answer.py", hidden=True).green\n### END HIDDEN TESTS'
    cells: list[Mapping[str, Any]] = [
        {"cell_type": "markdown", "id": "task", "metadata": {}, "source": exercise.text("README.md")},
        _cell("answer", f"%%writefile answer.py\n{stub}", solution=True),
        _cell("public", public, solution=False),
        _cell("hidden", hidden, solution=False),
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "cells": cells,
    }


def _marked(stub: str) -> str:
    """A stub whose open places stand between nbgrader's marks, so that the rest of it reaches the learner."""
    lines = []
    for line in stub.rstrip().split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        is_open = line.strip() == "raise NotImplementedError" or line.startswith("ANSWER = ")
        lines += [f"{indent}### BEGIN SOLUTION", line, f"{indent}### END SOLUTION"] if is_open else [line]
    return "\n".join(lines)


def _cell(name: str, source: str, *, solution: bool) -> Mapping[str, Any]:
    kind = {"grade": not solution, "locked": not solution, "solution": solution, "task": False}
    points = {} if solution else {"points": HALF}
    grading = {"schema_version": 3, "grade_id": name, "cell_type": "code", **kind, **points}
    return {
        "cell_type": "code",
        "id": name,
        "metadata": {"nbgrader": grading},
        "execution_count": None,
        "outputs": [],
        "source": source,
    }


def checked(name: str, file: str | os.PathLike[str], *, hidden: bool = False) -> Report:
    """The report on an answer in a file; ``hidden``: on the data drawn for whoever runs this, too."""
    exercise, path = find(name), Path(file)
    answer = FromFile(path, exercise.task.function)
    seed = whoever().seed(exercise.name) if hidden else None
    if isinstance(exercise, CodeExercise):
        return check_code(exercise, answer, seed=seed)
    return check_answer(exercise, answer, shared_bench(), seed=seed)


def main(arguments: Sequence[str]) -> int:
    """What Gradescope's ``run_autograder`` calls: write ``results/results.json`` below the autograder's folder."""
    name, root = arguments[0], Path(arguments[1])
    results = grade(name, root)
    (root / "results").mkdir(exist_ok=True)
    (root / "results" / "results.json").write_text(json.dumps(results, indent=1), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
