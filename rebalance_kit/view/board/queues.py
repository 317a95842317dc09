"""Queues of records: partitions that are read, and in which the records of some seconds wait all the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rebalance_kit.view.board.states import PartitionState, Position, Queue
from rebalance_kit.view.board.track import Track

BEHIND_MS = 2_000
"""A queue is one of at least the records of two seconds,"""
LEAST = 10
"""and of at least ten records; less is what comes between two polls."""
APART_MS = 4_000
"""Looks that are nearer to each other say nothing of whether a queue grows."""

Looks = Sequence[tuple[int, Position]]


def queues_of(name: str, looks: Looks, track: Track[PartitionState], end_ms: int) -> Iterator[Queue]:
    """Stretches between two looks at a partition at whose end a queue waits; the last one reaches to the end."""
    stretches = list(_stretches(looks, track))
    for number, (since, before, until, after) in enumerate(stretches, start=1):
        state = track.at(since)
        waiting, come = _waiting(after), after.log_end - before.log_end
        if not state.flows or state.owner is None:
            continue
        if waiting < max(LEAST, come * BEHIND_MS / (until - since)):
            continue
        end = end_ms if number == len(stretches) else until
        yield Queue(since, end, name, state.owner, waiting, waiting - _waiting(before))


def _stretches(looks: Looks, track: Track[PartitionState]) -> Iterator[tuple[int, Position, int, Position]]:
    """Pairs of looks while one member reads the partition without a break."""
    since: tuple[int, Position] | None = None
    for at_ms, position in looks:
        if since is not None and _broken(track, since[0], at_ms):
            since = None
        if since is None:
            since = (at_ms, position)
        elif at_ms - since[0] >= APART_MS:
            yield (*since, at_ms, position)
            since = (at_ms, position)


def _broken(track: Track[PartitionState], since_ms: int, until_ms: int) -> bool:
    states = track.states[track.index(since_ms) : track.index(until_ms) + 1]
    return any(not state.flows or state.owner != states[0].owner for state in states)


def _waiting(position: Position) -> int:
    return max(0, position.log_end - position.position)
