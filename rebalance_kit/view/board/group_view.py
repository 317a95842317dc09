"""One group's logs as the pictures and the page need them: its rows, its members in order, and times in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from rebalance_kit.view.style.theme import PLOTLY_PATTERNS

Row = Mapping[str, Any]

#: What a lane of the timeline is called, by trigger.
LANES = {
    "join": "joined",
    "leave": "left",
    "follow_up": "second step",
    "poll_timeout": "poll timeout",
    "session_expired": "session expired",
    "rebalance_timeout": "too slow to revoke",
    "sync_timeout": "never synced",
    "admin_removal": "removed by hand",
    "metadata_changed": "topics changed",
    "regex_changed": "pattern matches anew",
    "subscription_changed": "subscribed anew",
    "enforced": "asked for",
    "rejoin": "joined again",
    "protocol_changed": "other assignors",
    "over_capacity": "too many members",
    "store_failed": "could not be stored",
    "unseen": "cause not in the logs",
    "other": "unknown reason",
}


@dataclass(frozen=True, slots=True)
class GroupView:
    """One group as the page shows it: its record (as in ``--json``), and rows of its tables."""

    record: Row
    gaps: Sequence[Row]
    members: Sequence[Row]
    storms: Sequence[Row]

    @property
    def span(self) -> tuple[int, int]:
        """First and last millisecond told of, with a little room."""
        times = [row[key] for row in self.record["rebalances"] for key in ("start_ms", "end_ms")]
        times += [row[key] for row in self.members for key in ("joined_ms", "ended_ms")]
        times += [row["to_ms"] for row in self.gaps]
        known = [int(time) for time in times if time is not None]
        if not known:
            return 0, 1_000
        room = max(500, (max(known) - min(known)) // 50)
        return min(known) - room, max(known) + room

    @property
    def names(self) -> tuple[str, ...]:
        """Members in order of appearance; each keeps its colour in all pictures."""
        rows = sorted(self.members, key=lambda row: (row["joined_ms"] or 0, row["client"]))
        named = [row["client"] for row in rows]
        named += [row["culprit"] for row in self.record["rebalances"] if row["culprit"]]
        named += [row[key] for row in self.gaps for key in ("owner_before", "owner_after") if row[key]]
        return tuple(dict.fromkeys(named))

    @property
    def label_px(self) -> int:
        """Room for the longest label of any picture, so that their time axes stand below each other."""
        labels = [LANES.get(row["trigger"], "") for row in self.record["rebalances"]]
        labels += [row["partition"] for row in self.gaps] + list(self.names)
        return 24 + 8 * max((len(label) for label in labels), default=0)

    def colour(self, name: str | None) -> str:
        """The member's colour as a placeholder; grey for nobody."""
        if name not in self.names:
            return "@ink3@"
        return f"@m{self.names.index(name) % 12 + 1}@"

    def pattern(self, name: str | None) -> str:
        """The member's pattern, which tells it from the twelfth before it."""
        if name not in self.names:
            return ""
        return PLOTLY_PATTERNS[self.names.index(name) // 12 % len(PLOTLY_PATTERNS)]


def gap_sums(view: GroupView) -> list[tuple[str, int, int, int]]:
    """Each partition that went unread: name, total, number of gaps and longest gap, in milliseconds."""
    sums: dict[str, list[int]] = {}
    for gap in view.gaps:
        sums.setdefault(gap["partition"], []).append(int(gap["duration_ms"]))
    return [(name, sum(each), len(each), max(each)) for name, each in sums.items()]


def partition_key(name: str) -> tuple[str, int]:
    """Sorts ``orders-10`` behind ``orders-9``."""
    topic, _, number = name.rpartition("-")
    return (topic, int(number)) if number.isdecimal() and len(number) < 19 else (name, -1)


def clock(at_ms: int | None) -> str:
    """A time of day in UTC, to the millisecond."""
    if at_ms is None:
        return "?"
    return f"{moment(at_ms):%H:%M:%S}.{int(at_ms) % 1000:03d}"


def moment(at_ms: float) -> datetime:
    """A moment in UTC; one beyond the calendar (a log may say year 1, and a chart begins a little earlier) is its first or last."""
    return datetime.fromtimestamp(min(max(at_ms, _FIRST_MS), _LAST_MS) / 1000, UTC)


_FIRST_MS, _LAST_MS = -62_135_596_800_000, 253_402_300_799_000
"""The years 1 to 9999, in ms since 1970."""


def took(row: Mapping[str, Any]) -> str:
    """How long a rebalance took, as people say it: at least so long where that is all that is proved."""
    return f"{'at least ' if row.get('at_least') else ''}{seconds(row['duration_ms'])}"


def seconds(duration_ms: float | None) -> str:
    """A duration as people say it."""
    if duration_ms is None:
        return "unfinished"
    if duration_ms < 1_000:
        return f"{duration_ms:.0f} ms"
    return f"{duration_ms / 1000:.1f} s" if duration_ms < 120_000 else f"{duration_ms / 60_000:.1f} min"


# The pictures of a group's logs in words.


def describe_timeline(view: GroupView) -> str:
    """One line a rebalance, and the storms."""
    rows = view.record["rebalances"]
    lines = [f"{len(rows)} rebalances."]
    for row in rows:
        after = "?" if row["after"] is None else row["after"]
        lines.append(
            f"{row['number']}. {clock(row['start_ms'])}, {took(row)}, {row['before']} to {after}: {row['cause']}."
        )
    lines += [
        f"Storm from {clock(storm['from_ms'])} to {clock(storm['to_ms'])}: {storm['rebalances']} rebalances, "
        f"{storm['per_minute']} a minute; {', '.join(storm['triggers'])}."
        for storm in view.storms
    ]
    return "\n".join(lines)


def describe_gaps(view: GroupView) -> str:
    """One line per partition: how long it was unread, how often, and the longest time."""
    rows = sorted(gap_sums(view), key=lambda row: partition_key(row[0]))
    if not rows:
        return "No gap is known: it takes the logs of the members, with their rebalance callbacks."
    worst = max(rows, key=lambda row: row[3])
    lines = [
        f"{len(rows)} partition{'s' if len(rows) > 1 else ''} went unread; the longest gap was on {worst[0]}: {seconds(worst[3])}."
    ]
    lines += [
        f"{name}: {seconds(total)} in {times} gap{'s' if times > 1 else ''}, the longest {seconds(longest)}."
        for name, total, times, longest in rows
    ]
    return "\n".join(lines)


def describe_lives(view: GroupView) -> str:
    """One line per membership."""
    lines = [f"{len(view.members)} memberships of {len({row['client'] for row in view.members})} members."]
    for row in sorted(view.members, key=lambda row: (row["joined_ms"] or 0, row["client"])):
        end = f"{row['end']} {clock(row['ended_ms'])}" if row["end"] else "still a member when the log ends"
        joined = (
            "joined before the log begins"
            if row["joined_ms"] is None
            else f"joined {clock(row['joined_ms'])}"
        )
        lines.append(f"{row['client']}: {joined}, {end}.")
    return "\n".join(lines)
