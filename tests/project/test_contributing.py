"""What CONTRIBUTING.md tells a newcomer to open is there, and each kind of change is told in ten lines."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.support.paths import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
PAGES = dict(re.findall(r"^## (.+)\n\n((?:(?!^## ).*\n)+)", TEXT, re.MULTILINE))
TOPS = ("", "rebalance_kit", "tests")
"""Where a path may begin."""


def named():
    """Files and folders in backticks or behind pytest; those with a word in capitals or a star stand for many."""
    words = {word for code in re.findall(r"`([^`]+)`", TEXT) for word in code.split()}
    paths = {word for word in words if "/" in word and not re.search(r"[A-Z]{2}|[*…{]|^\.venv|\"", word)}
    return sorted(paths | set(re.findall(r"\]\(([^):]+)\)", TEXT)))


@pytest.mark.parametrize("path", named())
def test_a_file_that_is_named_is_there(path):
    assert any((ROOT / top / path).exists() for top in TOPS)


def test_each_kind_of_change_is_told_in_ten_lines():
    assert len(PAGES) >= 10
    assert {
        name: text.count("\n") for name, text in PAGES.items() if len(text.strip().splitlines()) > 10
    } == {}


def test_one_benchmark_run_again_replaces_its_table_and_keeps_the_others():
    script = (
        "import sys; sys.path.insert(0, '.'); from gather import merged, sections; "
        "print(merged(sections('# B\\n\\nhead\\n\\n## Quiz\\n\\nold\\n\\n## Sweep\\n\\nkept\\n'), ['## Quiz\\n\\nnew\\n', '## View\\n\\nadded\\n']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT / "benchmarks", capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(["## Quiz\n\nnew\n", "## Sweep\n\nkept\n", "## View\n\nadded\n"])
