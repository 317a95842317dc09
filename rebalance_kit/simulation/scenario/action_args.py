"""Arguments of each action, with their types and bounds, as one table (``ARGUMENTS``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from rebalance_kit.model.errors import nearest
from rebalance_kit.simulation.scenario.checks import (
    CALLBACKS,
    CLIENTS,
    COMMITS,
    MOST_MEMBERS,
    MOST_MS,
    MOST_PARTITIONS,
    BadScenario,
    whole,
)
from rebalance_kit.simulation.scenario.scenario import ACTIONS, Action

ArgumentKind = Literal["ms", "number", "count", "flag", "name", "names", "configs", "choice"]
APIS = ("JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "OffsetCommit", "ConsumerGroupHeartbeat")


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: numbers have bounds, a choice its options; ``default`` stands where it is left out."""

    kind: ArgumentKind
    required: bool = False
    default: Any = None
    least: int = 0
    most: int = MOST_MS
    options: tuple[str, ...] = ()


MEMBERLESS = frozenset(
    {
        "add_partitions",
        "create_topic",
        "delete_topic",
        "broker_down",
        "broker_up",
        "node_down",
        "node_up",
        "coordinator_failover",
        "rolling_restart",
        "scale_to",
    }
)
"""Actions that concern no single member."""
_TOPICS = Argument("names")
_CONFIGS = Argument("configs")
_START: Mapping[str, Argument] = MappingProxyType(
    {
        "topics": _TOPICS,
        "configs": _CONFIGS,
        "replace_configs": Argument("flag"),
        "client": Argument("choice", options=CLIENTS),
        "callback": Argument("choice", options=CALLBACKS),
        "commit": Argument("choice", options=COMMITS),
    }
)
_TOPIC = Argument("name", required=True)
_GROWN = Argument("count", required=True, least=1, most=MOST_PARTITIONS)
_RATE = Argument("number", most=1_000_000)
_API = Argument("choice", required=True, options=APIS)
_NODE = Argument("count", required=True, most=2**31 - 1)
_AWAY = Argument("ms", default=5_000)

ARGUMENTS: Mapping[str, Mapping[str, Argument]] = MappingProxyType(
    {
        "start": _START,
        "close": {"timeout_ms": Argument("ms", default=30_000)},
        "crash": {},
        "freeze": {},
        "thaw": {},
        "stall": {"for_ms": Argument("ms", required=True, least=1)},
        "slow_down": {"processing_ms": Argument("number", required=True)},
        "slow_callback": {"callback_ms": Argument("ms", required=True)},
        "restart": {"after_ms": _AWAY, "crash": Argument("flag", default=False), **_START},
        "duplicate": {"as": Argument("name", required=True), "topics": _TOPICS, "configs": _CONFIGS},
        "subscribe": {"topics": Argument("names", required=True)},
        "enforce_rebalance": {"reason": Argument("name")},
        "reconfigure": {
            "configs": Argument("configs", required=True),
            "after_ms": _AWAY,
            "replace_configs": Argument("flag"),
        },
        "remove": {},
        "see_metadata": {"topics": Argument("configs", required=True)},
        "cut_network": {},
        "heal_network": {},
        "drop_next": {"api": _API},
        "delay_next": {"api": _API, "by_ms": Argument("ms", required=True, least=1)},
        "add_partitions": {"topic": _TOPIC, "partitions": _GROWN},
        "create_topic": {"topic": _TOPIC, "partitions": _GROWN, "rate_per_s": _RATE},
        "delete_topic": {"topic": _TOPIC},
        "broker_down": {},
        "broker_up": {},
        "node_down": {"node": _NODE, "crash": Argument("flag", default=False)},
        "node_up": {"node": _NODE},
        "coordinator_failover": {"for_ms": Argument("ms", default=200, least=1)},
        "rolling_restart": {
            "every_ms": Argument("ms", default=20_000, least=1),
            "after_ms": _AWAY,
            "crash": Argument("flag", default=False),
            "configs": _CONFIGS,
        },
        "scale_to": {
            "members": Argument("count", required=True, most=MOST_MEMBERS),
            "every_ms": Argument("ms", default=0),
        },
    }
)


def check_arguments(action: Action, index: int, where: str) -> None:
    """Raise ``BadScenario`` unless the action exists and its arguments have the types and bounds of ``ARGUMENTS``."""
    if action.do not in ACTIONS:
        raise BadScenario(
            f"{where}: action {action.do!r} is unknown{nearest(action.do, list(ACTIONS))} (expected one of {', '.join(ACTIONS)})",
            ("actions", index, "do"),
        )
    if not whole(action.at_ms) or not 0 <= action.at_ms <= MOST_MS:
        raise BadScenario(
            f"{where}: at is {action.at_ms!r}; expected milliseconds from 0 to {MOST_MS}",
            ("actions", index, "at"),
        )
    if action.do in MEMBERLESS and action.member is not None:
        raise BadScenario(
            f"{where}: {action.do} concerns no single member, got member {action.member!r}",
            ("actions", index, "member"),
        )
    if action.do not in MEMBERLESS and action.member is None:
        raise BadScenario(f"{where}: {action.do} needs a member, got none", ("actions", index, "do"))
    known = ARGUMENTS[action.do]
    for name, value in action.args.items():
        argument = known.get(name)
        if argument is None:
            takes = ", ".join(known) or "no arguments"
            raise BadScenario(
                f"{where}: {action.do} has no argument {name!r}{nearest(name, list(known))} (it takes {takes})",
                ("actions", index, name),
            )
        expected = _fault(argument, value)
        if expected:
            raise BadScenario(f"{where}: {name} is {value!r}; expected {expected}", ("actions", index, name))
    for name, argument in known.items():
        if argument.required and name not in action.args:
            raise BadScenario(
                f"{where}: {action.do} needs {name}, got {', '.join(action.args) or 'no argument'}",
                ("actions", index, "do"),
            )


def _fault(argument: Argument, value: Any) -> str | None:
    """What was expected, where the value is something else."""
    kind = argument.kind
    if kind in {"ms", "count"}:
        unit = "milliseconds" if kind == "ms" else "a whole number"
        return (
            None
            if whole(value) and argument.least <= value <= argument.most
            else f"{unit} from {argument.least} to {argument.most}"
        )
    if kind == "number":
        fits = (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and argument.least <= value <= argument.most
        )
        return None if fits else f"a number from {argument.least} to {argument.most}"
    if kind == "flag":
        return None if isinstance(value, bool) else "true or false"
    if kind == "name":
        return None if isinstance(value, str) and value else "a name"
    if kind == "names":
        named = isinstance(value, list | tuple) and all(isinstance(name, str) and name for name in value)
        return None if named else "a list of names"
    if kind == "configs":
        return (
            None
            if isinstance(value, Mapping) and all(isinstance(key, str) for key in value)
            else "a mapping of Kafka config keys"
        )
    return None if value in argument.options else f"one of {', '.join(argument.options)}"


def argument(action: Action, name: str) -> Any:
    """An argument of an action, or its default."""
    return action.args.get(name, ARGUMENTS[action.do][name].default)
