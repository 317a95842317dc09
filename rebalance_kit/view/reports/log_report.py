"""The page of a look at logs: group by group what happened, in pictures and in words, and what to do.

Self-contained: plotly.js is in it, and it asks no network.  Light or dark as the reader's system is,
with a button; pictures are drawn when their group is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rebalance_kit.forensics.report import group_record
from rebalance_kit.model.files import write_atomically
from rebalance_kit.pipeline.own_files import PAGE
from rebalance_kit.view.board.group_view import GroupView, clock, seconds
from rebalance_kit.view.figures.forensics_figures import gap_map, lives, palette, timeline
from rebalance_kit.view.style.embedding import embedded
from rebalance_kit.view.style.showing import CONFIG, Figure
from rebalance_kit.view.style.theme import stylesheet
from rebalance_kit.view.words.forensics_text import describe_gaps, describe_lives, describe_timeline

if TYPE_CHECKING:
    from rebalance_kit.forensics.tables import Tables

#: At most so many rejected lines are on the page.
_REJECTS = 20

Row = Mapping[str, Any]


def write_forensics_page(result: Tables, folder: str | Path) -> Path:
    """Write ``report.html`` into ``folder`` from the tables of ``result``; return its path.

    The file appears only when it is complete.  Raises ``EnvironmentProblem`` without plotly.
    """
    return write_atomically(Path(folder) / PAGE, forensics_html(result))


def forensics_html(result: Tables) -> str:
    """The page as one HTML text."""
    views = group_views(result)
    books = result.rows("lines")
    rejected = result.rows("rejected")[:_REJECTS]
    body = [
        "<h1>What the logs tell</h1>",
        f"<p>{len(views)} group{'s' if len(views) != 1 else ''}, {sum(len(view.record['rebalances']) for view in views)} "
        f"rebalances, {sum(len(view.record['findings']) for view in views)} findings, from {sum(row['lines'] for row in books):,} lines "
        f"of {len(books)} files. Times are UTC.</p>",
        _contents(views),
        *(_group(view, number) for number, view in enumerate(views)),
        _books(books, rejected),
    ]
    return _page("\n".join(body))


def group_views(result: Tables) -> tuple[GroupView, ...]:
    """One view a run and group, in order of their names."""
    records = [group_record(row) for row in result.rows("groups")]
    gaps, members, storms = (_by_group(result.rows(name)) for name in ("gaps", "members", "storms"))
    keys = [(record["path"], record["group"]) for record in records]
    return tuple(
        GroupView(record, gaps.get(key, ()), members.get(key, ()), storms.get(key, ()))
        for record, key in zip(records, keys, strict=True)
    )


def _by_group(rows: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["path"], row["group"]), []).append(row)
    return groups


def _name(view: GroupView) -> str:
    return f"{Path(view.record['path']).name} · {view.record['group']}"


def _contents(views: Sequence[GroupView]) -> str:
    if len(views) < 2:
        return ""
    rows = "".join(
        f'<tr><th scope="row"><a href="#g{number}">{escape(_name(view))}</a></th><td>{len(view.record["rebalances"])}</td>'
        f"<td>{view.record['expired']}</td><td>{seconds(_longest(view)) if view.gaps else 'not known'}</td><td>{len(view.storms)}</td><td>{len(view.record['findings'])}</td></tr>"
        for number, view in enumerate(views)
    )
    head = "<tr><th>group</th><th>rebalances</th><th>expired members</th><th>longest gap</th><th>storms</th><th>findings</th></tr>"
    return (
        f'<div class="wide"><table class="numbers"><thead>{head}</thead><tbody>{rows}</tbody></table></div>'
    )


def _longest(view: GroupView) -> int:
    return max((int(row["duration_ms"]) for row in view.gaps), default=0)


def _group(view: GroupView, number: int) -> str:
    record = view.record
    figures: tuple[tuple[str, Callable[[GroupView], Figure], Callable[[GroupView], str], bool], ...] = (
        ("timeline", timeline, describe_timeline, bool(record["rebalances"])),
        ("gaps", gap_map, describe_gaps, bool(view.gaps)),
        ("lives", lives, describe_lives, bool(view.members)),
    )
    parts = [f"<p>{escape(_summary(view))}</p>", _findings(view)]
    for kind, draw, say, any_data in figures:
        if any_data:
            parts.append(_figure(f"{kind}-{number}", draw(view)))
            parts.append(f"<details><summary>In words</summary><pre>{escape(say(view))}</pre></details>")
        elif kind == "gaps":
            parts.append(f"<p>{escape(say(view))}</p>")
    opened = " open" if number == 0 else ""
    return f'<details class="group" id="g{number}"{opened}><summary><h2>{escape(_name(view))}</h2></summary>{"".join(parts)}</details>'


def _summary(view: GroupView) -> str:
    record = view.record
    start, end = view.span
    day = f"{datetime.fromtimestamp(start / 1000, UTC):%d %B %Y}"
    parts = [f"{day}, {clock(start)[:8]} to {clock(end)[:8]} UTC; {len(record['rebalances'])} rebalances"]
    if record["expired"]:
        parts.append(f"{record['expired']} expired ({', '.join(record['expired_members'])})")
    if view.gaps:
        parts.append(f"the longest gap of a partition {seconds(_longest(view))}")
    if view.storms:
        parts.append(f"{len(view.storms)} storm{'s' if len(view.storms) > 1 else ''}")
    return "; ".join(parts) + "."


def _findings(view: GroupView) -> str:
    findings = view.record["findings"]
    if not findings:
        return '<p class="calm">No finding: what happened here is what Kafka does when nothing is wrong.</p>'
    items = "".join(
        f"<li><p><strong>{escape(_capital(row['sentence']))}.</strong> <span class='at'>{clock(row['at_ms']) if row['at_ms'] else ''}</span></p>"
        f"<p>{escape(row['do'])} <span class='source'>{escape(row['source'])}</span></p>"
        f"<details><summary>{escape(row['file'])}:{row['line']}</summary><pre>{escape(row['evidence'] or '')}</pre></details></li>"
        for row in findings
    )
    return f"<h3>Findings</h3><ol class='findings'>{items}</ol>"


def _capital(sentence: str) -> str:
    """A sentence's first letter as a capital, unless it is a name that begins it (``c1 closed ...``)."""
    first = sentence.split(" ", 1)[0]
    return (
        sentence[:1].upper() + sentence[1:]
        if (first.isalpha() and len(first) > 2) or first == "a"
        else sentence
    )


def _books(books: Sequence[Row], rejected: Sequence[Row]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(_place(row))}</th>'
        f"<td>{row['parsed']:,}</td><td>{row['ignored']:,}</td><td>{row['rejected']:,}</td><td>{row['lines']:,}</td><td class='note'>{escape(row['note'] or '')}</td></tr>"
        for row in books
    )
    head = "<tr><th>file</th><th>parsed</th><th>ignored</th><th>rejected</th><th>lines</th><th></th></tr>"
    shown = "".join(
        f"<li>{escape(row['file'])}:{row['line']}: {escape(row['why'])}<pre>{escape((row['text'] or '')[:200])}</pre></li>"
        for row in rejected
    )
    tail = f"<h3>Rejected lines</h3><ul>{shown}</ul>" if shown else ""
    return (
        "<details class='group'><summary><h2>The books: what became of every line</h2></summary>"
        f"<div class='wide'><table class='numbers'><thead>{head}</thead><tbody>{rows}</tbody></table></div>{tail}</details>"
    )


def _place(row: Row) -> str:
    """A file with the name of its run's folder, unless it was named by its whole path."""
    return str(row["file"]) if row["path"] in row["file"] else f"{Path(row['path']).name}/{row['file']}"


def _figure(name: str, figure: Figure) -> str:
    """A figure's place and data; scripts cannot be closed from within the data."""
    configured = {**figure, "config": dict(CONFIG)}
    label = escape(str(figure["layout"]["title"]["text"]), quote=True)
    data = embedded(configured)
    height = figure["layout"]["height"]
    return f'<div class="figure" id="{name}" role="img" aria-label="{label}" style="min-height:{height}px"></div>\n<script type="application/json" data-for="{name}">{data}</script>'


_STYLE = """
body{margin:0;background:var(--rk-page);color:var(--rk-ink);font:15px/1.5 var(--rk-font)}
main{margin:0 auto;max-width:1180px;padding:24px}
h1{font-size:26px;margin:0}h2{font-size:19px;display:inline}h3{font-size:16px;margin:20px 0 6px}
.group{background:var(--rk-surface);border:1px solid var(--rk-hairline);border-radius:10px;padding:14px 18px;margin:16px 0}
.group>summary{cursor:pointer}a{color:inherit}
.findings{padding-left:26px}.findings li{margin:0 0 14px}.findings p{margin:0 0 2px}
.at,.source,.note,summary{color:var(--rk-ink2)}.at{font-variant-numeric:tabular-nums;margin-left:6px}.source{margin-left:4px;font-size:13px}
.calm{color:var(--rk-ok)}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font:13px/1.5 ui-monospace,Menlo,Consolas,monospace;background:var(--rk-sunk);padding:10px;border-radius:8px;margin:6px 0}
.wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;width:100%}
.numbers th,.numbers td{text-align:right;padding:4px 10px;border-bottom:1px solid var(--rk-hairline);white-space:nowrap}.numbers th:first-child{text-align:left}.numbers .note{text-align:left}
button{float:right;font:inherit;color:var(--rk-ink);background:var(--rk-surface);border:1px solid var(--rk-control);border-radius:8px;padding:4px 12px;cursor:pointer}
"""

_SCRIPT = """
let theme = new URLSearchParams(location.search).get('theme') ||
  (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
const drawn = new Set();
function filled(text) { return text.replace(/@(\\w+)@/g, (all, name) => PALETTES[theme][name] || all); }
function draw(place) {
  const held = document.querySelector(`script[data-for="${place.id}"]`);
  Plotly.react(place, JSON.parse(filled(held.textContent)));
  drawn.add(place);
}
function drawIn(part) { part.querySelectorAll('.figure').forEach(draw); }
function dress() {
  document.body.className = 'rk-' + theme;
  document.getElementById('theme').textContent = theme === 'dark' ? 'Light' : 'Dark';
  drawn.forEach(draw);
}
document.getElementById('theme').onclick = () => { theme = theme === 'dark' ? 'light' : 'dark'; dress(); };
document.querySelectorAll('details.group').forEach(part => {
  part.addEventListener('toggle', () => { if (part.open) drawIn(part); });
});
function follow() {
  const part = location.hash && document.querySelector(location.hash);
  if (part && part.tagName === 'DETAILS') part.open = true;
}
addEventListener('hashchange', follow);
dress(); follow();
document.querySelectorAll('details.group[open]').forEach(drawIn);
"""


def _page(body: str) -> str:
    from rebalance_kit.view.reports.run_report import plotly_script

    palettes = embedded({theme: palette(theme) for theme in ("light", "dark")})
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>What the logs tell</title><style>{stylesheet()}{_STYLE}</style><script>{plotly_script()}</script></head>"
        f'<body class="rk-light"><main><button id="theme" type="button">Dark</button>{body}</main>'
        f"<script>const PALETTES = {palettes};{_SCRIPT}</script></body></html>\n"
    )
