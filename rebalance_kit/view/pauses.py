"""The bars of a partition: who owned it from when to when, and when it stood still."""

from __future__ import annotations

from typing import NamedTuple

from rebalance_kit.view.frames import Frames


class Segment(NamedTuple):
    """One bar: the same owner and word from begin to end."""

    begin_ms: int
    end_ms: int
    owner: str | None
    word: str
    flows: bool


class Pause(NamedTuple):
    """A partition that has flowed before stands still; ``ended`` is False when the run ends first."""

    begin_ms: int
    end_ms: int
    ended: bool


def segments_of(frames: Frames, partition: str) -> list[Segment]:
    """Bars of a partition from the start to the end of the run; equal neighbours are one."""
    track = frames.partitions[partition]
    bars: list[Segment] = []
    for place, state in enumerate(track.states):
        until = track.times[place + 1] if place + 1 < len(track.times) else frames.end_ms
        begin = track.times[place]
        if until <= begin and place + 1 < len(track.times):
            continue
        last = bars[-1] if bars else None
        if last is not None and (last.owner, last.word) == (state.owner, state.word):
            bars[-1] = last._replace(end_ms=until)
        else:
            bars.append(Segment(begin, until, state.owner, state.word, state.flows))
    return bars


def pauses_of(frames: Frames, partition: str) -> list[Pause]:
    """When the partition stood still once the group had come to rest for the first time.

    What a group does while it forms is no pause: nothing was running yet. In a run that never comes
    to rest a partition's pauses count from its own first record on.
    """
    found: list[Pause] = []
    flowed = False
    settled = frames.settled_ms()
    for bar in segments_of(frames, partition):
        if settled is not None and bar.end_ms <= settled:
            continue
        if bar.flows:
            flowed = True
        elif flowed and found and found[-1].end_ms == bar.begin_ms:
            found[-1] = found[-1]._replace(end_ms=bar.end_ms)
        elif flowed:
            found.append(Pause(bar.begin_ms, bar.end_ms, ended=True))
    if found and found[-1].end_ms == frames.end_ms and not frames.partitions[partition].states[-1].flows:
        found[-1] = found[-1]._replace(ended=False)
    return found
