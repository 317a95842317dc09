"""The learner's day: what is due, what is weak, what is new, in about fifteen minutes; and how far the learner is.

All of it is computed from the answers. An item is asked once a day at most.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.bank import Bank, read_bank
from rebalance_kit.quiz.items.blueprint import Blueprint, blueprint, exams
from rebalance_kit.quiz.items.item import Item
from rebalance_kit.quiz.proof.generate import question
from rebalance_kit.quiz.proof.run_book import RunBook
from rebalance_kit.quiz.sittings.page import shuffled
from rebalance_kit.quiz.sittings.practice import Practice, due, due_in_days
from rebalance_kit.quiz.sittings.progress import day_of, first_answers, steps
from rebalance_kit.quiz.sittings.store import Attempt, Store

MINUTES = 15.0
"""A day's session, at most."""
DUE_SHARE, WEAK_SHARE = 0.6, 0.8
"""Of a session: how much of it reviews may take, and reviews and weak themes together."""
TAKES = {"recall": 0.75, "apply": 1.5, "diagnose": 2.5}
"""Minutes that a question takes with its explanation, by level; the kit's own estimate."""
WEAK = 0.7
"""A theme is weak when its estimated share of right answers is below this."""
FROM = 3
"""Answers from which on something is said of a theme."""
Z = 1.2816
"""Standard errors on either side of an interval that holds four of five."""
HALF_LIFE_S = 7 * 86_400.0
"""After so long a first answer counts half as much in a prediction."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share of right answers with an interval that holds it four times out of five; from ``asked`` answers."""

    name: str
    right: float
    asked: float
    low: float
    high: float

    @property
    def share(self) -> float:
        """The estimate, drawn a little towards one half where answers are few."""
        return (self.right + 1) / (self.asked + 2)

    def __str__(self) -> str:
        return f"{self.share:4.0%}, {self.low:.0%} to {self.high:.0%}, from {self.asked:.0f} answers"


def _estimate(name: str, right: float, asked: float) -> Estimate:
    share = (right + 1) / (asked + 2)
    error = math.sqrt(share * (1 - share) / (asked + 3))
    return Estimate(name, right, asked, max(0.0, share - Z * error), min(1.0, share + Z * error))


def themes(attempts: Iterable[Attempt], bank: Bank) -> tuple[Estimate, ...]:
    """Themes (tags) with at least three first answers, the weakest first."""
    known = {item.head.id: item for item in bank.items}
    counts: dict[str, list[bool]] = defaultdict(list)
    for name, attempt in first_answers(attempts).items():
        for tag in known[name].head.tags if name in known else ():
            if not _is_ticket(tag):
                counts[tag].append(attempt.correct)
    found = [_estimate(tag, sum(right), len(right)) for tag, right in counts.items() if len(right) >= FROM]
    return tuple(sorted(found, key=lambda each: (each.share, each.name)))


def weak_themes(attempts: Iterable[Attempt], bank: Bank) -> tuple[Estimate, ...]:
    """Those below ``WEAK``, the weakest first."""
    return tuple(each for each in themes(attempts, bank) if each.share < WEAK)


def _is_ticket(tag: str) -> bool:
    return tag[:1] == "t" and tag[1:].isdigit()


def by_domain(plan: Blueprint, attempts: Iterable[Attempt], bank: Bank, now: float) -> tuple[Estimate, ...]:
    """Each domain of an exam by first answers, late ones counting more."""
    known = {item.head.id: item for item in bank.items}
    right: dict[str, float] = defaultdict(float)
    asked: dict[str, float] = defaultdict(float)
    for name, attempt in first_answers(attempts).items():
        weight = 0.5 ** (max(0.0, now - attempt.at) / HALF_LIFE_S)
        for domain in plan.weights:
            if name in known and f"{plan.name} {domain}" in known[name].head.domains:
                asked[domain] += weight
                right[domain] += weight * attempt.correct
    return tuple(_estimate(domain, right[domain], asked[domain]) for domain in plan.weights)


def predicted(plan: Blueprint, domains: Iterable[Estimate]) -> Estimate:
    """The mark to expect in a mock of questions that were never seen, by the exam's weights.

    A domain of few answers is drawn towards what the candidate knows of all domains, not towards one half.
    """
    quotas, every = plan.quotas(), {each.name: each for each in domains}
    asked = sum(each.asked for each in every.values())
    overall = (sum(each.right for each in every.values()) + 1) / (asked + 2)
    shares = {name: (each.right + 2 * overall) / (each.asked + 2) for name, each in every.items()}
    share = sum(quotas[name] * shares[name] for name in every) / plan.questions
    known = sum(
        (quotas[name] / plan.questions) ** 2 * shares[name] * (1 - shares[name]) / max(each.asked, 1)
        for name, each in every.items()
    )
    error = math.sqrt(known + share * (1 - share) / plan.questions)
    return Estimate(
        plan.name, share * (asked + 2) - 1, asked, max(0.0, share - Z * error), min(1.0, share + Z * error)
    )


def progress_lines(store: Store, name: str, now: float, bank: Bank | None = None) -> list[str]:
    """How far the learner is in an exam's domains, as bars in text, with a predicted mark."""
    plan, bank = blueprint(name), bank or read_bank()
    domains = by_domain(plan, store.attempts(), bank, now)
    wide = max(len(domain.name) for domain in domains)
    lines = [
        f"{plan.name} by domain (first answers; the bar is the estimate, the dots its interval of four in five):"
    ]
    lines += [f"  {each.name:<{wide}} {_bar(each)} {each}" for each in domains]
    mark = predicted(plan, domains)
    if mark.asked >= FROM * len(domains):
        lines.append(
            f"Predicted mark in a mock of unseen questions: {mark.share:.0%}, four times out of five between {mark.low:.0%} and {mark.high:.0%}."
        )
    else:
        lines.append("Too few answers for a predicted mark.")
    lines.append(
        "It is about consumer groups and their neighbours; what the bank does not ask, it does not predict."
    )
    return lines


def _bar(each: Estimate, width: int = 30) -> str:
    filled, low, high = (round(width * share) for share in (each.share, each.low, each.high))
    return "".join(
        "#" if at < filled and at < low else "." if low <= at < high else " " for at in range(width)
    )


# --- the session -----------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Asked:
    """An item of a day's session, the seed of its variant, and why it is asked: due, weak or new."""

    item: Item
    seed: int
    why: str


def minutes_of(asked: Iterable[Asked]) -> float:
    """How long a session is estimated to take."""
    return sum(TAKES[each.item.head.difficulty] for each in asked)


def session(store: Store, name: str, now: float, bank: Bank | None = None) -> tuple[Asked, ...]:
    """What to ask today: reviews first, then questions of weak themes, then new ones in the order of the plan.

    Items answered today are left out, and together they take ``MINUTES`` at most, less what was answered today.
    """
    plan, bank = blueprint(name), bank or read_bank()
    attempts = store.attempts()
    times: dict[str, int] = defaultdict(int)
    for attempt in attempts:
        times[attempt.item] += bool(attempt.given)
    known = {item.head.id: item for item in bank.items if _asked_in(item, plan)}
    today = {attempt.item for attempt in attempts if attempt.given and day_of(attempt.at) == day_of(now)}
    daily = [attempt.item for attempt in attempts if attempt.mode == "today" and attempt.item in today]
    spent = sum(TAKES[known[item].head.difficulty] for item in dict.fromkeys(daily) if item in known)
    chosen: dict[str, Asked] = {}

    def fill(items: Iterable[Item], why: str, limit: float) -> None:
        for item in items:
            room = spent + minutes_of(chosen.values()) + TAKES[item.head.difficulty] <= limit
            if room and item.head.id not in chosen and item.head.id not in today:
                chosen[item.head.id] = Asked(item, times[item.head.id] + 1, why)

    fill((known[one.item] for one in due(store, now, bank) if one.item in known), "due", MINUTES * DUE_SHARE)
    unseen = [item for item in known.values() if not times[item.head.id]]
    weak = [each.name for each in weak_themes(attempts, bank)[:FROM]]
    order = Random(f"{plan.name}/{day_of(now)}")
    shuffled_unseen = order.sample(unseen, len(unseen))
    fill((i for i in shuffled_unseen if set(weak) & set(i.head.tags)), "weak", MINUTES * WEAK_SHARE)
    fill(_in_plan_order(shuffled_unseen), "new", MINUTES)
    return tuple(chosen.values())


def _asked_in(item: Item, plan: Blueprint) -> bool:
    return any(domain.startswith(f"{plan.name} ") for domain in item.head.domains)


def _in_plan_order(items: Iterable[Item]) -> list[Item]:
    """By the first step of the plan that is about an item's first topic, easy levels first."""
    places: dict[str, int] = {}
    for place, step in enumerate(steps()):
        for topic in step.topics:
            places.setdefault(topic, place)
    levels = list(TAKES)
    return sorted(
        items,
        key=lambda item: (places.get(item.head.topics[0], len(places)), levels.index(item.head.difficulty)),
    )


def practise_today(store: Store, name: str, now: float, bank: Bank | None = None) -> Practice:
    """Today's session as a practice; without questions when the day's minutes are used."""
    bank = bank or read_bank()
    asked = session(store, name, now, bank)
    book = RunBook()
    sources = tuple((each.item, each.seed) for each in asked)
    questions = tuple(shuffled(question(item, seed, book), seed) for item, seed in sources)
    return Practice(
        f"today, {blueprint(name).name}", questions, store=store, mode="today", sources=sources, book=book
    )


def today_lines(store: Store, name: str, now: float, bank: Bank | None = None) -> list[str]:
    """What today's session is made of, what comes on the next days, and which themes are weak."""
    bank = bank or read_bank()
    asked = session(store, name, now, bank)
    counts = {why: sum(each.why == why for each in asked) for why in ("due", "weak", "new")}
    mix = f"{counts['due']} due, {counts['weak']} of weak themes, {counts['new']} new"
    lines = [f"Today: {len(asked)} questions, about {minutes_of(asked):.0f} minutes: {mix}."]
    if not asked:
        lines = ["Today is done."]
    lines.append(coming_line(store, now, bank))
    weak = weak_themes(store.attempts(), bank)[:FROM]
    lines += ["Weak themes (share of first answers right):"] if weak else []
    return lines + [f"  {each.name}: {each}" for each in weak]


def coming_line(store: Store, now: float, bank: Bank | None = None) -> str:
    """How many reviews come tomorrow and within a week."""
    coming: Mapping[int, int] = due_in_days(store, now, bank)
    week = sum(number for days, number in coming.items() if 1 <= days <= 7)
    return f"Reviews: tomorrow {coming.get(1, 0)}, within seven days {week}."


# --- practice by choice ----------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Wanted:
    """Which questions a practice is to have; what is None or False does not matter."""

    topic: str | None = None
    domain: str | None = None
    objective: str | None = None
    weak: bool = False
    new: bool = False


def practise_wanted(
    wanted: Wanted, store: Store, count: int | None = None, seed: int | None = None, bank: Bank | None = None
) -> Practice:
    """A practice of questions of a kind: those never answered first, then those answered longest ago, each lot in another order.

    ``seed`` fixes that order and the variants. Raises ``DataError`` for a tag, domain or objective that nothing has.
    """
    bank = bank or read_bank()
    if count is not None and count < 1:
        raise DataError(f"count {count} received, expected at least 1")
    attempts = store.attempts()
    last: dict[str, float] = {}
    for attempt in attempts:
        if attempt.given:
            last[attempt.item] = max(attempt.at, last.get(attempt.item, 0.0))
    items = list(bank.tagged(wanted.topic) if wanted.topic else bank.items)
    if wanted.domain:
        items = _of_domain(items, wanted.domain)
    if wanted.objective:
        items = _of_objective(items, wanted.objective)
    if wanted.weak:
        names = {each.name for each in weak_themes(attempts, bank)}
        items = [item for item in items if names & set(item.head.tags)]
    if wanted.new:
        items = [item for item in items if item.head.id not in last]
    draw = Random(seed).randrange(1, 10**6) if seed is None else seed
    Random(draw).shuffle(items)
    items.sort(key=lambda item: last.get(item.head.id, 0.0))
    book = RunBook()
    sources = tuple((item, draw) for item in items[:count])
    questions = tuple(shuffled(question(item, draw, book), draw) for item, _ in sources)
    title = wanted.topic or wanted.domain or wanted.objective or "of the whole bank"
    return Practice(title, questions, store=store, sources=sources, book=book)


def _of_domain(items: Iterable[Item], name: str) -> list[Item]:
    found = [item for item in items if any(name.lower() in domain.lower() for domain in item.head.domains)]
    if not found:
        names = [f"{exam} {domain}" for exam in exams() for domain in blueprint(exam).weights]
        raise DataError(f"the domain {name!r} received, expected one of {', '.join(names)}")
    return found


def _of_objective(items: Iterable[Item], words: str) -> list[Item]:
    found = [item for item in items if words.lower() in item.head.objective.lower()]
    if not found:
        raise DataError(
            f"no objective has the words {words!r}; expected some as in 'Say which setting' (an exam's report lists objectives)"
        )
    return found
