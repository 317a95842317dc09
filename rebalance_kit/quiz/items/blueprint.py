"""Composition of exams: domains by weight, questions drawn from the bank, and the gaps that the bank cannot fill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random

from rebalance_kit.model.errors import DataError, require_kind
from rebalance_kit.quiz.items.bank import Bank, read_bank
from rebalance_kit.quiz.items.item import Generated, Item
from rebalance_kit.quiz.items.reading import read_document

FILE = Path(__file__).with_name("blueprints.yaml")
SERIES = 3
"""Papers in a row that avoid each other's questions: the kit advises three."""


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
    )


def reading(topics: Iterable[str]) -> tuple[str, ...]:
    """Readings for lines of the course, each once."""
    places = _file()["reading"]
    return tuple(dict.fromkeys(str(places[topic]) for topic in topics if topic in places))


def compose(plan: Blueprint, bank: Bank, seed: int = 1, questions: int | None = None) -> Paper:
    """Draw a paper: each domain its quota, no item twice; the scarcest domain picks first.

    Papers of one series (seeds 1 to 3, 4 to 6, ...) share no question as long as the bank has enough; what has to
    be repeated comes last. A domain that the bank cannot fill stays short, and ``missing`` says by how much.
    """
    series, before = divmod(seed - 1, SERIES)
    asked_before: set[str] = set()
    for earlier in range(seed - before, seed):
        asked_before |= {
            question.item for question in _paper(plan, bank, series, earlier, questions, asked_before).asked
        }
    return _paper(plan, bank, series, seed, questions, asked_before)


def _paper(
    plan: Blueprint, bank: Bank, series: int, seed: int, questions: int | None, asked_before: AbstractSet[str]
) -> Paper:
    quotas = plan.quotas(questions)
    pools = {domain: _pool(plan, bank, domain, series, asked_before) for domain in quotas}
    taken: set[str] = set()
    drawn: list[PaperItem] = []
    missing: dict[str, int] = {}
    for domain in sorted(quotas, key=lambda name: (len(pools[name]) - quotas[name], name)):
        free = [item for item in pools[domain] if item.head.id not in taken][: quotas[domain]]
        taken |= {item.head.id for item in free}
        drawn += [PaperItem(item.head.id, seed, domain) for item in free]
        if len(free) < quotas[domain]:
            missing[domain] = quotas[domain] - len(free)
    Random(f"{plan.name}/{seed}").shuffle(drawn)
    return Paper(tuple(drawn), dict(sorted(missing.items())))


def paper_table(name: str, seed: int = 1, bank: Bank | None = None) -> str:
    """The paper of a mock exam as lines: each domain's weight, its questions, what the bank lacks and what it repeats.

    Repeated is a question that an earlier mock of its series (a lower seed) has asked, unless a recipe draws it anew.
    """
    plan, bank = blueprint(name), bank or read_bank()
    paper = compose(plan, bank, seed)
    first = seed - (seed - 1) % SERIES
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


def _pool(
    plan: Blueprint, bank: Bank, domain: str, series: int, asked_before: AbstractSet[str]
) -> list[Item]:
    """The items of a domain in the order in which they are drawn, those asked before last."""
    pool = [item for item in bank.items if f"{plan.name} {domain}" in item.head.domains]
    Random(f"{plan.name}/{domain}/{series}").shuffle(pool)
    return sorted(pool, key=lambda item: item.head.id in asked_before)
