"""What a board must not say, looked for at every change of a run: used over all lessons and over drawn runs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from rebalance_kit.analysis.deliveries import flows, gaps
from rebalance_kit.logs.described import describe
from rebalance_kit.model.trace import TraceRow
from rebalance_kit.view.board.boards import Boards, segments_of
from rebalance_kit.view.board.client_rows import LISTENERS
from rebalance_kit.view.board.states import BoardState
from rebalance_kit.view.lab.tabs.why import TOGETHER_MS, steps
from rebalance_kit.view.words.causes import Cause, unread_causes
from rebalance_kit.view.words.moment import sentence

Spans = list[tuple[int, int]]
SAMPLES = 24
"""Moments of a run at which the command line is asked."""
INSIDE = re.compile(r"((?:[\w-]+, )*(?:[\w-]+ and )?[\w-]+) (?:is|are) in (onPartitions\w+)")
ACTS = re.compile(
    r"^(?: and [\w-]+)?,?(?: which)? (?:polls?|reads|joins?|waits?|closes?|leaves?|commits?|gives?|gets?|runs?|works?|begins?"
    r"|starts?|sends?|takes?|has new|have new|has to|have to|will|(?:is|are) in on|does not call|do not call|does not fetch|has not taken)\b"
)
"""What only a process that runs can do."""
STATED = re.compile(r"The group keeps|starts again at [\d.]+ s")
"""Told of the past, of the group, or of a process to come."""
LIFE = ("process_started", "process_ended", "process_frozen", "process_thawed")
CALM = {"polls"}
FAULTS = {"crash", "freeze", "cut_network", "stall"}


def violations(boards: Boards) -> list[str]:
    """Everything that is said wrongly, each with its moment."""
    found = [
        *_of_moments(boards),
        *_of_the_living(boards),
        *_of_sessions(boards),
        *_of_bars(boards),
        *_of_the_command_line(boards),
        *_of_messages(boards),
        *_of_generations(boards),
    ]
    return [f"{boards.trace.label}: {words}" for words in found]


def _of_moments(boards: Boards) -> Iterator[str]:
    for board in boards.walk(boards.change_times):
        said = " ".join(sentence(board))
        causes = unread_causes(board)
        unread = sorted(each.name for each in board.partitions if not each.state.flows)
        if unread != sorted(name for names in causes.values() for name in names):
            yield f"{board.at_ms} ms: {unread} are unread, causes are told for {causes}"
        if any(cause.subject not in said and not _told_of_many(cause, said) for cause in causes):
            yield f"{board.at_ms} ms: a cause of {list(causes)} is missing in {said!r}"
        if "Nothing waits" in said and not _nothing_waits(board):
            yield f"{board.at_ms} ms: {said!r}, and something waits"


def _told_of_many(cause: Cause, said: str) -> bool:
    """Whether a cause is told of so many members that they are counted."""
    ways = [re.escape(cause.many.split(" {it}")[0]), "will get", "have new partitions"]
    return bool(cause.many) and bool(re.search(rf"\d+ members ({'|'.join(ways)})", said))


def _of_the_living(boards: Boards) -> Iterator[str]:
    """Whoever is said to do something lives, and does it: read from rows alone, sentence by sentence."""
    rows = list(boards.trace.of(*LIFE, "callback_begin", "callback_end"))
    lives: dict[str, str] = {}
    inside: dict[str, str] = {}
    taken = 0
    for board in boards.walk(boards.change_times):
        while taken < len(rows) and rows[taken].at_ms <= board.at_ms:
            row = rows[taken]
            taken += 1
            if row.kind == "callback_begin":
                inside[row.actor] = LISTENERS[row.detail["callback"]]
            elif row.kind in {"callback_end", "process_started", "process_ended"}:
                inside.pop(row.actor, None)
            if row.kind.startswith("process_"):
                lives[row.actor] = row.kind
        said = " ".join(sentence(board))
        for name, callback in _told_inside(said):
            if inside.get(name) != callback or lives.get(name) == "process_frozen":
                yield f"{board.at_ms} ms: {said!r}, and {name} is in {inside.get(name)}, {lives.get(name)}"
        for name, kind in lives.items():
            if kind in {"process_ended", "process_frozen"} and name in said:
                for told in _clauses(said):
                    if name in told and ACTS.search(told.split(name, 1)[1]) and not STATED.search(told):
                        yield f"{board.at_ms} ms: {told!r}, and {name}: {kind}"


def _told_inside(said: str) -> Iterator[tuple[str, str]]:
    """Members that are said to be in a callback, each with its callback."""
    for who, callback in INSIDE.findall(said.replace(", which is in", " is in")):
        for name in re.split(r", | and ", who):
            yield name, callback


def _clauses(said: str) -> list[str]:
    return re.split(r"(?<=[.;]) ", re.sub(r"\{\w+:\d+\}", "N", said))


def _of_sessions(boards: Boards) -> Iterator[str]:
    """A session ends when the sentence has said that it would, and Why names the request that it was counted from."""
    told = {step.at_ms: step for step in steps(boards) if step.kind == "removed session"}
    for row in boards.trace.of("member_removed"):
        if (
            row.detail.get("how") != "session"
            or row.detail.get("group") != boards.group_name
            or row.detail.get("pending")
        ):
            continue
        moment = next((at for at in told if 0 <= row.at_ms - at <= TOGETHER_MS), None)
        if moment is None:
            yield f"{row.at_ms} ms: Why does not tell of the session of {row.detail['name']}"
            continue
        board = boards.at(row.at_ms - 1)
        ends = [each.session_ends_ms for each in board.members if each.name == row.detail["name"]]
        ends += [each.session_ends_ms for each in board.group.former if each.name == row.detail["name"]]
        if row.at_ms not in ends:
            yield f"{row.at_ms} ms: the session of {row.detail['name']} ends, the board said {ends}"
        said = " ".join(told[moment].sentences)
        since = re.findall(rf"{row.detail['name']} was removed[^.]*\([^()]* at ([\d.]+) s\)", said)
        if since and f"{_last_renewal(boards, row) / 1000:.1f}" not in since:
            yield f"{row.at_ms} ms: {told[moment].words!r}, and the last came at {_last_renewal(boards, row)} ms"


def _last_renewal(boards: Boards, removed: TraceRow) -> int:
    """When the coordinator last heard of that member id, or answered what it had parked, counted from the removal back."""
    session_ms = boards.session_ms(removed.detail["name"], removed.speaks())
    times = [
        at_ms
        for row in boards.trace.of("request", "response")
        if row.member_id == removed.member_id
        for at_ms in [row.detail.get("arrives_ms") if row.kind == "request" else row.at_ms]
        if at_ms is not None and at_ms <= removed.at_ms - session_ms
    ]
    return max(times, default=-1)


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


def _of_generations(boards: Boards) -> Iterator[str]:
    """A client that has lost its generation is shown with none until it has joined another."""
    rows = list(boards.trace.of("generation_reset", "joined", "synced", "reconciling", "process_started"))
    lost: set[str] = set()
    taken = 0
    for board in boards.walk(boards.change_times):
        while taken < len(rows) and rows[taken].at_ms <= board.at_ms:
            row = rows[taken]
            taken += 1
            (lost.add if row.kind == "generation_reset" else lost.discard)(row.actor)
        for member in board.members:
            if member.name in lost and member.state.generation is not None:
                yield f"{board.at_ms} ms: {member.name} has lost its generation, the board says {member.state.generation}"
