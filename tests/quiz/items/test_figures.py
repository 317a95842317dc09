"""The figures of docs/items.md are those of the bank, and the bank is what they promise."""

from __future__ import annotations

from collections import Counter

import pytest

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.check import BEGIN, DOCUMENT, with_figures


def test_the_document_has_the_figures_of_today(bank):
    text = DOCUMENT.read_text("utf-8")
    assert text == with_figures(text, bank), "run python -m rebalance_kit.quiz.items.check"
    with pytest.raises(DataError, match="no lines"):
        with_figures(text.replace(BEGIN, ""), bank)


def test_the_bank_has_the_form_of_an_exam(bank):
    kinds = Counter(item.kind for item in bank.items)
    number = len(bank.items)
    assert number >= 450
    assert 0.15 * number <= kinds["multiple"] <= 0.20 * number
    assert kinds["ordering"] >= 25 and kinds["matching"] >= 40
    assert sum("trade-off" in item.head.tags for item in bank.items) >= 30
    difficulties = Counter(item.head.difficulty for item in bank.items)
    aims = {"recall": 0.25, "apply": 0.45, "diagnose": 0.30}
    assert all(abs(difficulties[name] / number - aim) <= 0.03 for name, aim in aims.items()), difficulties
