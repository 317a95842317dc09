"""Progress of a learner per domain, objective and belief, with what to read and replay next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rebalance_kit.quiz.items.bank import Bank
from rebalance_kit.quiz.items.blueprint import Blueprint, reading
from rebalance_kit.quiz.items.item import NOTHING, Drawn, Generated, Item, RunSpec, beliefs_of
from rebalance_kit.quiz.sittings.store import Attempt

MOST = 8
TO_CHECK = "Several wrong answers fit these sentences, which are not so in Kafka; worth a look"


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
    """A belief that wrong answers to at least two items agree with: its id, the sentence, in how many answers."""

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
    not_asked: tuple[str, ...] = ()
    """Lines of the blueprint that the bank does not ask, each with its domain."""
    weak: tuple[tuple[str, int], ...] = ()
    """Items missed or guessed, and the seeds of their variants, in the order of the answers."""
    sitting: tuple[str, ...] = ()
    """Of an exam: the time used and what was left open."""

    def text(self) -> str:
        """The report as lines."""
        lines = [f"{self.title}: {self.total.right} of {self.total.asked} right, {self.total.percent} %"]
        lines += self.sitting
        lines += [self.advice] if self.advice else []
        lines += ["", "By domain:"] if self.domains else []
        lines += [
            f"  {score.name:<34} {score.right:>3} of {score.asked:<3} {score.percent:>3} %"
            for score in self.domains
        ]
        lines += [
            f"  {domain}: the bank lacks {number} questions; it asks what rebalancing touches only"
            for domain, number in self.missing.items()
        ]
        lines += _block("Not asked here, and part of the exam", list(self.not_asked))
        weak = [score for score in self.objectives if score.right < score.asked]
        lines += _block(
            "Objectives to work on",
            [f"{score.name} ({score.right} of {score.asked})" for score in weak[:MOST]],
        )
        lines += _block(
            TO_CHECK,
            [f"{belief.sentence} ({belief.id}, {belief.times} answers)" for belief in self.beliefs[:MOST]],
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
    tally = _Tally()
    known = {item.head.id: item for item in bank.items}
    for attempt in attempts:
        tally.count(attempt)
        item = known.get(attempt.item)
        if item is not None:
            tally.count_item(attempt, item, _domains(item, plan, asked_for))
    domains = tuple(sorted(_scores(tally.domains), key=lambda score: (score.percent, score.name)))
    total = Score("all", sum(tally.correct), len(tally.correct))
    return Progress(
        title,
        total,
        domains,
        _objectives(tally.objectives),
        _beliefs(tally.beliefs, bank),
        tuple(dict.fromkeys(item.head.objective for item in tally.lucky)),
        _to_read([*tally.missed, *tally.lucky]),
        _to_replay([*tally.missed, *tally.lucky]),
        missing,
        _advice(plan, total, domains),
        ()
        if plan is None
        else tuple(f"{domain}: {', '.join(asked)}" for domain, asked in plan.not_asked.items()),
        tuple(dict.fromkeys(tally.variants)),
    )


@dataclass(slots=True)
class _Tally:
    """Answers counted by domain, objective and belief; items that were missed, or right by a guess."""

    correct: list[bool] = field(default_factory=list)
    domains: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    objectives: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    beliefs: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Belief to the items whose answers fit it."""
    lucky: list[Item] = field(default_factory=list)
    missed: list[Item] = field(default_factory=list)
    variants: list[tuple[str, int]] = field(default_factory=list)

    def count(self, attempt: Attempt) -> None:
        self.correct.append(attempt.correct)

    def count_item(self, attempt: Attempt, item: Item, domains: Iterable[str]) -> None:
        for domain in domains:
            self.domains[domain].append(attempt.correct)
        named = beliefs_of(item)
        for belief in attempt.beliefs:
            if belief in named:  # an older bank may have named others
                self.beliefs[belief].append(attempt.item)
        self.objectives[item.head.objective].append(attempt.correct)
        if not attempt.correct or attempt.confidence == "guess":
            (self.lucky if attempt.correct else self.missed).append(item)
            self.variants.append((attempt.item, attempt.seed))


def _scores(answers: Mapping[str, Sequence[bool]]) -> list[Score]:
    return [Score(name, sum(correct), len(correct)) for name, correct in answers.items()]


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


def _objectives(answers: Mapping[str, Sequence[bool]]) -> tuple[Score, ...]:
    return tuple(
        sorted(_scores(answers), key=lambda score: (score.right - score.asked, score.percent, score.name))
    )


def _beliefs(items: Mapping[str, Sequence[str]], bank: Bank) -> tuple[Belief, ...]:
    """Beliefs that answers to two different items fit: one slip says nothing of a person."""
    times = {belief: len(names) for belief, names in items.items() if len(set(names)) > 1}
    order = sorted(times, key=lambda belief: (-times[belief], belief))
    return tuple(Belief(slug, bank.beliefs.get(slug, slug), times[slug]) for slug in order)


def _to_read(items: Iterable[Item]) -> tuple[str, ...]:
    times: dict[str, int] = defaultdict(int)
    for item in items:
        for page in reading(item.head.topics[:1]):
            times[page] += 1
    return tuple(sorted(times, key=lambda each: (-times[each], each)))


def _to_replay(items: Iterable[Item]) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for item in items:
        for spec in list(runs_of(item).values())[:1]:
            names.setdefault(run_name(spec))
    return tuple(names)


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
    low = [domain.name for domain in domains if domain.percent < plan.floor]
    scope = (
        "This score is about consumer groups, rebalancing and their neighbours, and about nothing else: "
        "it is no verdict on whether you are ready for the exam. No pass mark is published."
    )
    if total.percent >= plan.mark and not low:
        return f"{scope} On this part you are above the kit's own marks ({plan.mark} % in all, {plan.floor} % in every domain)."
    below = f"; below {plan.floor} % in {', '.join(low)}" if low else ""
    return f"{scope} The kit's own marks for this part are {plan.mark} % in all and {plan.floor} % in every domain{below}."
