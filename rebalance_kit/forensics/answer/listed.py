"""The lines of a short log in order, as the first screen lists them: when, whose, in words or quoted, as many as there is room for."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from rebalance_kit.forensics.answer.last_words import TROUBLE, unread
from rebalance_kit.forensics.answer.steps import SHORT, timeline
from rebalance_kit.forensics.report import clock
from rebalance_kit.forensics.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rebalance_kit.forensics.answer.selected import Selected
    from rebalance_kit.forensics.answer.steps import Step
    from rebalance_kit.forensics.tables import Row

#: A screen's lines are no longer than this.
WIDTH = 118

#: A log with settings and stacks, which are told with the line before them, may have so many lines.
_WHOLE = 4 * SHORT
_DAY_MS = 86_400_000

#: Words for which a line is kept although no template reads it.
_LOUD = re.compile(r"\b(?:WARN|WARNING|FAIL|FAILED|LOST|REVOKED|ASSIGNED|REBALANCE)\b")


def wrapped(head: str, text: str, deeper: int = 0) -> list[str]:
    """A text behind its head, in lines of the screen's width."""
    indent = " " * (len(head) if not deeper else deeper + 10)
    return textwrap.wrap(text, WIDTH, initial_indent=head, subsequent_indent=indent) or [head.rstrip()]


def rest_of(result: Selected) -> list[Row] | None:
    """The lines that were not read as a group's, of a log that may be told whole; None of a longer one, or of a part."""
    whole = sum(row["lines"] for row in result.rows("lines")) <= _WHOLE and not result.narrowed
    return unread(result) if whole else None


def in_order(result: Selected, rest: Sequence[Row] | None, room: int) -> list[str]:
    """Of a short log what each line tells, in order of time; nothing of a longer one, or where there is no room.

    All lines (with ``rest``, as of ``rest_of``) of a log of ``SHORT`` steps, those about groups of a longer one that holds so many of them.
    """
    rows = result.rows("lines")
    if sum(row["parsed"] for row in rows) > SHORT:
        return []
    steps = timeline(result.rows("events"), rest)
    if sum(row["lines"] for row in rows) > SHORT and len(steps) > SHORT:
        steps = timeline(result.rows("events"))
    whose = {one.who for one in steps}
    alone = next(iter(whose)) if len(whose) == 1 else ""
    head = [f"  in order  {alone}".rstrip()]
    for width in (5, 3, 2, 1):
        told = _by_day(steps, [_of_step(one, "" if alone else one.who, width) for one in steps])
        if sum(map(len, told)) <= room - len(head) - 2:
            break
    else:
        kept = _weightiest(steps, told, room - len(head) - 3)
        told = [lines for lines, is_kept in zip(told, kept, strict=True) if is_kept]
        head.append(f"  ({counted(kept.count(False), 'step')} of less weight left out between these)")
    shown, left = _both_ends(told, room - len(head) - 2)
    return [*head, *shown, ""] if shown and left < len(told) else []


def _weightiest(steps: Sequence[Step], told: Sequence[list[str]], room: int) -> list[bool]:
    """Which steps to tell where there is no room for all: what moves something or is trouble, then what was read, then the rest; of equal ones those at both ends."""
    ranks = [
        0 if one.moves or TROUBLE.search(one.what) or _LOUD.search(one.what) else 1 if one.read else 2
        for one in steps
    ]
    by_weight = sorted(
        range(len(steps)), key=lambda place: (ranks[place], min(place, len(steps) - 1 - place))
    )
    kept = [rank == 0 for rank in ranks]
    free = room - sum(len(lines) for lines, is_kept in zip(told, kept, strict=True) if is_kept)
    for place in by_weight:
        if not kept[place] and len(told[place]) <= free:
            kept[place], free = True, free - len(told[place])
    return kept


def _by_day(steps: Sequence[Step], told: Sequence[list[str]]) -> list[list[str]]:
    """The steps with their days, where there are several, before the first of each."""
    days = ["" if (one.at_ms or 0) < 2 * _DAY_MS else clock(one.at_ms or 0)[:10] for one in steps]
    if len({*days} - {""}) < 2:
        return [*told]
    known = ""
    placed = []
    for day, lines in zip(days, told, strict=True):
        placed.append([f"  {day}", *lines] if day not in {"", known} else lines)
        known = day or known
    return placed


def _of_step(one: Step, who: str, height: int) -> list[str]:
    at = clock(one.at_ms)[11:] if one.at_ms is not None else one.since or f"line {one.line}"
    often = f"  ({one.lines} lines{_until(one)})" if one.lines > 1 else ""
    more = (
        f"  (and {counted(one.more, 'line')} that {'belongs' if one.more == 1 else 'belong'} to it)"
        if one.more
        else ""
    )
    tail, text = often + more, f"{who}  {one.what}".strip()
    lines = _wrapped(at, text + tail, WIDTH, None)
    if len(lines) > height == 1 and one.brief:
        text = f"{who}  {one.brief}".strip()
        lines = _wrapped(at, text + tail, WIDTH, None)
    if len(lines) > height:
        *lines, last = _wrapped(at, text, WIDTH - len(tail), height)
        lines = [*lines, last + tail]
    return lines


def _until(one: Step) -> str:
    """The last time of a step's lines, where that is a second or more after the first."""
    later = one.until_ms is not None and one.at_ms is not None and one.until_ms >= one.at_ms + 1000
    return f", until {clock(one.until_ms)[11:]}" if later and one.until_ms is not None else ""


def _wrapped(at: str, text: str, width: int, height: int | None) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=f"  {at:<11} ",
        subsequent_indent=" " * 14,
        max_lines=height,
        placeholder=" ...",
    ) or [f"  {at}"]


def _both_ends(told: Sequence[list[str]], room: int) -> tuple[list[str], int]:
    """As many steps as there is room for, from both ends, and how many are left out between them."""
    if sum(map(len, told)) <= room:
        return [line for one in told for line in one], 0
    first, last = list[list[str]](), list[list[str]]()
    left, free = list(told), room - 1
    while left and len(left[0 if len(first) <= len(last) else -1]) <= free:
        one = left.pop(0 if len(first) <= len(last) else -1)
        free -= len(one)
        (first if len(first) <= len(last) else last).append(one)
    between = f"  ...         {counted(len(left), 'step')} more"
    return [
        *(line for one in first for line in one),
        between,
        *(line for one in reversed(last) for line in one),
    ], len(left)
