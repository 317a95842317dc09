"""Review: what was missed, or right by luck, comes back as a fresh variant when FSRS says that it is being forgotten.

py-fsrs keeps the schedule (its default parameters, without random spreading). A miss and a guess are rated Again,
"think so" is Hard, "sure" is Good; items of which none was missed nor guessed are not scheduled at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from types import NoneType
from typing import Any

from rebalance_kit.model.errors import DataError, require_kind
from rebalance_kit.model.extras import require
from rebalance_kit.quiz.items.bank import Bank, read_bank
from rebalance_kit.quiz.proof.generate import question
from rebalance_kit.quiz.proof.run_book import RunBook
from rebalance_kit.quiz.sittings.page import shuffled
from rebalance_kit.quiz.sittings.practice import Practice
from rebalance_kit.quiz.sittings.store import Attempt, Store


@dataclass(frozen=True, slots=True)
class DueReview:
    """An item that is due, since when, and the seed of the variant to ask."""

    item: str
    since: datetime
    seed: int


def _fsrs() -> Any:
    require("fsrs")
    import fsrs

    return fsrs


def rating(attempt: Attempt) -> int:
    """FSRS's rating of an answer: 1 Again, 2 Hard, 3 Good."""
    if not attempt.correct or attempt.confidence == "guess":
        return 1
    return 2 if attempt.confidence == "think" else 3


def schedule(attempts: Iterable[Attempt]) -> dict[str, tuple[datetime, int]]:
    """Item to when it is due and how often it was answered; from all answers, so nothing else has to be kept."""
    fsrs = _fsrs()
    scheduler = fsrs.Scheduler(enable_fuzzing=False)
    cards: dict[str, Any] = {}
    times: dict[str, int] = {}
    for attempt in attempts:
        times[attempt.item] = times.get(attempt.item, 0) + 1
        if attempt.item not in cards and rating(attempt) != 1:
            continue
        at = datetime.fromtimestamp(attempt.at, UTC)
        card = cards.get(attempt.item) or fsrs.Card(card_id=1, due=at)
        cards[attempt.item], _ = scheduler.review_card(card, fsrs.Rating(rating(attempt)), at)
    return {item: (card.due, times[item]) for item, card in cards.items()}


def due(store: Store, now: float, bank: Bank | None = None) -> tuple[DueReview, ...]:
    """Reviews due at that time, the longest overdue first; items that the bank no longer has are left out."""
    known = {item.head.id for item in (bank or read_bank()).items}
    moment = datetime.fromtimestamp(now, UTC)
    reviews = [
        DueReview(item, since, times + 1)
        for item, (since, times) in schedule(store.attempts()).items()
        if since <= moment and item in known
    ]
    return tuple(sorted(reviews, key=lambda review: (review.since, review.item)))


def practise_due(store: Store, now: float, count: int | None = None, bank: Bank | None = None) -> Practice:
    """A practice of the first ``count`` of them as fresh variants: recipes drawn anew, options in another order.

    It has no question when nothing is due.
    """
    require_kind(count, (int, NoneType), "count", "a whole number, or None for all")
    if count is not None and count < 1:
        raise DataError(f"count {count} received, expected at least 1")
    bank = bank or read_bank()
    book = RunBook()
    sources = tuple((bank.item(review.item), review.seed) for review in due(store, now, bank)[:count])
    questions = tuple(shuffled(question(item, seed, book), seed) for item, seed in sources)
    return Practice("review", questions, store=store, mode="review", sources=sources, book=book)
