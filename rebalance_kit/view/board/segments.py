"""The bars of a partition: who owned it from when to when, and what its owner did."""

from __future__ import annotations

from typing import NamedTuple

from rebalance_kit.view.board.boards import Boards


class Segment(NamedTuple):
    """One bar: the same owner and word from begin to end, all of it read or all of it unread."""

    begin_ms: int
    end_ms: int
    owner: str | None
    word: str
    flows: bool


def segments_of(boards: Boards, partition: str) -> list[Segment]:
    """Bars of a partition from the start to the end of the run; equal neighbours are one."""
    track = boards.partitions[partition]
    bars: list[Segment] = []
    for index, state in enumerate(track.states):
        until = track.times[index + 1] if index + 1 < len(track.times) else boards.end_ms
        begin = track.times[index]
        if until <= begin and index + 1 < len(track.times):
            continue
        last = bars[-1] if bars else None
        if last is not None and (last.owner, last.word, last.flows) == (state.owner, state.word, state.flows):
            bars[-1] = last._replace(end_ms=until)
        else:
            bars.append(Segment(begin, until, state.owner, state.word, state.flows))
    return bars
