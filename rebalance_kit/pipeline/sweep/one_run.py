"""One run of a sweep: a scenario with some values set, simulated and measured, without Spark.

A Spark task calls this on its worker; a run that fails becomes a row with its error.
"""

from __future__ import annotations

import json
import math
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from rebalance_kit.analysis.metrics import metrics
from rebalance_kit.analysis.rebalances import rebalances
from rebalance_kit.model.config import all_keys
from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.model.trace import Trace
from rebalance_kit.simulation.scenario.checks import MOST_MEMBERS, check_work, whole
from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario, carry_timeouts
from rebalance_kit.simulation.scenario.yaml_file import read_scenario
from rebalance_kit.simulation.simulate import simulate

if TYPE_CHECKING:
    from pyarrow import RecordBatch

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
