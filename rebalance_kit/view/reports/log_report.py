"""The page about logs, also for logs that are dropped on a page of the site.

The page of a look at logs: a timeline of each group on one clock, and beside it what was found and what to do.

Self-contained: it asks no network, and its policy lets no script run but its own.  Everything that it tells
stands in it as words; the script adds the timeline.

Logs dropped on a page of the site: the answer of ``rebalance-kit logs`` and its report, as two texts.

The files are in a folder of the browser's memory; nothing is sent anywhere. Nothing here knows the browser.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rebalance_kit.forensics.answer.answer import Answer
from rebalance_kit.forensics.answer.verdict import bound, totals, verdict
from rebalance_kit.forensics.look import look
from rebalance_kit.forensics.report import by_cost, group_record
from rebalance_kit.forensics.tables import PAGE
from rebalance_kit.forensics.words import counted
from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.model.files import write_atomically
from rebalance_kit.model.html import digest_of, policy
from rebalance_kit.scenarios import scenario
from rebalance_kit.simulation.permalink import VERSION, Link, write_link
from rebalance_kit.view.board import group_view
from rebalance_kit.view.reports.log_cards import (
    LinesAround,
    books,
    finding_card,
    lab_command,
    rebalances_in_words,
)
from rebalance_kit.view.reports.log_timeline import timeline_data
from rebalance_kit.view.style.theme import bundled, embedded, stylesheet

if TYPE_CHECKING:
    from rebalance_kit.forensics.tables import Tables


#: At most so many rejected lines are on the page, and so many groups have timelines and links of their own runs.
_REJECTS, _DRAWN, _REPEATED = 20, 150, 20

#: So many letters of what broke are in the page's title.
_TITLE = 110

_STATIC = Path(__file__).with_name("static")

Row = Mapping[str, Any]


def write_forensics_page(result: Tables, folder: str | Path) -> Path:
    """Write ``report.html`` into ``folder`` from the tables of ``result``; return its path.

    The file appears only when it is complete.
    """
    return write_atomically(Path(folder) / PAGE, forensics_html(result))


def forensics_html(result: Tables) -> str:
    """The page as one HTML text."""
    views = sorted(group_views(result), key=lambda view: -_unread_ms(view))
    counts, lines = result.rows("lines"), LinesAround(result)
    nobody = [row for row in result.rows("findings") if row["group"] is None]
    rebalances, findings = (
        sum(len(view.record[name]) for view in views) for name in ("rebalances", "findings")
    )
    broke = verdict(result).sentence
    body = [
        "<header><h1>What the logs tell</h1>",
        f'<p class="verdict">{escape(broke)}</p>',
        f"<p>{counted(len(views), 'group')}, {counted(rebalances, 'rebalance')}, {counted(findings, 'finding')}, from "
        f"{sum(row['lines'] for row in counts):,} lines of {counted(len(counts), 'file')}. Times are UTC.</p></header>",
        _contents(views),
        *(_group(view, number, lines) for number, view in enumerate(views)),
        _of_no_group(nobody, lines),
        books(counts, result.rows("rejected")[:_REJECTS]),
    ]
    return _page(_short(broke), "\n".join(body))


def _short(broke: str) -> str:
    """What broke, as the title of a tab and a bookmark holds it."""
    first = broke.rstrip(".").split("; the gravest finding: ")[-1]
    return first if len(first) <= _TITLE else f"{first[:_TITLE].rsplit(' ', 1)[0]} ..."


def group_views(result: Tables) -> tuple[group_view.GroupView, ...]:
    """One view a run and group, in order of their names."""
    records = [group_record(row) for row in result.rows("groups")]
    gaps, members, storms = (_by_group(result.rows(name)) for name in ("gaps", "members", "storms"))
    keys = [(record["path"], record["group"]) for record in records]
    return tuple(
        group_view.GroupView(record, gaps.get(key, ()), members.get(key, ()), storms.get(key, ()))
        for record, key in zip(records, keys, strict=True)
    )


def _by_group(rows: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["path"], row["group"]), []).append(row)
    return groups


def _name(view: group_view.GroupView) -> str:
    return f"{Path(view.record['path']).name} · {view.record['group']}"


def _unread_ms(view: group_view.GroupView) -> int:
    return sum(max(0, int(row["duration_ms"])) for row in view.gaps)


def _contents(views: Sequence[group_view.GroupView]) -> str:
    if len(views) < 2:
        return ""
    rows = "".join(
        f'<tr><th scope="row"><a href="#g{number}">{escape(_name(view))}</a></th><td>{_unread(view)}</td>'
        f"<td>{len(view.record['findings'])}</td><td>{len(view.record['rebalances'])}</td>"
        f"<td>{view.record['expired']}</td><td>{len(view.storms)}</td></tr>"
        for number, view in enumerate(views)
    )
    head = (
        "<tr><th>group</th><th>unread partition-s</th><th>findings</th><th>rebalances</th>"
        "<th>expired members</th><th>storms</th></tr>"
    )
    opened = " open" if len(views) <= 12 else ""
    return (
        f'<details class="group"{opened}><summary><h2>{len(views)} groups, those that cost most first</h2></summary>'
        f'<div class="wide"><table><thead>{head}</thead><tbody>{rows}</tbody></table></div></details>'
    )


def _unread(view: group_view.GroupView) -> str:
    if not view.gaps:
        return "not known"
    return f"{bound(totals(view.gaps, view.record['findings']))}{_unread_ms(view) / 1000:,.1f}"


def _group(view: group_view.GroupView, number: int, lines: LinesAround) -> str:
    record = view.record
    path, group = record["path"], record["group"]
    findings = by_cost(record["findings"])
    cards = [(f"g{number}-f{place}", row) for place, row in enumerate(findings, start=1)]
    told = "".join(
        finding_card(
            card,
            place,
            row,
            lines.near(path, group, row),
            lab_command(path, row["finding"], row["at_ms"], repeat=number < _REPEATED),
        )
        for place, (card, row) in enumerate(cards, start=1)
    )
    calm = '<p class="calm">No finding: what happened here is what Kafka does when nothing is wrong.</p>'
    beside = f"<h3>Findings, those that cost most first</h3><ol class='cards'>{told}</ol>" if cards else calm
    opened = " open" if number == 0 else ""
    return (
        f'<details class="group" id="g{number}"{opened}><summary><h2>{escape(_name(view))}</h2>'
        f'<span class="sum">{escape(_summary(view))}</span></summary>'
        f'<div class="look">{_timeline(view, cards) if number < _DRAWN else ""}<div class="beside">{beside}</div></div>'
        f"{rebalances_in_words(view)}{_in_words(view)}</details>"
    )


def _timeline(view: group_view.GroupView, cards: Sequence[tuple[str, Row]]) -> str:
    """The place of the timeline, its data and its legend; nothing of a group without any event in time."""
    data = timeline_data(view, cards)
    if not (data["members"] or data["rebalances"] or data["findings"]):
        return ""
    words = f"Timeline of {_name(view)}: {_summary(view)} The same stands below in words."
    more = f" {data['more']} more members are told in words alone." if data["more"] else ""
    return (
        f'<div><div class="timeline" data-words="{escape(words, quote=True)}"></div>'
        '<p class="legend">Numbers are findings. A rebalance has the colour of the member that caused it. '
        f"Red: partitions are unread. ✕: a member was removed. A shade: a storm.{more}</p>"
        f'<script type="application/json">{embedded(data)}</script></div>'
    )


def _in_words(view: group_view.GroupView) -> str:
    text = "\n\n".join(
        say(view)
        for say, known in (
            (group_view.describe_timeline, bool(view.storms)),
            (group_view.describe_gaps, True),
            (group_view.describe_lives, bool(view.members)),
        )
        if known
    )
    return f"<details><summary>Gaps and members in words</summary><pre>{escape(text)}</pre></details>"


def _summary(view: group_view.GroupView) -> str:
    record = view.record
    start, end = view.span
    parts = [counted(len(record["findings"]), "finding"), counted(len(record["rebalances"]), "rebalance")]
    if record["expired"]:
        parts.append(f"{record['expired']} expired ({', '.join(dict.fromkeys(record['expired_members']))})")
    if view.gaps:
        longest = max(int(row["duration_ms"]) for row in view.gaps)
        parts.append(f"unread {_unread(view)} partition-s, the longest piece {group_view.seconds(longest)}")
    if view.storms:
        parts.append(counted(len(view.storms), "storm"))
    if (start, end) != (0, 1_000):
        day = f"{group_view.moment(start):%d %B %Y}"
        parts.append(f"{day}, {group_view.clock(start)[:8]} to {group_view.clock(end)[:8]}")
    return "; ".join(parts) + "."


def _of_no_group(findings: Sequence[Row], lines: LinesAround) -> str:
    if not findings:
        return ""
    told = "".join(
        finding_card(
            f"n-f{place}",
            place,
            row,
            lines.near(row["path"], None, row),
            lab_command(row["path"], row["finding"], None),
        )
        for place, row in enumerate(findings, start=1)
    )
    return (
        "<details class='group'><summary><h2>Of lines that name no group</h2></summary>"
        f"<ol class='cards'>{told}</ol></details>"
    )


def script_digest() -> str:
    """The page's only script as a policy names it; a page that frames the report has to allow it too."""
    return digest_of(bundled(_STATIC / "log_page.js"))


def _page(broke: str, body: str) -> str:
    script, style = bundled(_STATIC / "log_page.js"), (_STATIC / "log_page.css").read_text("utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"{policy(script)}"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(broke)} - what the logs tell</title><style>{stylesheet()}\n{style}</style></head>"
        f'<body class="rk-light"><main>{body}</main><script>{script}</script></body></html>\n'
    )


_COMMAND = re.compile(r'<code class="command">rebalance-kit lab ([\w.-]+)</code>')


class Dropped(NamedTuple):
    """What was read: the screen that the command prints, and the page; no page where nothing could be read."""

    screen: str
    page: str


def read_dropped(folder: str | Path) -> Dropped:
    """Read the logs below ``folder``; what cannot be read is said in ``screen``, as the command says it."""
    out = StringIO()
    try:
        result = look([folder])
        Answer().tell(result, out)
        return Dropped(out.getvalue(), _COMMAND.sub(_opened, forensics_html(result)))
    except RebalanceKitError as refusal:
        words = str(refusal).replace(str(folder), "what was dropped")
        return Dropped(f"{out.getvalue()}{words}\n", "")


def _opened(command: re.Match[str]) -> str:
    """In the place of a command: a link to the lab beside the page, at the moment or with the scenario that the command names."""
    named = command[1]
    token = named if named.startswith(f"{VERSION}.") else write_link(Link(scenario(named)))
    return (
        f'<a href="index.html?rebalance-lab={escape(token)}" target="_blank" rel="noopener">open the lab</a>'
    )
