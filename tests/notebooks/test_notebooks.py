"""The one place where notebooks are executed and compared: to change the runner, change ``run_again``.

Text outputs are compared strictly. A cell tagged ``nbval-ignore-output`` (a figure, whose text twin
is compared instead) is executed but not compared; ``sanitize.cfg`` covers what must vary.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.support.paths import ROOT

HERE = Path(__file__).parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"), key=lambda path: path.stem)
SOURCES = sorted((ROOT / "notebooks" / "src").rglob("*.py"), key=lambda path: path.stem)


def run_again(notebook: Path) -> subprocess.CompletedProcess[str]:
    """Execute a notebook in a fresh kernel and compare each output with the stored one; its exams are kept apart."""
    options = [
        "-c",
        HERE / "nbval.ini",
        "--rootdir",
        notebook.parent,
        "-p",
        "no:cacheprovider",
        "-q",
        "--color=no",
    ]
    nbval = [
        "-p",
        "nbval.plugin",
        "--nbval",
        "--nbval-current-env",
        "--nbval-sanitize-with",
        HERE / "sanitize.cfg",
    ]
    command = [sys.executable, "-m", "pytest", *map(str, [*options, *nbval, notebook])]
    apart = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    with tempfile.TemporaryDirectory() as answers:
        apart["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # the kit's own plugins of tests have no business here
        apart["REBALANCE_KIT_ATTEMPTS"] = str(Path(answers) / "attempts.sqlite")
        apart.setdefault("REBALANCE_KIT_LIVE", "0")  # where Kafka's jars happen to be there, too
        return subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=notebook.parent, env=apart
        )


def name(path: Path) -> str:
    return path.stem


@pytest.mark.notebooks
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=name)
def test_a_fresh_run_repeats_every_stored_output(notebook):
    done = run_again(notebook)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=name)
def test_a_notebook_is_stored_with_outputs_and_nothing_that_the_next_run_would_change(notebook):
    stored = json.loads(notebook.read_text("utf-8"))
    code = [cell for cell in stored["cells"] if cell["cell_type"] == "code"]
    outputs = [output for cell in code for output in cell["outputs"]]
    assert outputs, "stored without outputs"
    assert "widgets" not in stored["metadata"], "widget state stored"
    assert not [cell["id"] for cell in code if "execution" in cell["metadata"]], "execution times stored"
    unexpected = [
        cell["id"]
        for cell in code
        if "raises-exception" not in cell["metadata"].get("tags", [])
        for output in cell["outputs"]
        if output["output_type"] == "error"
    ]
    assert not unexpected, "an error stored among the outputs"


def test_every_notebook_holds_what_its_source_says():
    assert [path.stem for path in SOURCES] == [path.stem for path in NOTEBOOKS]
    if SOURCES:
        done = subprocess.run(
            [sys.executable, str(ROOT / "scripts" / "notebooks.py"), "--check"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
