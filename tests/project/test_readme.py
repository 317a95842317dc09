"""What the README shows works when it is copied."""

from __future__ import annotations

import io
import re
import runpy

import pytest

from rebalance_kit.cli import main
from tests.support.paths import ROOT

README = (ROOT / "README.md").read_text("utf-8")


def blocks(language):
    found = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    assert found, f"the README shows no {language}"
    return found


def test_the_film_is_the_engines_run():
    pictures = runpy.run_path(str(ROOT / "scripts" / "pictures.py"))
    assert pictures["FILM"].read_text("utf-8") == pictures["film"]()
    assert pictures["FILM"].relative_to(ROOT).as_posix() in README


def test_no_cell_of_the_readmes_tables_is_longer_than_two_lines():
    cells = [cell.strip() for line in README.splitlines() if line.startswith("|") for cell in line.split("|")]
    assert [cell for cell in cells if len(cell.split()) > 25] == []


@pytest.mark.parametrize("text", blocks("yaml"))
def test_a_scenario_of_the_readme_can_be_run(text, tmp_path):
    path = tmp_path / "copied.yaml"
    path.write_text(text, "utf-8")
    out = io.StringIO()
    assert main(["run", str(path), "--protocol", "all"], out) == 0
    assert "partitions unread" in out.getvalue()


@pytest.mark.parametrize("code", blocks("python"))
def test_python_of_the_readme_can_be_run(code):
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102 - our own text
