"""Thousands of runs as Spark tasks: scenarios x protocols x parameters x seeds, one row per run."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any, get_type_hints

from rebalance_kit.analysis.metrics import Metrics
from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.pipeline.sweep.one_run import check_names, check_values, run_batches
from rebalance_kit.simulation.scenario.scenario import PROTOCOLS, THREE_PROTOCOLS, Scenario
from rebalance_kit.simulation.scenario.yaml_writer import write_scenario

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Tasks per core: enough that the slowest does not keep the other cores waiting for long.
_TASKS_PER_CORE = 8

#: Assumed where Spark does not say how many cores it has (Spark Connect).
_ASSUMED_CORES = 8

_TYPES = {
    int: "long",
    float: "double",
    int | None: "long",
    float | None: "double",
    Mapping[str, int]: "map<string, long>",
}
_REBALANCE = (
    "group string, number long, protocol string, trigger string, culprit string, start_ms long, end_ms long, "
    "before long, after long, members long, moved array<string>, revoked array<string>, said string"
)


@dataclass(frozen=True, slots=True)
class Grid:
    """The runs of a sweep: every scenario under every protocol with every combination of values, for every seed."""

    scenarios: tuple[Scenario, ...]
    parameters: Mapping[str, Sequence[Any]]
    protocols: tuple[str | None, ...]
    seeds: tuple[int, ...]

    @property
    def runs(self) -> int:
        """The number of runs."""
        combined = len(self.scenarios) * len(self.protocols) * len(self.seeds)
        for values in self.parameters.values():
            combined *= len(values)
        return combined

    def columns(self) -> dict[str, str]:
        """The parameters as column names (dots become underscores), with their Spark types."""
        return {name.replace(".", "_"): _type_of(values) for name, values in self.parameters.items()}


MOST_RUNS = 1_000_000
"""Most runs of one sweep."""


def make_grid(
    scenarios: Scenario | Sequence[Scenario],
    parameters: Mapping[str, Sequence[Any]],
    seeds: int | Iterable[int],
    protocols: Sequence[str] | None,
) -> Grid:
    """Check a grid before Spark is needed; raises ``ScenarioError`` naming the value that cannot be run."""
    chosen = (scenarios,) if isinstance(scenarios, Scenario) else tuple(scenarios)
    if isinstance(seeds, int) and seeds > MOST_RUNS:
        raise ScenarioError(f"{seeds:,} seeds; expected at most {MOST_RUNS:,} runs in a sweep")
    numbers = tuple(range(1, seeds + 1)) if isinstance(seeds, int) else tuple(seeds)
    check_names(list(parameters))
    for name, values in parameters.items():
        if isinstance(values, str) or not values:
            raise ScenarioError(
                f"{name}: {values!r} is no list of values; expected at least one value to set"
            )
        check_values(name, values)
    for protocol in protocols or ():
        if protocol not in PROTOCOLS:
            raise ScenarioError(f"protocol {protocol!r} is unknown; expected one of {', '.join(PROTOCOLS)}")
    if not chosen or not numbers:
        raise ScenarioError(
            f"{len(chosen)} scenarios and {len(numbers)} seeds; expected at least one of each"
        )
    grid = Grid(chosen, dict(parameters), tuple(protocols or (None,)), numbers)
    if grid.runs > MOST_RUNS:
        raise ScenarioError(
            f"{grid.runs:,} runs; expected at most {MOST_RUNS:,} in a sweep. Split it into several"
        )
    return grid


def sweep(
    spark: SparkSession,
    scenarios: Scenario | Sequence[Scenario],
    parameters: Mapping[str, Sequence[Any]] | None = None,
    seeds: int | Iterable[int] = 10,
    protocols: Sequence[str] | None = THREE_PROTOCOLS,
    tasks: int | None = None,
) -> DataFrame:
    """One row per run: its settings, the metrics of ``rebalance_kit.analysis``, its rebalances, or its error.

    ``parameters`` maps Kafka configurations and ``one_run.SETTINGS`` to lists of values; ``seeds`` is a number
    of seeds (from 1) or the seeds. Columns: run, scenario, protocol, seed, one per parameter (dots become
    underscores), error, those of ``Metrics``, requests_total, crash_detect_s (from the first crash to the
    member's removal), false_alarms (live members removed), took_ms, by_rebalance (an array of
    ``analysis.rebalances.Rebalance``). Evaluation is lazy: write the table, or persist it. Raises
    ``ScenarioError`` for a name that cannot be varied.
    """
    return sweep_grid(spark, make_grid(scenarios, parameters or {}, seeds, protocols), tasks)


def sweep_grid(spark: SparkSession, grid: Grid, tasks: int | None = None) -> DataFrame:
    """The sweep of a checked grid (see ``sweep``)."""
    texts = tuple(write_scenario(scenario) for scenario in grid.scenarios)
    rows = list(enumerate(json.dumps(task) for task in _tasks(grid)))
    # Neighbours cost about the same; shuffling gives every task cheap and expensive runs.
    random.Random(0).shuffle(rows)
    count = min(len(rows), tasks or usual_tasks(spark))
    planned = spark.createDataFrame(rows, "run long, task string").repartition(count)
    results = planned.mapInArrow(partial(run_batches, texts), "run long, task string, result string")
    return _typed(results, grid)


def usual_tasks(spark: SparkSession) -> int:
    """The number of tasks of a sweep, unless it has fewer runs; Spark spends about 0.02 s on each."""
    context = getattr(spark, "_sc", None)
    return _TASKS_PER_CORE * int(_ASSUMED_CORES if context is None else context.defaultParallelism)


def _tasks(grid: Grid) -> Iterable[dict[str, Any]]:
    combinations = [
        dict(zip(grid.parameters, values, strict=True))
        for values in itertools.product(*grid.parameters.values())
    ]
    for place, values, protocol, seed in itertools.product(
        range(len(grid.scenarios)), combinations, grid.protocols, grid.seeds
    ):
        yield {
            "scenario": place,
            "protocol": protocol,
            "seed": seed,
            "values": values,
            "name": grid.scenarios[place].name,
        }


def _typed(results: DataFrame, grid: Grid) -> DataFrame:
    """Parse the JSON of tasks and results into typed columns."""
    from pyspark.sql import functions as F

    set_to = ", ".join(
        f"`{name}`: {kind}" for name, kind in zip(grid.parameters, grid.columns().values(), strict=True)
    )
    asked_as = f"struct<name: string, protocol: string, seed: long, values: struct<{set_to}>>"
    result = f"struct<error: string, {_metric_columns()}, requests_total: long, crash_detect_s: double, false_alarms: long, took_ms: double, by_rebalance: array<struct<{_colons(_REBALANCE)}>>>"
    parsed = results.select(
        "run", F.from_json("task", asked_as).alias("asked"), F.from_json("result", result).alias("got")
    )
    values = [F.col(f"asked.values.`{name}`").alias(name.replace(".", "_")) for name in grid.parameters]
    return parsed.select(
        "run", F.col("asked.name").alias("scenario"), "asked.protocol", "asked.seed", *values, "got.*"
    )


def _metric_columns() -> str:
    hints = get_type_hints(Metrics)
    return ", ".join(
        f"{field.name}: {_TYPES[hints[field.name]]}" for field in fields(Metrics) if field.name != "label"
    )


def _colons(columns: str) -> str:
    return ", ".join(column.replace(" ", ": ", 1) for column in columns.split(", "))


def _type_of(values: Sequence[Any]) -> str:
    if all(isinstance(value, bool) for value in values):
        return "boolean"
    if all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return "long"
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    return "double" if numbers else "string"


def sweep_tables(runs: DataFrame) -> dict[str, DataFrame]:
    """The tables to write: ``runs`` (one row per run) and ``rebalances`` (one row per rebalance, as in gold)."""
    from pyspark.sql import functions as F

    exploded = runs.select(
        "run", "scenario", "protocol", "seed", F.explode("by_rebalance").alias("rebalance")
    )
    named = exploded.withColumnRenamed("protocol", "swept")
    return {
        "runs": runs.drop("by_rebalance").orderBy("run"),
        "rebalances": named.select("run", "scenario", "swept", "seed", "rebalance.*").orderBy(
            "run", "number"
        ),
    }
