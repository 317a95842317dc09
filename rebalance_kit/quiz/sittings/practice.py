"""A practice: questions one after another, feedback at once. What a widget and a terminal both show.

Nothing in ``page()`` or ``text()`` tells a key before its question is answered.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from types import NoneType
from typing import Any
from uuid import uuid4

from rebalance_kit.model.errors import DataError, require, require_kind
from rebalance_kit.quiz.items.bank import Bank, read_bank
from rebalance_kit.quiz.items.item import Item, Question
from rebalance_kit.quiz.proof.generate import question
from rebalance_kit.quiz.proof.run_book import RunBook
from rebalance_kit.quiz.sittings.grade import Answer, Verdict, grade, require_all_chosen
from rebalance_kit.quiz.sittings.page import public, question_lines, shuffled
from rebalance_kit.quiz.sittings.progress import Replay, day_of, replays
from rebalance_kit.quiz.sittings.store import CONFIDENCE, Attempt, Store

A_DAY = 20
"""Reviews of one day, at most, unless a learner asks for more."""
NOTHING_DUE = "Nothing is due today. Missed and guessed questions of quiz and exam come back here."


def pick_items(
    tag: str | None = None, ids: Sequence[str] = (), bank: Bank | None = None, count: int | None = None
) -> tuple[Item, ...]:
    """The first ``count`` items of a tag (all when None), or those with the given ids; raises ``DataError`` for an unknown one."""
    require_kind(count, (int, NoneType), "count", "a whole number, or None for all")
    if count is not None and count < 1:
        raise DataError(f"count {count} received, expected at least 1")
    bank = bank or read_bank()
    items = [bank.item(name) for name in ids] if ids else bank.tagged(tag) if tag is not None else bank.items
    return tuple(items[:count])


def pick_questions(
    tag: str | None = None,
    ids: Sequence[str] = (),
    seed: int = 1,
    bank: Bank | None = None,
    count: int | None = None,
) -> tuple[Question, ...]:
    """The same as questions, recipes as their variant for ``seed``."""
    require_kind(seed, int, "the seed", "a whole number")
    book = RunBook()
    return tuple(question(item, seed, book) for item in pick_items(tag, ids, bank, count))


@dataclass(slots=True)
class Practice:
    """Where somebody is in a row of questions. With a ``store`` answers are kept there.

    ``sources`` are the items behind the questions with the seeds of their variants (none: no run is told).
    """

    title: str
    questions: tuple[Question, ...]
    place: int = 0
    verdicts: dict[int, Verdict] = field(default_factory=dict)
    store: Store | None = None
    mode: str = "practice"
    sources: tuple[tuple[Item, int], ...] = ()
    book: RunBook = field(default_factory=RunBook)

    def answer(self, choice: Answer, confidence: str | None = None) -> Verdict:
        """Answer the question shown, or the next one when that is answered; raises ``DataError`` for no answer.

        ``confidence`` is sure, think or guess, or None when nobody asked.
        """
        if confidence is not None and confidence not in CONFIDENCE:
            raise DataError(f"confidence {confidence!r} received, expected one of {', '.join(CONFIDENCE)}")
        if not self.questions or (self.place in self.verdicts and not self.forward()):
            raise DataError(
                f"all {len(self.questions)} questions of {self.title!r} are answered; expected no further answer"
            )
        require_all_chosen(self.questions[self.place], choice)
        verdict = grade(self.questions[self.place], choice)
        self.verdicts[self.place] = verdict
        if self.store is not None:
            self.store.add(self._attempt(verdict, confidence))
        return verdict

    def check(self, choice: Answer) -> None:
        """Raise ``DataError`` unless this is an answer to the question shown; nothing is kept."""
        grade(self.questions[self.place], choice)
        require_all_chosen(self.questions[self.place], choice)

    @property
    def source_line(self) -> str:
        """The id of the question shown and what says so; empty before it is answered, or where nothing is known of it."""
        if self.place not in self.verdicts or not self.sources:
            return ""
        head = self.sources[self.place][0].head
        return f"  {head.id}; sources: {', '.join(head.source)}"

    def _attempt(self, verdict: Verdict, confidence: str | None) -> Attempt:
        item, _, drawn = verdict.item.partition("~")
        seed = self.sources[self.place][1] if self.sources else int(drawn or 1)
        return Attempt(
            uuid4().hex,
            time.time(),
            self.mode,
            item,
            seed,
            " ".join(verdict.given),
            verdict.right,
            verdict.credit,
            confidence,
            verdict.misconceptions,
        )

    def forward(self) -> bool:
        """Show the next question; False when this was the last."""
        if self.place + 1 >= len(self.questions):
            return False
        self.place += 1
        return True

    @property
    def right(self) -> int:
        """Questions answered right so far."""
        return sum(verdict.right for verdict in self.verdicts.values())

    @property
    def replays(self) -> tuple[Replay, ...]:
        """The runs that decide the question shown, once it is answered."""
        if self.place not in self.verdicts or not self.sources:
            return ()
        return replays(*self.sources[self.place], self.book)

    def page(self) -> dict[str, Any]:
        """The screen as plain JSON: the question, and the verdict once it is answered."""
        if not self.questions:
            return {"title": self.title, "of": 0, "said": NOTHING_DUE}
        verdict = self.verdicts.get(self.place)
        return {
            "title": self.title,
            "number": self.place + 1,
            "of": len(self.questions),
            "question": public(self.questions[self.place]),
            "verdict": None if verdict is None else asdict(verdict),
            "last": self.place + 1 == len(self.questions),
            "right": self.right,
            "answered": len(self.verdicts),
            "replays": [replay.name for replay in self.replays],
            "source": self.source_line.strip(),
            "notice": (self.store.notice or "") if self.store is not None else "",
        }

    def text(self) -> str:
        """The practice in words: every question, and the feedback on those answered."""
        if not self.questions:
            return NOTHING_DUE
        lines = [
            f"Quiz {self.title}: {len(self.questions)} questions, {len(self.verdicts)} answered, {self.right} right"
        ]
        for index, shown in enumerate(self.questions):
            lines += ["", *question_lines(shown, index + 1)]
            if index in self.verdicts:
                lines.append(str(self.verdicts[index]))
        return "\n".join(lines)


def practise(
    tag: str | None = None,
    ids: Sequence[str] = (),
    seed: int = 1,
    count: int | None = None,
    store: Store | None = None,
    title: str | None = None,
) -> Practice:
    """A practice of the kit's own bank; raises ``DataError`` for an unknown tag or id, or none at all."""
    require_kind(seed, int, "the seed", "a whole number")
    items = pick_items(tag, ids, count=count)
    book = RunBook()
    return Practice(
        title or tag or "practice",
        tuple(question(item, seed, book) for item in items),
        store=store,
        sources=tuple((item, seed) for item in items),
        book=book,
    )


def beliefs_shown(verdicts: Iterable[Verdict]) -> tuple[str, ...]:
    """Beliefs that wrong answers to at least two items fit, each once, the most frequent first."""
    items: dict[str, list[str]] = {}
    for verdict in verdicts:
        for belief in verdict.misconceptions:
            items.setdefault(belief, []).append(verdict.item.partition("~")[0])
    shown = [belief for belief, names in items.items() if len(set(names)) > 1]
    return tuple(sorted(shown, key=lambda each: (-len(items[each]), each)))


# Review: what was missed, or right by luck, comes back as a fresh variant when FSRS says that it is being forgotten.
#
# py-fsrs keeps the schedule (its default parameters, without random spreading). A miss and a guess are rated Again,
# "think so" is Hard, "sure" is Good; items of which none was missed nor guessed are not scheduled at all, nor is what was
# left open. There are no steps within a day: nothing comes back before tomorrow.


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
    scheduler = fsrs.Scheduler(enable_fuzzing=False, learning_steps=(), relearning_steps=())
    cards: dict[str, Any] = {}
    times: dict[str, int] = {}
    for attempt in attempts:
        if not attempt.given:
            continue
        times[attempt.item] = times.get(attempt.item, 0) + 1
        if attempt.item not in cards and rating(attempt) != 1:
            continue
        at = datetime.fromtimestamp(attempt.at, UTC)
        card = cards.get(attempt.item) or fsrs.Card(card_id=1, due=at)
        cards[attempt.item], _ = scheduler.review_card(card, fsrs.Rating(rating(attempt)), at)
    return {item: (card.due, times[item]) for item, card in cards.items()}


def due(store: Store, now: float, bank: Bank | None = None) -> tuple[DueReview, ...]:
    """Reviews due on the day of that time, the longest overdue first; items that the bank no longer has are left out."""
    known = {item.head.id for item in (bank or read_bank()).items}
    today = day_of(now)
    reviews = [
        DueReview(item, since, times + 1)
        for item, (since, times) in schedule(store.attempts()).items()
        if day_of(since.timestamp()) <= today and item in known
    ]
    return tuple(sorted(reviews, key=lambda review: (review.since, review.item)))


def due_in_days(store: Store, now: float, bank: Bank | None = None) -> dict[int, int]:
    """In how many days how many reviews come; 0 is today, with what is overdue."""
    known = {item.head.id for item in (bank or read_bank()).items}
    coming: dict[int, int] = {}
    for item, (since, _) in schedule(store.attempts()).items():
        if item in known:
            days = max(0, (day_of(since.timestamp()) - day_of(now)).days)
            coming[days] = coming.get(days, 0) + 1
    return dict(sorted(coming.items()))


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
