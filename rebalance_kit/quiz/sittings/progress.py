"""What answers say of a learner: per domain, objective and belief, and what to read and replay next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rebalance_kit.quiz.items.bank import Bank
from rebalance_kit.quiz.items.blueprint import Blueprint, reading
from rebalance_kit.quiz.items.item import NOTHING, Drawn, Generated, Item, RunSpec
from rebalance_kit.quiz.sittings.store import Attempt

MOST = 8


@dataclass(frozen=True, slots=True)
class Score:
    """Right answers of those asked."""

    name: str
    right: int
    asked: int

    @property
    def percent(self) -> int:
        """Rounded to whole per cent; 0 of nothing."""
        return round(100 * self.right / self.asked) if self.asked else 0


@dataclass(frozen=True, slots=True)
class Belief:
    """A belief behind wrong answers: its id, the sentence, how often it was shown."""

    id: str
    sentence: str
    times: int


@dataclass(frozen=True, slots=True)
class Progress:
    """A report. ``text()`` is the same in words."""

    title: str
    total: Score
    domains: tuple[Score, ...]
    objectives: tuple[Score, ...]
    beliefs: tuple[Belief, ...]
    lucky: tuple[str, ...]
    read: tuple[str, ...]
    replay: tuple[str, ...]
    missing: Mapping[str, int]
    advice: str = ""
    weak: tuple[tuple[str, int], ...] = ()
    """Items missed or guessed, and the seeds of their variants, in the order of the answers."""

    def text(self) -> str:
        """The report as lines."""
        lines = [f"{self.title}: {self.total.right} of {self.total.asked} right, {self.total.percent} %"]
        lines += [self.advice] if self.advice else []
        lines += ["", "By domain:"] + [
            f"  {one.name:<34} {one.right:>3} of {one.asked:<3} {one.percent:>3} %" for one in self.domains
        ]
        lines += [
            f"  {domain}: the bank lacks {number} questions; it asks what rebalancing touches only"
            for domain, number in self.missing.items()
        ]
        weak = [one for one in self.objectives if one.right < one.asked]
        lines += _block(
            "Objectives to work on", [f"{one.name} ({one.right} of {one.asked})" for one in weak[:MOST]]
        )
        lines += _block(
            "Believed, and not so",
            [
                f"{one.sentence} ({one.id}, {one.times} times)"
                if one.times > 1
                else f"{one.sentence} ({one.id})"
                for one in self.beliefs[:MOST]
            ],
        )
        lines += _block("Right by a guess", list(self.lucky[:MOST]))
        lines += _block("Read next", list(self.read[:MOST]))
        lines += _block("Replay next", list(self.replay[:MOST]))
        return "\n".join(lines)


def _block(title: str, entries: Sequence[str]) -> list[str]:
    return ["", f"{title}:", *(f"  {entry}" for entry in entries)] if entries else []


def progress(
    attempts: Iterable[Attempt],
    bank: Bank,
    title: str = "All answers",
    *,
    plan: Blueprint | None = None,
    asked_for: Mapping[str, str] = NOTHING,
    missing: Mapping[str, int] = NOTHING,
) -> Progress:
    """Report on answers. With ``plan`` only its domains count; ``asked_for`` names the domain an item was asked for.

    Items that the bank no longer has are counted in the total alone.
    """
    known = {item.head.id: item for item in bank.items}
    domains: dict[str, list[bool]] = defaultdict(list)
    objectives: dict[str, list[bool]] = defaultdict(list)
    beliefs: dict[str, int] = defaultdict(int)
    correct: list[bool] = []
    lucky: list[Item] = []
    weak: list[Item] = []
    variants: list[tuple[str, int]] = []
    for attempt in attempts:
        correct.append(attempt.correct)
        item = known.get(attempt.item)
        for belief in attempt.beliefs:
            beliefs[belief] += 1
        if item is None:
            continue
        for domain in _domains(item, plan, asked_for):
            domains[domain].append(attempt.correct)
        objectives[item.head.objective].append(attempt.correct)
        if attempt.correct and attempt.confidence != "guess":
            continue
        (lucky if attempt.correct else weak).append(item)
        variants.append((attempt.item, attempt.seed))
    scored = tuple(
        sorted(
            (Score(name, sum(found), len(found)) for name, found in domains.items()),
            key=lambda one: (one.percent, one.name),
        )
    )
    total = Score("all", sum(correct), len(correct))
    return Progress(
        title,
        total,
        scored,
        _objectives(objectives),
        _beliefs(beliefs, bank),
        tuple(dict.fromkeys(item.head.objective for item in lucky)),
        _to_read([*weak, *lucky]),
        _to_replay([*weak, *lucky]),
        missing,
        _advice(plan, total, scored),
        tuple(dict.fromkeys(variants)),
    )


def _domains(item: Item, plan: Blueprint | None, asked_for: Mapping[str, str]) -> Iterable[str]:
    if plan is None:
        return item.head.domains
    if item.head.id in asked_for:
        return (asked_for[item.head.id],)
    return [
        domain.removeprefix(f"{plan.name} ")
        for domain in item.head.domains
        if domain.startswith(f"{plan.name} ")
    ]


def _objectives(found: Mapping[str, Sequence[bool]]) -> tuple[Score, ...]:
    scores = [Score(name, sum(held), len(held)) for name, held in found.items()]
    return tuple(sorted(scores, key=lambda one: (one.right - one.asked, one.percent, one.name)))


def _beliefs(found: Mapping[str, int], bank: Bank) -> tuple[Belief, ...]:
    order = sorted(found, key=lambda one: (-found[one], one))
    return tuple(Belief(slug, bank.beliefs.get(slug, slug), found[slug]) for slug in order)


def _to_read(items: Iterable[Item]) -> tuple[str, ...]:
    times: dict[str, int] = defaultdict(int)
    for item in items:
        for place in reading(item.head.topics[:1]):
            times[place] += 1
    return tuple(sorted(times, key=lambda one: (-times[one], one)))


def _to_replay(items: Iterable[Item]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for item in items:
        for spec in list(runs_of(item).values())[:1]:
            found.setdefault(run_name(spec))
    return tuple(found)


def runs_of(item: Item) -> Mapping[str, RunSpec]:
    """The runs that decide an item, by name."""
    if isinstance(item, Generated):
        return item.runs
    if item.proof is not None:
        return item.proof.runs
    return {"run": item.shown.run} if isinstance(item, Drawn) and item.shown is not None else {}


def run_name(spec: RunSpec) -> str:
    """A run as a learner calls it: the scenario's name and the protocol."""
    name = (
        spec.scenario
        if isinstance(spec.scenario, str)
        else str(spec.scenario.get("name", "a scenario of the item"))
    )
    return f"{name}, {spec.protocol}" if spec.protocol else name


def _advice(plan: Blueprint | None, total: Score, domains: Sequence[Score]) -> str:
    if plan is None:
        return ""
    low = [one.name for one in domains if one.percent < plan.floor]
    honest = "The vendor publishes no pass mark, and asks more of each domain than what rebalancing touches."
    if total.percent >= plan.mark and not low:
        return f"At or above {plan.mark} % in all and {plan.floor} % in every domain: with three such mocks in a row you are ready. {honest}"
    below = f"; below {plan.floor} % in {', '.join(low)}" if low else ""
    return f"The kit advises {plan.mark} % in three mocks in a row and {plan.floor} % in every domain{below}. {honest}"
