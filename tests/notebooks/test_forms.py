"""The forms that scripts/forms.py makes of a notebook, by its tags."""

from __future__ import annotations

import json

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tests.support.scripts import loaded

forms = loaded("forms")
STUB = "def log_events(lines):\n    raise NotImplementedError\n\n\nprint(first.check(log_events))"
FOLDED = "**1.** Who?\n\n<details><summary>Answer</summary>\n\nAna.\n\n</details>\n\nGo on."
KEYS = {"schema_version", "grade_id", "cell_type", "grade", "locked", "solution", "task"}


def code(source, *tags, text="42"):
    outputs = [
        new_output("execute_result", {"text/plain": text, "application/vnd.jupyter.widget-view+json": {}})
    ]
    return new_code_cell(source, metadata={"tags": list(tags)}, outputs=outputs, execution_count=1)


@pytest.fixture
def notebook():
    cells = [
        new_markdown_cell("# A title"),
        new_markdown_cell("## A part"),
        code("helper = 1", "hide-input"),
        code("guess.beside(runs)", "answer", text="the answer"),
        new_markdown_cell("### A question"),
        new_markdown_cell(FOLDED),
        code(STUB, "exercise", text="write it here"),
        code("def log_events(lines): return lines", "solution"),
    ]
    return new_notebook(cells=cells)


def sources(notebook):
    return [cell.source for cell in notebook.cells]


def test_the_learners_copy_has_neither_solutions_nor_outputs_that_answer(notebook):
    copy = forms.learner(notebook)
    assert not any("return lines" in source for source in sources(copy))
    assert "the answer" not in json.dumps(copy)
    assert "42" in json.dumps(copy)
    assert len(notebook.cells) == 8  # the notebook itself stays


def test_the_completed_copy_has_the_kits_solution_and_its_check(notebook):
    copy = forms.completed(notebook, forms.solutions_of(forms.ROOT / "exercises"))
    done = copy.cells[6].source
    assert "NotImplementedError" not in done
    assert "F.regexp_extract" in done
    assert done.endswith("print(first.check(log_events))")


def test_a_slide_begins_with_a_heading(notebook):
    kinds = [cell.metadata.slideshow.slide_type for cell in forms.slides(notebook).cells]
    assert kinds == ["slide", "slide", "-", "-", "subslide", "-", "-"]


def test_the_printed_page_has_room_in_place_of_answers_and_no_widgets(notebook):
    page = forms.page_of(forms.handout(notebook), "sample")
    assert "Ana." not in page
    assert "class='write'" in page or 'class="write"' in page
    assert "Go on." in page
    assert "helper" not in page
    assert "widget-view" not in page


def test_the_release_has_a_cell_to_write_in_and_a_locked_one_that_is_graded(notebook):
    release = forms.nbgrader(notebook, "01-sample")
    nbformat.validate(release)
    answer, check = (cell for cell in release.cells if "nbgrader" in cell.metadata)
    assert set(answer.metadata.nbgrader) == KEYS
    assert set(check.metadata.nbgrader) == KEYS | {"points"}
    assert answer.source.endswith("raise NotImplementedError")
    assert check.source.endswith("assert report.green")
    assert check.metadata.nbgrader.locked
    assert not check.metadata.nbgrader.solution
    assert answer.metadata.nbgrader.grade_id != check.metadata.nbgrader.grade_id


@pytest.mark.may_skip("nbgrader brings a second notebook interface, so no extra of the kit installs it")
def test_nbgraders_own_validator_accepts_every_release(tmp_path):
    nbgraderformat = pytest.importorskip("nbgrader.nbgraderformat")
    for path in sorted((forms.ROOT / "notebooks").glob("*.ipynb")):
        target = tmp_path / path.name
        nbformat.write(forms.nbgrader(nbformat.read(path, as_version=4), path.stem), target)
        nbgraderformat.read(target, as_version=4)
