"""The pictures of a group's logs in words."""

from __future__ import annotations

from rebalance_kit.view.board.group_view import GroupView, clock, gap_sums, partition_key, seconds


def describe_timeline(view: GroupView) -> str:
    """One line a rebalance, and the storms."""
    rows = view.record["rebalances"]
    lines = [f"{len(rows)} rebalances."]
    for row in rows:
        after = "?" if row["after"] is None else row["after"]
        lines.append(
            f"{row['number']}. {clock(row['start_ms'])}, {seconds(row['duration_ms'])}, {row['before']} to {after}: {row['cause']}."
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
