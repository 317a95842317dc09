"""What a board must not say, looked for at every change of a run: used over all lessons and over drawn runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rebalance_kit.analysis.intervals import flows, gaps
from rebalance_kit.logs.admin.described import describe
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.board.segments import segments_of
from rebalance_kit.view.board.states import BoardState
from rebalance_kit.view.words.causes import unread_causes
from rebalance_kit.view.words.moment import sentence

Spans = list[tuple[int, int]]
SAMPLES = 24
"""Moments of a run at which the command line is asked."""
CALM = {"polls"}
FAULTS = {"crash", "freeze", "cut_network", "stall"}


def violations(boards: Boards) -> list[str]:
    """Everything that is said wrongly, each with its moment."""
    found = [*_of_moments(boards), *_of_bars(boards), *_of_the_command_line(boards), *_of_messages(boards)]
    return [f"{boards.trace.label}: {words}" for words in found]


def _of_moments(boards: Boards) -> Iterator[str]:
    for board in boards.walk(boards.change_times):
        said = " ".join(sentence(board))
        causes = unread_causes(board)
        unread = sorted(each.name for each in board.partitions if not each.state.flows)
        if unread != sorted(name for names in causes.values() for name in names):
            yield f"{board.at_ms} ms: {unread} are unread, causes are told for {causes}"
        if any(cause.subject not in said for cause in causes):
            yield f"{board.at_ms} ms: a cause of {list(causes)} is missing in {said!r}"
        if "Nothing waits" in said and not _nothing_waits(board):
            yield f"{board.at_ms} ms: {said!r}, and something waits"


def _nothing_waits(board: BoardState) -> bool:
    members = [member.state for member in board.members]
    return (
        board.flowing == len(board.partitions)
        and board.group.state == "Stable"
        and not board.group.former
        and not board.queues
        and not {state.life for state in members} & {"crashed", "died", "frozen"}
        and {state.doing for state in members if state.life == "alive"} <= CALM
    )


def _of_bars(boards: Boards) -> Iterator[str]:
    """The unread bars of each partition, from its first record on, are the gaps of the analysis."""
    begun = {str(tp): stretches[0].from_ms for tp, stretches in flows(boards.trace).items()}
    by_partition: dict[str, Spans] = {name: [] for name in boards.partitions}
    for gap in gaps(boards.trace):
        by_partition.setdefault(str(gap.partition), []).append((gap.from_ms, gap.to_ms))
    for name, first in begun.items():
        drawn = [
            (max(bar.begin_ms, first), bar.end_ms)
            for bar in (segments_of(boards, name) if name in boards.partitions else ())
            if not bar.flows and bar.end_ms > max(first, bar.begin_ms)
        ]
        if _touching(drawn) != _touching(by_partition.get(name, [])):
            yield f"{name}: bars {_touching(drawn)}, gaps {_touching(by_partition.get(name, []))}"


def _touching(spans: Spans) -> Spans:
    """Spans that meet are one."""
    joined: Spans = []
    for begin, end in spans:
        if joined and joined[-1][1] == begin:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((begin, end))
    return joined


def _of_the_command_line(boards: Boards) -> Iterator[str]:
    times = boards.group.times
    for at_ms in sorted({*times[:: max(1, len(times) // SAMPLES)], boards.end_ms}):
        told = describe(boards.trace, at_ms, boards.group_name)
        board = boards.at(at_ms)
        if told.state not in {"Dead", board.group.state}:
            yield f"{at_ms} ms: the board says {board.group.state}, the command line {told.state}"
        shown = Counter(each.name for each in board.members if each.state.standing in {"member", "away"})
        shown += Counter(former.name for former in board.group.former)
        if shown != Counter(member.client_id for member in told.members):
            yield f"{at_ms} ms: members on the board {dict(shown)}, on the command line {[m.client_id for m in told.members]}"


def _of_messages(boards: Boards) -> Iterator[str]:
    marks = {(mark.at_ms, mark.member) for mark in boards.marks}
    for row in boards.trace.of("action"):
        if row.detail["do"] in FAULTS and (row.at_ms, row.detail["member"]) not in marks:
            yield f"{row.at_ms} ms: {row.detail['do']} of {row.detail['member']} is not among the messages"
