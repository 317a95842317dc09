"""Progress of a learner per domain, objective and belief, with what to read and replay next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.bank import Bank
from rebalance_kit.quiz.items.blueprint import Blueprint, blueprint, reading
from rebalance_kit.quiz.items.item import (
    NOTHING,
    Choice,
    Drawn,
    Generated,
    Item,
    Proof,
    RunSpec,
    Shown,
    beliefs_of,
)
from rebalance_kit.quiz.items.reading import read_document
from rebalance_kit.quiz.proof.generate import drawn, run_seed
from rebalance_kit.quiz.proof.run_book import RunBook, scenario_of
from rebalance_kit.quiz.sittings.store import Attempt, Store
from rebalance_kit.simulation.permalink import Link, LinkError, write_link
from rebalance_kit.simulation.scenario import expansion as moments
from rebalance_kit.simulation.scenario.scenario import Scenario

# A plan up to a day: notebooks, exercises and mocks spread over the days left, and gates that answers open.
#
# A plan is two days that are kept; where somebody stands in it is computed from the answers each time.


FILE = Path(__file__).with_name("plan.yaml")
DAYS = 14
"""Days of a plan for which no last day is given."""
LONGEST = 366


@dataclass(frozen=True, slots=True)
class PlanStep:
    """Something to do, the lines of the course that it is about, the mock that it is, and the gate behind it."""

    what: str
    topics: tuple[str, ...] = ()
    mock: int | None = None
    share: int = 0
    answers: int = 0


@cache
def steps() -> tuple[PlanStep, ...]:
    """The steps of the path, in order."""
    return tuple(
        PlanStep(
            step["do"],
            tuple(step.get("topics", ())),
            step.get("mock"),
            step.get("gate", {}).get("share", 0),
            step.get("gate", {}).get("answers", 0),
        )
        for step in read_document(FILE).value["steps"]
    )


def first_answers(attempts: Iterable[Attempt]) -> dict[str, Attempt]:
    """The first answer to each item: it says what was known before the kit told the key. Questions left open are none."""
    first: dict[str, Attempt] = {}
    for attempt in attempts:
        if attempt.given:
            first.setdefault(attempt.item, attempt)
    return first


def keep_plan(store: Store, name: str, first: date, until: date) -> None:
    """Keep a plan's days; raises ``DataError`` for a last day that is past or too far away."""
    if not 1 <= (until - first).days < LONGEST:
        raise DataError(
            f"the last day {until} received, expected one after {first} and less than {LONGEST} days away"
        )
    store.keep("plan", blueprint(name).name, {"first": first.isoformat(), "until": until.isoformat()})


def kept_plan(store: Store, name: str) -> tuple[date, date] | None:
    """The first and the last day of the plan that is kept; None where there is none that can be read."""
    state = store.kept("plan").get(blueprint(name).name, {})
    try:
        return date.fromisoformat(str(state["first"])), date.fromisoformat(str(state["until"]))
    except (KeyError, ValueError):
        return None


def dated(first: date, until: date) -> tuple[tuple[date, PlanStep], ...]:
    """Each step with its day: spread evenly, the last one on the day before the last."""
    path = steps()
    span = max(0, (until - first).days - 1)
    return tuple(
        (first + timedelta(days=round(place * span / max(1, len(path) - 1))), step)
        for place, step in enumerate(path)
    )


def gate_open(step: PlanStep, attempts: Mapping[str, Attempt]) -> tuple[bool, str]:
    """Whether the gate behind a step is passed, and how far it is; ``attempts`` are first answers."""
    right = sum(attempt.correct for attempt in attempts.values())
    asked = len(attempts)
    share = round(100 * right / asked) if asked else 0
    passed = asked >= step.answers and share >= step.share
    wanted = f"{step.share} % of at least {step.answers} first answers right"
    return passed, f"gate: {wanted}; so far {right} of {asked}, {share} %"


def plan_lines(store: Store, bank: Bank, name: str, today: date) -> list[str]:
    """The plan in words: each day with what to do, mocks that were handed in, gates open and shut."""
    days = kept_plan(store, name)
    if days is None:
        return [f"No plan for {blueprint(name).name} yet; rebalance-kit plan {name} --until DATE makes one."]
    known = {item.head.id for item in bank.items}
    first = {item: one for item, one in first_answers(store.attempts()).items() if item in known}
    mocks = _handed_in(store, blueprint(name).name)
    lines = [f"{blueprint(name).name}, {days[0]} to {days[1]}; every day also rebalance-kit today {name}."]
    shut = False
    for day, step in dated(*days):
        mark = mocks.get(step.mock, "") if step.mock else ""
        here = " <- today" if day == today else ""
        lines.append(f"{day:%a %d %b}  {step.what}{f' ({mark})' if mark else ''}{here}")
        if step.answers:
            passed, said = gate_open(step, first)
            lines.append(f"            {'open' if passed else 'shut'}, {said}")
            shut = shut or (not passed and day < today)
    if shut:
        lines.append("A gate that is shut and past its day: repeat the notebooks above it before you go on.")
    return lines


def _handed_in(store: Store, name: str) -> dict[int | None, str]:
    """Whole mocks that were handed in, with their mark."""
    return {
        state.get("seed"): f"{state['right']} of {len(state['asked'])} right"
        for state in store.kept("exam").values()
        if state.get("name") == name
        and state.get("ended")
        and state.get("wanted") is None
        and "right" in state
    }


def day_of(at: float) -> date:
    """The learner's own day of a moment."""
    return datetime.fromtimestamp(at).date()  # noqa: DTZ006 - the day on the wall, not in Greenwich


def read_day(text: str) -> date:
    """A day written as 2026-12-31; raises ``DataError``."""
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise DataError(f"the day {text!r} received, expected one such as 2026-12-31") from error


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
        more = f", the first {MOST} of {len(weak)}" if len(weak) > MOST else ""
        lines += _block(
            f"Objectives to work on{more}",
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


# The runs behind an answered question, as links that open them in the lab at the moment that decides it.


LEAD_MS = 1000
"""How long before the moment the lab opens, so that what happens is seen happening."""


@dataclass(frozen=True, slots=True)
class Replay:
    """A run: its name as a learner calls it, and the token that ``Lab.from_link`` opens at its moment."""

    name: str
    link: str
    at_ms: int


def replays(item: Item, seed: int, book: RunBook) -> tuple[Replay, ...]:
    """The runs that decide the variant of an item that ``seed`` gives, in the item's order; none where no run does.

    The moment is the first that the expression of the key names (``at=30s``, ``removed_ms(...)``), else the
    scenario's first action. Raises ``DataError`` for a run that cannot be made.
    """
    runs, values, made_with = _runs(item, seed, book)
    moments: dict[str, int] = {}
    for expression in _deciding(item):
        for run, at_ms in book.moments(expression, runs, made_with, values):
            moments.setdefault(run, at_ms)
    candidates = (
        _replay(spec, made_with, moments.get(name))
        for name, spec in runs.items()
        if book.refusal(spec, made_with) is None
    )
    return tuple(candidate for candidate in candidates if candidate is not None)


def to_replay(report: Progress, bank: Bank) -> tuple[Replay, ...]:
    """The first runs that a report advises to replay, one an item, each once."""
    book = RunBook()
    by_link: dict[str, Replay] = {}
    for name, seed in report.weak:
        if len(by_link) >= MOST:
            break
        for run in replays(bank.item(name), seed, book)[:1]:
            by_link.setdefault(run.name, run)
    return tuple(by_link.values())


def _runs(item: Item, seed: int, book: RunBook) -> tuple[Mapping[str, RunSpec], Mapping[str, Any], int]:
    """The runs of a variant, the values drawn for it, and the seed that they are simulated with."""
    if isinstance(item, Generated):
        _, values, runs = drawn(item, seed, book)
        return runs, values, seed
    runs = runs_of(item)
    if not runs and isinstance(item.head.exhibit, Shown):
        runs = {"run": item.head.exhibit.run}
    return runs, NOTHING, run_seed(item.proof, seed)


def _deciding(item: Item) -> Iterator[Any]:
    """The expressions whose values make the key right."""
    if isinstance(item, Generated):
        yield item.key.value
        return
    proof: Proof | None = item.proof
    if proof is None:
        return
    if proof.value is not None:
        yield proof.value
    options = item.options if isinstance(item, Choice) else item.marks if isinstance(item, Drawn) else ()
    right = {option.id for option in options if option.right}
    yield from (claim for name, claim in proof.claims.items() if not right or name in right)


def _replay(spec: RunSpec, seed: int, moment: int | None) -> Replay | None:
    scenario = scenario_of(spec)
    at_ms = max(0, (_first_event(moments.drawn(scenario, seed)) if moment is None else moment) - LEAD_MS)
    try:
        link = write_link(Link(scenario, at_ms, protocol=spec.protocol, seed=seed))
    except LinkError:  # a scenario too large for a link is still told by its name
        return None
    return Replay(run_name(spec), link, at_ms)


def _first_event(scenario: Scenario) -> int:
    """The first action, or the last start of a member where nothing is done to the group."""
    acted = min((action.at_ms for action in scenario.actions), default=None)
    return max((spec.start_ms or 0 for spec in scenario.members), default=0) if acted is None else acted
