"""The text twin of every picture: the same facts in words, always the same for the same trace.

Screen readers read it, and notebook checks compare it line by line.
"""

from __future__ import annotations

from collections.abc import Sequence

from rebalance_kit.analysis.deliveries import Gap
from rebalance_kit.analysis.metrics import aligned, cells, measure
from rebalance_kit.model.trace import Trace, require_traces
from rebalance_kit.view.board.boards import Boards, segments_of
from rebalance_kit.view.board.states import ABSENT, BoardState
from rebalance_kit.view.words.causes import deliveries_line
from rebalance_kit.view.words.moment import sentence
from rebalance_kit.view.words.phrases import fill, length, member_line, partitions_in_words, seconds

MANY = 12


def describe_board(board: BoardState) -> str:
    """A moment in words: the sentence, the group, each member, what has no owner."""
    words = sentence(board)
    lines = [
        f"{seconds(board.at_ms)} of {seconds(board.end_ms)}, {board.label}. {fill(words.cause, board.at_ms)} {fill(words.effect, board.at_ms)}".rstrip()
    ]
    lines.append(f"{_group_line(board)} {board.flowing} of {len(board.partitions)} partitions flow.")
    members = [member for member in board.members if member.state.life != "absent"]
    shown = (
        members
        if len(members) <= MANY
        else [
            member
            for member in members
            if member.state.doing != "polls" or len(member.fetching) < len(member.owned)
        ]
    )
    lines += [member_line(member, board) for member in shown[:MANY]]
    if len(members) > len(shown[:MANY]):
        lines.append(f"{len(members) - len(shown[:MANY])} more members.")
    orphans = [partition.name for partition in board.partitions if partition.state.owner is None]
    if orphans:
        lines.append(f"No owner: {partitions_in_words(orphans)}.")
    lines += [line for line in (deliveries_line(board),) if line]
    return "\n".join(lines)


def _group_line(board: BoardState) -> str:
    group = board.group
    number = (
        ""
        if group.generation is None
        else f", {'group epoch' if group.protocol == 'consumer' else 'generation'} {group.generation}"
    )
    room = (
        f", joined {len(group.joined)} of {len(group.joined) + len(group.awaited) + len(group.former)}"
        if group.state == "PreparingRebalance"
        else ""
    )
    return f"Group {group.state}{number}{room}."


def describe_flow(run: Trace | Boards) -> str:
    """A run in words: who owns what first and last, what happened, which partitions were unread how long."""
    boards = run if isinstance(run, Boards) else Boards(run)
    begin = boards.watched_from_ms
    lines = [_title(boards), f"{_at(begin)} {_shares(boards.at(max(begin - 1, 0)))}"]
    lines += [f"{_at(mark.at_ms)} {mark.words}." for mark in boards.marks if mark.at_ms >= begin]
    lines.append(f"{_at(boards.end_ms)} {_shares(boards.at(boards.end_ms))}")
    return "\n".join([*lines, *_gap_lines(boards)])


def describe_gantt(run: Trace | Boards) -> str:
    """The Gantt chart in words: a line for partitions of the same fate, its bars from left to right."""
    boards = run if isinstance(run, Boards) else Boards(run)
    fates: dict[str, list[str]] = {}
    for name in boards.partitions:
        bars = [
            f"{segment.owner or 'no owner'}{'' if segment.word in {'flows', 'no owner'} else ' ' + segment.word} from {seconds(segment.begin_ms)} for {length(segment.end_ms - segment.begin_ms)}"
            for segment in segments_of(boards, name)
            if segment.word != ABSENT.word
        ]
        fates.setdefault("; ".join(bars), []).append(name)
    lines = [
        _title(boards),
        *(f"{partitions_in_words(names)}: {bars}." for bars, names in list(fates.items())[:MANY]),
    ]
    if len(fates) > MANY:
        lines.append(f"{sum(len(names) for names in list(fates.values())[MANY:])} more partitions.")
    return "\n".join([*lines, *(f"{_at(mark.at_ms)} {mark.words}." for mark in boards.marks[:40])])


def describe_comparison(traces: Sequence[Trace]) -> str:
    """Runs beside each other in words: one table, one row per run."""
    require_traces(traces)
    return aligned(cells([trace.label for trace in traces], measure(traces)))


def _title(boards: Boards) -> str:
    trace = boards.trace
    name = trace.meta.get("title") or trace.meta.get("scenario") or trace.run_id
    label = trace.label.removesuffix(f", {trace.source}")
    return f"{name}, {label}, {trace.source}: {len(boards.names)} members, {len(boards.partitions)} partitions, {seconds(boards.end_ms)}."


def _at(at_ms: int) -> str:
    return f"{seconds(at_ms):>8}"


def _shares(board: BoardState) -> str:
    """Who owns what at a moment; long groups are counted."""
    owners = [member for member in board.members if member.owned]
    if len(owners) > MANY:
        most, least = max(len(member.owned) for member in owners), min(len(member.owned) for member in owners)
        share = (
            f"{len(owners)} members own {least} to {most} partitions each"
            if most != least
            else f"{len(owners)} members own {most} partitions each"
        )
    else:
        share = (
            "; ".join(f"{member.name} owns {partitions_in_words(member.owned)}" for member in owners)
            or "nobody owns anything"
        )
    return f"{share}; {board.flowing} of {len(board.partitions)} flow."


def _gap_lines(boards: Boards) -> list[str]:
    since = boards.watched_from_ms
    touched = {name: gaps for name, gaps in boards.gaps.items() if gaps}
    if not touched:
        return [f"No partition went unread ({len(boards.gaps)} flowed all the time)."]
    total = sum(gap.within(since) for gaps in touched.values() for gap in gaps)
    lines = [
        f"Unread: {len(touched)} of {len(boards.gaps)} partitions, in all {total / 1000:.1f} unread partition-seconds."
    ]
    fates: dict[str, list[str]] = {}
    for name, gaps in touched.items():
        fates.setdefault(", ".join(_span(gap, since) for gap in gaps), []).append(name)
    lines += [f"  {partitions_in_words(names)}: {spans}" for spans, names in list(fates.items())[:MANY]]
    if len(fates) > MANY:
        lines.append(f"  {sum(len(names) for names in list(fates.values())[MANY:])} more partitions.")
    return lines


def _span(gap: Gap, since_ms: int) -> str:
    begin = max(gap.from_ms, since_ms)
    return f"{length(gap.to_ms - begin)} from {seconds(begin)}{' to the end' if gap.after is None else ''}"
