"""The shape of a notebook (docs/notebook-style.md), as far as a machine can see it."""

from __future__ import annotations

import ast
import importlib
import re
from importlib.util import find_spec
from itertools import pairwise

import nbformat
import pytest

from tests.support.paths import ROOT
from tests.support.scripts import loaded

SHAPED = sorted(
    path for path in (ROOT / "notebooks").glob("*.ipynb") if re.match(r"0\db?-|1[0-5]b?-", path.name)
)
OBJECTIVE = re.compile(r"\((?:CCDAK|CCAAK) [A-Z][\w ]+\)[;.]?$")
LONGEST_VISIBLE_CELL = 24


@pytest.fixture(params=SHAPED, ids=lambda path: path.stem)
def cells(request):
    return nbformat.read(request.param, as_version=4).cells


def tags(cell):
    return cell.metadata.get("tags", [])


def code(cells):
    return [cell for cell in cells if cell.cell_type == "code"]


def test_the_first_cell_has_minutes_exams_and_tagged_objectives(cells):
    first = cells[0].source
    assert re.search(r"^\*\*\d+ minutes\*\*", first, re.MULTILINE)
    assert "Exams: CCDAK" in first or "Exams: CCAAK" in first
    objectives = re.findall(r"(?m)^- (.*(?:\n  .*)*)", first.partition("\n## ")[0])
    assert 3 <= len(objectives) <= 6
    assert sum(bool(OBJECTIVE.search(" ".join(text.split()))) for text in objectives) >= 3


def test_it_ends_with_a_recap_card_and_the_way_on(cells):
    prose = [cell.source for cell in cells if cell.cell_type == "markdown"]
    assert "## Recap card" in prose[-1]
    bullets = re.findall(r"(?m)^- ", prose[-1].partition("## Recap card")[2])
    assert 4 <= len(bullets) <= 6
    assert "next_notebook(" in cells[-1].source
    assert "hide-input" in tags(cells[-1])


def test_no_stored_output_answers_the_question_above_it(cells):
    answers = [cell for cell in code(cells) if ".beside(" in cell.source or "reveal(" in cell.source]
    assert answers
    for cell in answers:
        assert "answer" in tags(cell), cell.source
        shown = [output.get("data", {}).get("text/html", "") for output in cell.outputs]
        assert any(html.startswith("<details><summary>") for html in shown), cell.source


def test_every_answer_folds_itself_because_jupyterlab_shows_the_first_line_of_an_output_that_it_folds(cells):
    for cell in code(cells):
        assert not cell.metadata.get("jupyter", {}).get("outputs_hidden"), cell.source


def test_every_question_of_the_text_has_a_folded_answer(cells):
    for cell in cells:
        if cell.cell_type == "markdown":
            assert len(re.findall(r"(?m)^\*\*\d+\.\*\* ", cell.source)) <= cell.source.count("<details>")
            assert cell.source.count("<details>") == cell.source.count("</details>")


def test_every_prediction_has_a_place_to_write_it_down(cells):
    for before, after in pairwise(cells):
        if "### Predict" in before.source and before.source.index("### Predict") > before.source.rfind(
            "\n## "
        ):
            assert "predict(" in after.source, before.source[-200:]


def test_long_helper_code_is_folded(cells):
    long = [
        cell.source.splitlines()[0]
        for cell in code(cells)
        if len(cell.source.splitlines()) > LONGEST_VISIBLE_CELL and "hide-input" not in tags(cell)
    ]
    assert long == []


def imported_names():
    """Every name that a notebook imports from the kit, with the notebook; magics and prose are left out."""
    for path in sorted((ROOT / "notebooks" / "src").rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rebalance_kit"):
                for alias in node.names:
                    yield path.stem, node.module, alias.name


def test_every_name_that_a_notebook_imports_from_the_kit_is_there():
    named = set(imported_names())
    assert len(named) > 100
    absent = [
        f"{stem}: {module}.{name}"
        for stem, module, name in sorted(named)
        if not hasattr(importlib.import_module(module), name) and find_spec(f"{module}.{name}") is None
    ]
    assert absent == []


def test_every_linked_picture_is_what_the_engine_or_the_script_draws():
    first = nbformat.read(ROOT / "notebooks" / "00-start-here.ipynb", as_version=4).cells[0].source
    assert "](images/three-protocols.svg)" in first
    strips = loaded("strips")
    images = sorted((ROOT / "notebooks" / "images").glob("*.svg"))
    assert [path.stem for path in images] == sorted(strips.PICTURES)
    for path in images:
        assert path.read_text("utf-8") == strips.drawn(path.stem), f"{path.name}: run scripts/strips.py"


def test_every_picture_that_a_notebook_links_to_is_there():
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        prose = [
            cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown"
        ]
        for link in re.findall(r"!\[[^\]]*\]\(([^):]+)\)", "\n".join(prose)):
            assert (ROOT / "notebooks" / link).is_file(), f"{path.name}: {link}"
