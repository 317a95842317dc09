"""The command ``rebalance-kit sweep``: runs a grid on Spark, shows progress, writes tables, prints medians."""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.pipeline.own_files import note_written, refuse_foreign
from rebalance_kit.pipeline.sweep.grid import usual_tasks
from rebalance_kit.pipeline.sweep.words import describe_sweep
from rebalance_kit.simulation.scenario.expansion import has_windows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TextIO

    from pyspark.sql import DataFrame, SparkSession

    from rebalance_kit.pipeline.sweep.grid import Grid

#: Seconds between two progress messages.
PROGRESS_EVERY_S = 2.0
SWEEP_PAGE = "sweep.html"


@dataclass(frozen=True, slots=True)
class Swept:
    """A finished sweep: its rows as plain dicts, in order, and the names of what was varied."""

    rows: Sequence[Mapping[str, Any]]
    names: Sequence[str]

    def text(self) -> str:
        """The medians as a text table."""
        return describe_sweep(self.rows, self.names)


def run_sweep(
    grid: Callable[[], Grid],
    out_dir: Path | None,
    master: str | None,
    out: TextIO,
    page: Callable[[Swept], object] | None = None,
) -> int:
    """Run ``rebalance-kit sweep``; returns 1 when every run failed, 2 when the sweep cannot be run, else 0.

    ``grid`` is called first, so that bad input is refused before Spark starts; ``page`` writes a page beside
    the tables.
    """
    try:
        checked = grid()
        if out_dir is not None:
            refuse_foreign(out_dir, ("runs", "rebalances", SWEEP_PAGE))
        from rebalance_kit.pipeline.spark.launch import command_session

        print(f"{checked.runs:,} runs. {_what_is_drawn(checked)}", file=out, flush=True)
        with command_session(master) as spark:
            swept = _swept(spark, checked, out_dir, out)
        print(swept.text(), file=out)
        if page is not None:
            page(swept)
            if out_dir is not None:
                note_written(out_dir, (SWEEP_PAGE,))
    except RebalanceKitError as problem:
        sys.stderr.write(f"rebalance-kit sweep: {problem}\n")
        return 2
    return 1 if all(row["error"] is not None for row in swept.rows) else 0


def _swept(spark: SparkSession, grid: Grid, out_dir: Path | None, out: TextIO) -> Swept:
    """Simulate the runs, write their tables, and return what figures and text need."""
    from rebalance_kit.pipeline import output
    from rebalance_kit.pipeline.spark.session import without_codegen
    from rebalance_kit.pipeline.sweep.grid import sweep_grid, sweep_tables

    runs = sweep_grid(spark, grid).persist()
    # One row per run is a small table, and compiling code for it would take a core from the runs.
    with _Progress(spark, grid.runs, out), without_codegen(spark):
        runs.count()
    if out_dir is not None:
        output.write_tables(sweep_tables(runs), out_dir)
        print(f"tables runs and rebalances written to {out_dir}", file=out)
    swept = collected(runs, list(grid.columns()))
    runs.unpersist()
    return swept


def _what_is_drawn(grid: Grid) -> str:
    draws = f"{len(grid.seeds)} draws of each setting, the same for all protocols and values"
    if any(has_windows(scenario) for scenario in grid.scenarios):
        return f"{draws}: moments and latencies are drawn. The table has medians, and the middle half in brackets."
    return f"{draws}: latencies are drawn, every moment is fixed. The table has medians, and the middle half in brackets."


def collected(runs: DataFrame, names: Sequence[str]) -> Swept:
    """The rows of a sweep for figures and text, without the rebalances of the runs."""
    rows = [row.asDict(recursive=True) for row in runs.drop("by_rebalance").orderBy("run").collect()]
    return Swept(rows, tuple(names))


class _Progress:
    """Prints every few seconds how many runs are done; silent where Spark does not report progress."""

    def __init__(self, spark: SparkSession, runs: int, out: TextIO) -> None:
        self._spark, self._runs, self._out = spark, runs, out
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._print, name="rebalance-kit-sweep", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join()

    def _print(self) -> None:
        last = 0
        while not self._stop.wait(PROGRESS_EVERY_S):
            done = int(self._share_done() * self._runs)
            if done > last:
                print(f"about {done:,} of {self._runs:,} runs done", file=self._out, flush=True)
                last = done

    def _share_done(self) -> float:
        """The share of finished tasks in the stage that simulates, recognized by its number of tasks."""
        context = getattr(self._spark, "_sc", None)
        if context is None:
            return 0.0
        tracker = context.statusTracker()
        stages = (tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds())
        tasks = min(self._runs, usual_tasks(self._spark))
        shares = (
            stage.numCompletedTasks / tasks
            for stage in stages
            if stage is not None and stage.numTasks == tasks
        )
        return max(shares, default=0.0)
