"""Settings of the lab: Kafka's configs by their real names, and the application's behaviour.

Each field knows its default in the scenario's Kafka version, the allowed values and one line of help, all
taken from ``model.config``; a value that Kafka refuses raises with Kafka's own message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.config import BrokerConfig, ClientConfig, all_keys
from rebalance_kit.model.errors import ConfigError
from rebalance_kit.model.key_types import RefusedConfig
from rebalance_kit.model.versions import parse_version
from rebalance_kit.simulation.scenario.checks import COMMITS
from rebalance_kit.simulation.scenario.scenario import PROTOCOLS, MemberSpec, Scenario
from rebalance_kit.view.lab.stepping.group_size import changed_by, is_size, size_fields

CLIENT = "each consumer"
BROKER = "the broker"
KIT = "the application"


@dataclass(frozen=True, slots=True)
class Plain:
    """A field that is no config of Kafka: where its value stands, its default, its help, how text is read."""

    read: Callable[[Scenario], Any]
    write: Callable[[Scenario, Any], Scenario]
    default: Any
    allowed: str
    help: str
    parse: Callable[[str], Any]


def _members(key: str) -> tuple[Callable[[Scenario], Any], Callable[[Scenario, Any], Scenario]]:
    def read(scenario: Scenario) -> Any:
        return _common([getattr(spec, key) for spec in scenario.members])

    def write(scenario: Scenario, value: Any) -> Scenario:
        return replace(scenario, members=tuple(replace(spec, **{key: value}) for spec in scenario.members))

    return read, write


def _number(key: str, most: float) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value <= most:
            raise RefusedConfig(f"got {text!r}; expected a number from 0 to {most:g}", (key,), "ValueError")
        return int(value) if value == int(value) else value

    return parse


def _commit(text: str) -> str:
    if text not in COMMITS:
        raise RefusedConfig(f"got {text!r}; expected one of {', '.join(COMMITS)}", ("commit",), "ValueError")
    return text


def _version(text: str) -> str:
    try:
        parse_version(text)
    except ConfigError as error:
        raise RefusedConfig(str(error), ("kafka_version",), "ValueError") from error
    return text


def _rate(scenario: Scenario) -> Any:
    return _common([topic.rate_per_s for topic in scenario.topics])


def _set_rate(scenario: Scenario, value: Any) -> Scenario:
    return replace(scenario, topics=tuple(replace(topic, rate_per_s=value) for topic in scenario.topics))


PLAIN: Mapping[str, Plain] = MappingProxyType(
    {
        "rate_per_s": Plain(
            _rate,
            _set_rate,
            10.0,
            "number, 0 to 1000000",
            "Records a second that are produced into each partition.",
            _number("rate_per_s", 1_000_000),
        ),
        "processing_ms": Plain(
            *_members("processing_ms"),
            0.0,
            "number, 0 to 604800000",
            "What the application needs for one record, in milliseconds.",
            _number("processing_ms", 604_800_000),
        ),
        "callback_ms": Plain(
            *_members("callback_ms"),
            0,
            "number, 0 to 604800000",
            "How long each rebalance listener callback takes, in milliseconds.",
            _number("callback_ms", 604_800_000),
        ),
        "commit": Plain(
            *_members("commit"),
            "auto",
            f"one of {', '.join(COMMITS)}",
            "When the application commits what it has read.",
            _commit,
        ),
        "kafka_version": Plain(
            lambda scenario: scenario.kafka_version,
            lambda scenario, value: replace(scenario, kafka_version=value),
            "4.3.1",
            "a Kafka release, as 3.9.0",
            "The release whose rules and defaults clients and brokers follow.",
            _version,
        ),
    }
)
GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Clocks": (
            "session.timeout.ms",
            "heartbeat.interval.ms",
            "max.poll.interval.ms",
            "metadata.max.age.ms",
            "group.consumer.session.timeout.ms",
            "group.consumer.heartbeat.interval.ms",
            "group.initial.rebalance.delay.ms",
        ),
        "Identity": ("group.instance.id",),
        "Commits": ("commit", "enable.auto.commit", "auto.commit.interval.ms", "auto.offset.reset"),
        "Workload": ("rate_per_s", "processing_ms", "callback_ms", "max.poll.records"),
        "Version and broker": (
            "kafka_version",
            "group.min.session.timeout.ms",
            "group.max.session.timeout.ms",
            "group.max.size",
        ),
    }
)
PLAINLY: Mapping[str, str] = MappingProxyType(
    {
        "INT": "a whole number",
        "LONG": "a whole number",
        "SHORT": "a whole number",
        "DOUBLE": "a number",
        "STRING": "a text",
        "LIST": "names with commas",
        "BOOLEAN": "true or false",
        "CLASS": "the name of a class",
        "PASSWORD": "a text",
    }
)
"""Kafka's types where it names no range."""
OWN_NAME = "own name"
"""The value of ``group.instance.id`` that makes every member static under its own name."""


def fields(scenario: Scenario, lesson: Scenario | None = None) -> list[dict[str, Any]]:
    """All fields by group with value, default, allowed values and help, as JSON values.

    ``lesson`` is the scenario before anything was set: ``changed`` is "lesson" for its own values, "here" for others
    than it has, and empty for Kafka's defaults.
    """
    lesson = lesson or scenario
    rows: list[dict[str, Any]] = [{"group": "Size", "fields": size_fields(scenario, lesson)}]
    for group, names in GROUPS.items():
        shown = [
            _field(scenario, name, lesson)
            for name in names
            if name in PLAIN or all_keys()[name].exists(scenario.kafka_version)
        ]
        rows.append({"group": group, "fields": shown})
    return rows


def _field(scenario: Scenario, name: str, lesson: Scenario) -> dict[str, Any]:
    shown, default = _shown(scenario, name), _default(scenario, name)
    same = _value(scenario, name) == _value(lesson, name)
    if name in PLAIN:
        allowed, words, where = PLAIN[name].allowed, PLAIN[name].help, KIT
    else:
        key = all_keys()[name]
        allowed, words = key.allowed(), key.help
        where = CLIENT if key.scope == "client" else BROKER
        if name == "group.instance.id":
            allowed = f"empty, or {OWN_NAME!r}: each member its own"
    kind, comma, rest = allowed.partition(", ")
    allowed = f"{PLAINLY.get(kind, kind)}{comma}{rest}"
    return {
        "name": name,
        "value": _text(shown),
        "default": _text(default),
        "allowed": allowed,
        "help": words,
        "where": where,
        "changed": changed_by(shown, shown if same else _shown(lesson, name), default),
    }


def _default(scenario: Scenario, name: str) -> Any:
    return PLAIN[name].default if name in PLAIN else all_keys()[name].default(scenario.kafka_version)


def _shown(scenario: Scenario, name: str) -> Any:
    """The value that holds, set or default."""
    value = _value(scenario, name)
    return _default(scenario, name) if value is None else value


def _value(scenario: Scenario, name: str) -> Any:
    """The value that is set; None where none is."""
    if name in PLAIN:
        return PLAIN[name].read(scenario)
    if all_keys()[name].scope != "client":
        return scenario.broker.get(name)
    if name == "group.instance.id":
        return OWN_NAME if any(name in spec.configs for spec in scenario.members) else None
    return _common([spec.configs.get(name) for spec in scenario.members])


def _common(values: list[Any]) -> Any:
    """The value that all share; where they differ, all of them in words."""
    known = list(dict.fromkeys(values))
    return (
        known[0]
        if len(known) == 1
        else " / ".join("default" if value is None else str(value) for value in known) or None
    )


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    return ", ".join(value) if isinstance(value, tuple | list) else str(value)


def apply_settings(scenario: Scenario, settings: Mapping[str, Any]) -> Scenario:
    """The scenario with other settings for all members; an empty text gives the default back.

    Sizes of the group are none of them (``group_size.with_sizes``). Raises ``RefusedConfig`` with Kafka's own message and the keys at fault.
    """
    made = scenario
    for name, value in settings.items():
        if is_size(name):
            continue
        made = _set(made, name, str(value).strip())
    _check(made)
    return made


def _set(scenario: Scenario, name: str, text: str) -> Scenario:
    if name in PLAIN:
        setting = PLAIN[name]
        return setting.write(scenario, setting.default if text == "" else setting.parse(text))
    key = all_keys().get(name)
    if key is None or not any(name in names for names in GROUPS.values()):
        raise RefusedConfig(f"{name!r} cannot be set in the lab", (name,), "ValueError")
    if key.scope != "client":
        broker = {known: value for known, value in scenario.broker.items() if known != name}
        return replace(scenario, broker=broker if text == "" else {**broker, name: _typed(text)})
    if text and text != OWN_NAME:
        _alone(scenario, name, text)
    return replace(scenario, members=tuple(_configured(spec, name, text) for spec in scenario.members))


def _alone(scenario: Scenario, name: str, text: str) -> None:
    """Read the answer of a consumer of the chosen protocol to this one config (``ConsumerConfig``)."""
    chosen = PROTOCOLS.get(scenario.protocol or "", {}).get("group.protocol", "classic")
    ClientConfig.of(
        {"group.id": scenario.group, "group.protocol": chosen, name: _typed(text)}, scenario.kafka_version
    )


def _configured(spec: MemberSpec, name: str, text: str) -> MemberSpec:
    configs = {known: value for known, value in spec.configs.items() if known != name}
    if text:
        configs[name] = spec.name if text == OWN_NAME else _typed(text)
    return replace(spec, configs=configs)


_NUMBER = re.compile(r"-?[0-9]{1,40}")


def _typed(text: str) -> Any:
    return int(text) if _NUMBER.fullmatch(text) else text


def _check(scenario: Scenario) -> None:
    for spec in scenario.members:
        ClientConfig.of(
            {"group.id": scenario.group, **spec.configs}, scenario.kafka_version, spec.name, spec.client
        )
    BrokerConfig.of(scenario.broker, scenario.kafka_version)


def known_name(name: str) -> str:
    """A setting's real name, also from one written with ``_``; as it is where none fits.

    >>> known_name("session_timeout_ms"), known_name("processing_ms")
    ('session.timeout.ms', 'processing_ms')
    """
    return next(
        (each for names in GROUPS.values() for each in names if name in {each, each.replace(".", "_")}), name
    )


def settings_words(settings: Mapping[str, Any]) -> str:
    """Changed settings in a few words.

    >>> settings_words({"session.timeout.ms": "10000", "commit": ""})
    'session.timeout.ms = 10000, commit = default'
    """
    return ", ".join(f"{name} = {value if str(value) else 'default'}" for name, value in settings.items())
