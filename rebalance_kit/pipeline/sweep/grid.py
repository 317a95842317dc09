"""Thousands of runs as Spark tasks: scenarios x protocols x parameters x seeds, one row per run."""

from __future__ import annotations

import itertools
import json
import math
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, get_type_hints

from rebalance_kit.analysis.metrics import Metrics, metrics
from rebalance_kit.analysis.rebalances import rebalances
from rebalance_kit.model.config import all_keys
from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.model.trace import Trace
from rebalance_kit.simulation.scenario.checks import MOST_MEMBERS, check_work, whole
from rebalance_kit.simulation.scenario.scenario import (
    PROTOCOLS,
    THREE_PROTOCOLS,
    Action,
    MemberSpec,
    Scenario,
    carry_timeouts,
)
from rebalance_kit.simulation.scenario.yaml_file import read_scenario
from rebalance_kit.simulation.scenario.yaml_writer import write_scenario
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.whatif.understanding import Cost, Drawn, draw_chunk, yaml_of

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql import DataFrame, SparkSession


# One run of a sweep: a scenario with some values set, simulated and measured, without Spark.
#
# A Spark task calls this on its worker; a run that fails becomes a row with its error.


#: The range of drawn freezes, log-uniform, in ms; and when the first may begin, so that groups start undisturbed.
FREEZE_MS, FREEZES_FROM_MS = (1_000, 60_000), 20_000


def _members(scenario: Scenario, value: Any, seed: int) -> Scenario:
    """``value`` members: the first ones, or all and copies of the last one."""
    count, last = int(value), scenario.members[-1]
    taken = {spec.name for spec in scenario.members}
    stem = re.sub(r"\d+$", "", last.name)
    fresh = (f"{stem}{number}" for number in range(1, count + len(taken) + 1))
    more = [_like(last, name) for name in fresh if name not in taken]
    return replace(scenario, members=(*scenario.members, *more)[:count])


def _like(spec: MemberSpec, name: str) -> MemberSpec:
    named = {key: name for key in ("group.instance.id", "client.id") if key in spec.configs}
    return replace(spec, name=name, configs={**spec.configs, **named}, lives=())


def _each_member(field: str, kind: Callable[[Any], Any]) -> Callable[[Scenario, Any, int], Scenario]:
    return lambda scenario, value, _: replace(
        scenario, members=tuple(replace(spec, **{field: kind(value)}) for spec in scenario.members)
    )


def _each_topic(field: str, kind: Callable[[Any], Any]) -> Callable[[Scenario, Any, int], Scenario]:
    return lambda scenario, value, _: replace(
        scenario, topics=tuple(replace(topic, **{field: kind(value)}) for topic in scenario.topics)
    )


def _freezes(scenario: Scenario, value: Any, seed: int) -> Scenario:
    """``value`` freezes of members without other actions; the same for a seed, whatever else is set."""
    dice = random.Random(f"freezes/{seed}")
    busy = {action.member for action in scenario.actions}
    names = [spec.name for spec in scenario.members if spec.name not in busy and spec.start_ms is not None]
    if not names and value:
        raise ScenarioError(
            f"{scenario.name}: freezes: {value}; expected at least one member without actions of its own"
        )
    free_ms = dict.fromkeys(names, FREEZES_FROM_MS)
    actions = list(scenario.actions)
    moments = sorted(dice.uniform(FREEZES_FROM_MS, scenario.end_ms) for _ in range(int(value)))
    for moment in moments:
        name, share = dice.choice(names), dice.random()
        begin = max(round(moment), free_ms[name])
        end = begin + round(FREEZE_MS[0] * math.exp(share * math.log(FREEZE_MS[1] / FREEZE_MS[0])))
        free_ms[name] = end + 1_000
        if end < scenario.end_ms:
            actions += [Action(begin, "freeze", name), Action(end, "thaw", name)]
    return replace(scenario, actions=tuple(sorted(actions, key=lambda action: action.at_ms)))


#: What may be set besides Kafka's configurations. ``freezes`` comes after the rest, because it draws among the members; ``carry_timeouts`` gives the broker of a KIP-848 group the clients' timeouts, which these clients refuse.
SETTINGS: Mapping[str, Callable[[Scenario, Any, int], Scenario]] = {
    "members": _members,
    "topic_partitions": _each_topic("partitions", int),
    "rate_per_s": _each_topic("rate_per_s", float),
    "processing_ms": _each_member("processing_ms", float),
    "callback_ms": _each_member("callback_ms", int),
    "kafka_version": lambda scenario, value, _: replace(scenario, kafka_version=str(value)),
    "freezes": _freezes,
    "carry_timeouts": lambda scenario, value, _: carry_timeouts(scenario) if value else scenario,
}


_LEAST: Mapping[str, int] = {"members": 1, "freezes": 0}
"""Settings that are counts, and the least of each."""


def check_names(names: Sequence[str]) -> None:
    """Raise ``ScenarioError`` for a name that is neither in ``SETTINGS`` nor a Kafka configuration."""
    for name in names:
        if name not in SETTINGS and name not in all_keys():
            raise ScenarioError(
                f"{name!r} cannot be varied; expected a Kafka configuration (session.timeout.ms, ...) or one of {', '.join(SETTINGS)}"
            )


def check_values(name: str, values: Sequence[Any]) -> None:
    """Raise ``ScenarioError`` for what is no plain value, and for numbers of members or freezes that nothing could run."""
    for value in values:
        if not isinstance(value, int | float | str):
            raise ScenarioError(f"{name}: {str(value)[:60]!r}; expected numbers, texts, true or false")
        least = _LEAST.get(name)
        if least is not None and (not whole(value) or not least <= int(value) <= MOST_MEMBERS):
            raise ScenarioError(
                f"{name}: {str(value)[:60]!r}; expected whole numbers from {least} to {MOST_MEMBERS}"
            )


def varied(scenario: Scenario, values: Mapping[str, Any], seed: int) -> Scenario:
    """Set the values: configurations on the broker or the clients, as Kafka reads them, the rest by ``SETTINGS``."""
    known = all_keys()
    broker = {
        name: value
        for name, value in values.items()
        if name not in SETTINGS and known[name].scope != "client"
    }
    client = {name: value for name, value in values.items() if name not in SETTINGS and name not in broker}
    scenario = replace(
        scenario,
        broker={**scenario.broker, **broker},
        members=tuple(replace(spec, configs={**spec.configs, **client}) for spec in scenario.members),
    )
    for name, change in SETTINGS.items():
        if name in values:
            scenario = change(scenario, values[name], seed)
    return scenario


def measured(
    scenario: Scenario, protocol: str | None, seed: int, values: Mapping[str, Any]
) -> dict[str, Any]:
    """The row of one run: its metrics, its rebalances and its duration, or its ``error``."""
    begin_s = time.perf_counter()
    row: dict[str, Any] = {}
    try:
        asked = varied(scenario, values, seed)
        check_work(asked)
        trace = simulate(asked, seed, protocol)
        row = asdict(metrics(trace))
        del row["label"]
        row["requests_total"] = sum(row["requests"].values())
        row["crash_detect_s"] = crash_detected(trace)
        row["false_alarms"] = false_alarms(trace)
        row["by_rebalance"] = [asdict(rebalance) for rebalance in rebalances(trace)]
    except Exception as problem:  # noqa: BLE001 - one bad run must not end two thousand good ones
        row = {"error": f"{type(problem).__name__}: {problem}"}
    return {**row, "took_ms": round((time.perf_counter() - begin_s) * 1000, 1)}


def crash_detected(trace: Trace) -> float | None:
    """Seconds from the first crash until the coordinator removed the dead member; None when either is missing."""
    for fault in trace.of("action"):
        if fault.detail["do"] == "crash":
            removed = (
                row.at_ms
                for row in trace.of("member_removed")
                if row.at_ms >= fault.at_ms and row.detail["name"] == fault.detail["member"]
            )
            return next(((at_ms - fault.at_ms) / 1000 for at_ms in removed), None)
    return None


def false_alarms(trace: Trace) -> int:
    """The number of members whose session expired although their process lived: frozen or disconnected, not dead."""
    lives: Counter[str] = Counter()
    alarms = 0
    for row in trace.of("process_started", "process_ended", "member_removed"):
        if row.kind == "member_removed":
            alarms += row.detail["how"] == "session" and lives[row.detail["name"]] > 0
        else:
            lives[row.actor] += 1 if row.kind == "process_started" else -1
    return alarms


@cache
def _scenario(text: str) -> Scenario:
    return read_scenario(text)


def run_batches(texts: Sequence[str], batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
    """Run a Spark task: add ``result`` (JSON) to rows of ``task`` (JSON of scenario, protocol, seed, values)."""
    from pyarrow import RecordBatch

    def result(task: Mapping[str, Any]) -> str:
        scenario = _scenario(texts[task["scenario"]])
        return json.dumps(measured(scenario, task["protocol"], task["seed"], task["values"]))

    for batch in batches:
        tasks = batch["task"].to_pylist()
        results = [result(json.loads(task)) for task in tasks]
        yield RecordBatch.from_pydict({"run": batch["run"], "task": tasks, "result": results})


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


def draw_nights(spark: SparkSession, nights: Sequence[Drawn], draws: int) -> list[list[Cost]]:
    """What each night costs in each draw, as Spark tasks of one draw: the same costs in the same order as without Spark."""
    texts = [yaml_of(night) for night in nights]
    rows = [(number, *divmod(number, draws)) for number in range(len(texts) * draws)]
    random.Random(0).shuffle(rows)
    planned = spark.createDataFrame(rows, "run long, night long, draw long")
    count = max(1, min(len(rows), usual_tasks(spark)))
    results = planned.repartition(count).mapInArrow(partial(_night_batches, texts), "run long, cost string")
    costs = [
        Cost.of(json.loads(row["cost"])) for row in sorted(results.collect(), key=lambda row: row["run"])
    ]
    return [costs[first : first + draws] for first in range(0, len(costs), draws)]


def _night_batches(texts: Sequence[Sequence[str]], batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
    from pyarrow import RecordBatch

    for batch in batches:
        asked = zip(batch["night"].to_pylist(), batch["draw"].to_pylist(), strict=True)
        costs = [
            json.dumps(asdict(draw_chunk(texts[night], range(draw + 1, draw + 2))[0]))
            for night, draw in asked
        ]
        yield RecordBatch.from_pydict({"run": batch["run"], "cost": costs})


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
