"""Making notebooks from sources (scripts/notebooks.py), on a sample."""

from __future__ import annotations

import importlib.util
import json

import nbformat
import pytest

from tests.notebooks.test_notebooks import run_again
from tests.support.paths import ROOT

SCRIPT = ROOT / "scripts" / "notebooks.py"
SAMPLE = """\
# %% [markdown]
# # A sample
#
# - a list

# %%
value = 6 * 7
print(value)

# %% tags=["nbval-ignore-output"]
import ipywidgets

import random
print(random.random())
ipywidgets.IntSlider(value=3)

# %%
print(value)

# %% tags=["answer"]
print("the answer")

# %% tags=["answer"]
from IPython.display import HTML
HTML("<details><p>guess</p><p></summary>the answer</p></details>")
"""


@pytest.fixture(scope="module")
def making():
    spec = importlib.util.spec_from_file_location("making", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def made(making, tmp_path_factory):
    """A folder with the sample's source and the notebook that was made from it."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "src").mkdir()
    (folder / "src" / "00-sample.py").write_text(SAMPLE, "utf-8")
    assert making.main(["--folder", str(folder)]) == 0
    return folder


def cells_of(folder):
    return json.loads((folder / "00-sample.ipynb").read_text("utf-8"))["cells"]


def written(folder, text):
    path = folder / "00-x.py"
    path.write_text(text, "utf-8")
    return path


def test_prose_and_code_become_the_cells_of_the_source(made):
    cells = nbformat.read(made / "00-sample.ipynb", as_version=4).cells
    assert [cell.cell_type for cell in cells] == ["markdown", *["code"] * 5]
    assert cells[0].source == "# A sample\n\n- a list"
    assert cells[1].source == "value = 6 * 7\nprint(value)"
    assert cells[2].metadata.tags == ["nbval-ignore-output"]


def test_code_tagged_hide_input_is_folded(making, tmp_path):
    source = '# %% tags=["hide-input"]\nvalue = 1\n\n# %%\nvalue\n'
    folded, shown = making.read_source(written(tmp_path, source)).cells
    assert folded.metadata["jupyter"] == {"source_hidden": True}
    assert "jupyter" not in shown.metadata


def test_sources_are_found_in_every_part_and_in_the_order_of_their_names(making, tmp_path):
    for part, name in (("b", "00-x"), ("a", "01-y")):
        (tmp_path / "src" / part).mkdir(parents=True)
        (tmp_path / "src" / part / f"{name}.py").write_text("", "utf-8")
    assert [path.stem for path in making.sources_of(tmp_path)] == ["00-x", "01-y"]


def test_an_answer_that_does_not_fold_itself_is_stored_folded(made):
    *_, printed, folding = cells_of(made)
    assert printed["metadata"]["jupyter"] == {"outputs_hidden": True}
    assert "jupyter" not in folding["metadata"]


def test_the_view_of_a_lab_is_dropped_and_its_picture_stays(making):
    view = {"output_type": "display_data", "data": {"application/vnd.jupyter.widget-view+json": {}}}
    picture = {"output_type": "display_data", "data": {"text/html": "<img>", "text/plain": "words"}}
    assert [making._is_view_alone(nbformat.from_dict(one)) for one in (picture, view)] == [False, True]


def test_outputs_are_kept_and_widgets_leave_their_text_only(made):
    cells = cells_of(made)
    assert cells[1]["outputs"][0]["text"] == ["42\n"]
    assert list(cells[2]["outputs"][1]["data"]) == ["text/plain"]


def test_nothing_is_stored_that_depends_on_when_or_where_it_ran(made):
    stored = json.loads((made / "00-sample.ipynb").read_text("utf-8"))
    assert "widgets" not in stored["metadata"]
    assert "version" not in stored["metadata"]["language_info"]
    *others, _, _ = (cell["metadata"] for cell in stored["cells"])
    assert others == [{}, {}, {"tags": ["nbval-ignore-output"]}, {}]


def test_a_cell_put_in_between_renames_no_other(making, tmp_path):
    before = making.read_source(written(tmp_path, SAMPLE)).cells
    after = making.read_source(written(tmp_path, "# %%\nprint('new')\n\n" + SAMPLE)).cells
    assert [cell["id"] for cell in after[1:]] == [cell["id"] for cell in before]
    assert len({cell["id"] for cell in after}) == len(after)


def test_the_check_sees_a_source_that_has_moved_on(making, made, tmp_path):
    assert making.main(["--folder", str(made), "--check"]) == 0
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "00-sample.py").write_text(SAMPLE.replace("6 * 7", "7 * 6"), "utf-8")
    (tmp_path / "00-sample.ipynb").write_bytes((made / "00-sample.ipynb").read_bytes())
    assert making.main(["--folder", str(tmp_path), "--check"]) == 1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("# %% [prose]\n", "00-x.py:1: '# %% [prose]' is no cell head"),
        ("import os\n# %%\n", "00-x.py:1: text before the first # %%"),
        ("# %% [markdown]\nplain\n", "00-x.py: 'plain' in a markdown cell"),
    ],
)
def test_a_source_in_another_form_is_refused_by_name(making, tmp_path, text, complaint):
    with pytest.raises(making.SourceError) as refused:
        making.read_source(written(tmp_path, text))
    assert complaint in str(refused.value)


@pytest.mark.notebooks
def test_the_runner_accepts_what_repeats_ignores_what_is_tagged_and_refuses_another_output(made, tmp_path):
    text = (made / "00-sample.ipynb").read_text("utf-8")
    changed = tmp_path / "00-sample.ipynb"
    changed.write_text(text.replace('"42\\n"', '"43\\n"'), "utf-8")
    done = run_again(changed)
    assert done.returncode == 1
    assert "2 failed, 3 passed" in done.stdout
