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
Stretch = tuple[int, Position, int, Position, PartitionState]


def queues_of(name: str, looks: Looks, track: Track[PartitionState], end_ms: int) -> Iterator[Queue]:
    """Stretches between two looks at a partition at whose end a queue waits; the last one reaches to the end."""
    if all(look.log_end - look.position < LEAST for _, look in looks):
        return
    stretches = _stretches(looks, track)
    for number, (since, before, until, after, state) in enumerate(stretches, start=1):
        waiting = _waiting(after)
        if waiting < LEAST or not state.flows or state.owner is None:
            continue
        if waiting < (after.log_end - before.log_end) * BEHIND_MS / (until - since):
            continue
        end = end_ms if number == len(stretches) else until
        yield Queue(since, end, name, state.owner, waiting, waiting - _waiting(before))


def _stretches(looks: Looks, track: Track[PartitionState]) -> list[Stretch]:
    """Pairs of looks while one member reads the partition without a break, with its state at the first of them."""
    times, states = track.times, track.states
    stretches: list[Stretch] = []
    begun: tuple[int, Position] | None = None
    here = first = 0
    for look in looks:
        at_ms, position = look
        while here + 1 < len(times) and times[here + 1] <= at_ms:
            here += 1
        if begun is not None and (
            _broken(states[first : here + 1]) if first < here else not states[here].flows
        ):
            begun = None
        if begun is None:
            begun, first = look, here
        elif at_ms - begun[0] >= APART_MS:
            stretches.append((*begun, at_ms, position, states[first]))
            begun, first = look, here
    return stretches


def _broken(states: Sequence[PartitionState]) -> bool:
    return any(not state.flows or state.owner != states[0].owner for state in states)


def _waiting(position: Position) -> int:
    return max(0, position.log_end - position.position)
