"""docs/lab-findings.md: each finding of the lab's review has a test, and the test exists."""

from __future__ import annotations

import ast
import re

import pytest

from tests.support.paths import ROOT

TEXT = (ROOT / "docs" / "lab-findings.md").read_text("utf-8")
ROWS = [line for line in TEXT.splitlines() if line.startswith("| ") and not line.startswith("| finding |")]
NAMED = re.compile(r"\| (?P<finding>[^|]+) \| [^|]+ \| `(?P<file>[\w/]+\.py)::(?P<test>test_\w+)` \|")


def test_every_finding_of_sections_a_and_b_has_a_row():
    told = set(re.findall(r"\b([AB]\d+)\b", TEXT))
    assert told >= {f"A{number}" for number in range(1, 19)} | {f"B{number}" for number in range(1, 20)}


@pytest.mark.parametrize("line", ROWS, ids=lambda line: line.split(" | ")[0].strip("| ")[:40])
def test_the_test_of_a_finding_exists(line):
    row = NAMED.fullmatch(line)
    assert row, line
    tree = ast.parse((ROOT / "tests" / row["file"]).read_text("utf-8"))
    assert row["test"] in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
