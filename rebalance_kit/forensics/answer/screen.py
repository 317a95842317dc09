"""One screen of 120 x 40: what broke, who, why, what to do, and what was left out."""

from __future__ import annotations

import re
import textwrap
from collections import defaultdict
from typing import TYPE_CHECKING

from rebalance_kit.forensics.answer.group_states import GROUPS, LINES, coordinated, moment, names_of, table_of
from rebalance_kit.forensics.answer.last_words import line_at
from rebalance_kit.forensics.answer.listed import WIDTH, in_order, rest_of, wrapped
from rebalance_kit.forensics.answer.severity import NOTE
from rebalance_kit.forensics.answer.steps import SHORT, WITHOUT_TIME, of_several_clocks
from rebalance_kit.forensics.answer.verdict import bound, totals
from rebalance_kit.forensics.answer.wishes import TOP
from rebalance_kit.forensics.findings.unplaced import UNTIMED
from rebalance_kit.forensics.report import clock
from rebalance_kit.forensics.words import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from rebalance_kit.forensics.answer.happenings import Happening
    from rebalance_kit.forensics.answer.selected import Selected
    from rebalance_kit.forensics.answer.severity import Card
    from rebalance_kit.forensics.answer.verdict import Verdict
    from rebalance_kit.forensics.answer.wishes import Wishes
    from rebalance_kit.forensics.tables import Row

HEIGHT = 40
_NOTES, _RECENT, _EVENTS = 2, 4, 3
_BARS, _BUCKETS = "▁▂▃▄▅▆▇█", 60
_SHOWN_TEXT = 150
_TOP_OF_SHORT = 2
_DAY_MS = 86_400_000


def screen(result: Selected, said: Verdict, wishes: Wishes, happenings: Sequence[Happening] = ()) -> str:
    """The screen as text, lines of at most 118 letters."""
    lines: list[str] = []
    mark = f"  {said.severity.upper()}" if said.severity not in {None, NOTE} else ""
    rest = rest_of(result)
    lines += [*wrapped("", said.sentence + mark), "", *_read(result, said, rest)]
    gaps = result.rows("gaps")
    lines += [*_cost(gaps, result.rows("findings")), *_strip(result, gaps), *_events(result, happenings), ""]
    # Of a short log the lines themselves are worth more than a third finding.
    short = sum(row["lines"] for row in result.rows("lines")) <= SHORT and wishes.top == TOP
    shown = _shown(said.cards, _TOP_OF_SHORT if short else wishes.top)
    causes = {row["cause"] for row in result.rows("rebalances")}
    for number, card in enumerate(shown, start=1):
        lines += [*_card(number, card, said.sentence, causes), ""]
    rows = result.rows("groups")
    if rows:
        few = sum(row["parsed"] for row in result.rows("lines")) <= SHORT and wishes.top == TOP
        told_whole = few and not coordinated(result)
        lines += [*(names_of(rows, rest or ()) if told_whole else table_of(result, rows, said)), ""]
    begun = result.rows("rebalances")
    # One that the headline tells is not told again where only members' lines do.
    one = len(begun) == 1 and not coordinated(result)
    steps = [] if shown or one else _recent(begun[-_RECENT:])
    told = min(_RECENT, len(begun)) if steps else int(one and not shown)
    room = HEIGHT - len(lines) - 2
    listed = in_order(result, rest, room - len(steps))
    if not listed and room > _RECENT:
        told, steps = _last_of(begun, room - 1)
    lines += [*steps, *listed, *_left_out(said, shown, len(begun) - told, len(rows)), *_next()]
    return "\n".join(lines) + "\n"


def _shown(cards: Sequence[Card], top: int) -> list[Card]:
    """The first cards; of mere notes two are enough beside graver ones."""
    grave = [card for card in cards if card.severity != NOTE]
    notes = [card for card in cards if card.severity == NOTE and card.first["finding"] != UNTIMED]
    return [*grave[:top], *notes[: max(0, min(_NOTES, top - len(grave)))]]


def _read(result: Selected, said: Verdict, rest: Sequence[Row] | None) -> list[str]:
    rows = result.rows("lines")
    begin = min((row["from_ms"] for row in rows if row["from_ms"] is not None), default=None)
    end = max((row["to_ms"] for row in rows if row["to_ms"] is not None), default=None)
    if result.period is not None and said.understood.about <= SHORT:
        begin, end = result.period
    since, until = result.since_ms, result.until_ms
    period, of_all = "no time", True
    if begin is not None and end is not None:
        first, last = (
            (begin if since is None else max(since, begin)),
            (end if until is None else min(until, end)),
        )
        of_all = result.period is not None and said.understood.about <= SHORT
        period = f"{moment(first)} to {moment(last)}{_zone(result, rest or ())}"
        if begin < 0 or end < _DAY_MS:
            period += " (the lines hold no day)"
        if rest is not None and of_several_clocks([*result.rows("events"), *rest]):
            period = "times of several clocks"
    known = said.understood
    told = f"{counted(len(rows), 'file')}, {counted(sum(row['lines'] for row in rows), 'line')}"
    told += f", {period}" if of_all else ""
    if known.about:
        told += f"; {counted(known.about - known.unclear, 'line')} read as a group's"
    if known.by_words:
        told += f" ({known.by_words:,} by single words: less sure)"
    told += "" if of_all else f", from {period}"
    lines = wrapped("  read      ", told)
    if known.first is not None:
        first_line = known.first
        which = _client_like(first_line["text"])
        lines += wrapped(
            "  unclear   ",
            f"{counted(known.unclear, 'line')} not understood{which}, so nothing is said to be absent; first "
            f"{first_line['file']}:{first_line['line']}  {_short(first_line['text'])}",
        )
    if begin is None and (untimed := [card for card in said.cards if card.first["finding"] == UNTIMED]):
        lines += wrapped(
            "  no time   ",
            f"that could be read, so when, and how long, is not told. {untimed[0].first['do']}",
        )
    for row in rows:
        if row["note"] and (
            "lost" in row["note"]
            or "empty" in row["note"]
            or "interrupted" in row["note"]
            or "newest first" in row["note"]
        ):
            lines += wrapped("  note      ", f"{row['file']}: {row['note']}")
    for one in result.passed_over:
        if one.damaged:
            lines += wrapped("  not read  ", f"{one.path} {one.why}")
    return lines


def _zone(result: Selected, rest: Sequence[Row]) -> str:
    """That times are told in UTC, where the lines themselves tell them otherwise, or say so; nothing where they name no zone."""
    if sum(row["lines"] for row in result.rows("lines")) > LINES:
        return " UTC"
    timed = [row for row in (*result.rows("events"), *rest) if row["at_ms"] is not None]
    return " UTC" if timed and not any(map(_has_no_zone, timed)) else ""


def _has_no_zone(row: Row) -> bool:
    """Whether a line holds the very time that is told, and does not say that it is UTC's."""
    at = clock(row["at_ms"])[11:19]
    return at in row["text"] and not re.search(rf"{at}[.,\d]*(?:Z|\+00:?00| UTC)", row["text"])


def _client_like(text: str) -> str:
    from rebalance_kit.forensics.lines.anchors import client_like

    which = client_like(text)
    return f" ({which})" if which else ""


def _cost(gaps: Sequence[Row], findings: Sequence[Row]) -> list[str]:
    if not gaps:
        return []
    sums = totals(gaps, findings)
    told = f"{bound(sums)}{sums['unread_ms'] / 1000:,.1f} partition-seconds unread; longest gap {sums['longest_ms'] / 1000:,.1f} s"
    return wrapped("  cost      ", f"{told} ({sums['longest']})")


def _strip(result: Selected, gaps: Sequence[Row]) -> list[str]:
    """Unread partitions over time, and who began rebalances below."""
    moments = [row["start_ms"] for row in result.rows("rebalances")]
    if not gaps or len(moments) < 2:
        return []
    begin = min([*moments, *(row["from_ms"] for row in gaps)])
    end = max([*moments, *(row["to_ms"] for row in gaps)])
    step = max(1, (end - begin) // _BUCKETS + 1)
    sums: dict[int, int] = defaultdict(int)
    for row in gaps:
        for place in range((row["from_ms"] - begin) // step, (row["to_ms"] - begin) // step + 1):
            first = begin + place * step
            sums[place] += max(0, min(row["to_ms"], first + step) - max(row["from_ms"], first))
    most = max(sums.values(), default=0) or 1
    bars = "".join(
        _BARS[0 if not sums[place] else 1 + sums[place] * (len(_BARS) - 2) // most]
        for place in range(_BUCKETS)
    )
    return [f"  unread    {clock(begin)[11:19]} {bars} {clock(end)[11:19]}"]


def _events(result: Selected, happenings: Sequence[Happening]) -> list[str]:
    """What happened beside Kafka within the time of the logs, the first ones."""
    if not happenings:
        return []
    rows = result.rows("lines")
    begin = min((row["from_ms"] for row in rows if row["from_ms"] is not None), default=None)
    end = max((row["to_ms"] for row in rows if row["to_ms"] is not None), default=None)
    inside = [
        one for one in happenings if begin is not None and end is not None and begin <= one.at_ms <= end
    ]
    told = f"{len(inside):,} of {counted(len(happenings), 'event')} within these logs"
    shown = "; ".join(f"{clock(one.at_ms)[11:19]} {one.text}" for one in inside[:_EVENTS])
    return wrapped(
        "  events    ", f"{told}{': ' if shown else ''}{shown}{'; ...' if len(inside) > _EVENTS else ''}"
    )


def _card(number: int, card: Card, headline: str, causes: Collection[str]) -> Iterator[str]:
    row = card.first
    often = [card.tally] if card.tally else []
    least = "at least " if row["at_least"] else ""
    cost = [f"{least}{card.unread_ms / 1000:,.0f} partition-s"] if card.unread_ms >= 500 else []
    tail = f"   {', '.join([*often, *cost])}" if often or cost else ""
    is_headline = card.severity == NOTE and headline[1:].startswith(row["sentence"][1:])
    sentence = "as told above" if is_headline else row["sentence"]
    less_sure = "" if row["confidence"] is None else " (read from single words)"
    yield from wrapped(
        f"  {number}  {card.severity.upper():8}  ",
        f"{sentence}{card.in_groups}{card.others}{card.together}{less_sure}{tail}",
        5,
    )
    proof = f"     proof     {row['file']}:{row['line']}  {_proof(row, causes)}".rstrip()
    yield proof if len(proof) <= WIDTH else proof[: WIDTH - 3] + "..."
    if row["last_words"]:
        yield from wrapped("     near it     ", row["last_words"])
    if row["setting"]:
        yield from wrapped("     setting   ", row["setting"])
    yield from wrapped("     do        ", row["do"])


def _proof(row: Row, causes: Collection[str]) -> str:
    """The time and the text of a finding's line; the text alone of a rebalance's, of which the row holds when it began, and why."""
    if row["evidence"] in causes:
        return _short(line_at(row))
    at = f"{clock(row['at_ms'])[11:]}  " if row["at_ms"] is not None else ""
    return at + _short(row["evidence"])


def _short(text: str) -> str:
    """A line on one line, without the time that stands beside it."""
    return " ".join(WITHOUT_TIME.sub("", text, count=1).split())[:_SHOWN_TEXT]


def _recent(rows: Sequence[Row], height: int | None = None) -> list[str]:
    """When the group went from which generation to which, and why; each in no more than ``height`` lines."""
    lines: list[str] = []
    several = len({(row["path"], row["group"]) for row in rows}) > 1
    for row in rows:
        whose = f"{row['group']}: " if several else ""
        step = " -> ".join("?" if row[name] is None else str(row[name]) for name in ("before", "after"))
        head = f"  {moment(row['start_ms'])}  {step:<9} "
        lines += textwrap.wrap(
            f"{whose}{row['cause']} (see {row['file']}:{row['line']})",
            WIDTH,
            initial_indent=head,
            subsequent_indent=" " * len(head),
            max_lines=height,
            placeholder=" ...",
        )
    return [*lines, ""] if lines else []


def _last_of(rows: Sequence[Row], room: int) -> tuple[int, list[str]]:
    """As many of the last rebalances as there is room for, in whole sentences if all of them fit so; how many, and the lines."""
    for some, height in ((rows, None), (rows[-room:], 1)):
        if len(lines := _recent(some, height)) <= room + 1:
            return len(some), lines
    return 0, []


def _left_out(said: Verdict, shown: Sequence[Card], begun: int, groups: int) -> list[str]:
    told = []
    if begun:
        told.append(f"{counted(begun, 'rebalance')} in words")
    findings = [card for card in said.cards if card.first["finding"] != UNTIMED]
    if len(findings) > len(shown):
        told.append(f"{counted(len(findings) - len(shown), 'finding')}")
    if groups > GROUPS:
        told.append(counted(groups - GROUPS, "group"))
    return wrapped("  left out  ", f"{', '.join(told)} (--all shows them)") if told else []


def _next() -> list[str]:
    return [
        "  next      --all   --since -2h   --group NAME   --markdown FILE   --out DIR   --json   rebalance-kit explain"
    ]
