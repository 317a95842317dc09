"""Composition of exams by weight, and of parallel papers.

Composition of exams: domains by weight, questions drawn from the bank, and the gaps that the bank cannot fill.

Parallel papers: three mocks of one series, dealt so that they hold the same kinds and levels in each domain.

A cell is a domain, a kind and a level. The items that a series needs of a domain are chosen by the blueprint's shares,
sorted by cell and dealt in turn, as cards are: so each paper gets its quota, and papers differ by one in a cell at most.
Enemies (two items of one fact, or one whose key stands in the other's question) are exchanged within their cell.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

from rebalance_kit.model.errors import DataError, require_kind
from rebalance_kit.quiz.items.bank import Bank, read_bank
from rebalance_kit.quiz.items.form import question_text
from rebalance_kit.quiz.items.item import Choice, Generated, Item, kind_asked
from rebalance_kit.quiz.items.reading import read_document

LEVELS = ("recall", "apply", "diagnose")
HANDS = 3
"""Papers of a series: the kit advises three in a row."""
TELLING = 5
"""Words of a key from which on it gives an answer away where it stands in another question."""

Cell = tuple[str, str]
Place = tuple[Item, str]
"""An item and the domain that it is asked for."""


def cell_of(item: Item) -> Cell:
    """The kind and the level of an item as an exam counts them."""
    return kind_asked(item), item.head.difficulty


def deal(
    name: str, quotas: Mapping[str, int], shares: Mapping[Cell, float], bank: Sequence[Item], series: int
) -> tuple[list[Place], ...]:
    """The three papers of a series, each a list of items with their domains; a domain may stay short of its quota."""
    luck = Random(f"{name}/{series}")
    pools = {domain: _pool(name, domain, shares, bank, luck) for domain in quotas}
    taken: set[str] = set()
    papers: tuple[list[Place], ...] = tuple([] for _ in range(HANDS))
    for domain in sorted(quotas, key=lambda each: (len(pools[each]) - HANDS * quotas[each], each)):
        free = [item for item in pools[domain] if item.head.id not in taken]
        chosen = _chosen(free, HANDS * quotas[domain], shares)
        taken |= {item.head.id for item in chosen}
        hands = [[(item, domain) for item in chosen[first::HANDS]] for first in range(HANDS)]
        for paper, hand in zip(papers, _evenest(papers, hands), strict=True):
            paper.extend(hand)
    _make_peace(papers, pools)
    return papers


def _pool(
    name: str, domain: str, shares: Mapping[Cell, float], bank: Sequence[Item], luck: Random
) -> list[Item]:
    kinds = {kind for kind, _ in shares}
    pool = [item for item in bank if f"{name} {domain}" in item.head.domains and kind_asked(item) in kinds]
    luck.shuffle(pool)
    return pool


def _chosen(free: Sequence[Item], wanted: int, shares: Mapping[Cell, float]) -> list[Item]:
    """As many items as wanted, by shares as far as there are some, sorted by cell; what is scarce stands twice, side by side."""
    by_cell: dict[Cell, list[Item]] = defaultdict(list)
    for item in free:
        by_cell[cell_of(item)].append(item)
    counts: Counter[Cell] = Counter()
    for number in range(wanted):
        open_cells = [cell for cell in shares if counts[cell] < len(by_cell[cell])]
        open_cells = open_cells or [cell for cell in shares if counts[cell] < HANDS * len(by_cell[cell])]
        if not open_cells:
            break
        counts[max(open_cells, key=lambda cell: shares[cell] * (number + 1) - counts[cell])] += 1
    return [item for cell in shares for item in _side_by_side(by_cell[cell], counts[cell])]


def _side_by_side(items: Sequence[Item], wanted: int) -> Iterator[Item]:
    for place, item in enumerate(items):
        yield from [item] * len(range(place, wanted, len(items)))


def _evenest(papers: Sequence[list[Place]], hands: list[list[Place]]) -> Sequence[list[Place]]:
    """The hands in the order that leaves the papers most alike in kinds and in levels."""

    def unlike(order: Sequence[list[Place]]) -> tuple[int, ...]:
        counts = [
            Counter(part for item, _ in [*paper, *hand] for part in cell_of(item))
            for paper, hand in zip(papers, order, strict=True)
        ]
        sizes = [len(paper) + len(hand) for paper, hand in zip(papers, order, strict=True)]
        parts = set().union(*counts)
        return (
            max(sizes) - min(sizes),
            sum(
                (max(every) - min(every)) ** 2 for every in ([one[part] for one in counts] for part in parts)
            ),
        )

    return min(permutations(hands), key=unlike)


# --- enemies ---------------------------------------------------------------------------------
def enemies(items: Sequence[Item]) -> list[tuple[int, int]]:
    """Places of items that may not stand in one paper: one fact, a named enemy, or a key in the other's question."""
    texts = [_plain(question_text(item)) for item in items]
    keys = [_telling(item) for item in items]
    return [
        (one, other)
        for other in range(len(items))
        for one in range(other)
        if _at_odds(items[one], items[other])
        or any(key in texts[other] for key in keys[one])
        or any(key in texts[one] for key in keys[other])
    ]


def _at_odds(one: Item, other: Item) -> bool:
    same_fact = one.head.fact and one.head.fact == other.head.fact
    named = other.head.id in one.head.enemies or one.head.id in other.head.enemies
    return bool(same_fact or named or one.head.id == other.head.id)


def _telling(item: Item) -> tuple[str, ...]:
    """The right options of an item that are long enough to be known again."""
    if not isinstance(item, Choice) or item.form:
        return ()
    keys = [_plain(option.text) for option in item.options if option.right]
    return tuple(key for key in keys if len(key.split()) >= TELLING)


def _plain(text: str) -> str:
    return f" {' '.join(re.findall(r'[a-z0-9]+', text.lower()))} "


def _make_peace(papers: tuple[list[Place], ...], pools: Mapping[str, Sequence[Item]]) -> None:
    """Exchange enemies for items of their own cell that no paper holds, or for one of another paper."""
    for _ in range(HANDS):
        for number, paper in enumerate(papers):
            for pair in enemies([item for item, _ in paper]):
                for place in reversed(pair):
                    _exchange(papers, number, place, pools)


def _exchange(
    papers: tuple[list[Place], ...], number: int, place: int, pools: Mapping[str, Sequence[Item]]
) -> None:
    paper = papers[number]
    item, domain = paper[place]
    rest = [other for at, (other, _) in enumerate(paper) if at != place]
    if not _has_enemy(item, rest):
        return
    used = {other.head.id for each in papers for other, _ in each}
    for fresh in pools[domain]:
        alike = cell_of(fresh) == cell_of(item) and fresh.head.id not in used
        if alike and not _has_enemy(fresh, rest):
            paper[place] = (fresh, domain)
            return
    for theirs in papers:
        for at, (other, for_domain) in enumerate(theirs):
            if theirs is paper or for_domain != domain or cell_of(other) != cell_of(item):
                continue
            others = [each for where, (each, _) in enumerate(theirs) if where != at]
            if not _has_enemy(other, rest) and not _has_enemy(item, others):
                paper[place], theirs[at] = (other, domain), (item, domain)
                return
    for fresh in pools[
        domain
    ]:  # no other is left: rather one that a sister paper asks than two enemies in one
        if cell_of(fresh) == cell_of(item) and not _has_enemy(fresh, rest):
            paper[place] = (fresh, domain)
            return


def _has_enemy(item: Item, others: Iterable[Item]) -> bool:
    return any(bool(enemies([item, other])) for other in others)


def spread(papers: Iterable[Iterable[Place]]) -> dict[tuple[str, str, str], tuple[int, ...]]:
    """Cell to how many questions each paper has in it: the table of how parallel they are."""
    counts = [Counter((domain, *cell_of(item)) for item, domain in paper) for paper in papers]
    cells = sorted(set().union(*counts))
    return {cell: tuple(count[cell] for count in counts) for cell in cells}


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
    elsewhere: str = ""
    """Where to learn what is not asked."""

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
        str(_file()["elsewhere"]),
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
    """How parallel three mocks are, in Markdown: questions per domain, kind and level, one number for each paper."""
    plan, bank = blueprint(name), bank or read_bank()
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for (domain, kind, level), counts in spread(_dealt(plan, bank, series)).items():
        rows.setdefault((domain, kind), {})[level] = " ".join(map(str, counts))
    head = f"| {plan.name} | kind | " + " | ".join(LEVELS) + " |"
    lines = [
        f"| {domain} | {kind} | " + " | ".join(levels.get(level, "–") for level in LEVELS) + " |"
        for (domain, kind), levels in rows.items()
    ]
    return "\n".join([head, "|---" * (2 + len(LEVELS)) + "|", *lines])


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
