"""Every number in the prose of notebooks 00 to 15 is backed (scripts/prose_numbers.py)."""

from __future__ import annotations

import json
import re

import pytest

from tests.support.paths import ROOT
from tests.support.scripts import loaded


@pytest.fixture(scope="module")
def backing():
    return loaded("prose_numbers")


@pytest.fixture(scope="module")
def found(backing):
    return [one for notebook in backing.covered() for one in backing.numbers(notebook)]


def in_words(backing, text):
    return [(written, value) for written, value, _ in backing.in_prose(text)]


def test_every_number_in_prose_is_backed(found):
    assert len({one.notebook for one in found}) == 19
    assert len(found) > 600
    assert [
        f"{one.notebook}[{one.cell}] {one.written}: {one.sentence}" for one in found if not one.backing
    ] == []


def test_every_source_that_is_listed_is_used_and_every_test_named_there_exists(backing, found):
    used = {one.backing for one in found}
    for entry in backing._listed():
        assert entry["source"] in used, entry["text"]
        for path, name in re.findall(r"(tests/[\w/]+\.py)::(\w+)", entry["source"]):
            assert f"def {name}(" in (ROOT / path).read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It takes 44.2 s, and twenty-five runs.", [("44.2", 44.2), ("twenty-five", 25)]),
        ("Three hundred, a thousand and eight.", [("Three hundred", 300), ("a thousand and eight", 1008)]),
        ("`session.timeout.ms=10` in notebook 05 and KIP-848 since 4.0, at 02:47", []),
        ("## 2 A join\n\n1. one", []),
    ],
)
def test_names_are_not_numbers(backing, text, expected):
    assert in_words(backing, text) == expected


def test_a_number_that_no_cell_shows_has_no_backing(backing, tmp_path):
    cells = [
        {"cell_type": "code", "source": ["print(41.96)"], "outputs": [{"text": ["41.96\n"]}]},
        {"cell_type": "markdown", "source": ["It takes 42.0 s. It takes 43 s, not 42,000."]},
    ]
    path = tmp_path / "00-x.ipynb"
    path.write_text(json.dumps({"cells": cells}), "utf-8")
    assert [(one.written, one.backing) for one in backing.numbers(path)] == [
        ("42.0", "output cell 0"),
        ("43", None),
        ("42,000", None),
    ]


def test_the_document_has_a_row_for_each_number(backing, found):
    text = backing.document(found)
    assert [one.written for one in found if f"| {one.written} |" not in text] == []
