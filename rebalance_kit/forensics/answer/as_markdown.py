"""A postmortem in Markdown, with its timeline as a picture beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax import saxutils

from rebalance_kit.forensics.answer.happenings import BEFORE_MS
from rebalance_kit.forensics.answer.verdict import bound, totals
from rebalance_kit.forensics.report import clock
from rebalance_kit.forensics.words import counted, lasted
from rebalance_kit.model.files import write_atomically
from rebalance_kit.model.html import unmarked, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rebalance_kit.forensics.answer.happenings import Happening
    from rebalance_kit.forensics.answer.selected import Selected
    from rebalance_kit.forensics.answer.severity import Card
    from rebalance_kit.forensics.answer.verdict import Verdict
    from rebalance_kit.forensics.tables import Row

#: So many rebalances are told one by one.
_MOST = 200
_WIDE, _HIGH, _LEFT = 960, 22, 160


def write_postmortem(
    result: Selected, said: Verdict, target: Path, happenings: Sequence[Happening] = ()
) -> None:
    """Write the postmortem to ``target``, and beside it the picture of the same name that ends in ``.svg``."""
    picture = target.with_suffix(".svg")
    drawn = _picture(result, happenings)
    if drawn:
        write_atomically(picture, drawn)
    write_atomically(
        target, "\n".join(_lines(result, said, picture.name if drawn else None, happenings)) + "\n"
    )


def _lines(
    result: Selected, said: Verdict, picture: str | None, happenings: Sequence[Happening]
) -> Iterator[str]:
    yield f"# {unmarked(said.sentence)}"
    yield ""
    sums = totals(result.rows("gaps"), result.rows("findings"))
    known = said.understood
    yield f"- Severity: {said.severity or 'none'}"
    if sums["longest_ms"] is not None:
        yield f"- Cost: {bound(sums)}{sums['unread_ms'] / 1000:,.1f} partition-seconds unread, longest gap {sums['longest_ms'] / 1000:,.1f} s ({unmarked(sums['longest'])})"
    yield f"- Read: {counted(len(result.rows('lines')), 'file')}; {counted(known.about - known.unclear, 'line')} read as a group's"
    if picture:
        yield ""
        yield f"![Rebalances and unread partitions over time]({picture})"
    yield from ("", "## Timeline (UTC)", "", "| when | group | what | where |", "|---|---|---|---|")
    rows = result.rows("rebalances")
    timed = [
        (one.at_ms, f"| {clock(one.at_ms)} | | *{unmarked(one.text)}* | --events |")
        for one in happenings[:_MOST]
    ]
    for row in sorted(rows, key=lambda row: row["start_ms"])[:_MOST]:
        took = f" ({told})" if (told := lasted(row)) else ""
        line = f"| {clock(row['start_ms'])} | {unmarked(row['group'])} | {unmarked(row['cause'])}{took} | `{_code(row['file'])}:{row['line']}` |"
        timed.append((row["start_ms"], line))
    yield from (told for _, told in sorted(timed, key=lambda one: one[0]))
    if len(rows) > _MOST:
        yield f"| | | and {len(rows) - _MOST:,} more | |"
    yield from ("", "## Causes and evidence", "")
    for number, card in enumerate(said.cards, start=1):
        yield from _told(number, card)
    yield from ("## Actions", "")
    for action in dict.fromkeys(card.first["do"] for card in said.cards):
        yield f"- [ ] {unmarked(action)}"


def _told(number: int, card: Card) -> Iterator[str]:
    row = card.first
    yield f"{number}. **{card.severity}**: {unmarked(row['sentence'] + card.others)}"
    yield ""
    yield f"   `{_code(row['file'])}:{row['line']}`"
    yield ""
    yield f"       {visible(' '.join(row['evidence'].split())[:300])}"
    yield ""
    for name in ("last_words", "setting"):
        if row[name]:
            yield f"   {unmarked(row[name])}"
            yield ""


def _xml(text: str) -> str:
    """Text as XML may hold it, which knows no control characters."""
    return saxutils.escape(visible(text))


def _code(text: str) -> str:
    return visible(text).replace("`", "'").replace("|", "/")


def _picture(result: Selected, happenings: Sequence[Happening] = ()) -> str:
    """A row per group: rebalances as bars, unread partitions as a red line below, events as dashed lines; empty for nothing."""
    rows = result.rows("rebalances")
    if not rows:
        return ""
    gaps = result.rows("gaps")
    begin = min(row["start_ms"] for row in rows)
    end = max(
        [*(row["end_ms"] or row["start_ms"] for row in rows), *(row["to_ms"] for row in gaps), begin + 1]
    )
    begin = min([begin, *(one.at_ms for one in happenings if begin - BEFORE_MS <= one.at_ms)])
    groups = list(dict.fromkeys(row["group"] for row in rows))[:20]

    def x(at_ms: int) -> float:
        return _LEFT + float((max(begin, at_ms) - begin) / (end - begin) * (_WIDE - _LEFT - 10))

    high = _HIGH * len(groups) + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDE}" height="{high}" font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDE}" height="{high}" fill="white"/>',
    ]
    for place, group in enumerate(groups):
        y = 10 + place * _HIGH
        parts.append(f'<text x="4" y="{y + 12}">{_xml(str(group)[:24])}</text>')
        parts += _bars(
            [row for row in rows if row["group"] == group],
            [row for row in gaps if row["group"] == group],
            y,
            x,
        )
    for one in [one for one in happenings if begin <= one.at_ms <= end][:_MOST]:
        at = f"{x(one.at_ms):.1f}"
        parts.append(
            f'<line x1="{at}" x2="{at}" y1="4" y2="{high - 24}" stroke="#555" stroke-dasharray="3 3">'
            f"<title>{_xml(one.text)}</title></line>"
        )
    parts.append(f'<text x="{_LEFT}" y="{high - 8}">{clock(begin)}</text>')
    parts.append(f'<text x="{_WIDE - 10}" y="{high - 8}" text-anchor="end">{clock(end)} UTC</text></svg>')
    return "\n".join(parts) + "\n"


def _bars(rows: Sequence[Row], gaps: Sequence[Row], y: int, x: Callable[[int], float]) -> Iterator[str]:
    for row in rows[:2_000]:
        left, right = x(row["start_ms"]), x(row["end_ms"] or row["start_ms"])
        yield (
            f'<rect x="{left:.1f}" y="{y}" width="{max(1.5, right - left):.1f}" height="10" fill="#1f5fa8">'
            f"<title>{_xml(row['cause'])}</title></rect>"
        )
    for gap in gaps[:2_000]:
        left, right = x(gap["from_ms"]), x(gap["to_ms"])
        yield f'<rect x="{left:.1f}" y="{y + 12}" width="{max(1.0, right - left):.1f}" height="3" fill="#c0392b" fill-opacity="0.4"/>'
