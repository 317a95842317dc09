"""docs/where.md: Kafka's rule, and the function that is the same rule here. What it names must exist."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from importlib import import_module

import pytest

from tests.support.paths import ROOT

ROW = re.compile(
    r"\| (?P<rule>[^|]+) \| `(?P<kafka>[\w.]+)` \| `(?P<module>[\w.]+):(?P<name>[\w.]+)` \| `(?P<file>[\w/]+\.py)::(?P<test>\w+)` \|"
)
LINES = [
    line
    for line in (ROOT / "docs" / "where.md").read_text("utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| rule |")
]


def test_the_page_holds_at_least_fifty_rules_each_told_once():
    rules = [ROW.fullmatch(line)["rule"] for line in LINES if ROW.fullmatch(line)]
    assert [line for line in LINES if not ROW.fullmatch(line)] == []
    assert len(set(rules)) == len(rules) >= 50


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.split("`")[3])
def test_the_function_and_the_test_of_a_rule_exist(line):
    row = ROW.fullmatch(line)
    found = import_module(f"rebalance_kit.{row['module']}")
    for name in row["name"].split("."):
        found = getattr(found, name)
    assert callable(found)
    assert found.__module__ == f"rebalance_kit.{row['module']}", "named where it is defined"
    tree = ast.parse((ROOT / "tests" / row["file"]).read_text("utf-8"))
    assert row["test"] in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_the_test_of_a_rule_executes_the_function_that_holds_it(tmp_path):
    rows = [ROW.fullmatch(line) for line in LINES]
    entries = [
        [
            f"rebalance_kit/{row['module'].replace('.', '/')}.py",
            row["name"],
            f"tests/{row['file']}::{row['test']}",
        ]
        for row in rows
    ]
    path = tmp_path / "entries.json"
    path.write_text(json.dumps(entries), "utf-8")
    command = [sys.executable, "-m", "tests.support.executed", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    missed = json.loads(done.stdout.splitlines()[-1])
    assert missed == [], "the test named in a row of docs/where.md never calls the function named there"
