"""``rebalance-kit replay`` and ``beside``: repeat recorded runs in the engine, draw by draw, and say where they part.

A run counts as equal when at least one of the seeded latency draws gives its generations, callbacks and
removals exactly; how many did is said, and for the nearest one the first difference. Its log lines count as
equal when one of those draws gives them too (``log_lines`` says what that means).
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median, quantiles
from typing import Any, TextIO

from rebalance_kit.analysis.deliveries import gap_lengths
from rebalance_kit.analysis.draws import Distribution
from rebalance_kit.analysis.ownership import readers_at
from rebalance_kit.model.errors import DataError, RebalanceKitError, require_kind
from rebalance_kit.model.trace import Trace
from rebalance_kit.recordings import log_lines
from rebalance_kit.recordings.arrivals import of_draw
from rebalance_kit.recordings.compare import Comparison, Facts, compare, of_record, of_trace
from rebalance_kit.recordings.expected import CLOSING_MS
from rebalance_kit.recordings.folder import RecordedRun, read_run
from rebalance_kit.recordings.repeat import repeat
from rebalance_kit.recordings.trace import recorded_trace
from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.simulation.simulate import simulate

# A recorded run beside what the engine draws of the same scenario: where the recorded value of each measure falls.
#
# Nothing is pinned here: members' ids, first requests and acknowledgements are the engine's, each process starts up to
# ``START_WITHIN_MS`` later than recorded, and everything done to the group moves by one drawn offset of up to ``SHIFT_MS``, so that
# phases of heartbeats, polls and auto-commits are drawn. What was done, and how long it took, stays.


START_WITHIN_MS = 1_000
SHIFT_MS = 15_000
"""The time after which heartbeats every 3 s and commits every 5 s stand to each other as before."""
CLOSED_WITHIN_MS = 12_000
"""A record that stops after its own closes does so within this time of them (10 s are allowed to close)."""
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
    last = max(closes, default=0)
    if last < scenario.end_ms - CLOSED_WITHIN_MS:
        return min(
            done, default=0
        ), scenario.end_ms  # that close was the scenario's: the record stopped before its own
    shutdown = min((at for at in closes if at > last - CLOSING_MS), default=scenario.end_ms)
    return min(done, default=0), shutdown


def is_whole(description: Mapping[str, Any], living: Collection[str | None]) -> bool:
    """Whether a description of the group says that it is stable, that every living member is in it, and that partitions are owned."""
    members = description.get("members", {})
    names = {str(key).partition("/")[0] for key in members}
    owned = any(held["owned"] for held in members.values())
    return str(description.get("state", "")).lower() == "stable" and names >= set(living) and owned


def apart(run: RecordedRun) -> str | None:
    """Why a record says nothing of a group that had come together: its state at the first deed. None where it was whole, or never described."""
    scenario = repeat(run).scenario
    since, _ = window(scenario)
    at = run.begin + since
    rows = [row for row in run.truth if row["kind"] == "describe" and row["t"] <= at]
    if not any(row["kind"] == "describe" for row in run.truth):
        return None
    asked = {action.member for action in scenario.actions if action.do == "start" and action.at_ms < since}
    if rows and is_whole(rows[-1], asked):
        return None
    last: Mapping[str, Any] = rows[-1] if rows else {"state": "not there yet", "members": {}}
    return f"its group was not together at the first deed, {since / 1000:.1f} s ({last['state']}, {len(last['members'])} of {len(asked)} members)"


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


FURTHER = 6
"""A run none of whose draws is equal is drawn so many times as often: several races may have to go the recorded way."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the repetition of one recorded run came to."""

    run: str
    path: str
    best_seed: int
    draws: int
    draws_equal: int
    comparison: Comparison | None
    pinned: tuple[str, ...]
    recorded_again: int
    simulated_again: int
    left_out: tuple[str, ...] = ()
    error: str | None = None
    lines: log_lines.LineComparison | None = None
    """Log lines of the draw that comes nearest; None when the record has no log."""

    @property
    def equal(self) -> bool:
        """At least one draw gave the recorded run."""
        return self.draws_equal > 0

    def as_json(self) -> dict[str, Any]:
        """The line that ``--json`` prints."""
        held = self.comparison
        first = held.first if held else None
        deltas = [abs(one) for one in held.deltas_ms] if held else []
        p95 = quantiles(deltas, n=20)[-1] if len(deltas) > 1 else (deltas[0] if deltas else None)
        return {
            "run": self.run,
            "generations_equal": held is not None and held.generations is None,
            "callbacks_equal": held is not None and held.callbacks is None,
            "fencing_equal": held is not None and held.fencing is None,
            "log_lines_equal": self.lines.equal if self.lines else None,
            "first_difference": asdict(first) if first else self.error,
            "draws": self.draws,
            "draws_equal": self.draws_equal,
            "pinned": list(self.pinned),
            "timing_ms": {"median": median(deltas) if deltas else None, "p95": p95},
            "delivered_again": {"recorded": self.recorded_again, "simulated": self.simulated_again},
            "left_out": list(self.left_out),
            "log_difference": asdict(self.lines.first) if self.lines and self.lines.first else None,
            "log_lines": {"compared": self.lines.lines, "differing": self.lines.differing}
            if self.lines
            else None,
        }


@dataclass(slots=True)
class _Nearest:
    """The draws seen so far: the best by what happened, and the one with the best log lines among the equal."""

    recorded: Facts
    logs: log_lines.Files
    equal: int = 0
    best: tuple[Comparison, Facts, int] | None = None
    lines: tuple[log_lines.LineComparison, int] | None = None

    def see(self, trace: Trace, seed: int) -> None:
        """Compare one more draw; log lines only until one draw has them all."""
        simulated = of_trace(trace)
        found = compare(self.recorded, simulated)
        self.equal += found.equal
        better = self.best is None or found.agreed > self.best[0].agreed
        if better:
            self.best = (found, simulated, seed)
        if not self.logs or (self.lines is not None and self.lines[0].equal):
            return
        if found.equal or (better and not self.equal):
            lines = log_lines.compare_lines(self.logs, log_lines.simulated_lines(trace, self.logs))
            first_equal = found.equal and self.equal == 1  # whatever stood here was of a draw that differs
            if (
                first_equal
                or not found.equal
                or self.lines is None
                or lines.differing < self.lines[0].differing
            ):
                self.lines = (lines, seed)


def replay(folder: str | Path, draws: int = 40) -> Outcome:
    """Repeat one recorded run with ``draws`` seeded draws, and further ones where none is equal.

    Raises ``DataError`` for a folder that is no run.
    """
    require_kind(folder, (str, Path), "the folder", "the folder of a recorded run")
    run = read_run(folder)
    again = repeat(run)
    logs = {name: lines for name, lines in log_lines.recorded_lines(run).items() if lines}
    seen = _Nearest(of_record(run), logs)
    made = 0
    for seed in range(1, FURTHER * draws + 1):
        if seed > draws and seen.equal:
            break
        seen.see(simulate(of_draw(again.scenario, seed), seed), seed)
        made = seed
    if seen.best is None:
        raise DataError(f"--draws is {draws}; expected at least 1")
    held, simulated, best_seed = seen.best
    return Outcome(
        run.name,
        str(folder),
        seen.lines[1] if seen.lines else best_seed,
        made,
        seen.equal,
        held,
        again.pinned,
        seen.recorded.delivered_again,
        simulated.delivered_again,
        run.left_out,
        lines=seen.lines[0] if seen.lines else None,
    )


def _try(argument: tuple[str, int]) -> Outcome:
    folder, draws = argument
    try:
        return replay(folder, draws)
    except RebalanceKitError as error:
        return Outcome(Path(folder).name, folder, 0, draws, 0, None, (), 0, 0, error=str(error))


def replay_all(folders: Sequence[str], draws: int = 40) -> Iterable[Outcome]:
    """Repeat many runs on all cores, in the order given."""
    asked = [(folder, draws) for folder in folders]
    workers = min(os.cpu_count() or 1, len(asked))
    if workers < 2:
        yield from map(_try, asked)
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(_try, asked)


def run_replay(
    folders: Sequence[str], out_dir: Path | None, *, as_json: bool, draws: int, out: TextIO
) -> int:
    """Print one line per run and, without ``as_json``, a summary; 1 when some run has no equal draw."""
    if draws < 1:
        raise DataError(f"--draws is {draws}; expected at least 1")
    runs = list(_runs(folders))
    equal = alike = 0
    for outcome in replay_all(runs, draws):
        equal += outcome.equal
        alike += outcome.equal and outcome.lines is not None and outcome.lines.equal
        print(
            json.dumps(outcome.as_json(), ensure_ascii=False) if as_json else _line(outcome),
            file=out,
            flush=True,
        )
        if out_dir is not None and outcome.error is None:
            _write_page(out_dir, outcome)
    if not as_json:
        print(
            f"{equal} of {len(runs)} runs equal, {alike} of them line by line in their logs. {RULES.format(draws=draws)}",
            file=out,
        )
    return 0 if equal == len(runs) else 1


RULES = (
    "Equal means: at least one of {draws} seeded latency draws (from the 25th on of a quicker or busier machine; where none does, of six times as many) gives generations (or epochs and targets), callbacks and removals exactly; "
    "removals within 0.3 s are unordered, and the comparison ends where the recording's own shutdown begins. Facts taken from the record: "
    "first requests and answers of each process, acknowledgements of KIP-848 members, the end of a slow computation of a target, ids, "
    "phase of poll(), the moment a coordinator is back or knows the topics. Log lines: level, logger and text, with ids, times and "
    "offsets masked; two lines may change places within 0.3 s of each other."
)


def _runs(folders: Sequence[str]) -> Iterable[str]:
    for folder in folders:
        if not Path(folder).exists():
            raise DataError(
                f"{folder}: no such folder; expected a recorded run (with run.json) or a folder of runs"
            )
        if not Path(folder).is_dir():
            raise DataError(
                f"{folder}: is no folder; expected a recorded run (with run.json) or a folder of runs"
            )
        if (Path(folder) / "run.json").exists():
            yield folder
        else:
            yield from sorted(str(one.parent) for one in Path(folder).glob("*/run.json")) or [folder]


def _line(outcome: Outcome) -> str:
    if outcome.error is not None:
        return f"{outcome.run}: not read: {outcome.error}"
    if outcome.equal:
        return f"{outcome.run}: equal ({outcome.draws_equal} of {outcome.draws} draws){_line_about_logs(outcome.lines)}"
    first = outcome.comparison.first if outcome.comparison else None
    if first is None:
        return f"{outcome.run}: differs"
    return f"{outcome.run}: differs in {first.what}, {first.where}\n    recorded:  {first.recorded}\n    simulated: {first.simulated}"


def _line_about_logs(lines: log_lines.LineComparison | None) -> str:
    if lines is None:
        return ", no logs to compare"
    if lines.first is None:
        return f", and its {lines.lines} log lines"
    first = lines.first
    return (
        f"; {lines.differing} of {lines.lines} log lines differ, first in {first.where}\n"
        f"    recorded:  {first.recorded}\n    simulated: {first.simulated}"
    )


def _write_page(folder: Path, outcome: Outcome) -> None:
    """Recorded and simulated Gantt on one clock (the view room is asked for lazily: replay works without it)."""
    from importlib import import_module

    from rebalance_kit.recordings.trace import recorded_trace

    folder.mkdir(parents=True, exist_ok=True)
    run = read_run(outcome.path)
    simulated = simulate(of_draw(repeat(run).scenario, outcome.best_seed), outcome.best_seed)
    report = import_module("rebalance_kit.view.lab.run_report")
    report.write_report(
        folder / f"{outcome.run}.html",
        [recorded_trace(run), simulated],
        f"{outcome.run}: recorded and simulated",
    )


def run_beside(folders: Sequence[str], draws: int, *, colour: bool, out: TextIO) -> int:
    """Print each record's measures beside the engine's draws; 1 when one lies outside, with what an issue should hold."""
    if draws < 2:
        raise DataError(f"--draws is {draws}; expected at least 2")
    outside, count, left_out = [], 0, 0
    for folder in folders:
        run = read_run(folder)
        why = apart(run)
        if why is not None:
            left_out += 1
            print(f"{run.name}: not measured: {why}", file=out)
            continue
        print(f"{run.name}: recorded, and {draws} draws of the engine", file=out)
        print(f"  {'':34} {'recorded':>9} {'5 %':>9} {'median':>9} {'95 %':>9} {'percentile':>10}", file=out)
        for cell in percentiles(run, draws):
            count += 1
            low, middle, high = (cell.drawn.quantile(share) for share in (0.05, 0.5, 0.95))
            line = f"  {cell.measure:34} {cell.recorded:9.2f} {low:9.2f} {middle:9.2f} {high:9.2f} {cell.percentile:10.0f}"
            if cell.outside:
                outside.append((run, cell))
                line = f"\x1b[31m{line}  outside\x1b[0m" if colour else f"{line}  outside"
            print(line, file=out)
    print(f"{count - len(outside)} of {count} measures lie from the 1st to the 99th percentile", file=out)
    if left_out:
        print(
            f"{left_out} of {len(folders)} records not measured: the draws have a whole group at the first deed",
            file=out,
        )
    for run, cell in outside:
        print(f"\n{_issue(run, cell)}", file=out)
    return 1 if outside else 0


def _issue(run: RecordedRun, cell: Cell) -> str:
    """What a reader of an issue needs: the run, the measure, both sides, and how to see it again."""
    low, high = (cell.drawn.quantile(share) for share in (0.01, 0.99))
    return (
        f"### {run.scenario}, {run.protocol}, Kafka {run.kafka}: {cell.measure} outside the engine's draws\n"
        f"- recorded: {cell.recorded:g}; {len(cell.drawn.values)} draws: {low:g} to {high:g} (1st to 99th percentile)\n"
        f"- again: rebalance-kit beside {run.name} --draws {len(cell.drawn.values)}\n"
        f"- the record's folder attached: run.json, truth.jsonl.gz, broker.log.gz and the members' logs\n"
        "- how busy the machine was while it was recorded:"
    )
