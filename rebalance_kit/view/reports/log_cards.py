"""The parts of the page about logs that are words: cards of findings, rebalances, what became of every line."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rebalance_kit.view.board.group_view import GroupView, clock, seconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rebalance_kit.view.reports.lab_commands import LabCommand
    from rebalance_kit.view.reports.log_lines import NearbyLine

    Row = Mapping[str, Any]

#: At most so many letters of a line are shown.
_LETTERS = 600

#: At most so many rebalances are told in words, the longest.
_REBALANCES = 400


def finding_card(
    card: str, number: int, row: Row, lines: Sequence[NearbyLine], lab: LabCommand | None
) -> str:
    """A finding: what, what it cost, what to do, the lines that prove it, and the way into the lab."""
    at = f' data-at="{row["at_ms"]}"' if row["at_ms"] is not None else ""
    cost = row["unread_ms"]
    meta = [f'<span class="cost">unread meanwhile {cost / 1000:,.1f} partition-s</span>'] if cost else []
    meta += [f"{clock(row['at_ms'])} UTC"] if row["at_ms"] is not None else []
    meta.append(escape(f"{row['file']}:{row['line']}"))
    parts = [
        f'<p class="what"><span class="rank">{number}</span>{escape(capital(row["sentence"]))}.</p>',
        f'<p class="meta">{" · ".join(meta)}</p>',
        f'<p class="do">{escape(row["do"])} <span class="source">{escape(row["source"])}</span></p>',
        _evidence(row, lines),
    ]
    if lab is not None:
        parts.append(_lab(lab))
    return f'<li class="card" id="{card}"{at}>{"".join(parts)}</li>'


def _evidence(row: Row, lines: Sequence[NearbyLine]) -> str:
    """The line that proves it, and those around it where they are known."""
    own = next((line.text for line in lines if line.proves), row["evidence"] or "")
    proof = f"<pre>{escape(_short(own))}</pre>"
    if len(lines) < 2:
        return proof
    told = "\n".join(
        f"{'<mark>' if line.proves else ''}<b>{escape(line.file)}:{line.line}</b> {escape(_short(line.text))}"
        f"{'</mark>' if line.proves else ''}"
        for line in lines
    )
    return (
        f'{proof}<details class="around"><summary>{len(lines)} lines around it</summary>'
        f"<pre>{told}</pre></details>"
    )


def _short(text: str) -> str:
    return text if len(text) <= _LETTERS else f"{text[:_LETTERS]} …"


def _lab(lab: LabCommand) -> str:
    words = "Open this moment in the lab:" if lab.whole else "See this kind of trouble in the lab:"
    return f'<div class="lab"><span>{words}</span><code class="command">{escape(lab.command)}</code></div>'


def capital(sentence: str) -> str:
    """A sentence's first letter as a capital, unless it is a name that begins it (``c1 closed ...``)."""
    first = sentence.split(" ", 1)[0]
    return (
        sentence[:1].upper() + sentence[1:]
        if (first.isalpha() and len(first) > 2) or first == "a"
        else sentence
    )


def rebalances_in_words(view: GroupView) -> str:
    """A table of the rebalances."""
    rows = view.record["rebalances"]
    if not rows:
        return ""
    shown = sorted(rows, key=lambda row: -(row["duration_ms"] or 0))[:_REBALANCES]
    shown.sort(key=lambda row: row["number"])
    body = "".join(
        f'<tr><th scope="row">{row["number"]}</th><td>{clock(row["start_ms"])}</td>'
        f"<td>{seconds(row['duration_ms'])}</td><td>{row['before']} → {'?' if row['after'] is None else row['after']}</td>"
        f'<td class="words">{escape(row["cause"])}</td><td class="words">{escape(row["file"])}:{row["line"]}</td></tr>'
        for row in shown
    )
    head = "<tr><th>no.</th><th>began, UTC</th><th>took</th><th>step</th><th>why</th><th>line</th></tr>"
    which = f"the {len(shown)} longest of {len(rows)}" if len(shown) < len(rows) else str(len(rows))
    return (
        f"<details><summary>Rebalances in words ({which})</summary>"
        f'<div class="wide"><table><thead>{head}</thead><tbody>{body}</tbody></table></div></details>'
    )


def books(counts: Sequence[Row], rejected: Sequence[Row]) -> str:
    """What became of every line, file by file, and the first rejected lines."""
    rows = "".join(
        f'<tr><th scope="row">{escape(_place(row))}</th><td>{row["parsed"]:,}</td><td>{row["ignored"]:,}</td>'
        f'<td>{row["rejected"]:,}</td><td>{row["lines"]:,}</td><td class="words">{escape(row["note"] or "")}</td></tr>'
        for row in counts
    )
    head = "<tr><th>file</th><th>parsed</th><th>ignored</th><th>rejected</th><th>lines</th><th></th></tr>"
    shown = "".join(
        f"<li>{escape(row['file'])}:{row['line']}: {escape(row['why'])}<pre>{escape((row['text'] or '')[:200])}</pre></li>"
        for row in rejected
    )
    tail = f"<h3>Rejected lines</h3><ul>{shown}</ul>" if shown else ""
    return (
        "<details class='group'><summary><h2>The books: what became of every line</h2></summary>"
        f"<div class='wide'><table><thead>{head}</thead><tbody>{rows}</tbody></table></div>{tail}</details>"
    )


def _place(row: Row) -> str:
    """A file with the name of its run's folder, unless it was named by its whole path."""
    return str(row["file"]) if row["path"] in row["file"] else f"{Path(row['path']).name}/{row['file']}"
