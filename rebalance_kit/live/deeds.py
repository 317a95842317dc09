"""A scenario as deeds on a real group: what is done, to whom, when; and what cannot be done for real.

Moments that a scenario draws are drawn from its seed, as in the engine; ``restart``, ``rolling_restart`` and ``scale_to`` are
spelled out as there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from rebalance_kit.live.jars import LiveError
from rebalance_kit.simulation.scenario.expansion import drawn, expand
from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario

STRATEGY = "partition.assignment.strategy"
DEFAULT_RATE = 10.0
CLASSIC = MappingProxyType({"session.timeout.ms": 45_000, "heartbeat.interval.ms": 3_000})
EITHER = MappingProxyType({"auto.offset.reset": "earliest", "max.poll.interval.ms": 300_000})
BROKER = MappingProxyType(
    {
        "group.consumer.session.timeout.ms": 45_000,
        "group.consumer.heartbeat.interval.ms": 5_000,
        "group.consumer.min.session.timeout.ms": 6_000,
        "group.consumer.min.heartbeat.interval.ms": 500,
    }
)
"""Kafka's own defaults, but for the least values, which are lower so that a scenario may choose shorter ones."""


@dataclass(frozen=True, slots=True)
class Deed:
    """One deed at ``at_ms`` of the run; ``do`` is a step's word of a recorded run, ``line`` its order."""

    at_ms: int
    do: str
    member: str | None = None
    line: str = ""


@dataclass(frozen=True, slots=True)
class Start:
    """One start of a member's process: what run.json says of it."""

    member: str
    topics: str
    configs: Mapping[str, Any]
    client: str = "java"
    callback: str = "default"

    def told(self) -> dict[str, Any]:
        """What a step of a recorded run says of it."""
        told: dict[str, Any] = {"member": self.member}
        if self.client != "java":
            told |= {"client": self.client, "callback": self.callback}
        return {**told, "topics": self.topics, "configs": dict(self.configs)}


@dataclass(frozen=True, slots=True)
class Plan:
    """All deeds of a scenario in order of time, each start with what it starts."""

    scenario: Scenario
    deeds: tuple[Deed, ...]
    starts: tuple[tuple[int, Start], ...]
    broker: Mapping[str, Any]


def plan(scenario: Scenario, seed: int | None = None) -> Plan:
    """The deeds of a scenario; raises ``LiveError`` naming what a real group cannot be made to do here."""
    _possible(scenario)
    spelled = expand(drawn(_in_their_words(scenario), seed))
    making = _Making(spelled)
    for spec in spelled.members:
        making.member(spec)
    for action in spelled.actions:
        making.action(action)
    deeds = sorted(making.deeds, key=lambda deed: deed.at_ms)
    starts = sorted(making.starts, key=lambda pair: pair[0])
    broker = {} if spelled.kafka_version.startswith("3.") else {**BROKER}
    return Plan(spelled, tuple(deeds), tuple(starts), {**broker, **spelled.broker})


def _in_their_words(scenario: Scenario) -> Scenario:
    """The scenario with librdkafka's own names of assignors where a member is librdkafka's."""
    native = {spec.name for spec in scenario.members if spec.client == "librdkafka"}
    members = tuple(
        replace(spec, configs=native_configs(spec.configs)) if spec.name in native else spec
        for spec in scenario.members
    )
    return replace(scenario, members=members)


def native_configs(configs: Mapping[str, Any]) -> dict[str, Any]:
    """Configs of a Java consumer as librdkafka spells them: its assignors go by their names."""
    names = {
        "RangeAssignor": "range",
        "RoundRobinAssignor": "roundrobin",
        "CooperativeStickyAssignor": "cooperative-sticky",
    }
    made = dict(configs)
    given = made.get(STRATEGY)
    if given is not None:
        words = [
            word.strip().rsplit(".", 1)[-1]
            for word in (given.split(",") if isinstance(given, str) else given)
        ]
        unknown = [word for word in words if word not in {*names, *names.values()}]
        if unknown:
            raise LiveError(f"librdkafka has no assignor {unknown[0]}; expected {', '.join(names.values())}")
        made[STRATEGY] = ",".join(names.get(word, word) for word in words)
    return made


def _possible(scenario: Scenario) -> None:
    where = f"{scenario.name} cannot be recorded"
    for topic in scenario.topics:
        if topic.rate_per_s != DEFAULT_RATE:
            raise LiveError(
                f"{where}: topic {topic.name} gets {topic.rate_per_s:g} records/s; the recorder writes {DEFAULT_RATE:g} into each partition"
            )
    for spec in scenario.members:
        if spec.processing_ms or spec.commit != "auto":
            raise LiveError(
                f"{where}: member {spec.name} has processing_ms {spec.processing_ms:g} and commit {spec.commit}; "
                "expected 0 and auto: the recorder's members only read"
            )
    if scenario.nodes:
        raise LiveError(
            f"{where}: it names brokers ({', '.join(map(str, scenario.nodes))}); expected one broker"
        )
    for action in scenario.actions:
        if action.do not in _DEEDS and action.do not in _SPELLED:
            raise LiveError(
                f"{where}: {action.do} is not among the deeds of a real group here; expected one of {', '.join(sorted({*_DEEDS, *_SPELLED}))}"
            )


@dataclass(slots=True)
class _Making:
    scenario: Scenario
    deeds: list[Deed] = field(default_factory=list)
    starts: list[tuple[int, Start]] = field(default_factory=list)
    specs: dict[str, MemberSpec] = field(default_factory=dict)

    def member(self, spec: MemberSpec) -> None:
        self.specs[spec.name] = spec
        if spec.start_ms is not None:
            self.start(spec.start_ms, spec)

    def start(self, at_ms: int, spec: MemberSpec) -> None:
        native = spec.client == "librdkafka"
        callback = "right" if native and spec.callback == "default" else spec.callback
        self.deeds.append(Deed(at_ms, "start", spec.name))
        self.starts.append(
            (at_ms, Start(spec.name, _topics(spec), self._configs(spec), spec.client, callback))
        )
        if spec.callback_ms:
            # an order, so that the record says it; it is taken after the first poll(), before any callback
            self.deeds.append(Deed(at_ms, "tell", spec.name, f"slow {spec.callback_ms}"))

    def action(self, action: Action) -> None:
        _DEEDS[action.do](self, action)

    def _configs(self, spec: MemberSpec) -> Mapping[str, Any]:
        configs = {"group.id": self.scenario.group, "client.id": spec.name, **EITHER, **spec.configs}
        if str(configs.get("group.protocol", "classic")).lower() == "classic":
            configs = {**CLASSIC, **configs}
        return configs


def _topics(spec: MemberSpec) -> str:
    if spec.pattern is not None:
        return f"~{spec.pattern}"
    return f"@{spec.server_pattern}" if spec.server_pattern is not None else ",".join(spec.topics)


def _start(making: _Making, action: Action) -> None:
    name, args = str(action.member), action.args
    spec = making.specs[name]
    before = {} if args.get("replace_configs") else spec.configs
    spec = replace(
        spec,
        topics=tuple(args.get("topics", spec.topics)),
        configs={**before, **args.get("configs", {})},
        client=str(args.get("client", spec.client)),
        callback=str(args.get("callback", spec.callback)),
    )
    making.specs[name] = spec
    making.start(action.at_ms, spec)


def _step(do: str) -> Callable[[_Making, Action], None]:
    def made(making: _Making, action: Action) -> None:
        making.deeds.append(Deed(action.at_ms, do, action.member))

    return made


def _tell(
    order: str, of: Callable[[Mapping[str, Any]], object] | None = None
) -> Callable[[_Making, Action], None]:
    def made(making: _Making, action: Action) -> None:
        line = order if of is None else f"{order} {of(action.args)}"
        making.deeds.append(Deed(action.at_ms, "tell", action.member, line))

    return made


def _admin(order: str) -> Callable[[_Making, Action], None]:
    def made(making: _Making, action: Action) -> None:
        args = action.args
        words = [order, str(args["topic"]), *([str(args["partitions"])] if "partitions" in args else [])]
        making.deeds.append(Deed(action.at_ms, "admin", None, " ".join(words)))

    return made


def _remove(making: _Making, action: Action) -> None:
    instance = making.specs[str(action.member)].configs.get("group.instance.id")
    if not instance:
        raise LiveError(
            f"{making.scenario.name} cannot be recorded: remove {action.member}: it has no group.instance.id, by which one member is removed"
        )
    making.deeds.append(
        Deed(action.at_ms, "admin", None, f"remove-instance {making.scenario.group} {instance}")
    )


def _enforce(making: _Making, action: Action) -> None:
    if making.specs[str(action.member)].client == "librdkafka":
        raise LiveError(
            f"{making.scenario.name} cannot be recorded: enforce_rebalance {action.member}: librdkafka has no enforceRebalance(); expected a Java member"
        )
    _tell("enforce")(making, action)


_SPELLED = frozenset({"restart", "reconfigure", "duplicate", "rolling_restart", "scale_to"})
_DEEDS: Mapping[str, Callable[[_Making, Action], None]] = MappingProxyType(
    {
        "start": _start,
        "close": _tell("close"),
        "crash": _step("kill"),
        "freeze": _step("freeze"),
        "thaw": _step("thaw"),
        "stall": _tell("stall", lambda args: args["for_ms"]),
        "slow_callback": _tell("slow", lambda args: args["callback_ms"]),
        "subscribe": _tell("subscribe", lambda args: ",".join(args["topics"])),
        "enforce_rebalance": _enforce,
        "cut_network": _step("cut"),
        "heal_network": _step("heal"),
        "remove": _remove,
        "add_partitions": _admin("partitions"),
        "create_topic": _admin("topic"),
        "delete_topic": _admin("delete-topic"),
        "broker_down": _step("broker-stop"),
        "broker_up": _step("broker-start"),
    }
)
