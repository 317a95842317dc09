"""The page around a report: headings, tables and text twins in the theme's colours."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rebalance_kit.model.html import policy
from rebalance_kit.view.style.theme import FONT, ROLES


def twin_html(text: str, *, opened: bool = False) -> str:
    """A figure's text twin, folded in unless ``opened``."""
    return (
        f"<details{' open' if opened else ''}><summary>As text</summary><pre>{escape(text)}</pre></details>"
    )


def page_html(
    title: str, theme: str, body: str, style: str = "", scripts: str = "", allowed: Sequence[str] = ()
) -> str:
    """A whole page around ``body``; its own rules reach its direct children only, so that they touch nothing that is played in it.

    ``scripts`` are elements after the body; what may run of them is ``allowed``, the texts between their tags.
    """
    role = ROLES[theme]
    rules = (
        f"body{{margin:0 auto;max-width:1100px;padding:24px;background:{role['surface']};color:{role['ink']};font:15px/1.5 {FONT}}}"
        f"main>h1{{font-size:26px}}main>h2{{font-size:20px;margin-top:36px}}main>figure{{margin:12px 0;overflow-x:auto}}"
        f"main>details{{margin-top:10px}}main>details>pre,main>pre{{white-space:pre-wrap;font:13px/1.5 {FONT};background:{role['sunk']};padding:12px;border-radius:8px}}"
        f"main>table{{border-collapse:collapse;font-variant-numeric:tabular-nums}}main>table :is(th,td){{text-align:right;padding:4px 14px 4px 0;border-bottom:1px solid {role['hairline']}}}main>table th:first-child{{text-align:left}}"
        f"main>details>summary{{cursor:pointer;color:{role['ink2']}}}.least{{border:1px solid currentColor;border-radius:9px;padding:0 6px;margin-left:6px;font-size:11px;color:{role['ok']}}}"
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{policy(*allowed)}<meta name="viewport" content="width=device-width"><title>{escape(title)}</title><style>{style}\n{rules}</style>'
        f"</head><body><main>\n{body}\n</main>\n{scripts}</body></html>\n"
    )
