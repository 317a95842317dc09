"""A case is one page: an incident, a surprise, a fix, in ten minutes at most."""

from __future__ import annotations

import re

import pytest

from rebalance_kit.notebook import case_map
from tests.support.paths import ROOT

CASES = sorted((ROOT / "notebooks" / "src" / "cases").glob("case-*.py"))
MOST_WORDS = 260


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_case_has_one_incident_one_surprise_and_one_fix(path):
    text = path.read_text("utf-8")
    heads = re.findall(r"(?m)^# (## .*)$", text)
    assert heads == ["## The incident", "## The surprise", "## The fix"]
    assert text.count("<details>") == text.count("reveal(") == 1
    assert "**Look for**" in text
    prose = " ".join(line[2:] for line in text.splitlines() if line.startswith("# ") and "%%" not in line)
    assert len(prose.split()) <= MOST_WORDS


def test_all_eight_are_linked_from_notebook_00():
    assert len(CASES) == 8
    links = case_map(ROOT / "notebooks").markdown
    assert [f"({path.stem}.ipynb)" in links for path in CASES] == [True] * 8
