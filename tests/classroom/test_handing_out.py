"""``rebalance-kit course``: a folder of the learner's own, which a second writing leaves as the learner made it."""

from __future__ import annotations

import io
import json

import pytest

from rebalance_kit.classroom import handing_out
from rebalance_kit.cli import main
from rebalance_kit.exercises.workspace import all_names
from tests.support.paths import ROOT


@pytest.fixture(autouse=True)
def two_exercises(monkeypatch):
    """Two exercises in place of all: the second one has no logs to make."""
    names = (all_names()[0], all_names()[-1])
    monkeypatch.setattr(handing_out, "all_names", lambda: names)
    return names


@pytest.fixture(autouse=True)
def notary(tmp_path, monkeypatch):
    """What the Jupyter of a machine of our own trusts, once a course is written; None where there is no Jupyter."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    return pytest.importorskip("nbformat.sign", reason="nbformat is not installed: nothing is signed")


def write(folder, *flags):
    out = io.StringIO()
    assert main(["course", str(folder), *flags], out) == 0
    return out.getvalue()


def test_it_holds_every_notebook_with_what_they_link_to_and_exercises_with_solutions_apart(
    tmp_path, two_exercises
):
    assert "Begin with 00-start-here.ipynb: rebalance-kit lab" in write(tmp_path / "mine")
    made = tmp_path / "mine"
    assert {path.name for path in made.glob("*.ipynb")} == {
        path.name for path in ROOT.glob("notebooks/*.ipynb")
    }
    for name in two_exercises:
        assert {"README.md", "answer.py"} <= {path.name for path in (made / "my-exercises" / name).iterdir()}
        assert not list((made / "my-exercises").rglob("solution*"))
        assert (made / "solutions" / f"{name}.py").is_file()
    for notebook in made.glob("*.ipynb"):
        cells = json.loads(notebook.read_text("utf-8"))["cells"]
        assert not any(
            "](../" in "".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"
        )


def test_what_the_learner_changed_stays_and_is_named_and_what_is_missing_comes_back(tmp_path, two_exercises):
    write(tmp_path, "--without-solutions")
    assert not (tmp_path / "solutions").exists()
    answer = tmp_path / "my-exercises" / two_exercises[1] / "answer.py"
    changed, gone = tmp_path / "02-eager.ipynb", tmp_path / "03-cooperative.ipynb"
    answer.write_text("mine")
    changed.write_text("mine")
    gone.unlink()
    told = write(tmp_path)
    assert "kept, because you changed them: 02-eager.ipynb (" in told
    assert answer.read_text() == changed.read_text() == "mine"
    assert gone.is_file()
    assert (tmp_path / "solutions").is_dir()


def test_what_the_kit_wrote_before_is_brought_up_to_date(tmp_path, monkeypatch):
    old, new = (
        f'{{"cells":[],"metadata":{{"is":"{age}"}},"nbformat":4,"nbformat_minor":5}}'.encode()
        for age in ("old", "new")
    )
    files = {"00-start-here.ipynb": old, "01-x.ipynb": old}
    monkeypatch.setattr(handing_out, "_files", lambda solutions: files.items())
    write(tmp_path)
    files["00-start-here.ipynb"] = files["01-x.ipynb"] = new
    (tmp_path / "01-x.ipynb").write_text("mine")
    write(tmp_path)
    assert (tmp_path / "00-start-here.ipynb").read_bytes() == new
    assert (tmp_path / "01-x.ipynb").read_text() == "mine"


def test_jupyter_trusts_what_the_kit_wrote_and_nothing_else(tmp_path, notary):
    made = tmp_path / "course"
    write(made)
    changed = made / "02-eager.ipynb"
    changed.write_text(changed.read_text("utf-8").replace("image/svg+xml", "text/latex"), "utf-8")
    (made / "03-cooperative.ipynb").rename(made / "theirs.ipynb")
    with notary.NotebookNotary() as known:
        for path in made.glob("*.ipynb"):
            node = notary.read(path.open(encoding="utf-8"), 4)
            assert known.check_signature(node) == (path != changed), path.name
        known.store.db.execute("DELETE FROM nbsignatures")
        known.store.db.commit()
    assert set(handing_out.trust(made)) == {path.name for path in made.glob("*.ipynb")} - {
        "02-eager.ipynb",
        "theirs.ipynb",
    }
