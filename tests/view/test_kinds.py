"""The words that Python and the page share: each has all its halves, and no run says one that is not listed."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from rebalance_kit.scenarios import load
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.kinds import (
    DELIVERIES,
    LOOKS,
    PARTITION_WORDS,
    SEATS,
    TABLES,
    Life,
    MarkKind,
    Standing,
)
from rebalance_kit.view.lab.lessons import lessons
from rebalance_kit.view.style.theme import ROLES, contrast
from tests.support.paths import ROOT

EDIT = "rebalance_kit/view/kinds.py"
LARGE = "fifty-by-five-hundred"


def test_every_kind_of_mark_has_its_sign_its_weight_and_its_words_in_the_legend():
    for kind in MarkKind:
        assert bool(kind.sign) == bool(kind.legend), (
            f"{kind}: a sign and words for the legend go together, {EDIT}"
        )
    drawn = [kind for kind in MarkKind if kind.sign]
    assert len({kind.sign for kind in drawn}) == len(drawn), f"two kinds have one sign: {EDIT}"
    assert sorted(kind.weight for kind in MarkKind) == list(range(len(MarkKind))), (
        f"weights count from 0: {EDIT}"
    )


def test_the_kinds_of_marks_that_are_listed_are_those_that_are_given():
    text = (ROOT / "rebalance_kit" / "view" / "board" / "marks.py").read_text("utf-8")
    given = {*re.findall(r"MarkKind\.([A-Z]+)", text), *map(str.upper, DELIVERIES)}
    assert given == set(MarkKind.__members__), (
        "in one of rebalance_kit/view/kinds.py (MarkKind, the list) and rebalance_kit/view/board/marks.py (which gives "
        f"them) alone: {given ^ set(MarkKind.__members__)}"
    )


@pytest.mark.parametrize("theme", ROLES)
def test_every_mark_can_be_read_in_its_colour(theme):
    for kind in MarkKind:
        assert contrast(ROLES[theme][kind.colour], ROLES[theme]["surface"]) >= 4.5, f"{kind}: {EDIT}"


def test_every_table_has_rows_of_one_shape():
    for name, (_, rows) in TABLES.items():
        assert len({tuple(row) for row in rows.values()}) == 1, (
            f"{name}: rows of one table have the same columns"
        )


@pytest.mark.parametrize("name", [lesson.name for lesson in lessons() if lesson.name != LARGE])
def test_no_run_says_a_word_that_is_not_listed(name):
    boards = Boards(simulate(load(name)))
    assert {state.word for track in boards.partitions.values() for state in track.states} <= set(
        PARTITION_WORDS
    )
    states = [state for track in boards.members.values() for state in track.states]
    assert {state.life for state in states} <= set(get_args(Life))
    assert {state.standing for state in states} <= set(get_args(Standing))
    assert {each.kind for each in boards.deliveries} <= set(DELIVERIES)
    assert {mark.kind for mark in boards.marks} <= set(MarkKind)


def test_a_look_has_a_badge_or_words_or_neither_and_the_first_seat_is_none():
    assert all(badge in says for badge, says in LOOKS.values() if says)
    assert not SEATS[0]
