"""A broker's configuration, checked as a starting broker checks it (``GroupCoordinatorConfig``, ``GroupConfig``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.configs.broker_keys import BROKER_KEYS, SERVER_CLASSES
from rebalance_kit.model.configs.types import RefusedConfig, Written, find, parse, written
from rebalance_kit.model.versions import PREFERRED, has


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
