"""What librdkafka clients make of their configuration where it differs from Java (read and tried at 2.16).

Its own list of keys is longer; the ones here are those that bear on a group.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.configs.client_keys import CLIENT_KEYS
from rebalance_kit.model.configs.types import NUMBER, ConfigKey, RefusedConfig

RANGES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "session.timeout.ms": (1, 3_600_000),
        "heartbeat.interval.ms": (1, 3_600_000),
        "max.poll.interval.ms": (1, 86_400_000),
        "auto.commit.interval.ms": (0, 86_400_000),
        "metadata.max.age.ms": (1, 86_400_000),
        "retry.backoff.ms": (1, 300_000),
    }
)
DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {
        "partition.assignment.strategy": ("range", "roundrobin"),
        "client.id": "rdkafka",
        "auto.offset.reset": "latest",
        "metadata.max.age.ms": 900_000,
    }
)
RESETS: Mapping[str, str] = MappingProxyType(
    {"smallest": "earliest", "beginning": "earliest", "largest": "latest", "end": "latest", "error": "none"}
)
"""librdkafka's own words for ``auto.offset.reset`` -> Java's."""
NAMES = ("range", "roundrobin", "cooperative-sticky")
MISSING = frozenset(
    {
        "default.api.timeout.ms",
        "fetch.max.wait.ms",
        "key.deserializer",
        "value.deserializer",
        "interceptor.classes",
        "exclude.internal.topics",
    }
)
CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "auto.offset.reset": ("smallest", "earliest", "beginning", "largest", "latest", "end", "error"),
        "group.protocol": ("classic", "consumer"),
    }
)
KEYS: Mapping[str, ConfigKey] = MappingProxyType(
    {name: key for name, key in CLIENT_KEYS.items() if name not in MISSING}
)


def check_value(name: str, value: Any, where: str) -> None:
    """Raise ``RefusedConfig`` in librdkafka's words when one value alone is out of range."""
    low_high = RANGES.get(name)
    if low_high is not None:
        if isinstance(value, bool) or not NUMBER.fullmatch(str(value).strip()):
            raise _refused(f'Invalid value for configuration property "{name}"', (name,), where)
        if not low_high[0] <= int(value) <= low_high[1]:
            raise _refused(
                f'Configuration property "{name}" value {value} is outside allowed range {low_high[0]}..{low_high[1]}',
                (name,),
                where,
            )
    elif name in CHOICES and str(value).lower() not in CHOICES[name]:
        raise _refused(f'Invalid value "{value}" for configuration property "{name}"', (name,), where)
    elif name == "enable.auto.commit" and str(value).lower() not in {"true", "false"}:
        raise _refused(f'Expected bool value for "{name}": true or false', (name,), where)


def check_together(given: Mapping[str, Any], values: Mapping[str, Any], where: str) -> None:
    """Raise ``RefusedConfig`` in librdkafka's words when values do not go together."""
    if str(values["group.protocol"]).lower() == "consumer":
        for name in ("session.timeout.ms", "partition.assignment.strategy", "heartbeat.interval.ms"):
            if name in given:
                raise _refused(_not_under_consumer(name), (name,), where)
        return
    if values["max.poll.interval.ms"] < values["session.timeout.ms"]:
        keys = ("max.poll.interval.ms", "session.timeout.ms")
        raise _refused("`max.poll.interval.ms`must be >= `session.timeout.ms`", keys, where)
    key = "partition.assignment.strategy"
    names = values[key]
    for name in names:
        if name not in NAMES:
            raise _refused(f"Unsupported partition.assignment.strategy: {name}", (key,), where)
    if len({name == "cooperative-sticky" for name in names}) > 1:
        raise _refused(
            f"All partition.assignment.strategy ({','.join(names)}) assignors must have the same protocol type, "
            "online migration between assignors with different protocol types is not supported",
            (key,),
            where,
        )


def _not_under_consumer(name: str) -> str:
    if name == "partition.assignment.strategy":
        return f"`{name}` is not supported for `group.protocol=consumer`. Use `group.remote.assignor` instead"
    return f"`{name}` is not supported for `group.protocol=consumer` or share consumer. It is defined broker side"


def _refused(message: str, keys: tuple[str, ...], where: str) -> RefusedConfig:
    return RefusedConfig(message, keys, "_INVALID_ARG", where)
