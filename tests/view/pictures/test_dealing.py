"""The picture of a deal: each step's number on the partitions that it gives or takes."""

from __future__ import annotations

import re

import pytest

from rebalance_kit.model.errors import AssignorError
from rebalance_kit.view.figures.dealing import deal

PAIRS = {"c1": ["orders-0", "orders-1"], "c2": ["orders-2", "orders-3"]}


def test_every_step_stands_on_the_partitions_that_it_names():
    dealt = deal("cooperative-sticky", {"orders": 4}, 3, PAIRS)
    boxes = re.findall(r'text-anchor="middle"(?: font-weight="700")?>([\d, ]+|had|)</text>', dealt.svg)
    assert boxes == ["0", "1", "2", "3", "2", "2", "", "", "", "", "3", "4", "", "", "", "5, 6"]
    assert dealt.svg.count("stroke-dasharray") == 2


def test_what_a_member_had_and_no_step_mentions_is_marked():
    assert ">had</text>" in deal("roundrobin", {"orders": 4}, 3, PAIRS).svg


def test_the_text_names_every_step_and_every_member():
    lines = deal("range", {"orders": 4}, 3).text.splitlines()
    assert sum(bool(re.match(r" +\d\. ", line)) for line in lines) == 3
    assert sum(" owns " in line for line in lines) == 3
    assert max(map(len, lines)) <= 108
    assert lines[-1].strip() == "c3 owns orders-3"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("rnge", {"t": 1}, 1), "'rnge'"),
        (("range", {"t": 1}, 0), "members: 0"),
        (("range", {"t": 25}, 1), "25 partitions"),
        (("range", {"t": 1}, 1, {"c9": ["t-0"]}), "c9: no such member"),
        (("range", {"t": 1}, 1, {"c1": ["t-1"]}), "t-1 does not exist"),
        (("range", {"t": 1}, 1, {"c1": ["what"]}), "'what' is not a partition"),
    ],
)
def test_bad_input_is_named(arguments, words):
    with pytest.raises(AssignorError, match=re.escape(words)):
        deal(*arguments)
