"""What the timeline of a group is drawn of: times in milliseconds since its beginning, bounded in size."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rebalance_kit.view.board.group_view import GroupView

#: At most so many lanes and rebalances are drawn of one group, gaps of one member, and steps of the count of unread partitions.
LANES, REBALANCES, GAPS, STEPS = 120, 1_500, 150, 3_000

#: A finding up to this long before a rebalance belongs to it.
_BEFORE_MS = 1_000


def timeline_data(view: GroupView, cards: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """The look of a group for the page's script; ``cards`` are its findings with the names of their cards."""
    begin, end = _span(view, cards)
    names = view.names
    hues = {name: number % 12 + 1 for number, name in enumerate(names)}
    return {
        "begin": begin,
        "end": end - begin,
        "members": [_member(view, name, hues[name], begin) for name in names[:LANES]],
        "more": max(0, len(names) - LANES),
        "unread": unread_steps(
            [(row["from_ms"] - begin, row["to_ms"] - begin) for row in view.gaps], end - begin
        ),
        "storms": [(row["from_ms"] - begin, row["to_ms"] - begin) for row in view.storms],
        "rebalances": [_rebalance(row, hues, begin) for row in longest(view.record["rebalances"])],
        "findings": [
            _mark(view, card, number, row, begin)
            for number, (card, row) in enumerate(cards, start=1)
            if row["at_ms"] is not None
        ],
    }


def _span(view: GroupView, cards: Iterable[tuple[str, Mapping[str, Any]]]) -> tuple[int, int]:
    """First and last millisecond of anything that is drawn."""
    begin, end = view.span
    at = [int(row["at_ms"]) for _, row in cards if row["at_ms"] is not None]
    if view.span == (0, 1_000) and at:  # findings alone
        return min(at) - 500, max(at) + 500
    return min([begin, *at]), max([end, *at])


def _member(view: GroupView, name: str, hue: int, begin: int) -> dict[str, Any]:
    own = [row for row in view.members if row["client"] == name]
    gaps = [
        (row["from_ms"] - begin, row["to_ms"] - begin) for row in view.gaps if row["owner_before"] == name
    ]
    return {
        "name": name,
        "hue": hue,
        "lives": [
            (
                (row["joined_ms"] or begin) - begin,
                None if row["ended_ms"] is None else row["ended_ms"] - begin,
                row["end"] or "",
            )
            for row in own
        ],
        "gaps": merged(gaps, GAPS),
    }


def _rebalance(row: Mapping[str, Any], hues: Mapping[str, int], begin: int) -> dict[str, Any]:
    return {
        "number": row["number"],
        "from": row["start_ms"] - begin,
        "to": None if row["end_ms"] is None else row["end_ms"] - begin,
        "hue": hues.get(row["culprit"], 0),
        "why": row["cause"][:300],
    }


def _mark(view: GroupView, card: str, number: int, finding: Mapping[str, Any], begin: int) -> dict[str, Any]:
    first, last = span_of(view, finding)
    return {
        "card": card,
        "label": str(number),
        "at": finding["at_ms"] - begin,
        "from": first - begin,
        "to": last - begin,
    }


def span_of(view: GroupView, finding: Mapping[str, Any]) -> tuple[int, int]:
    """From when to when a finding's trouble went on: its storm, else its rebalance or moment with the gaps that touch it."""
    at_ms = int(finding["at_ms"])
    if finding["finding"] == "rebalance_storm":
        for storm in view.storms:
            if storm["from_ms"] == at_ms:
                return at_ms, int(storm["to_ms"])
    rows = view.record["rebalances"]
    place = bisect_right(rows, at_ms + _BEFORE_MS, key=_start) - 1
    first = last = at_ms
    if place >= 0 and (rows[place]["end_ms"] or rows[place]["start_ms"]) >= at_ms:
        first, last = min(at_ms, rows[place]["start_ms"]), rows[place]["end_ms"] or rows[place]["start_ms"]
    touching = [row for row in view.gaps if row["from_ms"] <= last and row["to_ms"] >= first]
    return (
        min([first, *(int(row["from_ms"]) for row in touching)]),
        max([last, *(int(row["to_ms"]) for row in touching)]),
    )


def _start(row: Mapping[str, Any]) -> int:
    return int(row["start_ms"])


def longest(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """At most ``REBALANCES`` of a group's rebalances, the longest, in order of time."""
    kept = sorted(rows, key=lambda row: -(row["duration_ms"] or 0))[:REBALANCES]
    return sorted(kept, key=lambda row: int(row["number"]))


def unread_steps(spans: Sequence[tuple[int, int]], end: int) -> list[tuple[int, int]]:
    """How many of these spans are open, from each moment on; of too many moments the highest count of each stretch.

    >>> unread_steps([(0, 50), (20, 80)], 100)
    [(0, 1), (20, 2), (50, 1), (80, 0)]
    """
    changes: Counter[int] = Counter()
    for begin, stop in spans:
        changes[begin] += 1
        changes[stop] -= 1
    times = sorted(time for time, change in changes.items() if change)
    steps = list(zip(times, accumulate(changes[time] for time in times), strict=True))
    if len(steps) <= STEPS:
        return steps
    width, stretches, before = max(1, end // (STEPS // 2)), dict[int, int](), 0
    for time, count in steps:
        stretches[time // width] = max(stretches.get(time // width, before), count)
        before = count
    # The count at the end of a stretch goes on in the next one.
    told = [(number * width, count) for number, count in stretches.items()]
    return [*told, (end, 0)]


def merged(spans: Sequence[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    """At most so many spans, in order: overlapping ones as one, then those with the shortest distances.

    >>> merged([(0, 5), (3, 8), (20, 30), (31, 32)], 2)
    [(0, 8), (20, 32)]
    """
    joined, distance = _joined(sorted(spans), 0), 0
    while len(joined) > most:
        distance = distance * 2 or 1
        joined = _joined(joined, distance)
    return joined


def _joined(spans: Sequence[tuple[int, int]], distance: int) -> list[tuple[int, int]]:
    result: list[tuple[int, int]] = []
    for begin, end in spans:
        if result and begin - result[-1][1] <= distance:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((begin, end))
    return result
