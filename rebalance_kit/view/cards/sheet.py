"""A printed table: a title, columns of given widths, rows whose cells are wrapped, and a text twin."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap

from rebalance_kit.view.style.showing import WIDTH, Picture, closed, page, words
from rebalance_kit.view.style.theme import ROLES

MARGIN, SIZE = 24, 14
LETTER = 0.52
"""Width of an average letter as a share of its size; a line is wrapped by it."""


@dataclass(frozen=True, slots=True)
class Table:
    """Heads with the share of the width that each column takes, and rows of as many cells; the first one is bold."""

    title: str
    heads: tuple[tuple[str, float], ...]
    rows: tuple[tuple[str, ...], ...]
    foot: str = ""


def lines_of(text: str, wide: float, size: float = SIZE) -> list[str]:
    """A text in lines that fit into a width."""
    return wrap(text, max(8, int(wide / (LETTER * size))), break_long_words=False) or [""]


def table_card(table: Table) -> Picture:
    """The table as a picture."""
    role, step = ROLES["light"], SIZE * 1.32
    whole = WIDTH - 2 * MARGIN
    widths = [share * whole for _, share in table.heads]
    lefts = [MARGIN + sum(widths[:column]) for column in range(len(widths))]
    parts = [words(MARGIN, 40, table.title, bold=True, size=20)]
    parts += [
        words(left + 8, 70, head, bold=True, size=15)
        for (head, _), left in zip(table.heads, lefts, strict=True)
    ]
    y = 80.0
    for row in table.rows:
        cells = [lines_of(cell, wide - 20) for cell, wide in zip(row, widths, strict=True)]
        tall = step * max(map(len, cells)) + 12
        parts.append(
            f'<line x1="{MARGIN}" y1="{y:g}" x2="{WIDTH - MARGIN}" y2="{y:g}" stroke="{role["hairline"]}"/>'
        )
        parts += [
            words(left + 8, y + step * (line + 1), text, size=SIZE, bold=column == 0)
            for column, (left, cell) in enumerate(zip(lefts, cells, strict=True))
            for line, text in enumerate(cell)
        ]
        y += tall
    for line in lines_of(table.foot, whole, 12) if table.foot else ():
        y += 17
        parts.append(words(MARGIN + 8, y, line, size=12, colour=role["ink2"]))
    text = _text(table)
    return Picture(closed([*page(int(y) + 20, role), *parts], table.title, text), text)


def _text(table: Table) -> str:
    lines = [table.title]
    for first, *others in table.rows:
        lines.append(f"{first}:")
        lines += [
            f"  {head}: {cell}" for (head, _), cell in zip(table.heads[1:], others, strict=True) if cell
        ]
    return "\n".join([*lines, table.foot] if table.foot else lines)
