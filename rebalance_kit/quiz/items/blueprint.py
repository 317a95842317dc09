"""Composition of exams: domains by weight, questions drawn from the bank, and the gaps that the bank cannot fill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from rebalance_kit.model.errors import DataError, require_kind
from rebalance_kit.quiz.items.bank import Bank, read_bank
from rebalance_kit.quiz.items.item import Generated
from rebalance_kit.quiz.items.papers import HANDS, Cell, Place, deal, spread
from rebalance_kit.quiz.items.reading import read_document

FILE = Path(__file__).with_name("blueprints.yaml")


@dataclass(frozen=True, slots=True)
class Blueprint:
    """An exam: its domains with their weights, how many questions, how many minutes, and the advised mark in per cent."""

    name: str
    questions: int
    minutes: int
    mark: int
    floor: int
    weights: Mapping[str, int]
    not_asked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Lines of each domain that the exam may ask and the bank does not."""
    shares: Mapping[Cell, float] = field(default_factory=dict)
    """What share of a paper each kind and level has, as the kit chose it."""
    weights_from: str = ""
    """Where the weights come from, and when."""

    def quotas(self, questions: int | None = None) -> dict[str, int]:
        """Questions per domain, by largest remainder; they add up to ``questions``."""
        number = self.questions if questions is None else questions
        whole = sum(self.weights.values())
        shares = {domain: number * weight / whole for domain, weight in self.weights.items()}
        whole_shares = {domain: int(share) for domain, share in shares.items()}
        rest = sorted(shares, key=lambda domain: (whole_shares[domain] - shares[domain], domain))
        for domain in rest[: number - sum(whole_shares.values())]:
            whole_shares[domain] += 1
        return whole_shares


@dataclass(frozen=True, slots=True)
class PaperItem:
    """A place in an exam: which item, drawn with which seed, for which domain."""

    item: str
    seed: int
    domain: str


@dataclass(frozen=True, slots=True)
class Paper:
    """The questions of one exam, and how many the bank lacks in each domain."""

    asked: tuple[PaperItem, ...]
    missing: Mapping[str, int]


@cache
def _file() -> Mapping[str, Mapping[str, object]]:
    content: Mapping[str, Mapping[str, object]] = read_document(FILE).value
    return content


def blueprint(name: str) -> Blueprint:
    """The blueprint of an exam by name; raises ``DataError`` naming those there are."""
    exams = _file()["exams"]
    require_kind(name, str, "the exam", f"one of {', '.join(exams)}")
    exam = exams.get(name.upper())
    if not isinstance(exam, dict):
        raise DataError(f"exam {name!r} is unknown; expected one of {', '.join(exams)}")
    return Blueprint(
        name.upper(),
        exam["questions"],
        exam["minutes"],
        exam["mark"],
        exam["floor"],
        exam["weights"],
        {domain: tuple(lines) for domain, lines in exam["not_asked"].items()},
        _shares(_file()["shape"]),
        str(exam["weights_from"]),
    )


def exams() -> tuple[str, ...]:
    """The exams that there are blueprints for."""
    names: Iterable[object] = _file()["exams"]
    return tuple(map(str, names))


def _shares(shape: Mapping[str, Any]) -> dict[Cell, float]:
    return {
        (kind, level): share * part / 10_000
        for kind, share in shape["kinds"].items()
        for level, part in shape["levels"].items()
    }


def reading(topics: Iterable[str]) -> tuple[str, ...]:
    """Readings for lines of the course, each once."""
    places = _file()["reading"]
    return tuple(dict.fromkeys(str(places[topic]) for topic in topics if topic in places))


def compose(plan: Blueprint, bank: Bank, seed: int = 1, questions: int | None = None) -> Paper:
    """Draw a paper: each domain its quota, in the kinds of the exam alone, no item twice and no two enemies.

    The papers of one series (seeds 1 to 3, 4 to 6, ...) are parallel: in every domain they hold the same number of questions
    of each kind and level, give or take one. They share no question as long as the bank has enough. A domain that
    the bank cannot fill stays short, and ``missing`` says by how much.
    """
    series, number = divmod(seed - 1, HANDS)
    quotas = plan.quotas(questions)
    places = _dealt(plan, bank, series, questions)[number]
    held = Counter(domain for _, domain in places)
    drawn = [PaperItem(item.head.id, seed, domain) for item, domain in places]
    Random(f"{plan.name}/{seed}").shuffle(drawn)
    missing = {domain: quota - held[domain] for domain, quota in quotas.items() if held[domain] < quota}
    return Paper(tuple(drawn), dict(sorted(missing.items())))


def _dealt(plan: Blueprint, bank: Bank, series: int, questions: int | None = None) -> tuple[list[Place], ...]:
    return deal(plan.name, plan.quotas(questions), plan.shares, bank.items, series)


def cells_table(name: str, series: int = 0, bank: Bank | None = None) -> str:
    """How parallel three mocks are: questions of each kind and level per domain, in each of the three papers."""
    plan, bank = blueprint(name), bank or read_bank()
    wide = max(len(domain) for domain in plan.weights)
    first = HANDS * series + 1
    head = f"{plan.name}, questions in mocks {first}, {first + 1} and {first + 2}"
    lines = [head, f"{'domain':<{wide}}  {'kind':<8}  {'level':<8}  {first:>3}{first + 1:>4}{first + 2:>4}"]
    for (domain, kind, level), counts in spread(_dealt(plan, bank, series)).items():
        lines.append(f"{domain:<{wide}}  {kind:<8}  {level:<8}  {counts[0]:>3}{counts[1]:>4}{counts[2]:>4}")
    return "\n".join(lines)


def paper_table(name: str, seed: int = 1, bank: Bank | None = None) -> str:
    """The paper of a mock exam as lines: each domain's weight, its questions, what the bank lacks and what it repeats.

    Repeated is a question that an earlier mock of its series (a lower seed) has asked, unless a recipe draws it anew.
    """
    plan, bank = blueprint(name), bank or read_bank()
    paper = compose(plan, bank, seed)
    first = seed - (seed - 1) % HANDS
    before = {question.item for other in range(first, seed) for question in compose(plan, bank, other).asked}
    repeated = Counter(
        question.domain
        for question in paper.asked
        if question.item in before and not isinstance(bank.item(question.item), Generated)
    )
    per_domain = Counter(question.domain for question in paper.asked)
    head = f"{'domain':<24} weight  questions  lacking  repeated"
    rows = [
        f"{domain:<24} {weight:>4} %  {per_domain[domain]:>9}  {paper.missing.get(domain, 0) or '-':>7}  {repeated[domain] or '-':>8}"
        for domain, weight in plan.weights.items()
    ]
    return "\n".join([f"{plan.name} mock {seed}: {len(paper.asked)} questions", head, *rows])
