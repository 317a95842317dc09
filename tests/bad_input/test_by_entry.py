"""The table of bad inputs: none ends in a traceback or a hang, and each as ``tests/golden/bad-input.txt`` says."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from tests.support.bad_input.cases import PLACE, cases, counts, outcome, text_of


@cache
def stored():
    """The outcomes as they are noted, by entry and name."""
    return dict(line.rsplit(" | ", 1) for line in PLACE.read_text("utf-8").splitlines()[1:])


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.entry}: {case.name}")
def test_a_bad_input_ends_as_it_is_noted(case, tmp_path):
    found = outcome(case, tmp_path)
    assert found in {"taken", "refused", "found"}
    assert found == stored()[case.key]


def test_every_case_is_noted_once_and_the_counts_of_the_page_are_theirs():
    assert max(Counter(case.key for case in cases()).values()) == 1
    assert set(stored()) == {case.key for case in cases()}
    assert len(stored()) >= 400
    assert counts(stored()) in text_of("docs/bad-input.md")
