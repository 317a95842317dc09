"""One walk over the primitive actions in order of time: whether each can be done, and which faults are open at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rebalance_kit.simulation.scenario.checks import BadScenario, check_topics
from rebalance_kit.simulation.scenario.scenario import Action, Scenario

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
            check_topics(action.args["topics"], walk.known, where, ("actions", index, "topics"))
        fault = _member(walk, action) if action.member is not None else _cluster(walk, action)
        if fault is not None:
            key, message = fault
            raise BadScenario(f"{where}: {message}", ("actions", index, key))


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
