"""The glossary on one sheet, in two columns, as ``rebalance_kit/glossary.yaml`` has it."""

from __future__ import annotations

from rebalance_kit.glossary import Entry, entries
from rebalance_kit.view.cards.sheet import MARGIN, lines_of
from rebalance_kit.view.figures.svg import WIDTH, Picture, closed, page, words
from rebalance_kit.view.style.theme import ROLES

SIZE, STEP, COLUMNS = 10.0, 12.4, 3
_GUTTER = 18


def glossary_page() -> Picture:
    """Every term with its first sentence, in the order of the alphabet."""
    terms = sorted(entries().values(), key=lambda entry: entry.term.lower().lstrip("_"))
    wide = (WIDTH - 2 * MARGIN - (COLUMNS - 1) * _GUTTER) / COLUMNS
    blocks = [(entry.term, lines_of(first_sentence(entry), wide, SIZE)) for entry in terms]
    tall = sum((len(lines) + 1.5) * STEP for _, lines in blocks) / COLUMNS + 5 * STEP
    parts = [words(MARGIN, 36, "Words of consumer groups", bold=True, size=20)]
    column, y = 0, 60.0
    for term, lines in blocks:
        if y + len(lines) * STEP > 60 + tall and column < COLUMNS - 1:
            column, y = column + 1, 60.0
        x = MARGIN + column * (wide + _GUTTER)
        parts.append(words(x, y, term, bold=True, size=SIZE + 0.5))
        parts += [words(x, y + STEP * (line + 1), text, size=SIZE) for line, text in enumerate(lines)]
        y += STEP * (len(lines) + 1.5)
    text = "\n".join(f"{entry.term}: {first_sentence(entry)}" for entry in terms)
    shell = page(int(60 + tall + 2 * STEP), ROLES["light"])
    return Picture(closed([*shell, *parts], "Words of consumer groups", text), text)


def first_sentence(entry: Entry) -> str:
    """The entry's text up to its first full stop that ends a sentence."""
    head, stop, _ = entry.text.partition(". ")
    return f"{head}." if stop else entry.text
