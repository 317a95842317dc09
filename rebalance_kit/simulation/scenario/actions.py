"""Arguments of each action, with their types and bounds, as one table (``ARGUMENTS``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from rebalance_kit.model.errors import nearest
from rebalance_kit.simulation.scenario import checks
from rebalance_kit.simulation.scenario.scenario import ACTIONS, Action, Scenario

ArgumentKind = Literal["ms", "number", "count", "flag", "name", "names", "configs", "choice"]
APIS = ("JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "OffsetCommit", "ConsumerGroupHeartbeat")


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: numbers have bounds, a choice its options; ``default`` stands where it is left out."""

    kind: ArgumentKind
    required: bool = False
    default: Any = None
    least: int = 0
    most: int = checks.MOST_MS
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
        "client": Argument("choice", options=checks.CLIENTS),
        "callback": Argument("choice", options=checks.CALLBACKS),
        "commit": Argument("choice", options=checks.COMMITS),
    }
)
_TOPIC = Argument("name", required=True)
_GROWN = Argument("count", required=True, least=1, most=checks.MOST_PARTITIONS)
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
            "members": Argument("count", required=True, most=checks.MOST_MEMBERS),
            "every_ms": Argument("ms", default=0),
        },
    }
)


def check_arguments(action: Action, index: int, where: str) -> None:
    """Raise ``BadScenario`` unless the action exists and its arguments have the types and bounds of ``ARGUMENTS``."""
    if action.do not in ACTIONS:
        raise checks.BadScenario(
            f"{where}: action {action.do!r} is unknown{nearest(action.do, list(ACTIONS))} (expected one of {', '.join(ACTIONS)})",
            ("actions", index, "do"),
        )
    if not checks.whole(action.at_ms) or not 0 <= action.at_ms <= checks.MOST_MS:
        raise checks.BadScenario(
            f"{where}: at is {action.at_ms!r}; expected milliseconds from 0 to {checks.MOST_MS}",
            ("actions", index, "at"),
        )
    if action.do in MEMBERLESS and action.member is not None:
        raise checks.BadScenario(
            f"{where}: {action.do} concerns no single member, got member {action.member!r}",
            ("actions", index, "member"),
        )
    if action.do not in MEMBERLESS and action.member is None:
        raise checks.BadScenario(f"{where}: {action.do} needs a member, got none", ("actions", index, "do"))
    known = ARGUMENTS[action.do]
    for name, value in action.args.items():
        argument = known.get(name)
        if argument is None:
            takes = ", ".join(known) or "no arguments"
            raise checks.BadScenario(
                f"{where}: {action.do} has no argument {name!r}{nearest(name, list(known))} (it takes {takes})",
                ("actions", index, name),
            )
        expected = _fault(argument, value)
        if expected:
            raise checks.BadScenario(
                f"{where}: {name} is {value!r}; expected {expected}", ("actions", index, name)
            )
    for name, argument in known.items():
        if argument.required and name not in action.args:
            raise checks.BadScenario(
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
            if checks.whole(value) and argument.least <= value <= argument.most
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


# One walk over the primitive actions in order of time: whether each can be done, and which faults are open at the end.


Place = Callable[[int, Action], str]


@dataclass(slots=True)
class _Walk:
    """What is known at the point the walk has reached."""

    known: set[str]
    partitions: dict[str, int]
    patterns: set[str]
    frozen: set[str] = field(default_factory=set)
    cut: set[str] = field(default_factory=set)
    broker_up: bool = True
    nodes: dict[int, bool] = field(default_factory=dict)
    """Brokers beside the coordinators', and whether each is up."""


def check_states(scenario: Scenario, placed: Sequence[tuple[int, Action]], place: Place) -> None:
    """Raise ``BadScenario`` for the first action that finds nothing to act on.

    ``thaw`` wants a frozen member, ``heal_network`` a cut one, ``broker_up`` a broker that is down; a topic is
    created once, grows, and is deleted while it exists; whoever subscribes names topics that exist at some time,
    and has not subscribed by a pattern.
    """
    made = {str(action.args["topic"]) for _, action in placed if action.do == "create_topic"}
    walk = _Walk(
        {topic.name for topic in scenario.topics} | made,
        {topic.name: topic.partitions for topic in scenario.topics},
        {
            spec.name
            for spec in scenario.members
            if spec.pattern is not None or spec.server_pattern is not None
        },
    )
    walk.nodes = dict.fromkeys(list(scenario.nodes)[1:], True)
    for index, action in placed:
        where = place(index, action)
        if action.do in {"start", "subscribe"} and "topics" in action.args:
            checks.check_topics(action.args["topics"], walk.known, where, ("actions", index, "topics"))
        fault = _member(walk, action) if action.member is not None else _cluster(walk, action)
        if fault is not None:
            key, message = fault
            raise checks.BadScenario(f"{where}: {message}", ("actions", index, key))


def _member(walk: _Walk, action: Action) -> tuple[str, str] | None:
    name = action.member or ""
    match action.do:
        case "start" if action.args.get("topics"):
            walk.patterns.discard(name)
        case "subscribe" if name in walk.patterns:  # Kafka: IllegalStateException of SubscriptionState
            return (
                "do",
                f"Subscription to topics, partitions and pattern are mutually exclusive; expected a member without a pattern, {name} has one",
            )
        case "freeze":
            walk.frozen.add(name)
        case "thaw" if name not in walk.frozen:
            return "do", f"{name} is not frozen; expected a freeze before"
        case "thaw" | "crash":
            walk.frozen.discard(name)
        case "cut_network":
            walk.cut.add(name)
        case "heal_network" if name not in walk.cut:
            return "do", f"the network of {name} is not cut; expected a cut_network before"
        case "heal_network":
            walk.cut.discard(name)
        case _:
            pass
    return None


def _cluster(walk: _Walk, action: Action) -> tuple[str, str] | None:
    match action.do:
        case "broker_down" | "coordinator_failover" if not walk.broker_up:
            return "do", "the broker is down already; expected a broker_up before"
        case "broker_up" if walk.broker_up:
            return "do", "the broker is up; expected a broker_down before"
        case "broker_down" | "broker_up":
            walk.broker_up = action.do == "broker_up"
        case "node_down" | "node_up":
            return _node(walk, int(action.args["node"]), up=action.do == "node_up")
        case "create_topic" | "add_partitions" | "delete_topic":
            return _topic(walk, action)
        case _:
            pass
    return None


def _node(walk: _Walk, node: int, *, up: bool) -> tuple[str, str] | None:
    if node not in walk.nodes:
        listed = (
            ", ".join(map(str, walk.nodes)) or "none: the scenario names no nodes beside the coordinator's"
        )
        return "node", f"no broker {node} to stop or start; expected one of {listed}"
    if walk.nodes[node] is up:
        return (
            "node",
            f"broker {node} is {'up' if up else 'down'} already; expected a node_{'down' if up else 'up'} before",
        )
    walk.nodes[node] = up
    return None


def _topic(walk: _Walk, action: Action) -> tuple[str, str] | None:
    topic = str(action.args["topic"])
    count = walk.partitions.get(topic)
    if action.do == "create_topic":
        if count is not None:
            return "topic", f"topic {topic!r} exists already, with {count} partitions"
        walk.partitions[topic] = int(action.args["partitions"])
        return None
    if count is None:
        listed = ", ".join(sorted(walk.partitions)) or "none"
        return "topic", f"topic {topic!r} does not exist then; expected one of {listed}"
    if action.do == "delete_topic":
        del walk.partitions[topic]
    elif int(action.args["partitions"]) <= count:
        # Kafka: InvalidPartitionsException of CreatePartitions
        return (
            "partitions",
            f"topic {topic} currently has {count} partitions; a topic only grows, expected more, got {action.args['partitions']}",
        )
    else:
        walk.partitions[topic] = int(action.args["partitions"])
    return None


@dataclass(frozen=True, slots=True)
class OpenFaults:
    """Frozen processes, members cut off, brokers that are down, each sorted; ``coordinator_down`` is about the first broker."""

    frozen: tuple[str, ...]
    cut: tuple[str, ...]
    nodes: tuple[int, ...]
    coordinator_down: bool

    def recovery_actions(self, at_ms: int) -> list[Action]:
        """The actions that undo all of it at one moment."""
        return [
            *([Action(at_ms, "broker_up")] if self.coordinator_down else []),
            *(Action(at_ms, "node_up", None, {"node": node}) for node in self.nodes),
            *(Action(at_ms, "thaw", name) for name in self.frozen),
            *(Action(at_ms, "heal_network", name) for name in self.cut),
        ]


def open_faults(planned: Scenario) -> OpenFaults:
    """Faults still open after the last action of a scenario of primitive actions (``expansion.expand``)."""
    frozen: set[str] = set()
    cut: set[str] = set()
    nodes: set[int] = set()
    up = True
    for action in sorted(planned.actions, key=lambda deed: deed.at_ms):
        name = action.member or ""
        match action.do:
            case "freeze":
                frozen.add(name)
            case "thaw" | "crash":
                frozen.discard(name)
            case "cut_network":
                cut.add(name)
            case "heal_network":
                cut.discard(name)
            case "node_down":
                nodes.add(int(action.args["node"]))
            case "node_up":
                nodes.discard(int(action.args["node"]))
            case "broker_down" | "broker_up":
                up = action.do == "broker_up"
            case _:
                pass
    return OpenFaults(tuple(sorted(frozen)), tuple(sorted(cut)), tuple(sorted(nodes)), not up)
