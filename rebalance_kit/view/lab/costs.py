"""The cost of a deed before it is done, and the differences between runs afterwards.

Stopped means that no record of a partition can be processed; the unit is partition-seconds. All numbers
come from traces, by ``analysis``.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from rebalance_kit.analysis.comparison import (
    MEASURES,
    Comparison,
    Measure,
    cells,
    compare,
    measure,
    sentences,
)
from rebalance_kit.analysis.deliveries import SKIPPED, TWICE
from rebalance_kit.analysis.draws import Distribution, Draws, verdict
from rebalance_kit.analysis.intervals import gaps
from rebalance_kit.analysis.metrics import Metrics
from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.model.trace import Trace
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.board.marks import records_words
from rebalance_kit.view.lab.playing.playback import deflated, film_bytes
from rebalance_kit.view.lab.state import LabState
from rebalance_kit.view.words.phrases import partitions_in_words
from rebalance_kit.view.words.protocols import PROTOCOL_WORDS, own_protocols

MOST_COLUMNS = 3
MANY = 64
"""Above so many partitions a comparison says no sentences and makes no draws."""
DRAWS, LEAST_DRAWS = 60, 20
DRAW_S = 0.3
"""How long the kernel draws before it answers the page."""


def stopped_s(trace: Trace, since_ms: int, until_ms: int) -> float:
    """Partition-seconds without a reader between two moments."""
    return sum(gap.within(since_ms, until_ms) for gap in gaps(trace, since_ms)) / 1000


def preview(now: LabState, then: LabState, at_ms: int) -> dict[str, object]:
    """Foresee the effect of a deed at ``at_ms``: partition-seconds with and without it, and one sentence."""
    before, after = now.boards.trace, then.boards.trace
    until = min(before.end_ms, after.end_ms) if before.end_ms > at_ms else after.end_ms
    costs = cost(now, then, at_ms)
    stops = sorted({str(gap.partition) for gap in gaps(after, at_ms) if gap.to_ms > at_ms})
    moved = [
        name
        for name, track in then.boards.partitions.items()
        if name in now.boards.partitions
        and track.at(after.end_ms).owner != now.boards.partitions[name].at(until).owner
    ]
    flow = f"Will stop: {partitions_in_words(stops)}" if stops else "Nothing will stop"
    moves = f"{len(moved)} move" if len(moved) != 1 else f"{moved[0]} moves"
    words = f"{flow}. {costs['cost']:,.1f} partition-seconds in all, {_more(costs)} without it ({costs['without']:,.1f}). {moves}."
    return {"words": " ".join([words, *_records(costs)]), **costs}


def _more(costs: Mapping[str, float]) -> str:
    """How much more or less than without a deed.

    >>> _more({"cost": 68.1, "without": 2.1})
    '66.0 more than'
    """
    more = round(costs["cost"] - costs["without"], 1)
    return f"{abs(more):,.1f} {'more' if more > 0 else 'less'} than" if more else "as many as"


def at_a_glance(now: LabState, member: str | None, at_ms: int) -> str:
    """What is known of a deed without simulating it: which partitions of the member it concerns."""
    if member is None or member not in now.boards.members:
        return "A group of this size is simulated when it is done, not before."
    read = [name for name, track in now.boards.partitions.items() if track.at(at_ms).owner == member]
    whose = f"{member} reads {partitions_in_words(read)}" if read else f"{member} reads nothing"
    return f"{whose}. What follows in a group of this size is simulated when it is done."


def _records(costs: Mapping[str, float]) -> list[str]:
    """How many records come twice or are skipped, where any do."""
    counts = [(int(costs[kind]), kind) for kind in (TWICE, SKIPPED)]
    return [f"{records_words(count, kind)}." for count, kind in counts if count]


def cost(now: LabState, then: LabState, at_ms: int) -> dict[str, float]:
    """From ``at_ms`` to the end of the changed run: partition-seconds with the deed and without it.

    And with it the records that come twice, and those that are skipped.
    """
    end = then.boards.trace.end_ms
    without = _unread_until(now, end)
    seconds = [round(stopped_s(state.boards.trace, at_ms, end), 1) for state in (then, without)]
    records = {
        kind: sum(
            each.records for each in then.boards.deliveries if each.kind == kind and each.at_ms >= at_ms
        )
        for kind in (TWICE, SKIPPED)
    }
    return {"cost": seconds[0], "without": seconds[1], **records}


def _unread_until(state: LabState, end_ms: int) -> LabState:
    """The run as long as another one, where it ends before it with partitions unread: these stay so."""
    trace = state.boards.trace
    unread = any(gap.to_ms == trace.end_ms for gap in gaps(trace))
    return state.lasting(end_ms) if unread and trace.end_ms < end_ms else state


class Comparing:
    """Two or three runs that are compared: a film each, the table, and how it looks over draws of the same deeds."""

    def __init__(self, columns: Sequence[tuple[str, LabState]]) -> None:
        self.labels = _distinct([label for label, _ in columns])
        self.states = _equally_long([state for _, state in columns])
        self._metrics: dict[str, tuple[Metrics, ...]] = dict.fromkeys(self.labels, ())
        self._seed = 0

    def film(self, column: int) -> bytes:
        """The run of a column; of a large one without sentences, which the comparison has no room for."""
        boards = self.states[column].boards
        return film_bytes(boards, boards.end_ms if len(boards.partitions) > MANY else 0, level=1)

    def table(self) -> dict[str, object]:
        """Labels, a row per measure, and what differs in words; nothing is called least on a single run."""
        traces = [state.boards.trace for state in self.states]
        comparison = compare(dict(zip(self.labels, traces, strict=True)))
        _, *rows = cells(comparison.labels, list(comparison.metrics.values()))
        table = [{"name": name, "cells": list(shown), "least": None} for name, *shown in rows]
        differs = _differences(self.states, self.labels) + list(sentences(comparison))[: len(self.labels)]
        differs += fewer_but_longer(comparison, self.states)
        differs += [
            f"{label}: {key.words}"
            for label, state in zip(self.labels, self.states, strict=True)
            for key in state.left_out
        ]
        return {"labels": self.labels, "table": table, "differs": differs}

    @property
    def wanted(self) -> int:
        """How many draws are made; none of a run that takes too long."""
        large = any(len(state.boards.partitions) > MANY for state in self.states)
        return 0 if large else DRAWS

    def draw_on(self, seconds: float = DRAW_S) -> None:
        """Make more draws for so long: the same deeds with other chances."""
        until = time.monotonic() + seconds
        while self._seed < self.wanted and time.monotonic() < until:
            self._seed += 1
            try:
                traces = [self._trace(state) for state in self.states]
            except RebalanceKitError:
                continue  # with these chances one of the deeds cannot be done
            for label, figures in zip(self.labels, measure(traces), strict=True):
                self._metrics[label] = (*self._metrics[label], figures)

    def _trace(self, state: LabState) -> Trace:
        again = state.with_seed(self._seed)
        return again.simulate(again.scenario, self._seed)

    def drawn(self) -> dict[str, object]:
        """Per measure and column: least, quartiles, most, and the share of draws below this run; who is least, if anybody."""
        draws = Draws(self.states[0].base.name, self.wanted, self._metrics)
        shown = measure([state.boards.trace for state in self.states])
        rows = [self._row(draws, each, shown) for each in MEASURES] if draws.count >= LEAST_DRAWS else []
        return {"count": draws.count, "done": self._seed >= self.wanted, "wanted": self.wanted, "rows": rows}

    def _row(self, draws: Draws, each: Measure, shown: Sequence[Metrics]) -> dict[str, object]:
        told = [
            _quartiles(draws.distribution(each.of, label), each.of(run))
            for label, run in zip(self.labels, shown, strict=True)
        ]
        groups = verdict(draws, each).groups
        whole = all(cell is not None for cell in told) and sum(map(len, groups)) == len(self.labels)
        alone = whole and len(groups) > 1 and len(groups[0]) == 1
        return {"cells": told, "least": self.labels.index(groups[0][0]) if alone else None}


def _equally_long(states: Sequence[LabState]) -> list[LabState]:
    """The runs made as long as the longest of them, so that no sum is least for want of time; large ones stay as they are."""
    large = any(sum(topic.partitions for topic in state.scenario.topics) > MANY for state in states)
    end_ms = max(state.scenario.end_ms for state in states)
    return [state if large else state.lasting(end_ms) for state in states]


def _quartiles(found: Distribution | None, here: float | None) -> list[float] | None:
    if found is None or found.absent or here is None:
        return None
    lower, upper = found.middle_half
    ends = (found.values[0], lower, found.median, upper, found.values[-1])
    return [*(round(value, 3) for value in ends), round(here, 3), round(found.percentile_of(here))]


def _distinct(labels: list[str]) -> list[str]:
    return [
        label if labels.index(label) == index else f"{label} ({index + 1})"
        for index, label in enumerate(labels)
    ]


def _differences(states: Sequence[LabState], labels: list[str]) -> list[str]:
    """Where the starts differ, said before anything is compared."""
    starts = [_owners(state.boards) for state in states]
    if all(start == starts[0] for start in starts):
        return []
    others = [label for label, start in zip(labels, starts, strict=True) if start != starts[0]]
    return [
        f"The starts differ: {', '.join(others)} {'begins' if len(others) == 1 else 'begin'} with another assignment than {labels[0]}, each from its own assignor."
    ]


GIVEN_UP: Mapping[str, str] = MappingProxyType(
    {
        "cooperative": "what has to move is given up in one rebalance and handed out in the next, and nobody reads it between the two",
        "consumer": "what has to move is given up with one heartbeat and handed out with a later one of the new owner, and nobody reads it between the two",
    }
)
"""Why a partition that moves is unread for longer under a protocol that stops no other."""
REVOKED = "revoke"
"""The cause of a gap between two readers, of which the first has given the partition up."""
CLEARLY = 1.2
"""So many times as much is worth a sentence."""


def fewer_but_longer(comparison: Comparison, states: Sequence[LabState]) -> list[str]:
    """Why fewer unread partitions make clearly more unread partition-seconds, for the first two runs where they do."""
    runs = list(zip(comparison.labels, comparison.metrics.values(), states, strict=True))
    for fewer, few, state in runs:
        for more, many, _ in runs:
            if not 0 < few.partitions_unread < many.partitions_unread:
                continue
            if few.unread_partition_s < CLEARLY * many.unread_partition_s:
                continue
            words = (
                f"{_named(fewer)} has fewer unread partitions than {_named(more)} and still more unread partition-seconds, because "
                f"each of them is unread for longer: {_each_s(few):.1f} s on average, {_each_s(many):.1f} s under {_named(more)}."
            )
            why = GIVEN_UP.get(_speaks(state), "")
            handed = why and _handed_over(state, few.since_ms)
            return [f"{words} Under {_named(fewer)}, {why}." if handed else words]
    return []


def _named(label: str) -> str:
    return label if label in PROTOCOL_WORDS.values() else f"“{label}”"


def _each_s(figures: Metrics) -> float:
    """How long an unread partition was unread on average."""
    return figures.unread_partition_s / figures.partitions_unread


def _handed_over(state: LabState, since_ms: int) -> bool:
    """Whether partitions of a run were unread only while one member gave them up for another."""
    found = gaps(state.boards.trace, since_ms)
    return all(gap.cause == REVOKED and gap.after is not None for gap in found)


def _speaks(state: LabState) -> str:
    """The protocol that all members speak; empty where they speak several."""
    spoken = [state.protocol] if state.protocol else own_protocols(state.boards)
    return str(spoken[0]) if len(spoken) == 1 else ""


def _owners(boards: Boards) -> dict[str, str | None]:
    at_ms = max(0, boards.watched_from_ms - 1)
    return {name: track.at(at_ms).owner for name, track in boards.partitions.items()}


def packed(content: object) -> bytes:
    """Values as the page inflates them: compact JSON, deflated."""
    return deflated(content, 6)
