"""Two runs side by side: equal, or the first difference with both sides' context.

Rules of fairness: removals within 0.3 s of each other are unordered; a share that the record does
not give is not compared; topics already deleted are ignored in descriptions. Nothing else is forgiven.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rebalance_kit.recordings.replay.facts import Call, Facts, Removal, Round

UNORDERED_MS = 300


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two runs part, what is there on either side, and how far they had agreed."""

    what: str
    where: str
    recorded: str
    simulated: str
    agreed: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome for one simulated draw."""

    generations: Difference | None
    callbacks: Difference | None
    fencing: Difference | None
    deltas_ms: tuple[int, ...]

    @property
    def equal(self) -> bool:
        """Nothing differs in (a) to (c)."""
        return self.first is None

    @property
    def first(self) -> Difference | None:
        """The first difference, in the order generations, callbacks, fencing."""
        return self.generations or self.callbacks or self.fencing

    @property
    def agreed(self) -> int:
        """How much agreed before each first difference: greater is nearer."""
        return sum(
            one.agreed if one is not None else 10_000
            for one in (self.generations, self.callbacks, self.fencing)
        )


def compare(recorded: Facts, simulated: Facts) -> Comparison:
    """Compare a recorded run with one simulated draw of it."""
    deltas: list[int] = []
    generations = _rounds(recorded.rounds, simulated.rounds, deltas)
    callbacks = None
    for member in sorted({call.member for call in (*recorded.calls, *simulated.calls)}):
        ours = [call for call in simulated.calls if call.member == member]
        theirs = [call for call in recorded.calls if call.member == member]
        found = _sequence("callbacks", member, theirs, ours, _same_call, deltas)
        if found is not None and (callbacks is None or found.agreed < callbacks.agreed):
            callbacks = found
    return Comparison(
        generations, callbacks, _removals(recorded.removals, simulated.removals, deltas), tuple(deltas)
    )


def _rounds(recorded: Sequence[Round], simulated: Sequence[Round], deltas: list[int]) -> Difference | None:
    for group in sorted({one.group for one in recorded} | {one.group for one in simulated}):
        for kinds in (("generation", "empty"), ("epoch",), ("target",)):
            theirs = [one for one in recorded if one.group == group and one.kind in kinds]
            ours = [one for one in simulated if one.group == group and one.kind in kinds]
            found = _sequence("generations", f"{group} {kinds[0]}", theirs, ours, _same_round, deltas)
            if found is not None:
                return found
    return None


def _same_round(recorded: Round, simulated: Round) -> bool:
    if (recorded.kind, recorded.number) != (simulated.kind, simulated.number):
        return False
    if recorded.assignor is not None and recorded.assignor != simulated.assignor:
        return False
    return recorded.shares is None or simulated.shares is None or recorded.shares == simulated.shares


def _same_call(recorded: Call, simulated: Call) -> bool:
    same = (recorded.kind, recorded.partitions) == (simulated.kind, simulated.partitions)
    return same and (recorded.generation is None or recorded.generation == simulated.generation)


def _sequence(
    what: str,
    where: str,
    recorded: Sequence[Any],
    simulated: Sequence[Any],
    same: Callable[[Any, Any], bool],
    deltas: list[int],
) -> Difference | None:
    for index, (theirs, ours) in enumerate(zip(recorded, simulated, strict=False)):
        if not same(theirs, ours):
            return Difference(what, where, _say(recorded, index), _say(simulated, index), index)
        deltas.append(ours.at_ms - theirs.at_ms)
    if len(recorded) != len(simulated):
        index = min(len(recorded), len(simulated))
        return Difference(what, where, _say(recorded, index), _say(simulated, index), index)
    return None


def _removals(
    recorded: Sequence[Removal], simulated: Sequence[Removal], deltas: list[int]
) -> Difference | None:
    left = list(recorded)
    for index, ours in enumerate(simulated):
        if not left:
            break
        open_until = left[0].at_ms + UNORDERED_MS
        match = next(
            (
                one
                for one in left
                if one.at_ms <= open_until and (one.member, one.how) == (ours.member, ours.how)
            ),
            None,
        )
        if match is None:
            return Difference("fencing", "removals", _say(left, 0), _say(simulated, index), index)
        left.remove(match)
        deltas.append(ours.at_ms - match.at_ms)
    if len(recorded) != len(simulated):
        index = min(len(recorded), len(simulated))
        return Difference("fencing", "removals", _say(recorded, index), _say(simulated, index), index)
    return None


def _say(sequence: Sequence[Any], index: int) -> str:
    """The element there, and the one before it."""
    if index >= len(sequence):
        return f"nothing more after {_one(sequence[-1])}" if sequence else "nothing"
    before = f" (after {_one(sequence[index - 1])})" if index else ""
    return _one(sequence[index]) + before


def _one(fact: Any) -> str:
    at = f"{fact.at_ms / 1000:.2f} s"
    if isinstance(fact, Round):
        given = (
            ""
            if fact.shares is None
            else " {" + "; ".join(f"{name}: {' '.join(parts) or '-'}" for name, parts in fact.shares) + "}"
        )
        return f"{fact.kind} {fact.number} {fact.assignor or ''}{given} at {at}"
    if isinstance(fact, Call):
        return f"{fact.kind}([{', '.join(fact.partitions)}]) in {fact.generation} at {at}"
    return f"{fact.member} {fact.how} at {at}"
