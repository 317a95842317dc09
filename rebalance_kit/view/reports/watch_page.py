"""The last rebalances of a watched folder: in words, as an HTML table, as a page that renews itself.

The page is a file, rewritten beside and renamed; nothing serves it and it asks no network.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rebalance_kit.forensics.words import counted
from rebalance_kit.model.files import write_atomically
from rebalance_kit.model.html import policy
from rebalance_kit.view.board.group_view import moment
from rebalance_kit.view.style.theme import FONT, ROLES

if TYPE_CHECKING:
    from rebalance_kit.pipeline.stream.query import Latest

HEAD = ("began", "group", "no.", "step", "took", "why", "state")
#: Seconds after which an open page reads itself again.
RENEWED_S = 5


def describe_watch(latest: Latest | None) -> str:
    """The same in words: how far the reading is, then the rebalances, newest first.

    >>> describe_watch(None)
    'Nothing has been read yet.'
    """
    if latest is None:
        return "Nothing has been read yet."
    lines = [_summary(latest)]
    lines += ["  ".join(cell for cell in _cells(row) if cell) for row in latest.rows]
    return "\n".join(lines)


def watch_html(latest: Latest | None) -> str:
    """The table as HTML, to stand in a page or a notebook."""
    if latest is None:
        return f"<p>{describe_watch(None)}</p>"
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in HEAD)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _cells(row)) + "</tr>" for row in latest.rows
    )
    return (
        f"<p>{escape(_summary(latest))}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def write_page(path: str | Path, latest: Latest | None, title: str, theme: str = "light") -> Path:
    """Write the page; a reader sees the old one or the new one. Returns its path."""
    target, role = Path(path), ROLES[theme]
    style = (
        f"body{{margin:0 auto;max-width:1100px;padding:24px;background:{role['surface']};color:{role['ink']};font:15px/1.5 {FONT}}}"
        f"table{{border-collapse:collapse;font-variant-numeric:tabular-nums}}"
        f"th,td{{text-align:left;padding:4px 18px 4px 0;border-bottom:1px solid {role['hairline']}}}"
    )
    text = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{policy()}<meta http-equiv="refresh" content="{RENEWED_S}">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title><style>{style}</style></head>'
        f"<body><h1>{escape(title)}</h1>{watch_html(latest)}</body></html>\n"
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    return write_atomically(target, text)


def _summary(latest: Latest) -> str:
    mark = f"settled before {latest.settled_before}" if latest.settled_before else "nothing settled yet"
    return f"{counted(latest.rebalances, 'rebalance')} in {counted(latest.lines, 'line')} of {counted(latest.files, 'file')}; {mark}."


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    began = moment(row["start_ms"]).strftime("%Y-%m-%d %H:%M:%S")
    took = "" if row["end_ms"] is None else f"{(row['end_ms'] - row['start_ms']) / 1000:.1f} s"
    after = "?" if row["after"] is None else row["after"]
    state = "settled" if row["settled"] else "going on" if row["end_ms"] is None else "fresh"
    return (
        began,
        str(row["group"]),
        str(row["number"]),
        f"{row['before']} -> {after}",
        took,
        str(row["cause"]),
        state,
    )
