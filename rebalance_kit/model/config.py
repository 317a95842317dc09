"""A client's and a broker's configuration, checked the way Kafka checks them and refused in Kafka's words.

``ClientConfig.of({"session.timeout.ms": 10_000}, "4.3.1")`` is what a consumer's constructor would accept;
``BrokerConfig.of`` is what a broker would start with. Values keep Kafka's own key names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from rebalance_kit.model import client_keys, key_types
from rebalance_kit.model.broker_keys import BROKER_KEYS, BrokerConfig
from rebalance_kit.model.client_keys import CLASSES, CLIENT_KEYS, REFUSED_BY_CONSUMER, SUPPORTS
from rebalance_kit.model.errors import ConfigError
from rebalance_kit.model.versions import (
    CHANGES,
    DEFECTS,
    OLDEST,
    PREFERRED,
    Change,
    bound,
    has,
    parse_version,
    version_text,
)

__all__ = ["CLIENTS", "BrokerConfig", "ClientConfig", "all_keys", "common_mode"]

CLIENTS = ("java", "librdkafka")
_STRATEGY = "partition.assignment.strategy"
NO_OWN: Mapping[str, tuple[str, ...]] = MappingProxyType({})
_DURATION = re.compile(r"by_duration:P(?=.)([0-9]+D)?(T(?=.)([0-9]+H)?([0-9]+M)?([0-9]+(\.[0-9]+)?S)?)?")


def all_keys() -> Mapping[str, key_types.ConfigKey]:
    """Every config key that the kit knows, client and broker."""
    return {**CLIENT_KEYS, **BROKER_KEYS}


@dataclass(frozen=True, kw_only=True, slots=True)
class ClientConfig:
    """A consumer's configuration; ``values`` holds every key with its value, set or default.

    ``assignors`` are names as they travel in JoinGroup, ``mode`` is EAGER or COOPERATIVE: what the
    client's listener sees, fixed when it is built (``ConsumerCoordinator``). Times are ms.
    """

    client: str
    values: Mapping[str, Any]
    given: frozenset[str]
    protocol: str
    assignors: tuple[str, ...]
    mode: str
    group_id: str | None
    client_id: str
    instance_id: str | None
    rack: str | None
    remote_assignor: str | None
    session_timeout_ms: int
    heartbeat_interval_ms: int
    max_poll_interval_ms: int
    max_poll_records: int
    metadata_max_age_ms: int
    auto_commit: bool
    auto_commit_interval_ms: int
    auto_offset_reset: str

    @classmethod
    def of(
        cls,
        configs: Mapping[str, Any],
        kafka_version: str = PREFERRED,
        where: str = "",
        client: str = "java",
        own: Mapping[str, tuple[str, ...]] = NO_OWN,
    ) -> ClientConfig:
        """Check a consumer's configs as its constructor does; None means not set.

        ``own`` are assignors that somebody wrote himself: name -> the rebalance protocols it supports.
        Raises ``ConfigError``: ``UnknownConfig`` for a key Kafka does not have, ``RefusedConfig`` with
        Kafka's message for a value or a combination it refuses.
        """
        if client not in CLIENTS:
            raise ConfigError(
                f"{where + ': ' if where else ''}client {client!r} is unknown; expected one of {', '.join(CLIENTS)}"
            )
        key = key_types.written(configs)
        if key is None:
            return cls._checked(configs, kafka_version, where, client, own)
        checked = _seen_before(client, kafka_version, key, tuple(own.items()))
        if not checked:  # a refusal is worded anew, for it names the place
            checked.append(cls._checked(configs, kafka_version, where, client, own))
        return checked[0]

    @classmethod
    def _checked(
        cls,
        configs: Mapping[str, Any],
        kafka_version: str,
        where: str,
        client: str,
        own: Mapping[str, tuple[str, ...]],
    ) -> ClientConfig:
        given, values = _read_client(configs, kafka_version, where, client, own)
        if client == "java":
            _check_java(given, values, kafka_version, where)
        else:
            client_keys.check_together(given, values, where)
        protocol = str(values["group.protocol"]).lower()
        names, reset = values[_STRATEGY], str(values["auto.offset.reset"])
        mode = "COOPERATIVE" if protocol == "consumer" else common_mode(names, {**SUPPORTS, **own}, where)
        return cls(
            client=client,
            values=MappingProxyType(values),
            given=frozenset(given),
            protocol=protocol,
            assignors=names,
            mode=mode,
            group_id=values["group.id"],
            client_id=values["client.id"],
            instance_id=values["group.instance.id"],
            rack=values["client.rack"] or None,
            remote_assignor=values["group.remote.assignor"],
            session_timeout_ms=values["session.timeout.ms"],
            heartbeat_interval_ms=values["heartbeat.interval.ms"],
            max_poll_interval_ms=values["max.poll.interval.ms"],
            max_poll_records=values["max.poll.records"],
            metadata_max_age_ms=values["metadata.max.age.ms"] if client == "java" else client_keys.REFRESH_MS,
            auto_commit=values["enable.auto.commit"],
            auto_commit_interval_ms=values["auto.commit.interval.ms"],
            auto_offset_reset=client_keys.RESETS.get(reset.lower(), reset),
        )

    def get(self, key: str) -> Any:
        """The value of a key, set or default; raises ``KeyError`` for an unknown one."""
        return self.values[key]


@lru_cache(maxsize=512)
def _seen_before(
    _client: str, _version: str, _key: key_types.Written, _own: tuple[tuple[str, tuple[str, ...]], ...]
) -> list[ClientConfig]:
    """A place for the one configuration that these words mean: a group's members mostly share theirs."""
    return []


def _read_client(
    configs: Mapping[str, Any], version: str, where: str, client: str, own: Mapping[str, tuple[str, ...]]
) -> tuple[dict[str, Any], dict[str, Any]]:
    keys = CLIENT_KEYS if client == "java" else client_keys.KEYS
    values = dict(_client_defaults(version, client))
    given: dict[str, Any] = {}
    for name, value in configs.items():
        key = key_types.find(
            keys,
            name,
            version,
            "config of a consumer" if client == "java" else "config of a librdkafka consumer",
            where,
        )
        if value is None:
            continue
        if client == "librdkafka":
            client_keys.check_value(name, value, where)
        given[name] = values[name] = key_types.parse(key, value, where)
    if _STRATEGY in given:
        values[_STRATEGY] = _assignors(given[_STRATEGY], version, where, client, own)
    return given, values


@lru_cache(maxsize=64)
def _client_defaults(version: str, client: str) -> Mapping[str, Any]:
    changed = client_keys.DEFAULTS if client == "librdkafka" else {}
    return MappingProxyType(
        {name: changed.get(name, key.default(version)) for name, key in CLIENT_KEYS.items()}
    )


def _assignors(
    listed: tuple[str, ...], version: str, where: str, client: str, own: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    if client == "librdkafka":
        return listed or tuple(client_keys.DEFAULTS[_STRATEGY])
    names = tuple(item if item in own else _assignor_name(item, where) for item in listed)
    for name in names:
        if names.count(name) > 1 and not has("duplicate-assignors-ignored", version):
            both = ", ".join(CLASSES.get(name, name) for _ in range(names.count(name)))
            raise key_types.RefusedConfig(
                f"The assignor name: '{name}' is used in more than one assignor: {both}",
                (_STRATEGY,),
                "KafkaException",
                where,
            )
    return tuple(dict.fromkeys(names))


def _assignor_name(item: str, where: str) -> str:
    """A kit name, a class name or a full class name, as the name in JoinGroup."""
    for name, java_class in CLASSES.items():
        if item in {name, java_class, java_class.rpartition(".")[2]}:
            return name
    known = ", ".join(CLASSES)
    raise key_types.RefusedConfig(
        f"{item} ClassNotFoundException exception occurred; expected one of {known} or their classes, as in {CLASSES['range']}",
        (_STRATEGY,),
        "KafkaException",
        where,
    )


def common_mode(
    names: tuple[str, ...], supports: Mapping[str, tuple[str, ...]] = SUPPORTS, where: str = ""
) -> str:
    """The highest rebalance protocol that all configured assignors support; raises ``RefusedConfig`` when there is none.

    What ``ConsumerCoordinator`` does when it is built. Every assignor that Kafka ships supports EAGER, so
    only one of one's own (``supports``) can be without a common protocol. No assignor at all means EAGER.

    >>> common_mode(("range", "cooperative-sticky")), common_mode(("cooperative-sticky",))
    ('EAGER', 'COOPERATIVE')
    """
    common = [mode for mode in ("COOPERATIVE", "EAGER") if all(mode in supports[name] for name in names)]
    if not common:
        message = (
            f"Specified assignors [{', '.join(names)}] do not have commonly supported rebalance protocol"
        )
        raise key_types.RefusedConfig(message, (_STRATEGY,), "IllegalArgumentException", where)
    return common[0] if names else "EAGER"


def _check_java(given: Mapping[str, Any], values: Mapping[str, Any], version: str, where: str) -> None:
    consumer = values["group.protocol"].lower() == "consumer"
    refused = [name for name in REFUSED_BY_CONSUMER if name in given and given[name] not in {"", ()}]
    if consumer and refused and has("consumer-refuses-classic-configs", version):
        raise key_types.RefusedConfig(
            f"{', '.join(refused)} cannot be set when group.protocol=CONSUMER", refused, where=where
        )
    if not consumer and "group.remote.assignor" in given:
        raise key_types.RefusedConfig(
            "group.remote.assignor cannot be set when group.protocol=CLASSIC",
            ("group.remote.assignor",),
            where=where,
        )
    _check_reset(values["auto.offset.reset"], version, where)
    _check_ids(given, values, version, where)
    if consumer:
        return
    if values["heartbeat.interval.ms"] < 0:
        raise _argument(
            f"Invalid negative timeout {values['heartbeat.interval.ms']}", ("heartbeat.interval.ms",), where
        )
    if values["heartbeat.interval.ms"] >= values["session.timeout.ms"]:
        raise _argument(
            "Heartbeat must be set lower than the session timeout; got heartbeat.interval.ms="
            f"{values['heartbeat.interval.ms']} and session.timeout.ms={values['session.timeout.ms']}",
            [key for key in ("heartbeat.interval.ms", "session.timeout.ms") if key in given],
            where,
        )


def _argument(message: str, keys: tuple[str, ...] | list[str], where: str) -> key_types.RefusedConfig:
    return key_types.RefusedConfig(message, keys, "IllegalArgumentException", where)


def _check_reset(reset: str, version: str, where: str) -> None:
    if reset in {"latest", "earliest", "none"}:
        return
    if not has("reset-by-duration", version):
        raise key_types.invalid(
            "auto.offset.reset", reset, "String must be one of: latest, earliest, none", where
        )
    if not _DURATION.fullmatch(reset):
        raise key_types.invalid(
            "auto.offset.reset",
            reset,
            f"Invalid value `{reset}` for configuration auto.offset.reset. The value must be either 'earliest', 'latest', 'none' "
            "or of the format 'by_duration:<PnDTnHnMn.nS.>'.",
            where,
        )


def _check_ids(given: Mapping[str, Any], values: Mapping[str, Any], version: str, where: str) -> None:
    instance = given.get("group.instance.id")
    if instance == "":
        raise key_types.invalid("group.instance.id", instance, "String must be non-empty", where)
    why = None if instance is None else key_types.illegal_name(instance)
    if why is not None:
        raise key_types.RefusedConfig(
            f"Group instance id is invalid: {why}",
            ("group.instance.id",),
            "InvalidConfigurationException",
            where,
        )
    if values["group.id"] is None and given.get("enable.auto.commit") is True:
        message = "enable.auto.commit cannot be set to true when default group id (null) is used."
        raise key_types.RefusedConfig(
            message, ("enable.auto.commit", "group.id"), "InvalidConfigurationException", where
        )
    if values["group.id"] == "" and has("empty-group-id-refused", version):
        message = "The configured group.id should not be an empty string or whitespace."
        raise key_types.RefusedConfig(message, ("group.id",), "InvalidGroupIdException", where)


Row = tuple[tuple[int, int], str, str, str, str]
"""When it begins and ends, whether the kit acts on it, what it is, and where to read it."""


def version_table(since: str | None = None) -> str:
    """Every change, default and defect with its versions and source, oldest first; with ``since`` those of that version and later.

    The second column says ``acts`` where the kit branches at that version, ``documentation`` where it only tells of it.
    """
    if since is not None:
        parse_version(since)
    rows = [*_rows(CHANGES, ""), *_rows(DEFECTS, "defect: "), *_defaults()]
    wanted_rows = sorted(row for row in rows if since is None or row[0] >= bound(since))
    lines = [
        (f"{version_text(first)}{f' to {until}' if until else ''}", column, text, source)
        for first, until, column, text, source in wanted_rows
    ]
    wide = max((len(when) for when, *_ in lines), default=0)
    return "\n".join(f"{when:{wide}}  {column:13}  {text} ({source})" for when, column, text, source in lines)


def _rows(changes: Mapping[str, Change], mark: str) -> list[Row]:
    return [
        (
            bound(change.since),
            change.until or "",
            "acts" if change.acts else "documentation",
            f"{mark}{change.text}",
            change.source,
        )
        for change in changes.values()
    ]


def _defaults() -> list[Row]:
    """Defaults that a modelled version changed, from the config keys themselves."""
    changed = []
    for key in all_keys().values():
        for (_, before), (since, after) in pairwise(key.history):
            if bound(since) >= OLDEST:
                text = f"default of {key.name}: {before} became {after}"
                changed.append(
                    (bound(since), "", "acts", text, key.source or "ConsumerConfig, GroupCoordinatorConfig")
                )
    return changed
