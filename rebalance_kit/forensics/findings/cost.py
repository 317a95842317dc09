"""What a finding cost: the unread partition-time around its moment.

A finding belongs to the rebalance in which it was made, and to all others of the same culprit with the same
trigger, a storm to all of its rebalances; its cost is the sum of the gaps that touch one of them.  Findings of one rebalance share its gaps, so
costs order findings and are not added up.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rebalance_kit.forensics.findings.finding import Row
    from rebalance_kit.forensics.history.rebalance import Rebalance

#: A finding up to this long before a rebalance belongs to it: a target is computed at most once a second.
_BEFORE_MS = 1_000


def with_costs(
    findings: Sequence[Row], rebalances: Sequence[Rebalance], storms: Sequence[Row], gaps: Sequence[Row]
) -> list[Row]:
    """The findings with ``unread_ms``: the time of the gaps around each (None: unknown, or without a moment)."""
    if not gaps:
        return [{**row, "unread_ms": None} for row in findings]
    moments, spans = _Moments(rebalances, storms), _Gaps(gaps)
    return [
        {**row, "unread_ms": None if row["at_ms"] is None else spans.total(moments.of(row))}
        for row in findings
    ]


class _Moments:
    """When the trouble behind a finding went on."""

    def __init__(self, rebalances: Sequence[Rebalance], storms: Sequence[Row]) -> None:
        self._storms = {row["from_ms"]: (row["from_ms"], row["to_ms"]) for row in storms}
        self._rows = sorted(rebalances, key=lambda row: row.start_ms)
        self._starts = [row.start_ms for row in self._rows]
        self._alike: dict[tuple[str | None, str], list[tuple[int, int]]] = defaultdict(list)
        for row in self._rows:
            self._alike[row.culprit, row.trigger].append(_span(row))

    def of(self, finding: Row) -> list[tuple[int, int]]:
        """From when to when, in order of time."""
        at_ms, who = finding["at_ms"], finding["who"]
        if finding["finding"] == "rebalance_storm" and at_ms in self._storms:
            return [self._storms[at_ms]]
        place = bisect_right(self._starts, at_ms + _BEFORE_MS) - 1
        row = self._rows[place] if place >= 0 else None
        if row is None or _span(row)[1] < at_ms:
            return [(at_ms, at_ms)]
        if who is not None and who == row.culprit:
            return self._alike[row.culprit, row.trigger]
        begin, end = _span(row)
        return [(min(begin, at_ms), end)]


def _span(row: Rebalance) -> tuple[int, int]:
    return row.start_ms, row.start_ms if row.end_ms is None else row.end_ms


class _Gaps:
    """The gaps of a group, to be summed by when they were open."""

    def __init__(self, gaps: Sequence[Row]) -> None:
        begun = sorted((row["from_ms"], row["to_ms"]) for row in gaps if row["to_ms"] > row["from_ms"])
        over = sorted(begun, key=lambda gap: gap[1])
        self._begun, self._over = begun, [end for _, end in over]
        self._from = [begin for begin, _ in begun]
        self._sum_begun = [0, *accumulate(end - begin for begin, end in begun)]
        self._sum_over = [0, *accumulate(end - begin for begin, end in over)]

    def total(self, spans: Iterable[tuple[int, int]]) -> int:
        """Milliseconds of all gaps that touch one of these spans, each gap once."""
        total, counted = 0, 0
        for begin, end in spans:
            upto = bisect_right(self._from, end)
            if not counted:
                total = self._sum_begun[upto] - self._sum_over[bisect_left(self._over, begin)]
            else:
                total += sum(last - first for first, last in self._begun[counted:upto] if last >= begin)
            counted = max(counted, upto)
        return total
