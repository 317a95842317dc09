"""``items check``: the whole bank against its schema, its rules and the engine."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from rebalance_kit.analysis.draws import check_draws
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.files import write_atomically
from rebalance_kit.quiz.items.bank import Bank, read_bank
from rebalance_kit.quiz.items.blueprint import cells_table
from rebalance_kit.quiz.items.item import Generated, Item, beliefs_of
from rebalance_kit.quiz.items.lint import LINTS, guessing_table
from rebalance_kit.quiz.items.reading import Problem
from rebalance_kit.quiz.proof import verify
from rebalance_kit.quiz.proof.run_book import RunBook

# The bank in figures, as the tables of docs/items.md; ``python -m rebalance_kit.quiz.items.check`` writes them there.


DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "items.md"
BEGIN, END = ("<!-- figures: made by python -m rebalance_kit.quiz.items.check -->", "<!-- end of figures -->")


def figures(bank: Bank) -> str:
    """Counts by kind, difficulty, domain and verification, and what guessers score, in Markdown."""
    items = bank.items
    verified = sum(map(verify.is_verified, items))
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
        "Learners who know nothing and follow a rule of thumb, over items with one right option, with several, and both. The limit is chance and two "
        "standard errors (*position* is the best of the four letters):",
        "",
        guessing_table(items),
        "",
        "Mocks 1, 2 and 3 of each exam, cell by cell: how many questions of a domain, a kind and a level each of the three papers holds.",
        "",
        cells_table("CCDAK", bank=bank),
        "",
        cells_table("CCAAK", bank=bank),
    ]
    return "\n".join(lines)


def _table(title: str, counts: Counter[str], whole: int) -> list[str]:
    rows = [f"| {name} | {number} | {number / whole:.0%} |" for name, number in counts.most_common()]
    return [f"| {title} | items | share |", "|---|---|---|", *rows]


def _domains(items: tuple[Item, ...]) -> list[str]:
    counts = Counter(domain for item in items for domain in item.head.domains)
    proved = Counter(domain for item in items if verify.is_verified(item) for domain in item.head.domains)
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


@dataclass(frozen=True, slots=True)
class BankReport:
    """Result of a check: problems, and numbers of items, of recipes among them, and of items the engine decides."""

    findings: tuple[Problem, ...]
    items: int
    generators: int
    verified: int


def check(bank: Bank, book: RunBook | None = None, draws: int | None = None) -> BankReport:
    """Check every item; problems of reading come first, then rules, then what the engine says.

    With ``draws`` each key is asked of so many draws of its runs' phases too (``proof.draws``).
    """
    generators = sum(isinstance(item, Generated) for item in bank.items)
    findings = tuple(_findings(bank, book or RunBook(), draws))
    return BankReport(findings, len(bank.items), generators, sum(map(verify.is_verified, bank.items)))


def _findings(bank: Bank, book: RunBook, draws: int | None) -> Iterator[Problem]:
    yield from bank.problems
    for lint in LINTS:
        yield from lint(bank.items)
    for item in bank.items:
        yield from verify.contradictions(item, book)
    if draws is not None:
        yield from verify.contradictions_in_draws(bank.items, draws)


def run_items_check(
    paths: Iterable[str | Path] | None, as_json: bool, out: TextIO, draws: int | None = None
) -> int:
    """Print a line per finding and a summary (with ``as_json`` one JSON line); 0 when nothing was found.

    ``paths`` are item files or folders; none or empty means the kit's own bank; for ``draws`` see ``check``. Exit status 1
    with findings. Raises ``DataError`` for a path that cannot be read, ``ScenarioError`` for a number of draws that cannot be.
    """
    if draws is not None:
        check_draws(draws)
    wanted = list(paths or ())
    bank = read_bank(wanted or None)
    report = check(bank, draws=draws)
    out.writelines(f"{finding}\n" for finding in report.findings)
    if as_json:
        summary = {
            "findings": len(report.findings),
            "items": report.items,
            "generators": report.generators,
            "verified": report.verified,
        }
        if draws is not None:
            summary["draws"] = draws
            summary["timed"] = sum(verify.is_drawn(item) and verify.is_timed(item) for item in bank.items)
        out.write(json.dumps(summary) + "\n")
    else:
        out.write(_summary(bank, report, draws))
    return 1 if report.findings else 0


def _summary(bank: Bank, report: BankReport, draws: int | None) -> str:
    share = round(100 * report.verified / report.items) if report.items else 0
    counts = (
        ("kind", Counter(item.kind for item in bank.items)),
        ("difficulty", Counter(item.head.difficulty for item in bank.items)),
        ("domain", Counter(domain for item in bank.items for domain in item.head.domains)),
    )
    lines = [
        f"{len(report.findings)} findings in {report.items} items ({report.generators} generators; {report.verified} decided by the engine, {share} %)"
    ]
    if draws is not None:
        drawn = [item for item in bank.items if verify.is_drawn(item)]
        lines.append(
            f"{len(drawn)} keys asked of draws of the phases: {sum(map(verify.is_timed, drawn))} with a time or a number of records in "
            f"{draws} draws each, the others in {min(draws, verify.FEW_DRAWS)}"
        )
    named = Counter(belief for item in bank.items for belief in beliefs_of(item))
    lines.append(
        f"{len(named)} beliefs named by wrong answers, {sum(times >= 3 for times in named.values())} of them three times or more"
    )
    lines += [
        f"by {name}: " + ", ".join(f"{key} {number}" for key, number in sorted(count.items()))
        for name, count in counts
    ]
    return "\n".join(lines) + "\n"
