"""The bank in figures, as the tables of docs/items.md; ``python -m rebalance_kit.quiz.items.figures`` writes them there."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from rebalance_kit.model.errors import DataError
from rebalance_kit.model.files import write_atomically
from rebalance_kit.quiz.items.bank import Bank, read_bank
from rebalance_kit.quiz.items.guessing import guessing_table
from rebalance_kit.quiz.items.item import Generated, Item, beliefs_of
from rebalance_kit.quiz.proof.verify import is_verified

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "items.md"
BEGIN, END = (
    "<!-- figures: made by python -m rebalance_kit.quiz.items.figures -->",
    "<!-- end of figures -->",
)


def figures(bank: Bank) -> str:
    """Counts by kind, difficulty, domain and verification, and what five guessers score, in Markdown."""
    items = bank.items
    verified = sum(map(is_verified, items))
    named = Counter(belief for item in items for belief in beliefs_of(item))
    shown = sum(item.head.exhibit is not None or item.kind in {"log", "picture"} for item in items)
    trade = sum("trade-off" in item.head.tags for item in items)
    lines = [
        f"{len(items)} items, {sum(isinstance(item, Generated) for item in items)} of them recipes; the engine decides {verified} "
        f"({verified / len(items):.0%}). {shown} show something to read (a log, a description, a chart, code, a configuration), "
        f"{trade} ask for a choice under stated constraints. {len(named)} beliefs are named by wrong answers, "
        f"{sum(times >= 3 for times in named.values())} of them three times or more.",
        "",
        *_table("kind", Counter(item.kind for item in items), len(items)),
        "",
        *_table("difficulty", Counter(item.head.difficulty for item in items), len(items)),
        "",
        *_domains(items),
        "",
        "Learners who know nothing and follow a rule of thumb, over all single-choice items (*position* is the best of the four letters):",
        "",
        guessing_table(items),
    ]
    return "\n".join(lines)


def _table(title: str, counts: Counter[str], whole: int) -> list[str]:
    rows = [f"| {name} | {number} | {number / whole:.0%} |" for name, number in counts.most_common()]
    return [f"| {title} | items | share |", "|---|---|---|", *rows]


def _domains(items: tuple[Item, ...]) -> list[str]:
    counts = Counter(domain for item in items for domain in item.head.domains)
    proved = Counter(domain for item in items if is_verified(item) for domain in item.head.domains)
    rows = [f"| {name} | {number} | {proved[name]} |" for name, number in sorted(counts.items())]
    return ["| domain | items | decided by the engine |", "|---|---|---|", *rows]


def with_figures(text: str, bank: Bank) -> str:
    """The document with its figures of today; raises ``DataError`` when it has no place for them."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise DataError(f"{DOCUMENT}: no lines {BEGIN!r} and {END!r}; expected the figures between them")
    return f"{before}{BEGIN}\n\n{figures(bank)}\n\n{END}{after}"


if __name__ == "__main__":
    write_atomically(DOCUMENT, with_figures(DOCUMENT.read_text("utf-8"), read_bank()))
