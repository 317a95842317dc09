"""A broker's configuration, checked as a starting broker checks it (``GroupCoordinatorConfig``, ``GroupConfig``).

Its keys and the group's are the two tables at the top.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.key_types import (
    INT_MAX,
    Acts,
    ConfigKey,
    History,
    Kind,
    RefusedConfig,
    Written,
    find,
    parse,
    written,
)
from rebalance_kit.model.versions import PREFERRED, has

SERVER_CLASSES: Mapping[str, str] = MappingProxyType(
    {
        "uniform": "org.apache.kafka.coordinator.group.assignor.UniformAssignor",
        "range": "org.apache.kafka.coordinator.group.assignor.RangeAssignor",
    }
)
"""Server assignors: name -> class."""
POLICIES = ("DISABLED", "DOWNGRADE", "UPGRADE", "BIDIRECTIONAL")
PROTOCOL_NAMES = ("consumer", "classic", "share", "streams")


def _broker(
    name: str,
    default: object,
    text: str,
    *,
    kind: Kind = "INT",
    since: str = "3.7",
    until: str | None = None,
    least: int | None = 1,
    changed: History = (),
    choices: tuple[str, ...] = (),
    any_case: bool = False,
    source: str = "",
    acts: Acts = "engine",
) -> ConfigKey:
    history = ((since, default), *changed)
    return ConfigKey(
        name,
        kind,
        history,
        text,
        since=since,
        until=until,
        least=least,
        choices=choices,
        any_case=any_case,
        scope="broker",
        source=source,
        acts=acts,
    )


_KEYS = (
    # classic groups
    _broker(
        "group.initial.rebalance.delay.ms",
        3_000,
        "How long the first rebalance of an empty classic group waits for more members.",
        since="0.11",
        least=None,
        source="KIP-134",
    ),
    _broker(
        "group.min.session.timeout.ms",
        6_000,
        "Least session.timeout.ms a classic member may ask for.",
        since="0.9",
        least=None,
    ),
    _broker(
        "group.max.session.timeout.ms",
        30_000,
        "Greatest session.timeout.ms a classic member may ask for.",
        since="0.9",
        least=None,
        changed=(("0.10.1", 300_000), ("2.3", 1_800_000)),
    ),
    _broker("group.max.size", INT_MAX, "Most members of a classic group.", since="2.2", source="KIP-389"),
    # consumer groups
    _broker(
        "group.consumer.session.timeout.ms",
        45_000,
        "Without a heartbeat for this long a member of a consumer group is removed.",
        source="KIP-848",
    ),
    _broker(
        "group.consumer.min.session.timeout.ms",
        45_000,
        "Least session timeout a broker or a group may set for consumer groups.",
        source="KIP-848",
        acts="bounds",
    ),
    _broker(
        "group.consumer.max.session.timeout.ms",
        60_000,
        "Greatest session timeout a broker or a group may set for consumer groups.",
        source="KIP-848",
        acts="bounds",
    ),
    _broker(
        "group.consumer.heartbeat.interval.ms",
        5_000,
        "Heartbeat interval that the broker tells members of consumer groups.",
        source="KIP-848",
    ),
    _broker(
        "group.consumer.min.heartbeat.interval.ms",
        5_000,
        "Least heartbeat interval for consumer groups.",
        source="KIP-848",
        acts="bounds",
    ),
    _broker(
        "group.consumer.max.heartbeat.interval.ms",
        15_000,
        "Greatest heartbeat interval for consumer groups.",
        source="KIP-848",
        acts="bounds",
    ),
    _broker("group.consumer.max.size", INT_MAX, "Most members of a consumer group.", source="KIP-848"),
    _broker(
        "group.consumer.assignors",
        ("uniform", "range"),
        "Server-side assignors, the default one first: uniform, range, or class names.",
        kind="LIST",
        least=None,
        source="KIP-848",
    ),
    _broker(
        "group.consumer.migration.policy",
        "disabled",
        "Which conversions of a non-empty group are allowed: upgrade (classic to consumer), downgrade (back), both or neither.",
        kind="STRING",
        since="3.8",
        least=None,
        changed=(("4.0", "bidirectional"),),
        choices=POLICIES,
        any_case=True,
        source="KIP-848",
    ),
    _broker(
        "group.consumer.assignment.interval.ms",
        1_000,
        "Least time between two target assignments of a consumer group.",
        since="4.3",
        least=0,
        source="KIP-1263",
    ),
    _broker(
        "group.consumer.min.assignment.interval.ms",
        0,
        "Least assignment interval for consumer groups.",
        since="4.3",
        least=0,
        source="KIP-1263",
        acts="bounds",
    ),
    _broker(
        "group.consumer.max.assignment.interval.ms",
        15_000,
        "Greatest assignment interval for consumer groups.",
        since="4.3",
        least=0,
        source="KIP-1263",
        acts="bounds",
    ),
    _broker(
        "group.consumer.assignor.offload.enable",
        True,
        "Meant to compute targets off the coordinator's thread; nothing reads it yet.",
        kind="BOOLEAN",
        since="4.3",
        least=None,
        source="KIP-1263",
        acts="nothing",
    ),
    _broker(
        "group.consumer.regex.refresh.interval.ms",
        600_000,
        "How often patterns are resolved again although no topic was created (internal).",
        since="4.1",
        least=10_000,
        source="KIP-848",
    ),
    # coordinator
    _broker(
        "group.coordinator.rebalance.protocols",
        ("classic",),
        "Rebalance protocols that the broker offers.",
        kind="LIST",
        least=None,
        changed=(("4.0", ("classic", "consumer")), ("4.1", ("classic", "consumer", "streams"))),
        choices=PROTOCOL_NAMES,
        source="KIP-848; deprecated in 4.3",
        acts="bounds",
    ),
    _broker(
        "group.coordinator.new.enable",
        False,
        "Use the Java coordinator (the only one since 4.0).",
        kind="BOOLEAN",
        until="4.0",
        least=None,
        acts="nothing",
    ),
    _broker(
        "group.coordinator.threads",
        1,
        "Threads that run coordinators; each group belongs to one.",
        changed=(("4.0", 4),),
        acts="nothing",
    ),
    _broker(
        "group.coordinator.background.threads",
        2,
        "Threads for work such as resolving patterns.",
        since="4.3",
        acts="nothing",
    ),
    _broker(
        "group.coordinator.append.linger.ms",
        10,
        "How long writes of the coordinator are gathered; -1 adapts to the load.",
        since="3.8",
        least=-1,
        changed=(("4.0", 5), ("4.2", -1)),
        acts="nothing",
    ),
    # offsets
    _broker(
        "offsets.retention.minutes",
        1_440,
        "How long offsets of a group without members are kept.",
        since="0.9",
        changed=(("2.0", 10_080),),
        source="KIP-186",
        acts="nothing",
    ),
    _broker(
        "offsets.retention.check.interval.ms",
        600_000,
        "How often expired offsets are looked for.",
        kind="LONG",
        since="0.9",
        acts="nothing",
    ),
    _broker(
        "offsets.topic.num.partitions",
        50,
        "Partitions of __consumer_offsets; the leader of abs(hash(group.id)) modulo this many is the group's coordinator.",
        since="0.9",
        acts="nothing",
    ),
    _broker(
        "offsets.topic.replication.factor",
        3,
        "Copies of __consumer_offsets.",
        kind="SHORT",
        since="0.9",
        acts="nothing",
    ),
    _broker(
        "offsets.topic.segment.bytes",
        104_857_600,
        "Segment size of __consumer_offsets.",
        since="0.9",
        acts="nothing",
    ),
    _broker(
        "offsets.load.buffer.size",
        5_242_880,
        "Batch size when a coordinator loads its groups.",
        since="0.9",
        acts="nothing",
    ),
    _broker(
        "offsets.commit.timeout.ms",
        5_000,
        "How long a commit may wait for its replicas.",
        since="0.9",
        acts="nothing",
    ),
    _broker(
        "offset.metadata.max.bytes",
        4_096,
        "Longest metadata of a commit.",
        since="0.9",
        least=None,
        acts="nothing",
    ),
)


def _group(
    name: str, text: str, least: int | None, since: str, kind: Kind = "INT", acts: Acts = "engine"
) -> ConfigKey:
    return ConfigKey(
        name,
        kind,
        ((since, None),),
        text,
        since=since,
        least=least,
        scope="group",
        source="KIP-848, KIP-1263",
        acts=acts,
    )


_GROUP_KEYS = (
    _group(
        "consumer.session.timeout.ms", "A group's own session timeout (AlterConfigs on the group).", 1, "4.0"
    ),
    _group("consumer.heartbeat.interval.ms", "A group's own heartbeat interval.", 1, "4.0"),
    _group("consumer.assignment.interval.ms", "A group's own least time between two targets.", 0, "4.3"),
    _group(
        "consumer.assignor.offload.enable",
        "A group's own switch for computing targets elsewhere; nothing reads it yet.",
        None,
        "4.3",
        "BOOLEAN",
        "nothing",
    ),
)

BROKER_KEYS: Mapping[str, ConfigKey] = MappingProxyType({key.name: key for key in (*_KEYS, *_GROUP_KEYS)})
"""Broker keys, and the group-level ones that override them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BrokerConfig:
    """A broker's configuration as far as groups go; group-level overrides are already applied. Times are ms."""

    values: Mapping[str, Any]
    given: frozenset[str]
    initial_rebalance_delay_ms: int
    min_session_timeout_ms: int
    max_session_timeout_ms: int
    max_size: int
    consumer_session_timeout_ms: int
    consumer_heartbeat_interval_ms: int
    consumer_assignment_interval_ms: int
    consumer_assignors: tuple[str, ...]
    consumer_max_size: int
    migration_policy: str
    regex_refresh_interval_ms: int
    rebalance_protocols: tuple[str, ...]

    @classmethod
    def of(
        cls, configs: Mapping[str, Any], kafka_version: str = PREFERRED, where: str = "broker"
    ) -> BrokerConfig:
        """Check a broker's configs as a starting broker does (``GroupCoordinatorConfig``); None means not set.

        Group-level keys (``consumer.session.timeout.ms`` …) override the broker's for the scenario's group.
        Raises ``ConfigError`` with the words with which the broker would refuse to start.
        """
        key = written(configs)
        if key is None:
            return cls._checked(configs, kafka_version, where)
        checked = _seen_before(kafka_version, key)
        if not checked:  # a refusal is worded anew, for it names the place
            checked.append(cls._checked(configs, kafka_version, where))
        return checked[0]

    @classmethod
    def _checked(cls, configs: Mapping[str, Any], kafka_version: str, where: str) -> BrokerConfig:
        values = dict(_broker_defaults(kafka_version))
        given: set[str] = set()
        for name, value in configs.items():
            key = find(BROKER_KEYS, name, kafka_version, "config of a broker or group", where)
            if value is not None:
                given.add(name)
                values[name] = parse(key, value, where)
        _check_broker(values, where)
        values["group.consumer.assignors"] = tuple(
            _server_name(item, where) for item in dict.fromkeys(values["group.consumer.assignors"])
        )
        _check_group(values, where)
        g = "group.consumer."
        return cls(
            values=MappingProxyType(values),
            given=frozenset(given),
            initial_rebalance_delay_ms=max(values["group.initial.rebalance.delay.ms"], 0),
            min_session_timeout_ms=values["group.min.session.timeout.ms"],
            max_session_timeout_ms=values["group.max.session.timeout.ms"],
            max_size=values["group.max.size"],
            consumer_session_timeout_ms=_overridden(values, "session.timeout.ms"),
            consumer_heartbeat_interval_ms=_overridden(values, "heartbeat.interval.ms"),
            consumer_assignment_interval_ms=_overridden(values, "assignment.interval.ms")
            if has("assignment-interval", kafka_version)
            else 0,
            consumer_assignors=values[g + "assignors"],
            consumer_max_size=values[g + "max.size"],
            migration_policy=values[g + "migration.policy"].lower(),
            regex_refresh_interval_ms=values[g + "regex.refresh.interval.ms"],
            rebalance_protocols=values["group.coordinator.rebalance.protocols"],
        )

    def get(self, key: str) -> Any:
        """The value of a key, set or default; raises ``KeyError`` for an unknown one."""
        return self.values[key]

    def allows_session(self, session_timeout_ms: int) -> bool:
        """Whether a classic member may join with that session timeout (else INVALID_SESSION_TIMEOUT)."""
        return self.min_session_timeout_ms <= session_timeout_ms <= self.max_session_timeout_ms


@lru_cache(maxsize=64)
def _broker_defaults(version: str) -> Mapping[str, Any]:
    return MappingProxyType({name: key.default(version) for name, key in BROKER_KEYS.items()})


@lru_cache(maxsize=512)
def _seen_before(_version: str, _key: Written) -> list[BrokerConfig]:
    return []


def _overridden(values: Mapping[str, Any], key: str) -> int:
    own = values[f"consumer.{key}"]
    return int(values[f"group.consumer.{key}"] if own is None else own)


def _server_name(item: str, where: str) -> str:
    for name, java_class in SERVER_CLASSES.items():
        if item in {name, java_class}:
            return name
    expected = ", ".join((*SERVER_CLASSES, *SERVER_CLASSES.values()))
    raise RefusedConfig(
        f"Class {item} cannot be found; expected one of {expected}",
        ("group.consumer.assignors",),
        "KafkaException",
        where,
    )


def _check_broker(values: Mapping[str, Any], where: str) -> None:
    for key in ("heartbeat.interval.ms", "session.timeout.ms", "assignment.interval.ms"):
        own, least, most = f"group.consumer.{key}", f"group.consumer.min.{key}", f"group.consumer.max.{key}"
        _require(values, most, least, where)
        _require(values, own, least, where)
        if values[own] > values[most]:
            raise refuse_argument(
                f"{own} must be less than or equal to {most}; got {values[own]} and {values[most]}",
                (own, most),
                where,
            )
    beat, session = "group.consumer.heartbeat.interval.ms", "group.consumer.session.timeout.ms"
    if values[beat] >= values[session]:
        raise refuse_argument(
            f"{beat} must be less than {session}; got {values[beat]} and {values[session]}",
            (beat, session),
            where,
        )
    if not values["group.consumer.assignors"]:
        message = "Configuration 'group.consumer.assignors' must not be empty. Valid values include: any non-empty value"
        raise RefusedConfig(message, ("group.consumer.assignors",), where=where)
    if "classic" not in values["group.coordinator.rebalance.protocols"]:
        raise RefusedConfig(
            "Disabling the 'classic' protocol is not supported.",
            ("group.coordinator.rebalance.protocols",),
            where=where,
        )


def refuse_argument(message: str, keys: Iterable[str], where: str) -> RefusedConfig:
    """Kafka's ``IllegalArgumentException``."""
    return RefusedConfig(message, keys, "IllegalArgumentException", where)


def _require(values: Mapping[str, Any], greater: str, smaller: str, where: str) -> None:
    if values[greater] < values[smaller]:
        message = f"{greater} must be greater than or equal to {smaller}; got {values[greater]} and {values[smaller]}"
        raise refuse_argument(message, (greater, smaller), where)


def _check_group(values: Mapping[str, Any], where: str) -> None:
    """Group-level overrides (``GroupConfig.validateValues``)."""
    for key in ("heartbeat.interval.ms", "session.timeout.ms", "assignment.interval.ms"):
        own, least, most = f"consumer.{key}", f"group.consumer.min.{key}", f"group.consumer.max.{key}"
        value = values[own]
        if value is not None and value < values[least]:
            raise _group_refused(
                f"{own} must be greater than or equal to {least}; got {value} and {values[least]}", own, where
            )
        if value is not None and value > values[most]:
            raise _group_refused(
                f"{own} must be less than or equal to {most}; got {value} and {values[most]}", own, where
            )
    session, beat = _overridden(values, "session.timeout.ms"), _overridden(values, "heartbeat.interval.ms")
    if session <= beat:
        raise _group_refused(
            f"consumer.session.timeout.ms must be greater than consumer.heartbeat.interval.ms; got {session} and {beat}",
            "consumer.session.timeout.ms",
            where,
        )


def _group_refused(message: str, key: str, where: str) -> RefusedConfig:
    return RefusedConfig(message, (key,), "InvalidConfigurationException", where)
