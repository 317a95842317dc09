"""How a value becomes a typed config value: ``org.apache.kafka.common.config.ConfigDef``, in its own words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from rebalance_kit.model.errors import ConfigError, nearest
from rebalance_kit.model.versions import at_least

Acts = Literal["engine", "bounds", "logs", "nothing"]
ACTS: Mapping[Acts, str] = MappingProxyType(
    {
        "engine": "",
        "bounds": "In the kit it only decides which values of other keys are accepted.",
        "logs": "In the kit it only shows in the log lines that are written of a run.",
        "nothing": "The kit accepts and checks it; the engine does not act on it.",
    }
)
"""What a key does here, in words for whoever asks about it; nothing to say of one that changes what happens."""
Kind = Literal["INT", "LONG", "SHORT", "BOOLEAN", "STRING", "LIST", "DOUBLE"]
History = tuple[tuple[str, Any], ...]
BITS: Mapping[str, int] = MappingProxyType({"SHORT": 16, "INT": 32, "LONG": 64})
NUMBER = re.compile(r"[+-]?[0-9]+")
_NAME = re.compile(r"[a-zA-Z0-9._-]+")
INT_MAX = 2**31 - 1
Written = tuple[tuple[str, type, Any], ...]


def written(configs: Mapping[str, Any]) -> Written | None:
    """What was written, in a form that can be remembered; None where a value cannot (a list).

    Types count, for Kafka takes ``true`` where it refuses 1.
    """
    key = tuple((name, type(value), value) for name, value in configs.items())
    try:
        hash(key)
    except TypeError:
        return None
    return key


class RefusedConfig(ConfigError):
    """Kafka refuses this configuration: ``keys`` are the ones at fault, ``exception`` is Kafka's class.

    ``path`` says where in a scenario the configuration stands, once somebody knows.
    """

    path: tuple[str | int, ...] = ()

    def __init__(
        self, message: str, keys: Iterable[str] = (), exception: str = "ConfigException", where: str = ""
    ) -> None:
        self.keys = tuple(keys)
        self.exception = exception
        self.kafka_message = message
        super().__init__(f"{where + ': ' if where else ''}{message} ({exception})")


class UnknownConfig(ConfigError):
    """A key that Kafka does not have, or not in this version; ``keys`` holds it, ``path`` is as above."""

    path: tuple[str | int, ...] = ()

    def __init__(self, message: str, key: str, where: str = "") -> None:
        self.keys = (key,)
        super().__init__(f"{where + ': ' if where else ''}{message}")


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """One configuration key.

    ``history`` holds (first Kafka version, default) pairs, oldest first; ``least`` and ``most`` are
    inclusive; ``choices`` the only strings allowed, in any case where ``any_case``. ``since`` and ``until``
    (exclusive) are versions; ``scope`` is client, broker or group. ``acts`` says what the key does in this
    kit (``ACTS``): a key of Kafka's is accepted and checked even where the engine does not act on it.
    """

    name: str
    kind: Kind
    history: History
    help: str
    since: str = "0.9"
    until: str | None = None
    least: int | None = None
    most: int | None = None
    choices: tuple[str, ...] = ()
    any_case: bool = False
    scope: str = "client"
    acts: Acts = "engine"
    source: str = ""

    def default(self, version: str) -> Any:
        """The default of that Kafka version."""
        value = self.history[0][1]
        for since, changed in self.history[1:]:
            if at_least(since, version):
                value = changed
        return value

    def exists(self, version: str) -> bool:
        """Whether that Kafka version has the key."""
        return at_least(self.since, version) and not (
            self.until is not None and at_least(self.until, version)
        )

    def allowed(self) -> str:
        """The allowed values in words.

        >>> ConfigKey("x", "INT", (("0.9", 1),), "", least=0).allowed()
        'INT, at least 0'
        """
        if self.choices:
            return f"{self.kind}, one of {', '.join(self.choices)}"
        if self.most is not None:
            return f"{self.kind}, {self.least} to {self.most}"
        return self.kind if self.least is None else f"{self.kind}, at least {self.least}"


def parse(key: ConfigKey, value: Any, where: str = "") -> Any:
    """Return the typed value as Kafka's ``ConfigDef.parseType`` and its validators do; raises ``RefusedConfig``."""
    if key.kind in BITS:
        number = _integer(key, value, where)
        if key.least is not None and number < key.least:
            raise invalid(key.name, value, f"Value must be at least {key.least}", where)
        if key.most is not None and number > key.most:
            raise invalid(key.name, value, f"Value must be no more than {key.most}", where)
        return number
    if key.kind == "BOOLEAN":
        return _boolean(key, value, where)
    if key.kind == "LIST":
        return _list(key, value, where)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise invalid(
            key.name, value, f"Expected value to be a string, but it was a {type(value).__name__}", where
        )
    text = str(value).strip()
    _choose(key, text, where)
    return text


_MOST_LETTERS = 40
"""Longer text is no number of any type; Python refuses to read one of some thousand digits."""


_MOST_BITS = 1_000
"""Python refuses to print a number of some thousand digits."""


def _integer(key: ConfigKey, value: Any, where: str) -> int:
    bits = BITS[key.kind]
    if isinstance(value, str):
        if len(value) > _MOST_LETTERS or not NUMBER.fullmatch(value.strip()):
            raise invalid(key.name, value[:_MOST_LETTERS], f"Not a number of type {key.kind}", where)
        value = int(value)
    elif isinstance(value, bool) or not isinstance(value, int):
        raise invalid(
            key.name,
            value,
            f"Expected value to be a {bits}-bit integer, but it was a {type(value).__name__}",
            where,
        )
    if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        raise invalid(key.name, value, f"Not a number of type {key.kind}", where)
    return int(value)


def _boolean(key: ConfigKey, value: Any, where: str) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in {"true", "false"}:
        return value.strip().lower() == "true"
    raise invalid(key.name, value, "Expected value to be either true or false", where)


def _list(key: ConfigKey, value: Any, where: str) -> tuple[str, ...]:
    if isinstance(value, str):
        items = tuple(part.strip() for part in value.split(",")) if value.strip() else ()
    elif isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        items = tuple(item.strip() for item in value)
    else:
        raise invalid(key.name, value, "Expected a comma separated list.", where)
    for item in items:
        _choose(key, item, where)
    return items


def _choose(key: ConfigKey, text: str, where: str) -> None:
    if not key.choices:
        return
    if key.any_case and text.lower() in {choice.lower() for choice in key.choices}:
        return
    if text not in key.choices:
        how = " (case insensitive)" if key.any_case else ""
        raise invalid(key.name, text, f"String must be one of{how}: {', '.join(key.choices)}", where)


def illegal_name(name: str) -> str | None:
    """Why Kafka refuses a topic's name or an instance id (``Topic.detectInvalidTopic``); None when it does not.

    >>> illegal_name("orders"), illegal_name(".")
    (None, "'.' is not allowed")
    """
    if not name:
        return "the empty string is not allowed"
    if name in {".", ".."}:
        return f"'{name}' is not allowed"
    if len(name) > 249:
        return f"the length of '{name}' is longer than the max allowed length 249"
    if not _NAME.fullmatch(name):
        return f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return None


def invalid(name: str, value: Any, why: str, where: str = "") -> RefusedConfig:
    """Kafka's ``ConfigException(name, value, message)``."""
    shown = str(value).lower() if isinstance(value, bool) else value
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        shown = f"of {value.bit_length():,} bits"
    return RefusedConfig(f"Invalid value {shown} for configuration {name}: {why}", (name,), where=where)


def find(keys: Mapping[str, ConfigKey], name: Any, version: str, what: str, where: str = "") -> ConfigKey:
    """The key of that name, if that Kafka version has it; raises ``UnknownConfig`` with the nearest name."""
    key = keys.get(name)
    if key is None:
        raise UnknownConfig(
            f"{name!r} is no {what} of Kafka {version}{nearest(name, keys)} (expected a key such as {next(iter(keys))!r})",
            str(name),
            where,
        )
    if not key.exists(version):
        ended = key.until is not None and at_least(key.until, version)
        span = f"ended with {key.until}" if ended else f"exists since {key.since}"
        raise UnknownConfig(f"{name!r} is no {what} of Kafka {version}: it {span}", name, where)
    return key
