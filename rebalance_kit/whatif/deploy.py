"""``rebalance-kit plan-deploy``: what a deploy, a node drain and a scale-out will cost, under the present settings and under others.

The pods and their settings come from the files; what they do not say is given on the command line or assumed, and said to be.
Each event is a scenario, drawn and compared as a night is that was reconstructed from logs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from rebalance_kit.analysis.draws import check_draws
from rebalance_kit.analysis.metrics import aligned
from rebalance_kit.model.client_keys import CLIENT_KEYS
from rebalance_kit.model.collector import without_collector
from rebalance_kit.model.config import ClientConfig
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.files import write_atomically
from rebalance_kit.model.versions import PREFERRED
from rebalance_kit.simulation.scenario.expansion import check
from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario, TopicSpec
from rebalance_kit.whatif.alternatives import Alternative, alternatives
from rebalance_kit.whatif.config_files import ConfigFile, Setting, read_config
from rebalance_kit.whatif.text import (
    Answer,
    answer_cells,
    answer_lines,
    as_json,
    ask,
    check_seconds,
    markdown,
    target_line,
    target_of,
)
from rebalance_kit.whatif.understanding import costs_of, workers
from rebalance_kit.whatif.workload import AT_MS, Step, Workload, drain, read_workload, rollout, scale_out

AFTER_MS = 60_000
"""How long a scenario goes on after its last step and the longest session."""
DRAWS = 60
MOST_PARTITIONS = 10_000
NOW = "as it is"


@dataclass(frozen=True, slots=True)
class Given:
    """What is known beside the files; None where it is not."""

    workload: str | None = None
    pods: int | None = None
    partitions: int | None = None
    rate_per_s: float | None = None
    start_s: float | None = None
    stop_s: float | None = None
    on_a_node: int | None = None
    more: int | None = None
    kills: bool = False
    client: str | None = None
    broker_version: str = PREFERRED
    draws: int = DRAWS
    seconds: float = 60.0
    target: str | None = None
    markdown: Path | None = None
    as_json: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """The consumers of the pods: settings with their places, and what they read."""

    configs: dict[str, Any]
    broker: dict[str, Any]
    client: str
    partitions: int
    rate_per_s: float
    kafka_version: str
    kills: bool
    said: tuple[str, ...]
    assumed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that will be done to the pods."""

    name: str
    words: str
    steps: Callable[[Workload], list[Step]]
    deploys: bool = False


def run_plan_deploy(paths: Sequence[str], given: Given, out: TextIO) -> int:
    """Answer for each event; 0. Raises ``DataError`` and ``ConfigError`` for what cannot be read."""
    check_draws(given.draws)
    check_seconds(given.seconds)
    target = None if given.target is None else target_of(given.target)
    work, group = read_plan([Path(path) for path in paths], given)
    each = events(work, given)
    answers: list[tuple[Event, Scenario, Answer]] = []
    for event in each:
        scenario = scenario_of(work, group, event)
        with without_collector(), workers(given.draws) as pool:
            base = list(costs_of(scenario, given.draws, pool))
            others = [one for one in alternatives(scenario) if one.kind != "deploy"]
            others += list(_strategies(work, group, event) if event.deploys else ())
            answer = ask(
                scenario, base, target=target, seconds=given.seconds / len(each), others=others, pool=pool
            )
        answers.append((event, scenario, answer))
    if given.as_json:
        print(json.dumps(_as_json(work, group, answers), ensure_ascii=False), file=out)
    else:
        print("\n".join(_lines(work, group, answers)), file=out)
    if given.markdown is not None:
        parts = [
            markdown(None, None, one, answer, f"{event.name}: {event.words}", NOW)
            for event, one, answer in answers
        ]
        write_atomically(given.markdown, "\n".join(["```", *_head(work, group), "```", "", *parts]))
    return 0


# --- what is known -----------------------------------------------------------------------------------


def read_plan(paths: Sequence[Path], given: Given) -> tuple[Workload, Group]:
    """The pods and the group of the files, completed by what is given, and by assumptions that are said."""
    found = read_workload(list(paths), given.workload)
    work = found or Workload()
    files = [read_config(path) for path in paths]
    if (
        given.pods is None
        and not work.said
        and not any(not one.broker for file in files for one in file.settings)
    ):
        raise DataError(
            "; ".join(
                (
                    *work.left_out,
                    f"{', '.join(map(str, paths))}: no pods and no setting of a consumer group; expected a Deployment or StatefulSet, Helm values "
                    "with replicas, a consumer's settings, or --pods N to plan with the defaults",
                )
            )
        )
    assumed: list[str] = []
    if given.pods is not None:
        work = replace(work, replicas=_between("--pods", given.pods, 1, 500))
    elif found is None or not found.said:
        assumed.append(f"{work.replicas} pods (--pods)")
    if found is None:
        assumed.append(f"a Deployment with {work.words} (a manifest says which)")
    if given.start_s is None:
        assumed.append(
            f"{work.start_ms / 1000:g} s from the creation of a pod until its consumer polls (--start-seconds)"
        )
    if given.stop_s is None:
        assumed.append(f"{work.stop_ms / 1000:g} s from the signal until a process is gone (--stop-seconds)")
    work = replace(
        work,
        start_ms=work.start_ms if given.start_s is None else _ms("--start-seconds", given.start_s),
        stop_ms=work.stop_ms if given.stop_s is None else _ms("--stop-seconds", given.stop_s),
    )
    group = _group(files, work, given, assumed)
    return work, group


def _between(name: str, value: int, least: int, most: int) -> int:
    if not least <= value <= most:
        raise DataError(f"{name} is {value}; expected {least} to {most}")
    return value


def _ms(name: str, seconds: float) -> int:
    if not 0 <= seconds <= 3_600:
        raise DataError(f"{name} is {seconds:g}; expected 0 to 3600 seconds")
    return int(seconds * 1_000)


def _group(files: Sequence[ConfigFile], work: Workload, given: Given, assumed: list[str]) -> Group:
    partitions = given.partitions
    if partitions is None:
        partitions = 4 * work.replicas * work.consumers
        assumed.append(f"{partitions} partitions, four for each consumer (--partitions)")
    rate = 10.0 if given.rate_per_s is None else given.rate_per_s
    if given.rate_per_s is None:
        assumed.append("10 records a second into each partition (--rate)")
    elif not 0 <= rate <= 100_000:
        raise DataError(f"--rate is {rate:g}; expected 0 to 100000 records a second and partition")
    said: list[str] = []
    client, configs = given.client or "java", {}
    chosen = _chosen(files)
    for file, setting in chosen:
        value = _value(setting)
        if setting.key == "group.instance.id" or value is None:
            if setting.key == "group.instance.id":
                configs[setting.key] = "per pod"
                said.append(f"{file.path}:{setting.line}: group.instance.id, one per pod")
            else:
                assumed.append(
                    f"the default of {setting.key}: {file.path}:{setting.line} leaves {setting.text!r} open"
                )
            continue
        configs[setting.key] = value
        said.append(f"{file.path}:{setting.line}: {setting.key}={setting.text}")
    if not chosen:
        assumed.append(
            f"the defaults of {client} {given.broker_version} (no file sets a key of a consumer group)"
        )
    ClientConfig.of({"group.id": "group", **configs}, given.broker_version, client=client)
    broker: dict[str, Any] = {}
    for file in files:
        for setting in file.settings:
            if setting.broker and (value := _value(setting)) is not None:
                broker[setting.key] = value
                said.append(f"{file.path}:{setting.line}: broker: {setting.key}={setting.text}")
    return Group(
        configs,
        broker,
        client,
        _between("--partitions", partitions, 1, MOST_PARTITIONS),
        rate,
        given.broker_version,
        given.kills,
        tuple(said),
        tuple(assumed),
    )


def _chosen(files: Sequence[ConfigFile]) -> list[tuple[ConfigFile, Setting]]:
    """The settings of one consumer: of the one that has most of them."""
    consumers: dict[tuple[str, int, str], list[tuple[ConfigFile, Setting]]] = {}
    for file in files:
        for setting in file.settings:
            if not setting.broker and CLIENT_KEYS[setting.key].acts == "engine":
                consumers.setdefault((file.path, setting.part, setting.whose), []).append((file, setting))
    return max(consumers.values(), key=len, default=[])


def _value(setting: Setting) -> Any:
    """A value as the engine takes it; None of a placeholder."""
    if not setting.known:
        return None
    if setting.text.lower() in {"true", "false"}:
        return setting.text.lower() == "true"
    if re.fullmatch(r"-?[0-9]{1,18}", setting.text):
        return int(setting.text)
    if setting.key == "partition.assignment.strategy":
        return [part.strip() for part in setting.text.split(",")]
    return setting.text.lower() if setting.key == "group.protocol" else setting.text


# --- what will be done -------------------------------------------------------------------------------


def events(work: Workload, given: Given) -> list[Event]:
    """A deploy, a node drain and a scale-out, in their sizes."""
    on_a_node = (
        -(-work.replicas // 3)
        if given.on_a_node is None
        else _between("--pods-per-node", given.on_a_node, 1, 500)
    )
    more = max(1, work.replicas // 2) if given.more is None else _between("--more-pods", given.more, 1, 500)
    of_three = " (a third)" if given.on_a_node is None else ""
    of_half = " (half as many again)" if given.more is None else ""
    return [
        Event("Rolling deploy", f"all {work.replicas} pods, {work.words}", rollout, deploys=True),
        Event(
            "Node drain",
            f"{min(on_a_node, work.replicas)} of {work.replicas} pods at once{of_three}",
            lambda one: drain(one, on_a_node),
        ),
        Event("Scale-out", f"{more} pods more{of_half}", lambda one: scale_out(one, more)),
    ]


def scenario_of(work: Workload, group: Group, event: Event) -> Scenario:
    """The event as a scenario: the group comes together, and the pods go and come as the controller lets them."""
    steps, kills = event.steps(work), group.kills or work.killed
    first = [f"pod-{number}" for number in range(1, work.replicas + 1)]
    later = [step.pod for step in steps if step.do == "start" and step.pod not in first]
    members = [
        MemberSpec(
            name, ("topic",), _configs(group, name), start_ms=0 if pod in first else None, client=group.client
        )
        for pod in [*first, *dict.fromkeys(later)]
        for name in _consumers(pod, work)
    ]
    actions = [
        Action(
            AT_MS + step.at_ms + (min(work.pre_stop_ms, work.grace_ms) if step.do == "stop" else 0),
            "start" if step.do == "start" else "crash" if kills else "close",
            name,
            {}
            if step.do == "start" or kills
            else {"timeout_ms": min(30_000, work.grace_ms - work.pre_stop_ms)},
            work.start_ms // 10 if step.do == "start" and step.at_ms and not work.stable_names else 0,
        )
        for step in steps
        for name in _consumers(step.pod, work)
    ]
    end_ms = AT_MS + max((step.at_ms for step in steps), default=0) + AFTER_MS + 45_000
    scenario = Scenario(
        f"{event.name.lower().replace(' ', '-')}-of-{work.name}"[:60],
        (TopicSpec("topic", group.partitions, group.rate_per_s),),
        tuple(members),
        tuple(sorted(actions, key=lambda one: one.at_ms)),
        end_ms,
        title=event.name,
        kafka_version=group.kafka_version,
        group=work.name,
        broker=group.broker,
    )
    check(scenario)
    return scenario


def _consumers(pod: str, work: Workload) -> list[str]:
    return [pod] if work.consumers == 1 else [f"{pod}-{number}" for number in range(1, work.consumers + 1)]


def _configs(group: Group, name: str) -> dict[str, Any]:
    configs = {"auto.offset.reset": "earliest", **group.configs}
    if "group.instance.id" in configs:
        configs["group.instance.id"] = name
    return configs


class _Strategy(NamedTuple):
    """Another way of a controller to replace pods."""

    name: str
    fields: Mapping[str, Any]
    keys: tuple[str, ...]
    price: str
    static: bool = False


_STRATEGIES = (
    _Strategy(
        "surge 1",
        {"surge": "1", "unavailable": "0"},
        ("maxSurge: 1", "maxUnavailable: 0"),
        "One pod more than usual needs a place on a node.",
    ),
    _Strategy(
        "all at once",
        {"surge": "100%", "unavailable": "0"},
        ("maxSurge: 100%", "maxUnavailable: 0"),
        "For a moment there are twice as many pods; they need a place, and connections.",
    ),
    _Strategy(
        "Recreate",
        {"recreate": True},
        ("strategy.type: Recreate",),
        "Nothing is read between the last old pod and the first new one.",
    ),
    _Strategy(
        "pause 30 s",
        {"min_ready_ms": 30_000},
        ("minReadySeconds: 30",),
        "The deploy takes 30 s longer for each step.",
    ),
    _Strategy(
        "StatefulSet, static members",
        {"kind": "StatefulSet"},
        ("kind: StatefulSet", "group.instance.id=<the pod's name>"),
        "One pod after the other: a long deploy. A pod that is gone for good keeps its partitions unread until its session ends.",
        static=True,
    ),
)


def _strategies(work: Workload, group: Group, event: Event) -> Iterator[Alternative]:
    """Other ways of the controller to replace the same pods; a StatefulSet knows only the pause."""
    for one in _STRATEGIES:
        changed = replace(work, **one.fields)
        if work.stable_names and "min_ready_ms" not in one.fields:
            continue
        if event.steps(changed) != event.steps(work):
            change = partial(_with_strategy, work=changed, group=group, event=event, static=one.static)
            rollout = (
                f"the {changed.kind}'s strategy; "
                + ("each pod its own name" if one.static else "the consumers keep their settings"),
            )
            yield Alternative(one.name, change, one.keys, one.price, rollout, kind="deploy")


def _with_strategy(one: Scenario, work: Workload, group: Group, event: Event, *, static: bool) -> Scenario:
    """The event under another strategy, with the settings that the members have by now."""
    other = scenario_of(work, group, event)
    configs = one.members[0].configs
    named = static or "group.instance.id" in configs
    members = tuple(
        replace(spec, configs={**configs, **({"group.instance.id": spec.name} if named else {})})
        for spec in other.members
    )
    return replace(other, members=members, broker=one.broker, protocol=one.protocol)


# --- in words ----------------------------------------------------------------------------------------


def _head(work: Workload, group: Group) -> Iterator[str]:
    each = "" if work.consumers == 1 else f" with {work.consumers} consumers each"
    yield f"{work.kind} {work.name}: {work.replicas} pods{each}, {group.partitions} partitions, Kafka {group.kafka_version}; {work.words}"
    for sentence in (*work.said, *group.said):
        yield f"  from {sentence}"
    for sentence in group.assumed:
        yield f"  assumed: {sentence}"
    for sentence in work.left_out:
        yield f"  left out: {sentence}"
    if group.kills:
        yield "  a pod that is told to go dies without consumer.close() (--kills)"


def _lines(work: Workload, group: Group, answers: Sequence[tuple[Event, Scenario, Answer]]) -> Iterator[str]:
    """A table for each event; what an alternative asks for is told with the first, which has them all."""
    yield from _head(work, group)
    for number, (event, scenario, answer) in enumerate(answers):
        yield f"\n{event.name}: {event.words}"
        if not number:
            yield from answer_lines(scenario, answer, NOW)
            continue
        yield aligned(answer_cells(answer, NOW))
        if answer.target is not None:
            yield target_line(answer, NOW)


def _as_json(
    work: Workload, group: Group, answers: Sequence[tuple[Event, Scenario, Answer]]
) -> dict[str, Any]:
    return {
        "workload": {
            "kind": work.kind,
            "name": work.name,
            "pods": work.replicas,
            "consumers_per_pod": work.consumers,
        },
        "partitions": group.partitions,
        "from": [*work.said, *group.said],
        "assumed": list(group.assumed),
        "left out": list(work.left_out),
        "events": [
            {"event": event.name, "what": event.words, **as_json(None, scenario, None, answer)}
            for event, scenario, answer in answers
        ],
    }
