"""A recorded run beside what the engine draws of the same scenario: where the recorded value of each measure falls.

Nothing is pinned here: members' ids, first requests and acknowledgements are the engine's, each process starts up to
``START_WITHIN_MS`` later than recorded, and everything done to the group moves by one drawn offset of up to ``SHIFT_MS``, so that
phases of heartbeats, polls and auto-commits are drawn. What was done, and how long it took, stays.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from rebalance_kit.analysis.deliveries import gap_lengths
from rebalance_kit.analysis.draws import Distribution
from rebalance_kit.analysis.ownership import readers_at
from rebalance_kit.model.trace import Trace
from rebalance_kit.recordings.replay.facts import Facts, of_record, of_trace
from rebalance_kit.recordings.replay.repeat import repeat
from rebalance_kit.recordings.runs.expected import CLOSING_MS
from rebalance_kit.recordings.runs.folder import RecordedRun
from rebalance_kit.recordings.runs.trace import recorded_trace
from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.simulation.simulate import simulate

START_WITHIN_MS = 1_000
SHIFT_MS = 15_000
"""The time after which heartbeats every 3 s and commits every 5 s stand to each other as before."""
BEGINNING_MS = 6_500
"""Processes that start this soon after the first one belong to the group's beginning."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One run to be measured: its facts, its trace, and the window that counts."""

    facts: Facts
    trace: Trace
    since_ms: int
    until_ms: int

    @property
    def rounds(self) -> list[int]:
        """Moments of its generations (or epochs) within the window."""
        return [one.at_ms for one in self.facts.rounds if one.kind != "target" and self._counts(one.at_ms)]

    @property
    def calls(self) -> list[int]:
        """Moments of its callbacks within the window."""
        return [one.at_ms for one in self.facts.calls if self._counts(one.at_ms)]

    def _counts(self, at_ms: int) -> bool:
        return self.since_ms <= at_ms < self.until_ms


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure: its words, its value of a run, and whether it follows from the flow of records."""

    words: str
    of: Callable[[Seen], float]
    of_records: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """The recorded value of a measure, and the engine's distribution."""

    measure: str
    recorded: float
    drawn: Distribution

    @property
    def percentile(self) -> float:
        """The share of the draws below the recorded value, those equal to it counted by half."""
        return self.drawn.percentile_of(self.recorded)

    @property
    def outside(self) -> bool:
        """Below the 1st or above the 99th percentile."""
        return not 1 <= self.percentile <= 99

    @property
    def varies(self) -> bool:
        """The draws do not all say the same."""
        return self.drawn.values[0] != self.drawn.values[-1]


def _unread(seen: Seen) -> float:
    return sum(map(sum, gap_lengths(seen.trace, seen.since_ms, seen.until_ms).values())) / 1000


def _longest_gap(seen: Seen) -> float:
    lengths = gap_lengths(seen.trace, seen.since_ms, seen.until_ms).values()
    return max(map(max, lengths), default=0) / 1000


def _moved(seen: Seen) -> float:
    before, after = (readers_at(seen.trace, at_ms) for at_ms in (seen.since_ms, seen.until_ms))
    return sum(tp in after and after[tp] != reader for tp, reader in before.items())


def _first_round(seen: Seen) -> float:
    return (min(seen.rounds, default=seen.since_ms) - seen.since_ms) / 1000


def _last_callback(seen: Seen) -> float:
    return (max(seen.calls, default=seen.since_ms) - seen.since_ms) / 1000


MEASURES = (
    Measure("unread partition-seconds", _unread, of_records=True),
    Measure("longest gap, s", _longest_gap, of_records=True),
    Measure("moved", _moved),
    Measure("generations or epochs", lambda seen: len(seen.rounds)),
    Measure("callbacks", lambda seen: len(seen.calls)),
    Measure("first generation or epoch after, s", _first_round),
    Measure("last callback after, s", _last_callback),
    Measure("delivered again", lambda seen: seen.facts.delivered_again),
)


def percentiles(run: RecordedRun, draws: int) -> tuple[Cell, ...]:
    """Measure a recorded run and ``draws`` simulated ones of its scenario; the recorder's own shutdown counts on neither side.

    librdkafka hands records over in bunches of up to 1 s, which look like gaps: such a run has no measures of them.
    """
    native = any(step.get("client", "java") != "java" for step in run.steps)
    measures = [one for one in MEASURES if not (native and one.of_records)]
    scenario = unpinned(repeat(run).scenario)
    recorded = Seen(of_record(run), recorded_trace(run), *window(scenario))
    drawn = []
    for seed in range(1, draws + 1):
        moved = shifted(scenario, seed)
        trace = simulate(moved, seed)
        drawn.append(Seen(of_trace(trace), trace, *window(moved)))
    return tuple(
        Cell(one.words, one.of(recorded), Distribution(tuple(sorted(map(one.of, drawn))))) for one in measures
    )


def unpinned(scenario: Scenario) -> Scenario:
    """The scenario without what its record says of single lives."""
    return replace(scenario, members=tuple(replace(spec, lives=()) for spec in scenario.members))


def window(scenario: Scenario) -> tuple[int, int]:
    """From what is first done to the group that has come together to the recorder's shutdown, which closes everybody."""
    starts = [action.at_ms for action in scenario.actions if action.do == "start"]
    begun = min(starts, default=0) + BEGINNING_MS
    done = [action.at_ms for action in scenario.actions if action.do != "start" or action.at_ms > begun]
    closes = [action.at_ms for action in scenario.actions if action.do == "close"]
    shutdown = min((at for at in closes if at > max(closes) - CLOSING_MS), default=scenario.end_ms)
    return min(done, default=0), shutdown


def shifted(scenario: Scenario, seed: int) -> Scenario:
    """The scenario with drawn starts at its beginning, and with all that is done to the group later by one drawn offset."""
    chance = random.Random(f"{seed}/moments")
    offset = chance.randrange(SHIFT_MS)
    since, _ = window(scenario)
    actions = []
    for action in scenario.actions:
        beginning = action.at_ms < since
        by_ms = chance.randrange(START_WITHIN_MS) if beginning else offset
        actions.append(replace(action, at_ms=action.at_ms + by_ms))
    return replace(
        scenario,
        actions=tuple(sorted(actions, key=lambda action: action.at_ms)),
        end_ms=scenario.end_ms + offset,
    )
