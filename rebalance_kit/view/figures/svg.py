"""Pieces of the drawn figures: the page, its arrow tips, words, and a picture with its text twin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from rebalance_kit.view.style.theme import FONT, ROLES

WIDTH = 1000


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG picture and its text twin."""

    svg: str
    text: str

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return self.text


def page(height: int, role: Mapping[str, str], theme: str = "light") -> list[str]:
    """The opening of an SVG: size, arrow tips, background. Tips are named by theme, since a page may show both."""
    tips = "".join(
        f'<marker id="{tip(theme, strong=strong)}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="{role["ink" if strong else "control"]}"/></marker>'
        for strong in (True, False)
    )
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" font-family="{escape(FONT, quote=True)}" style="max-width:100%;height:auto">',
        f'<defs>{tips}</defs><rect width="{WIDTH}" height="{height}" rx="12" fill="{role["surface"]}"/>',
    ]


def tip(theme: str = "light", *, strong: bool = True) -> str:
    """The name of an arrow tip."""
    return f"rk-{'tip' if strong else 'dim'}-{theme}"


def words(
    x: float,
    y: float,
    text: str,
    *,
    colour: str | None = None,
    bold: bool = False,
    size: float = 13,
    anchor: str = "start",
) -> str:
    """One line of text."""
    weight = ' font-weight="700"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{colour or ROLES["light"]["ink"]}" text-anchor="{anchor}"{weight}>{escape(text)}</text>'


def closed(parts: Sequence[str], title: str, text: str) -> str:
    """The whole SVG, with title and description for screen readers."""
    head, *rest = parts
    described = f"<title>{escape(title)}</title><desc>{escape(text)}</desc>"
    return "".join([head, described, *rest, "</svg>"])
