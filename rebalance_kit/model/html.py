"""A value's face in a notebook: a plain table, which the front end styles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def html_table(rows: Iterable[Sequence[str]], *, head: bool = False) -> str:
    """Rows of words as an HTML table; the first cell of a row names it, with ``head`` the first row names the columns.

    >>> html_table([("members", "3")])
    '<table><tr><th>members</th><td>3</td></tr></table>'
    """
    told = []
    for number, (name, *cells) in enumerate(rows):
        kind = "th" if head and not number else "td"
        told.append(
            f"<tr><th>{escape(name)}</th>{''.join(f'<{kind}>{escape(cell)}</{kind}>' for cell in cells)}</tr>"
        )
    return f"<table>{''.join(told)}</table>"
