"""A class of thirty with twelve hostile submissions: every other learner is marked right, and the twelve are named."""

from __future__ import annotations

import io
import json
import os
import zipfile

import pytest

from rebalance_kit.classroom.course import Course
from rebalance_kit.classroom.handed_in import cells_alone
from rebalance_kit.classroom.marking import SparkChecker
from rebalance_kit.classroom.opening import notebooks_of
from rebalance_kit.classroom.writing import mark_and_write, write_report
from rebalance_kit.cli import main
from rebalance_kit.exercises.wall import kinds
from rebalance_kit.exercises.workspace import find
from rebalance_kit.model.errors import DataError

EXERCISE = find("c1")
RIGHT, STUB = EXERCISE.text("solution.py"), EXERCISE.text("answer.py")
HEAD = "import os, sys, time, json\ndef assign(partitions, members):\n    "
DEEP = "def assign(partitions, members):\n    return " + "lambda: " * 400 + "1\n"
CELLS = [{"cell_type": "code", "source": "def assign(partitions, members):\n    return {}"}]
WIDGET = {"application/vnd.jupyter.widget-state+json": {"state": {"x": {"state": {"_esm": "alert(1)"}}}}}


def notebook(**more):
    return json.dumps({"nbformat": 4, "cells": CELLS, **more})


HOSTILE = {
    "deep-code": {"x.ipynb": json.dumps({"nbformat": 4, "cells": [{"cell_type": "code", "source": DEEP}]})},
    "surrogate-notebook": {"x.ipynb": '{"nbformat":"\\ud800","cells":[]}'},
    "surrogate-notes": {f"{EXERCISE.name}/answer.py": STUB, f"{EXERCISE.name}/workspace.json": '{"kit":"\\ud800"}'},
    "escape-in-error": {f"{EXERCISE.name}/answer.py": HEAD + "raise ValueError('\\x1b[31m\\ud800')"},
    "x" * 250: {f"{EXERCISE.name}/answer.py": HEAD + "return {}"},
    "long-format": {"x.ipynb": json.dumps({"nbformat": "9" * 900_000, "cells": []})},
    "reads-others": {
        f"{EXERCISE.name}/answer.py": HEAD + "raise ValueError(open('COURSE/submissions/right-0/1/c1-write-range/answer.py').read())"
    },
    "writes-others": {
        f"{EXERCISE.name}/answer.py": HEAD + "open('COURSE/submissions/right-0/1/c1-write-range/answer.py', 'w').write('x')"
    },
    "forges-reply": {
        f"{EXERCISE.name}/answer.py": HEAD
        + "[os.write(n, b'{\"outputs\": [[], [], [], []]}\\n') for n in range(1, 12) if n < 4]; os._exit(0)"
    },
    "daemon": {f"{EXERCISE.name}/answer.py": HEAD + "os.fork() or (os.setsid(), time.sleep(99)); return {}"},
    "widget-notebook": {"x.ipynb": notebook(metadata={"widgets": WIDGET})},
}  # fmt: skip


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    if kinds.best() == kinds.NONE:
        pytest.skip("no wall on this machine")
    top = tmp_path_factory.mktemp("hostile")
    course = top / "course"
    for name in [*(f"right-{number}" for number in range(12)), *(f"stub-{number}" for number in range(6))]:
        place = top / "in" / name / EXERCISE.name
        place.mkdir(parents=True)
        (place / "answer.py").write_text(RIGHT if name.startswith("right") else STUB, "utf-8")
    for name, files in HOSTILE.items():
        for path, text in files.items():
            file = top / "in" / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text.replace("COURSE", str(course)), "utf-8")
    with zipfile.ZipFile(top / "in" / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for number in range(600):
            packed.writestr(f"{number}.py", b"#" * 1_100_000)
    taken = Course.begin(course, "spring")
    lines = taken.collect(top / "in")
    said = []
    marks = mark_and_write(taken, SparkChecker(10), (), said.append, 2)
    return taken, lines, marks


pytestmark = pytest.mark.may_skip("a machine without a wall marks nobody")


def test_there_are_thirty_of_whom_twelve_are_hostile(marked):
    assert len(marked[2].learners) == 30
    assert len(HOSTILE) + 1 == 12


def test_every_other_learner_is_marked_right(marked):
    given = {
        one.learner: one.best[EXERCISE.name].points if EXERCISE.name in one.best else 0
        for one in marked[2].learners
    }
    assert {name: points for name, points in given.items() if name.startswith("right")} == {
        f"right-{number}": 100 for number in range(12)
    }
    assert {points for name, points in given.items() if not name.startswith("right")} == {0}


def test_each_has_feedback_that_any_terminal_can_show(marked):
    files = list((marked[0].folder / "feedback").iterdir())
    assert len(files) == 60
    for file in files:
        assert "\x1b" not in file.read_text("utf-8")
        assert len(file.read_bytes()) < 40_000
    report = write_report(marked[0])
    assert "\x1b" not in report
    assert "<script" not in (marked[0].folder / "report.html").read_text("utf-8")


def test_answers_of_others_are_neither_read_nor_changed(marked):
    folder = marked[0].folder
    assert (folder / "submissions/right-0/1/c1-write-range/answer.py").read_text("utf-8") == RIGHT
    assert RIGHT.splitlines()[-1] not in (folder / "feedback" / "reads-others.txt").read_text("utf-8")


def test_a_notebook_is_stored_with_its_cells_alone(marked):
    (stored,) = (marked[0].folder / "submissions/widget-notebook/1").glob("*.ipynb")
    text = stored.read_text("utf-8")
    assert "def assign" in text
    assert "widget" not in text
    assert "_esm" not in text


def test_open_gives_cells_alone_of_a_stored_notebook_and_of_one_as_it_was_handed_in(marked, tmp_path):
    folder = marked[0].folder
    stored = notebooks_of(folder, "widget-notebook")
    handed = tmp_path / "evil.ipynb"
    handed.write_text(notebook(metadata={"widgets": WIDGET}), "utf-8")
    for copies in (stored, notebooks_of(handed)):
        (text,) = copies.values()
        assert b"def assign" in text
        assert b"_esm" not in text
    out = io.StringIO()
    assert main(["classroom", "open", str(handed), "--to", str(tmp_path / "copies")], out) == 0
    assert b"_esm" not in (tmp_path / "copies" / "evil.ipynb").read_bytes()
    for what, learner, attempt, words in (
        (folder, None, None, "expected one of"),
        (folder, "nobody", None, "expected one of"),
        (folder, "widget-notebook", 9, "attempt 9 received"),
        (folder, "right-0", None, "holds no notebook"),
        (tmp_path / "missing.ipynb", None, None, "no file that can be read"),
    ):
        with pytest.raises(DataError, match=words):
            notebooks_of(what, learner, attempt)


def test_what_is_no_notebook_has_no_cells():
    for text in (b"", b"[]", b"{}", b'{"cells": 1}', b"[" * 100_000):
        assert cells_alone(text) is None
    kept = json.loads(cells_alone(notebook(metadata={"x": 1}).encode()))
    assert set(kept) == {"nbformat", "nbformat_minor", "metadata", "cells"}
    assert kept["metadata"] == {}


def test_a_folder_that_is_no_utf_8_is_one_learner_as_any_other(tmp_path):
    place = os.fsencode(tmp_path) + b"/in/\xff\xfe"
    os.makedirs(place + b"/c1-write-range")  # noqa: PTH103 - a path of bytes
    with open(place + b"/c1-write-range/answer.py", "w") as file:  # noqa: PTH123
        file.write(STUB)
    course = Course.begin(tmp_path / "course")
    (line,) = course.collect(tmp_path / "in")
    line.encode()
    assert "attempt 1" in line
    assert len(course.attempts()) == 1


def test_two_hand_ins_of_one_name_are_told(tmp_path):
    for name in ("ada", "ada (2)"):
        (tmp_path / "in" / name / EXERCISE.name).mkdir(parents=True)
        (tmp_path / "in" / name / EXERCISE.name / "answer.py").write_text(f"# {name}\n" + STUB, "utf-8")
    lines = Course.begin(tmp_path / "course").collect(tmp_path / "in")
    assert any("another attempt beside ada" in line for line in lines)
