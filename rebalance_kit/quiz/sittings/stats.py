"""Item statistics from answers: difficulty, discrimination, how often each option was chosen, and what to look at.

A sitting is an exam, or all practice of one file of answers; of each item its first answer counts. Discrimination
is the correlation of an item with the share of the other items that were right in the same sitting. What is written to
a file are sums per item, which add up over learners and hold no names, times or single answers.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt
from pathlib import Path
from typing import Any, TextIO

from rebalance_kit.model.errors import DataError
from rebalance_kit.model.files import write_atomically
from rebalance_kit.quiz.items.bank import Bank, read_bank
from rebalance_kit.quiz.items.item import Choice, Item
from rebalance_kit.quiz.sittings.page import shuffled
from rebalance_kit.quiz.sittings.store import Attempt, Store

VERSION = 1
ENOUGH = 10
"""Answers from which on an item is judged."""
COMPANY = 5
"""Other items that a sitting needs before it says something of discrimination."""
TOO_HARD, TOO_EASY, TOO_WEAK, IDLE = 0.3, 0.95, 0.1, 0.05
LARGEST_FILE = 20_000_000


@dataclass(frozen=True, slots=True)
class ItemStats:
    """Sums over the answers to one item; ``chosen`` counts options by letter, other answers by the belief they show."""

    item: str
    asked: int = 0
    right: int = 0
    chosen: Mapping[str, int] = field(default_factory=dict)
    compared: int = 0
    compared_right: int = 0
    rest: float = 0.0
    rest_squared: float = 0.0
    rest_if_right: float = 0.0

    @property
    def difficulty(self) -> float:
        """The share of right answers."""
        return self.right / self.asked if self.asked else 0.0

    @property
    def discrimination(self) -> float | None:
        """The point-biserial correlation with the rest of the sitting; None where it is not defined."""
        number, right = self.compared, self.compared_right
        spread = number * self.rest_squared - self.rest**2
        if not 0 < right < number or spread <= 1e-12:
            return None
        return (number * self.rest_if_right - right * self.rest) / sqrt(right * (number - right) * spread)

    def __add__(self, other: ItemStats) -> ItemStats:
        """The sums over both sets of answers."""
        return ItemStats(
            self.item,
            self.asked + other.asked,
            self.right + other.right,
            dict(sorted((Counter(self.chosen) + Counter(other.chosen)).items())),
            self.compared + other.compared,
            self.compared_right + other.compared_right,
            self.rest + other.rest,
            self.rest_squared + other.rest_squared,
            self.rest_if_right + other.rest_if_right,
        )


def stats_of(attempts: Iterable[Attempt], bank: Bank) -> dict[str, ItemStats]:
    """Statistics of one file of answers, by item; items that the bank no longer has are left out."""
    known = {item.head.id: item for item in bank.items}
    sittings: dict[str, dict[str, Attempt]] = defaultdict(dict)
    for attempt in attempts:
        if attempt.item in known:
            sittings[attempt.exam or "practice"].setdefault(attempt.item, attempt)
    found: dict[str, ItemStats] = {}
    for sitting in sittings.values():
        total = sum(attempt.correct for attempt in sitting.values())
        for name, attempt in sitting.items():
            one = _one(attempt, known[name], total, len(sitting))
            found[name] = found[name] + one if name in found else one
    return dict(sorted(found.items()))


def _one(attempt: Attempt, item: Item, total: int, answered: int) -> ItemStats:
    right = int(attempt.correct)
    counted = ItemStats(attempt.item, 1, right, {_label(attempt, item): 1})
    if answered <= COMPANY:
        return counted
    rest = (total - right) / (answered - 1)
    return replace(
        counted,
        compared=1,
        compared_right=right,
        rest=rest,
        rest_squared=rest * rest,
        rest_if_right=rest * right,
    )


def _label(attempt: Attempt, item: Item) -> str:
    """The letters that the item's own file gives to what was chosen; a belief where there are no letters."""
    if isinstance(item, Choice):
        own = {option.text: option.id for option in item.options}
        shown = shuffled(item, attempt.seed)
        assert isinstance(shown, Choice)
        letters = {option.id: own[option.text] for option in shown.options}
        chosen = [letters[letter] for letter in attempt.given.replace(",", " ").split() if letter in letters]
        return " ".join(sorted(chosen)) or "none"
    if attempt.correct:
        return "right"
    return " ".join(attempt.beliefs) or ("none" if not attempt.given else "other")


def merged(parts: Iterable[Mapping[str, ItemStats]]) -> dict[str, ItemStats]:
    """The sums over several sets."""
    found: dict[str, ItemStats] = {}
    for part in parts:
        for name, one in part.items():
            found[name] = found[name] + one if name in found else one
    return dict(sorted(found.items()))


def flags(one: ItemStats, item: Item) -> list[str]:
    """What an editor should look at; nothing for an item with few answers."""
    if one.asked < ENOUGH:
        return []
    found = []
    if one.difficulty < TOO_HARD:
        found.append("hard")
    if one.difficulty > TOO_EASY:
        found.append("easy")
    if one.discrimination is not None and one.discrimination < TOO_WEAK:
        found.append("weak")
    if isinstance(item, Choice) and not item.many:
        (key,) = item.key
        found += [
            f"option {option.id} idle"
            for option in item.options
            if option.id != key and one.chosen.get(option.id, 0) < IDLE * one.asked
        ]
        found += [
            f"option {option.id} above the key"
            for option in item.options
            if option.id != key and one.chosen.get(option.id, 0) > one.chosen.get(key, 0)
        ]
    return found


def table(found: Mapping[str, ItemStats], bank: Bank) -> str:
    """Statistics as lines, flagged items first, then the hardest."""
    known = {item.head.id: item for item in bank.items}
    rows = []
    for name, one in found.items():
        if name not in known:
            continue
        marks = flags(one, known[name])
        shown = "" if one.discrimination is None else f"{one.discrimination:+.2f}"
        chosen = " ".join(f"{label}:{number}" for label, number in one.chosen.items())
        row = f"{name:<44} {one.asked:>5} {one.difficulty:>5.0%} {shown:>6}  {chosen}"
        rows.append((not marks, one.difficulty, row + (f"  [{', '.join(marks)}]" if marks else "")))
    head = f"{'item':<44} {'asked':>5} {'right':>5} {'discr.':>6}  chosen"
    return "\n".join([head, *(row for _, _, row in sorted(rows))]) + "\n"


def to_json(found: Mapping[str, ItemStats]) -> str:
    """The sums as the text of a file to hand in."""
    items = [
        {
            "item": one.item,
            "asked": one.asked,
            "right": one.right,
            "chosen": dict(one.chosen),
            "compared": one.compared,
            "compared_right": one.compared_right,
            "rest": round(one.rest, 6),
            "rest_squared": round(one.rest_squared, 6),
            "rest_if_right": round(one.rest_if_right, 6),
        }
        for one in found.values()
    ]
    return json.dumps({"item_statistics": VERSION, "items": items}, ensure_ascii=False, indent=1) + "\n"


def from_json(path: Path) -> dict[str, ItemStats]:
    """The sums of a file; raises ``DataError`` naming what is wrong with it."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise DataError(f"{path}: larger than {LARGEST_FILE} bytes; expected item statistics")
        held = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: cannot be read ({error}); expected a file of items stats --to") from error
    if not isinstance(held, dict) or held.get("item_statistics") != VERSION:
        raise DataError(
            f"{path}: no item statistics of version {VERSION}; expected a file of items stats --to"
        )
    try:
        stats = [_read(entry) for entry in held["items"]]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise DataError(f"{path}: damaged ({error!r}); expected a file of items stats --to") from error
    return {one.item: one for one in stats}


def _read(entry: Mapping[str, Any]) -> ItemStats:
    one = ItemStats(
        str(entry["item"]),
        int(entry["asked"]),
        int(entry["right"]),
        {str(label): int(number) for label, number in entry["chosen"].items()},
        int(entry["compared"]),
        int(entry["compared_right"]),
        float(entry["rest"]),
        float(entry["rest_squared"]),
        float(entry["rest_if_right"]),
    )
    if not 0 <= one.right <= one.asked or not 0 <= one.compared_right <= one.compared <= one.asked:
        raise ValueError(f"{one.item}: {one.right} of {one.asked} right")
    return one


def run_items_stats(files: Sequence[Path], to: Path | None, store: Store, out: TextIO) -> int:
    """Print the statistics of one's own answers, or of files put together; with ``to`` write them to a new file. Returns 0."""
    bank = read_bank()
    found = merged(map(from_json, files)) if files else stats_of(store.attempts(), bank)
    if to is None:
        out.write(table(found, bank))
        return 0
    if to.exists():
        raise DataError(f"{to}: exists already; expected the name of a new file")
    write_atomically(to, to_json(found))
    out.write(f"{len(found)} items written to {to}\n")
    return 0
