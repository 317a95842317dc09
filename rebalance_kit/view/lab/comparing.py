"""Two or three runs side by side: films, the table, and over draws of the same deeds who has clearly less of what.

What a crash costs depends on where it falls between two heartbeats and between two commits, and a deed done by hand falls
somewhere by accident. So each draw moves what is done within one heartbeat and one commit interval, for all columns
alike, and a column is called least only where ``analysis.draws`` bears it out.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from types import MappingProxyType

from rebalance_kit.analysis.deliveries import gaps
from rebalance_kit.analysis.draws import Distribution, Draws, Pairs, least, pairs
from rebalance_kit.analysis.metrics import (
    MEASURES,
    UNPLANNED,
    Comparison,
    Measure,
    Metrics,
    cells,
    compare,
    measure,
    sentences,
)
from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.model.trace import Trace
from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.lab.playing.horizons import BROKER_BEAT_MS, SILENT, longest
from rebalance_kit.view.lab.playing.playback import film_bytes
from rebalance_kit.view.lab.state import LATE_MS, LabState
from rebalance_kit.view.words.phrases import PROTOCOL_WORDS, listing, own_protocols

MOST_COLUMNS = 3
MANY = 64
"""Above so many partitions a comparison says no sentences and makes no draws."""
DRAWS, LEAST_DRAWS = 60, 20
DRAW_S = 0.3
"""How long the kernel draws before it answers the page."""
CLEARLY_MORE, NO_DIFFERENCE = "Clearly more", "No difference"
ANSWERS = ("unread partition-seconds", "longest gap of a partition, s")
"""Measures of which the answer says who has clearly less."""
DEEDS: Mapping[str, str] = MappingProxyType(
    {
        "crash": "the crash",
        "freeze": "the freeze",
        "cut_network": "the cut",
        "stall": "the stall",
        "close": "the leave",
    }
)
"""What the most common deeds are called in a reason."""


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
        """Labels, a row per measure, the answer in two or three sentences, and what differs in full; a single run calls nothing least."""
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
        return {
            "labels": self.labels,
            "table": table,
            "answer": answer_words(comparison, self.states[0].scenario),
            "differs": differs,
            "same": self.same_deeds,
        }

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
            by_ms = self._moved_by(self._seed)
            try:
                traces = [self._trace(state, by_ms) for state in self.states]
            except RebalanceKitError:
                continue  # with these chances one of the deeds cannot be done
            for label, figures in zip(self.labels, measure(traces), strict=True):
                self._metrics[label] = (*self._metrics[label], figures)

    def _trace(self, state: LabState, by_ms: int) -> Trace:
        again = state.with_seed(self._seed)
        return again.simulate(moved(again.scenario, by_ms), self._seed)

    def _moved_by(self, seed: int) -> int:
        """By how much a draw moves what is done: at most half of a heartbeat and a commit interval to either side."""
        first = min((first_ms(state.scenario) for state in self.states), default=0)
        window = self.window_ms
        earliest = -min(window // 2, first // 2)
        return Random(f"moments {seed}").randint(earliest, earliest + window)

    @property
    def window_ms(self) -> int:
        """The longest heartbeat interval and the longest commit interval of the columns, one after the other."""
        return max(map(phase_ms, (state.scenario for state in self.states)))

    @property
    def same_deeds(self) -> bool:
        """Whether the columns differ in nothing that is done or set, so that only their protocol is compared."""
        first = self.states[0]
        return all(
            state.base.name == first.base.name and _done(state) == _done(first) for state in self.states
        )

    def drawn(self) -> dict[str, object]:
        """Per measure and column: least, quartiles, most, the share of draws below this run; who is least, and why or why not."""
        draws = Draws(self.states[0].base.name, self.wanted, self._metrics)
        shown = measure([state.boards.trace for state in self.states])
        rows = [self._row(draws, each, shown) for each in MEASURES] if draws.count >= LEAST_DRAWS else []
        return {
            "count": draws.count,
            "done": self._seed >= self.wanted,
            "wanted": self.wanted,
            "rows": rows,
            "answer": self.answer() if rows else [],
            "same": self.same_deeds,
            "window_ms": self.window_ms,
        }

    def _row(self, draws: Draws, each: Measure, shown: Sequence[Metrics]) -> dict[str, object]:
        told = [
            _quartiles(draws.distribution(each.of, label), each.of(run))
            for label, run in zip(self.labels, shown, strict=True)
        ]
        best, why = self._judged(each)
        return {"cells": told, "least": best, "why": why}

    def _judged(self, each: Measure) -> tuple[int | None, str]:
        """Which column has clearly less, if any, and on what grounds."""
        kinds = {
            each.kind(self._metrics[label][0]) for label in self.labels if each.kind and self._metrics[label]
        }
        if len(kinds) > 1:
            return None, f"Not compared: {listing(sorted(kinds))} are different things."
        columns = [[each.of(figures) for figures in self._metrics[label]] for label in self.labels]
        if any(all(value is None for value in column) for column in columns):
            return None, ""
        best = least(columns, len(MEASURES) * (len(columns) - 1))
        if best is not None:
            worst = min(
                (pairs(columns[best], other) for place, other in enumerate(columns) if place != best),
                key=_firm,
            )
            return (
                best,
                f"{self.labels[best]} has less in {worst.less} of {worst.total} paired draws, by {worst.by:,.1f} at the median.",
            )
        return None, self._no_difference(columns)

    def _no_difference(self, columns: Sequence[Sequence[float | None]]) -> str:
        """Why nobody is called least: the same in every draw, or the moment of the deed decides more."""
        against = [
            (one, other, pairs(columns[one], columns[other]))
            for one in range(len(columns))
            for other in range(len(columns))
            if one != other
        ]
        told = [
            (one, other, found) for one, other, found in against if found.less >= found.more and found.total
        ]
        if all(found.less == found.more == 0 for *_, found in told):
            return "No difference: the same in every draw."
        one, other, found = max(told, key=lambda each: _firm(each[2]))
        beaten = {
            place
            for place in range(len(columns))
            for a, b, each in told
            if b == place and each.clear(len(MEASURES))
        }
        if len(beaten) == 1 and len(columns) > 2:
            (worst,) = beaten
            rest = [label for place, label in enumerate(self.labels) if place != worst]
            return f"{CLEARLY_MORE} under {self.labels[worst]}; no difference between {listing(rest)}."
        how_often = f"No difference: {self.labels[one]} has less than {self.labels[other]} in {found.less} of {found.total} paired draws"
        if not found.beyond_chance(len(MEASURES)):
            return f"{how_often}, as chance does."
        return f"{how_often}, by {found.by:,.1f}; {self._moment()} changes it by more ({found.spread:,.1f})."

    def _moment(self) -> str:
        dos = [action.do for action in self.states[0].scenario.actions if action.do in UNPLANNED | {"close"}]
        if not dos:
            return "chance"
        return f"where {DEEDS.get(dos[0], 'the deed')} falls between two heartbeats and two commits"

    def answer(self) -> list[str]:
        """What the draws say in one or two sentences: who has clearly less unread time, or that nobody has, and why."""
        judged = [
            (each.words.removesuffix(", s"), self._judged(each)) for each in MEASURES if each.words in ANSWERS
        ]
        alike = [words for words, (_, why) in judged if why.startswith(NO_DIFFERENCE)]
        told = [_in_an_answer(words, *found) for words, found in judged if words not in alike and found[1]]
        if alike:
            decides = f"{self._moment()} decides more than {'the protocol' if self.same_deeds else 'what is compared'}"
            told.append(f"{NO_DIFFERENCE} in {listing(alike)} over the draws: {decides}.")
        return told


def _in_an_answer(words: str, best: int | None, why: str) -> str:
    """A clear verdict with its measure's name in it.

    >>> _in_an_answer("longest gap", None, "Clearly more under Eager; no difference between Cooperative and Consumer.")
    'The longest gap is clearly longer under Eager; no difference between Cooperative and Consumer.'
    >>> _in_an_answer("unread partition-seconds", 1, "Consumer has less in 50 of 60 paired draws, by 2.1 at the median.")
    'Least unread partition-seconds: Consumer has less in 50 of 60 paired draws, by 2.1 at the median.'
    """
    longest = words.startswith("longest")
    if best is None:
        more = f"The {words} is clearly longer" if longest else f"{CLEARLY_MORE} {words}"
        return why.replace(CLEARLY_MORE, more, 1)
    return f"The {words}: {why}" if longest else f"Least {words}: {why}"


def _firm(found: Pairs) -> float:
    """How firmly the first column has less."""
    return found.less / found.total if found.total else 0.0


def _done(state: LabState) -> list[tuple[object, ...]]:
    """What is done and set in a run, as values."""
    return [
        (step.actions, step.member, step.settings and tuple(sorted(step.settings.items())))
        for step in state.done
    ]


def phase_ms(scenario: Scenario) -> int:
    """The longest heartbeat interval plus the longest auto-commit interval of a scenario, whatever its protocol."""
    beat = max(
        longest(scenario, "heartbeat.interval.ms"),
        int(scenario.broker.get("group.consumer.heartbeat.interval.ms", BROKER_BEAT_MS)),
    )
    return beat + longest(scenario, "auto.commit.interval.ms")


def first_ms(scenario: Scenario) -> int:
    """The first moment of what is done in a scenario: an action, or a member that starts late."""
    late = [spec.start_ms for spec in scenario.members if spec.start_ms and spec.start_ms >= LATE_MS]
    return min([*(action.at_ms for action in scenario.actions), *late], default=0)


def moved(scenario: Scenario, by_ms: int) -> Scenario:
    """A scenario whose actions and late starts come so much later, in their order and as far apart as they were."""
    actions = tuple(replace(action, at_ms=max(0, action.at_ms + by_ms)) for action in scenario.actions)
    members = tuple(
        replace(spec, start_ms=spec.start_ms + by_ms) if spec.start_ms and spec.start_ms >= LATE_MS else spec
        for spec in scenario.members
    )
    return replace(scenario, actions=actions, members=members, end_ms=scenario.end_ms + max(0, by_ms))


def answer_words(comparison: Comparison, scenario: Scenario) -> list[str]:
    """What differs between these runs and what does not, in two or three sentences."""
    fates: dict[str, list[str]] = {}
    for label, figures in comparison.metrics.items():
        fates.setdefault(_fate(figures), []).append(_named(label))
    if len(fates) == 1:
        (fate,) = fates
        told = [f"Alike under {listing([_named(label) for label in comparison.labels])}: {fate}."]
    else:
        told = ["; ".join(f"under {listing(labels)} {fate}" for fate, labels in fates.items()) + "."]
        told[0] = told[0][:1].upper() + told[0][1:]
    if not any(action.do in SILENT for action in scenario.actions):
        return told
    waits = [figures.detect_s for figures in comparison.metrics.values()]
    gaps_s = [figures.longest_gap_s for figures in comparison.metrics.values()]
    known = [wait for wait in waits if wait is not None]
    if (
        known
        and len(known) == len(waits)
        and all(wait > gap / 2 for wait, gap in zip(known, gaps_s, strict=True))
    ):
        told.append(
            f"Most of the longest gap is the wait until the coordinator notices ({_span(known)}); no protocol shortens it."
        )
    return told


def _fate(figures: Metrics) -> str:
    """What becomes of the partitions of a run."""
    unread, all_of_them = figures.partitions_unread, figures.partitions
    if not unread:
        return "every partition is read all the time"
    if unread == all_of_them:
        together = "" if not figures.group_gap_s else f", for {figures.group_gap_s:.1f} s all at once"
        return f"all {all_of_them} partitions are unread for a time{together}"
    rest = all_of_them - unread
    others = "the other one is" if rest == 1 else f"the other {rest} are"
    return f"{unread} of {all_of_them} partitions {'is' if unread == 1 else 'are'} unread for a time and {others} read throughout"


def _span(values: Sequence[float]) -> str:
    low, high = (f"{value:.1f}" for value in (min(values), max(values)))
    return f"{low} s" if low == high else f"{low} to {high} s"


def choice_words(before: LabState, now: LabState) -> str:
    """What a protocol that was chosen changes in this run, in a sentence or two; empty for a run that is too large."""
    if any(len(state.boards.partitions) > MANY for state in (before, now)):
        return ""
    labels = [PROTOCOL_WORDS.get(str(state.protocol), "the former") for state in (now, before)]
    if labels[0] == labels[1]:
        return ""
    runs = dict(zip(labels, (state.boards.trace for state in _equally_long([now, before])), strict=True))
    return " ".join([*answer_words(compare(runs), now.scenario), "Compare (V) draws it many times."])


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
