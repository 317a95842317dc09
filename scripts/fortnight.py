"""A simulated fortnight: three candidates use `rebalance-kit today` every day and sit a mock; the table of docs/items.md.

python -m scripts.fortnight            print the table
python -m scripts.fortnight --write    write it into docs/items.md

A candidate knows 40, 60 or 80 % of the questions that it has not seen. What it has answered it has read the reasons of, and keeps
as FSRS models memory: a card per item, rated Again after a miss and Good after a hit, and right later with the card's
retrievability; where it has forgotten it guesses one of four. One item teaches nothing of another: real candidates do better.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import fsrs

from rebalance_kit.model.files import write_atomically
from rebalance_kit.quiz.items.bank import read_bank
from rebalance_kit.quiz.items.blueprint import blueprint, compose
from rebalance_kit.quiz.sittings.daily import by_domain, minutes_of, predicted, session
from rebalance_kit.quiz.sittings.store import Attempt, Store

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "items.md"
BEGIN, END = "<!-- fortnight: made by python -m scripts.fortnight --write -->", "<!-- end of fortnight -->"
START = 1_800_010_800.0
"""Eleven in the morning in Greenwich: the same day almost everywhere."""
DAY_S = 86_400.0
DAYS = 14
GUESS = 0.25


class Candidate:
    """Somebody who knows a share of what is new, and keeps what was answered as FSRS says."""

    def __init__(self, knows: float, seed: int) -> None:
        self.knows, self.luck = knows, Random(seed)
        self.cards: dict[str, fsrs.Card] = {}
        self.memory = fsrs.Scheduler(enable_fuzzing=False, learning_steps=(), relearning_steps=())

    def is_right(self, item: str, at: float) -> bool:
        """Whether an answer at that time is right; nothing is learned by it."""
        card = self.cards.get(item)
        if card is None:
            return self.luck.random() < self.knows
        kept = self.memory.get_card_retrievability(card, datetime.fromtimestamp(at, UTC))
        return self.luck.random() < kept + (1 - kept) * GUESS

    def learns(self, item: str, at: float, *, right: bool) -> None:
        """Read the reasons behind an answer."""
        moment = datetime.fromtimestamp(at, UTC)
        card = self.cards.get(item) or fsrs.Card(card_id=1, due=moment)
        rating = fsrs.Rating.Good if right else fsrs.Rating.Again
        self.cards[item], _ = self.memory.review_card(card, rating, moment)


def fortnight(
    knows: float, seed: int, folder: Path, exam: str = "CCDAK"
) -> tuple[dict[str, str], dict[str, str]]:
    """A row of each table; raises ``ValueError`` when an item is asked twice in a day, also by a second call of that day."""
    bank, plan = read_bank(), blueprint(exam)
    store, candidate = Store(folder / f"{knows}-{seed}.sqlite"), Candidate(knows, seed)
    minutes, asked_in_all, why, by_day = [], 0, Counter[str](), []
    for day in range(DAYS):
        now, seen = START + day * DAY_S, set[str]()
        sitting = session(store, exam, now, bank)
        minutes.append(minutes_of(sitting))
        attempts = []
        for number, each in enumerate(sitting):
            name, at = each.item.head.id, now + number * 60
            if name in seen:
                raise ValueError(f"{name} is asked twice on day {day + 1}")
            seen.add(name)
            right = candidate.is_right(name, at)
            candidate.learns(name, at, right=right)
            attempts.append(
                Attempt(f"{day}/{number}", at, "today", name, each.seed, "a", right, float(right), "sure")
            )
        store.add(*attempts)
        if twice := seen & {each.item.head.id for each in session(store, exam, now + 3_600, bank)}:
            raise ValueError(f"{sorted(twice)} are asked again on day {day + 1}")
        asked_in_all += len(sitting)
        parts = Counter(each.why for each in sitting)
        why += parts
        by_day.append("/".join(str(parts[part]) for part in ("due", "weak", "new")))
    now = START + DAYS * DAY_S
    mark = predicted(plan, by_domain(plan, store.attempts(), bank, now))
    items = [entry.item for entry in compose(plan, bank, 1).asked]
    answers = {item: candidate.is_right(item, now) for item in items}
    unseen = [right for item, right in answers.items() if item not in candidate.cards]
    row = {
        "knows of what is new": f"{knows:.0%}",
        "minutes a day, mean (most)": f"{sum(minutes) / DAYS:.1f} ({max(minutes):.1f})",
        "questions a day": f"{asked_in_all / DAYS:.1f}",
        "due / weak / new": f"{why['due']} / {why['weak']} / {why['new']}",
        "predicted, four times out of five": f"{mark.share:.0%} ({mark.low:.0%} to {mark.high:.0%})",
        "mock 1, unseen questions": f"{sum(unseen)} of {len(unseen)}, {sum(unseen) / max(1, len(unseen)):.0%}",
        "mock 1, all": f"{sum(answers.values())} of {len(items)}, {sum(answers.values()) / len(items):.0%}",
    }
    days = {
        str(day): f"{spent:.1f}<br>{parts}"
        for day, (spent, parts) in enumerate(zip(minutes, by_day, strict=True), 1)
    }
    return row, {"knows": f"{knows:.0%}", **days}


def table(seeds: int = 2) -> str:
    """The three candidates, each with some seeds, and under them their days, in Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            fortnight(knows, seed, Path(folder)) for knows in (0.4, 0.6, 0.8) for seed in range(1, seeds + 1)
        ]
    whole, days = ([part[number] for part in rows] for number in (0, 1))
    return "\n\n".join(
        [
            _markdown(whole),
            "Day by day: minutes, and below them how many questions were due, of weak themes and new.",
            _markdown(days),
        ]
    )


def _markdown(rows: list[dict[str, str]]) -> str:
    head = list(rows[0])
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row.values())} |" for row in rows)])


def main(arguments: list[str]) -> int:
    """Print the table, or write it."""
    made = table()
    print(made)
    if arguments == ["--write"]:
        text = DOCUMENT.read_text("utf-8")
        before, _, rest = text.partition(BEGIN)
        _, end, after = rest.partition(END)
        if not end:
            raise SystemExit(f"{DOCUMENT} has no lines {BEGIN} and {END}")
        write_atomically(DOCUMENT, f"{before}{BEGIN}\n\n{made}\n\n{END}{after}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
