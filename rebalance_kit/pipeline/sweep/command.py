"""A sweep from end to end: what to sweep is read, the grid is run, the result is told.

The command ``rebalance-kit sweep``: runs a grid on Spark, shows progress, writes tables, prints medians.

A sweep as text: the median and the middle half over the seeds for every protocol and combination of values.

Reads what to sweep from a YAML file or from command-line options.

A file has ``scenarios`` (names of the kit's, or files beside it), ``set`` (names with lists of values to try),
``protocols`` (a list, or ``all``) and ``seeds`` (a number of seeds, or a list).
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rebalance_kit import scenarios
from rebalance_kit.analysis.draws import Distribution
from rebalance_kit.analysis.metrics import ABSENT, aligned
from rebalance_kit.model.errors import RebalanceKitError, ScenarioError
from rebalance_kit.model.files import is_file
from rebalance_kit.model.yaml_text import YamlRules, load_yaml
from rebalance_kit.pipeline.output import note_written, refuse_foreign
from rebalance_kit.pipeline.sweep.grid import Grid, make_grid, usual_tasks
from rebalance_kit.simulation.scenario.expansion import has_windows
from rebalance_kit.simulation.scenario.scenario import THREE_PROTOCOLS, Scenario
from rebalance_kit.simulation.scenario.yaml_file import read_scenario

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

    from pyspark.sql import DataFrame, SparkSession

#: The columns of the summary and their headings.
SHOWN = (
    ("crash_detect_s", "crash found after s"),
    ("false_alarms", "false alarms"),
    ("rebalances", "rebalances"),
    ("group_gap_s", "whole-group gap s"),
    ("unread_partition_s", "unread partition-seconds"),
    ("handovers", "hand-overs"),
    ("partitions_moved", "elsewhere at the end"),
)

Row = Mapping[str, Any]


def by_setting(rows: Sequence[Row], names: Sequence[str]) -> dict[tuple[Any, ...], list[Row]]:
    """Successful rows by scenario, protocol and values, in the order of the grid."""
    settings: dict[tuple[Any, ...], list[Row]] = {}
    for row in sorted(rows, key=lambda row: int(row["run"])):
        if row["error"] is None:
            setting = (row["scenario"], row["protocol"], *(row[name] for name in names))
            settings.setdefault(setting, []).append(row)
    return settings


def describe_sweep(rows: Sequence[Row], names: Sequence[str]) -> str:
    """The table of medians with their middle halves (means for false alarms, most of which are 0), and the errors of failed runs."""
    head = ["scenario", "protocol", *names, "runs", *(heading for _, heading in SHOWN)]
    body = [
        [
            *(ABSENT if value is None else str(value) for value in setting),
            str(len(runs)),
            *(_middle(runs, column) for column, _ in SHOWN),
        ]
        for setting, runs in by_setting(rows, names).items()
    ]
    errors = Counter(row["error"] for row in rows if row["error"] is not None)
    failures = [
        f"{count} runs failed: {error}"
        for error, count in sorted(errors.items(), key=lambda item: (-item[1], item[0]))
    ]
    return "\n".join([*([aligned([head, *body])] if body else []), *failures])


def _middle(rows: Sequence[Row], column: str) -> str:
    values = [float(row[column]) for row in rows if row[column] is not None]
    if not values:
        return ABSENT
    if column == "false_alarms":
        return f"{sum(values) / len(values):.2f}"
    drawn = Distribution(tuple(sorted(values)))
    low, high = drawn.middle_half
    middle = f"{drawn.median:.1f}"
    return middle if f"{low:.1f}" == f"{high:.1f}" == middle else f"{middle} ({low:.1f}–{high:.1f})"


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
        from rebalance_kit.pipeline.spark.session import command_session

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


KEYS = ("scenarios", "set", "protocols", "seeds")


def read_spec(path: Path) -> Grid:
    """The grid of a file; raises ``ScenarioError`` naming file, key and value."""
    spec = load_yaml(path, YamlRules("a YAML file of a sweep", error=ScenarioError))
    if not isinstance(spec, dict) or not spec.get("scenarios"):
        raise ScenarioError(
            f"{path}: expected a mapping with scenarios (and set, protocols, seeds), got {type(spec).__name__}"
        )
    for key in spec:
        if key not in KEYS:
            raise ScenarioError(f"{path}: unknown key {key!r}; expected one of {', '.join(KEYS)}")
    names = _listed(spec["scenarios"])
    values = spec.get("set") or {}
    if not isinstance(values, dict):
        raise ScenarioError(f"{path}: set: {values!r} is no mapping; expected names with lists of values")
    parameters = {str(name): _listed(value) for name, value in values.items()}
    chosen = [find(str(name), path.parent) for name in names]
    return make_grid(
        chosen, parameters, _seeds(spec.get("seeds", 10), path), _protocols(spec.get("protocols", "all"))
    )


def read_words(names: Sequence[str], settings: Sequence[str], protocol: str | None, seeds: int) -> Grid:
    """The grid of ``--scenario NAME``, ``--set KEY=VALUE,VALUE`` and ``--protocol all|NAME,NAME``."""
    parameters: dict[str, list[Any]] = {}
    for setting in settings:
        name, equals, values = setting.partition("=")
        if not equals or not values:
            raise ScenarioError(f"--set {setting}: expected KEY=VALUE or KEY=VALUE,VALUE,...")
        parameters[name.strip()] = [_value(text) for text in values.split(",")]
    return make_grid([find(name, Path()) for name in names], parameters, seeds, _protocols(protocol))


def find(name: str, folder: Path) -> Scenario:
    """A scenario of the kit by name, or one from a file relative to ``folder``."""
    if name not in scenarios.names() and is_file(folder / name):
        return read_scenario(folder / name)
    return scenarios.load(name)


def _protocols(value: Any) -> Sequence[str] | None:
    if value is None:
        return None
    if value == "all":
        return THREE_PROTOCOLS
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list | tuple):
        raise ScenarioError(f"protocols: {value!r}; expected all, or a list of names")
    return [str(name).strip() for name in names]


def _seeds(value: Any, path: Path) -> int | list[int]:
    seeds = _listed(value)
    if not all(isinstance(seed, int) and not isinstance(seed, bool) for seed in seeds):
        raise ScenarioError(f"{path}: seeds: {value!r}; expected how many, or a list of whole numbers")
    return seeds if isinstance(value, list) else int(value)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _value(text: str) -> Any:
    """The text as a boolean or a number where it is one, else unchanged."""
    bare = text.strip()
    known: Mapping[str, bool] = {"true": True, "false": False}
    if bare.lower() in known:
        return known[bare.lower()]
    for kind in (int, float):
        try:
            return kind(bare)
        except ValueError:
            continue
    return bare
