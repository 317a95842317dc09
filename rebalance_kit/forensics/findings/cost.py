"""What a finding cost: the unread partition-time that it caused.

Each gap has one cause.  A gap of an owner that expired is charged to what took that owner; another one to whoever delayed
the rebalance in which it was open, else to what began that rebalance.  Facts that harm nobody by themselves are charged
with what nothing else explains.  A gap in which the group had no members is nobody's cost.  So costs add up.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from rebalance_kit.forensics.answer.severity import severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rebalance_kit.forensics.findings.finding import Row
    from rebalance_kit.forensics.history.rebalance import Rebalance

#: A finding up to this long before a rebalance belongs to it: a target is computed at most once a second.
_BEFORE_MS = 1_000

#: What took a member: by the trigger of the rebalance that followed, the most telling first.
_TRIGGERS = {
    "session_expired": (
        *(
            "failover_not_followed",
            "machine_frozen",
            "member_frozen",
            "died_without_goodbye",
            "static_member_stayed_away",
        ),
        *("task_failed", "session_expired", "client_lost_session"),
    ),
    "poll_timeout": ("machine_frozen", "poll_timeout_exceeded", "client_poll_timeout", "poll_overrun"),
    "leave": ("task_failed", "rolling_restart", "member_left", "scaling_to_and_fro"),
    "join": ("duplicate_instance_id", "instances_take_turns", "rolling_restart", "scaling_to_and_fro"),
    "admin_removal": ("admin_removal",),
    "rebalance_timeout": ("transition_timeout", "silent_member"),
    "sync_timeout": ("assignment_never_fetched",),
    "metadata_changed": ("topic_recreated", "topic_changed", "metadata_not_whole"),
    "regex_changed": ("topic_recreated", "topic_changed"),
    "subscription_changed": ("resubscribed",),
    "enforced": ("connect_configs_differ", "rebalance_enforced"),
    "store_failed": ("offsets_topic_ailing",),
}

#: Who kept others waiting.
_DELAYS = (
    *(
        "leader_gone",
        "slow_callback",
        "deleted_topic_commit",
        "wrong_callback",
        "reconciliation_stuck",
        "slow_leader",
        "silent_leader",
    ),
    *("silent_member", "nobody_rejoined", "ghost_member_id", "repeated_notice", "rebalance_held_up"),
)

#: What stands behind many rebalances, and a fact that makes each of them dearer: charged with what is left.
_BEHIND = ("rebalance_storm", "generation_loop", "cooperative_never_settles", "eager_by_default")

#: How a gap is called in which the group had no members, and one that only a rebalance explains.
NOBODY, REBALANCE = "nobody running", "the rebalance itself"


def with_costs(
    findings: Sequence[Row], rebalances: Sequence[Rebalance], gaps: Sequence[Row]
) -> tuple[list[Row], list[Row]]:
    """The findings with ``unread_ms`` (None: unknown), ``at_least`` and ``severity``; the gaps with their ``cause``."""
    causes = _Causes(findings, rebalances)
    costs: Counter[int] = Counter()
    charged = []
    for gap in gaps:
        place = causes.of(gap)
        if isinstance(place, int):
            costs[place] += max(0, gap["duration_ms"])
            row = findings[place]
            said = row["finding"] if row["who"] is None else f"{row['finding']} {row['who']}"
            charged.append({**gap, "cause": said})
        else:
            charged.append({**gap, "cause": place})
    least = any(gap["at_least"] for gap in gaps)
    told = []
    for place, row in enumerate(findings):
        cost = None if not gaps or row["at_ms"] is None else costs[place]
        whole = {**row, "unread_ms": cost, "at_least": bool(cost) and least}
        told.append({**whole, "severity": severity(whole)})
    return told, charged


class _Causes:
    """Looks up the one cause of a gap."""

    def __init__(self, findings: Sequence[Row], rebalances: Sequence[Rebalance]) -> None:
        self._by_code: dict[str, list[tuple[int, Row]]] = {}
        for place, row in enumerate(findings):
            self._by_code.setdefault(row["finding"], []).append((place, row))
        self._rows = sorted(rebalances, key=lambda row: row.start_ms)
        self._starts = [row.start_ms for row in self._rows]
        self._empty = _empty_spells(self._rows)
        self._empty_from = [begin for begin, _ in self._empty]

    def of(self, gap: Row) -> int | str:
        """The place of the finding that caused it, or a word for what is no finding."""
        begin, end = gap["from_ms"], gap["to_ms"]
        if self._group_was_empty(begin, end):
            return NOBODY
        rows = self._touching(begin, end)
        if gap["known_by"] == "expired":
            taken = next(self._taken(gap["owner_before"], _TRIGGERS["session_expired"]), None)
            if taken is not None:
                return taken
        for found in self._delaying(begin, end):
            return found
        for row in rows:
            for found in self._taken(row.culprit, _TRIGGERS.get(row.trigger, ())):
                return found
        for code in _BEHIND:
            for place, said in self._by_code.get(code, ()):
                if (
                    said["at_ms"] is not None and said["at_ms"] - _BEFORE_MS <= end
                ) or code == "eager_by_default":
                    return place
        return REBALANCE

    def _touching(self, begin: int, end: int) -> list[Rebalance]:
        """The rebalances that went on while the gap was open, the earliest first."""
        upto = bisect_right(self._starts, end + _BEFORE_MS)
        first = max(0, bisect_left(self._starts, begin) - 2)
        return [row for row in self._rows[first:upto] if (row.end_ms or end) >= begin - _BEFORE_MS]

    def _taken(self, who: str | None, codes: Sequence[str]) -> Iterator[int]:
        for code in codes:
            for place, row in self._by_code.get(code, ()):
                if row["who"] is None or row["who"] == who:
                    yield place

    def _delaying(self, begin: int, end: int) -> Iterator[int]:
        for code in _DELAYS:
            for place, row in self._by_code.get(code, ()):
                if (
                    row["at_ms"] is not None
                    and row["at_ms"] - _BEFORE_MS <= end
                    and row["last_ms"] >= begin - _BEFORE_MS
                ):
                    yield place

    def _group_was_empty(self, begin: int, end: int) -> bool:
        place = bisect_left(self._empty_from, begin)
        return place < len(self._empty) and self._empty[place][1] <= end


def _empty_spells(rows: Sequence[Rebalance]) -> list[tuple[int, int]]:
    """When the group had no members: from the rebalance that emptied it to the next."""
    return [
        (row.start_ms if row.end_ms is None else row.end_ms, after.start_ms)
        for row, after in pairwise(rows)
        if row.members == 0
    ]
