"""The printed pages: one page each, inside its margins, with words and figures that are the kit's own."""

from __future__ import annotations

import io
import re
from xml.etree import ElementTree as ET

import pytest

from rebalance_kit import scenarios
from rebalance_kit.analysis.metrics import metrics
from rebalance_kit.cli import main
from rebalance_kit.glossary import entries
from rebalance_kit.model.config import all_keys
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.cards.printing import CARDS
from rebalance_kit.view.cards.protocols import CHOICES

TEXT = "{http://www.w3.org/2000/svg}text"


def test_the_command_writes_each_card_as_svg_and_one_page_of_pdf(tmp_path):
    assert main(["cards", "--out", str(tmp_path)], io.StringIO()) == 0
    assert {path.name for path in tmp_path.iterdir()} == {
        f"{name}.{kind}" for name in CARDS for kind in ("svg", "pdf")
    }
    for path in tmp_path.glob("*.pdf"):
        assert len(re.findall(rb"/Type /Page\b", path.read_bytes())) == 1


@pytest.mark.parametrize("name", CARDS)
def test_no_word_leaves_the_page(name):
    root = ET.fromstring(CARDS[name]().svg)  # noqa: S314 - our own picture
    _, _, wide, tall = map(float, root.attrib["viewBox"].split())
    for text in root.iter(TEXT):
        size = float(text.attrib["font-size"])
        assert float(text.attrib["x"]) + 0.48 * size * len(text.text or "") <= wide, text.text
        assert size <= float(text.attrib["y"]) <= tall, text.text


def test_the_cheat_sheet_says_what_the_engine_measures():
    trace = simulate(scenarios.load("join"), 1, "cooperative")
    text = CARDS["protocols"]().text
    assert f"cooperative: {metrics(trace).longest_gap_s:.1f} s" in text


def test_the_timeouts_are_the_defaults_of_keys_that_exist():
    text = CARDS["timeouts"]().text
    assert all(key in all_keys() for _, key, _ in CHOICES)
    assert "Default: 45 s" in text
    assert "Default: 5 min" in text


def test_the_glossary_page_has_every_term():
    text = CARDS["glossary"]().text
    assert [term for term in entries() if f"{term}: " not in text] == []
