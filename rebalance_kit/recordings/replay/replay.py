"""``rebalance-kit replay``: repeat recorded runs in the engine, draw by draw, and say where they part.

A run counts as equal when at least one of the seeded latency draws gives its generations, callbacks and
removals exactly; how many did is said, and for the nearest one the first difference. Its log lines count as
equal when one of those draws gives them too (``log_lines`` says what that means).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any, TextIO

from rebalance_kit.model.errors import DataError, RebalanceKitError, require_kind
from rebalance_kit.model.trace import Trace
from rebalance_kit.recordings.replay.arrivals import of_draw
from rebalance_kit.recordings.replay.compare import Comparison, compare
from rebalance_kit.recordings.replay.facts import Facts, of_record, of_trace
from rebalance_kit.recordings.replay.log_lines import (
    Files,
    LineComparison,
    compare_lines,
    recorded_lines,
    simulated_lines,
)
from rebalance_kit.recordings.replay.repeat import repeat
from rebalance_kit.recordings.runs.folder import read_run
from rebalance_kit.simulation.simulate import simulate

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
    lines: LineComparison | None = None
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
    logs: Files
    equal: int = 0
    best: tuple[Comparison, Facts, int] | None = None
    lines: tuple[LineComparison, int] | None = None

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
            lines = compare_lines(self.logs, simulated_lines(trace, self.logs))
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
    logs = {name: lines for name, lines in recorded_lines(run).items() if lines}
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


def _line_about_logs(lines: LineComparison | None) -> str:
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

    from rebalance_kit.recordings.runs.trace import recorded_trace

    folder.mkdir(parents=True, exist_ok=True)
    run = read_run(outcome.path)
    simulated = simulate(of_draw(repeat(run).scenario, outcome.best_seed), outcome.best_seed)
    report = import_module("rebalance_kit.view.lab.run_report")
    report.write_report(
        folder / f"{outcome.run}.html",
        [recorded_trace(run), simulated],
        f"{outcome.run}: recorded and simulated",
    )
