"""Parallel papers: three mocks of one series, dealt so that they hold the same kinds and levels in each domain.

A cell is a domain, a kind and a level. The items that a series needs of a domain are chosen by the blueprint's shares,
sorted by cell and dealt in turn, as cards are: so each paper gets its quota, and papers differ by one in a cell at most.
Enemies (two items of one fact, or one whose key stands in the other's question) are exchanged within their cell.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from random import Random

from rebalance_kit.quiz.items.form import question_text
from rebalance_kit.quiz.items.item import Choice, Item, kind_asked

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
