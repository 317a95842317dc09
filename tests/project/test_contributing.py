"""What CONTRIBUTING.md tells a newcomer to open is there, and each kind of change is told in ten lines."""

from __future__ import annotations

import re

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
