"""Item statistics: sums that add up over learners, with neither names nor single answers in them."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest

from rebalance_kit.cli import main
from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.item import Choice
from rebalance_kit.quiz.sittings.page import shuffled
from rebalance_kit.quiz.sittings.stats import (
    ENOUGH,
    ItemStats,
    flags,
    from_json,
    merged,
    stats_of,
    table,
    to_json,
)
from rebalance_kit.quiz.sittings.store import Attempt, Store

ITEM = "eager-crash-which-unread"


def answers(bank, right: dict[str, bool], exam: str | None) -> list[Attempt]:
    """One sitting: each item answered with its key, or with another option."""
    found = []
    for number, (name, good) in enumerate(right.items()):
        item = shuffled(bank.item(name), 1)
        assert isinstance(item, Choice)
        given = item.key[0] if good else next(option.id for option in item.options if not option.right)
        found.append(
            Attempt(
                f"{exam}/{name}", float(number), "exam", name, 1, given, good, float(good), None, (), exam
            )
        )
    return found


@pytest.fixture
def names(bank) -> list[str]:
    return [
        ITEM,
        *[item.head.id for item in bank.items if item.kind == "single" and item.head.id != ITEM][:9],
    ]


def test_difficulty_discrimination_and_options_are_counted(bank, names):
    good = answers(bank, dict.fromkeys(names, True), "strong")
    poor = answers(bank, dict.fromkeys(names, False), "poor")
    split = {name: place % 2 == 0 for place, name in enumerate(names)}
    found = stats_of([*good, *poor, *answers(bank, split, "mixed")], bank)
    one = found[ITEM]
    assert (one.asked, one.right, sum(one.chosen.values())) == (3, 2, 3)
    assert one.chosen[bank.item(ITEM).key[0]] == 2, "letters are those of the item's file, whatever was shown"
    assert (
        one.difficulty == pytest.approx(2 / 3) and one.discrimination is not None and one.discrimination > 0.5
    )


def test_the_first_answer_of_a_sitting_counts_and_a_short_sitting_says_nothing_of_discrimination(bank, names):
    first, *_ = answers(bank, {ITEM: False}, "exam")
    second = replace(first, id="later", at=9.0, given="b", correct=True)
    one = stats_of([first, second], bank)[ITEM]
    assert (one.asked, one.right, one.compared, one.discrimination) == (1, 0, 0, None)


def test_files_of_two_learners_add_up_to_what_both_answered(bank, names, tmp_path):
    mine = answers(bank, {name: place % 3 > 0 for place, name in enumerate(names)}, "mine")
    yours = answers(bank, {name: place % 2 > 0 for place, name in enumerate(names)}, "yours")
    for learner, sitting in (("mine", mine), ("yours", yours)):
        Store(tmp_path / f"{learner}.sqlite").add(*sitting)
        command = [
            "items",
            "stats",
            "--store",
            str(tmp_path / f"{learner}.sqlite"),
            "--to",
            str(tmp_path / f"{learner}.json"),
        ]
        assert main(command, io.StringIO()) == 0
    together = merged([from_json(tmp_path / "mine.json"), from_json(tmp_path / "yours.json")])
    both = stats_of([*mine, *yours], bank)
    assert {name: (one.asked, one.right, one.chosen) for name, one in together.items()} == {
        name: (one.asked, one.right, one.chosen) for name, one in both.items()
    }
    assert together[ITEM].rest == pytest.approx(both[ITEM].rest, abs=1e-4)
    text = (tmp_path / "mine.json").read_text("utf-8")
    assert "mine" not in text and "given" not in text and '"at"' not in text
    out = io.StringIO()
    assert main(["items", "stats", str(tmp_path / "mine.json"), str(tmp_path / "yours.json")], out) == 0
    assert ITEM in out.getvalue()


def test_items_to_look_at_are_flagged_once_there_are_enough_answers(bank):
    item = bank.item(ITEM)
    few = ItemStats(ITEM, ENOUGH - 1, 0, {"a": ENOUGH - 1})
    assert flags(few, item) == []
    many = ItemStats(ITEM, 20, 4, {"a": 16, "b": 4}, 20, 4, 10.0, 6.0, 1.5)
    assert many.discrimination is not None and many.discrimination < 0
    assert flags(many, item) == ["hard", "weak", "option c idle", "option d idle", "option a above the key"]
    assert table({ITEM: many}, bank).splitlines()[1].endswith("option a above the key]")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", "cannot be read"),
        ("[]", "no item statistics"),
        (json.dumps({"item_statistics": 1, "items": [{"item": "x"}]}), "damaged"),
        (to_json({"x": ItemStats("x", 1, 2)}), "damaged"),
    ],
)
def test_a_file_that_holds_no_statistics_is_named(tmp_path, text, expected):
    path = tmp_path / "odd.json"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError, match=expected):
        from_json(path)
