"""Random scenarios: small groups of any make-up, and every action there is, each at a time when it can be done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from hypothesis import strategies as st

from rebalance_kit.simulation.scenario.actions import APIS, open_faults
from rebalance_kit.simulation.scenario.expansion import expand
from rebalance_kit.simulation.scenario.scenario import (
    ACTIONS,
    ASSIGNOR_CLASS,
    Action,
    MemberSpec,
    Scenario,
    TopicSpec,
)

QUIET_MS = 900_000
TOPICS = ("orders", "bills", "clicks")
STEPS_MS = (0, 1, 20, 300, 1_000, 2_900, 5_000, 7_000, 11_000, 16_000)
AWAY_MS = (0, 500, 3_000, 8_000, 15_000)
CLASSIC = {"session.timeout.ms": 10_000, "heartbeat.interval.ms": 3_000}
STRATEGIES = {
    "eager": (),
    "cooperative": ("CooperativeSticky",),
    "sticky": ("Sticky",),
    "roundrobin": ("RoundRobin",),
    "bounce": ("CooperativeSticky", "Range"),
}
MIXES: tuple[tuple[str, ...], ...] = (
    ("eager",),
    ("cooperative",),
    ("sticky",),
    ("roundrobin",),
    ("consumer",),
    ("consumer-range",),
    ("eager", "bounce", "cooperative"),
    ("consumer", "consumer-range"),
    ("consumer", "eager"),
    ("consumer", "cooperative"),
    ("consumer", "eager", "cooperative", "sticky", "roundrobin"),
)
"""What the members of one group may be made for; the last ones cannot all be in one group, and some of them die."""
NATIVE = {"eager": "range", "cooperative": "cooperative-sticky", "roundrobin": "roundrobin"}
"""Assignors that librdkafka knows."""
BROKER = {
    "group.consumer.session.timeout.ms": 10_000,
    "group.consumer.min.session.timeout.ms": 6_000,
    "group.consumer.heartbeat.interval.ms": 3_000,
    "group.consumer.min.heartbeat.interval.ms": 500,
}


@dataclass
class Walk:
    """What is so at the moment that the drawing has reached, to draw only what can be done then."""

    draw: Any
    names: list[str]
    static: list[str]
    patterned: set[str]
    topics: dict[str, int]
    mix: tuple[str, ...]
    version: str
    at_ms: int = 0
    frozen: set[str] = field(default_factory=set)
    cut: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    broker_up: bool = True
    nodes: dict[int, bool] = field(default_factory=dict)
    busy_until_ms: int = 0
    made: int = 0

    def one(self, choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def subscription(self) -> tuple[str, ...]:
        return tuple(self.draw(st.lists(st.sampled_from(TOPICS[:2]), min_size=1, max_size=2, unique=True)))


def configs(walk: Walk, kind: str, client: str) -> dict[str, Any]:
    """A member's configuration, made for a protocol."""
    found: dict[str, Any] = {
        "max.poll.interval.ms": walk.one((15_000, 40_000)),
        "auto.offset.reset": walk.one(("earliest", "latest")),
    }
    if kind.startswith("consumer"):
        found |= {"group.protocol": "consumer"}
        return found | ({"group.remote.assignor": "range"} if kind == "consumer-range" else {})
    found |= CLASSIC
    if client == "librdkafka":
        return found | {"partition.assignment.strategy": NATIVE[kind]}
    listed = ",".join(f"{ASSIGNOR_CLASS}{name}Assignor" for name in STRATEGIES[kind])
    return found | ({"partition.assignment.strategy": listed} if listed else {})


def member(walk: Walk, name: str) -> MemberSpec:
    """One member: Java or librdkafka, dynamic or static, with any commit policy."""
    kind = walk.one(walk.mix)
    client = (
        walk.one(("java", "java", "java", "librdkafka")) if kind in NATIVE or kind == "consumer" else "java"
    )
    made = configs(walk, kind, client)
    if walk.nodes and walk.one((False, True)):
        made["client.rack"] = "rack-a"
    if walk.one((False, False, True)):
        made["group.instance.id"] = f"i-{name}"
        walk.static.append(name)
    pattern = client == "java" and walk.one((False,) * 7 + (True,))
    if pattern:
        walk.patterned.add(name)
    return MemberSpec(
        name,
        () if pattern else walk.subscription(),
        MappingProxyType(made),
        pattern="orders|b.*" if pattern else None,
        start_ms=walk.one((0, 0, 0, 200, 4_000, None)),
        client=client,
        callback=walk.one(("default", "right")) if client == "librdkafka" else "default",
        processing_ms=walk.one((0, 0, 0, 5, 120)),
        callback_ms=walk.one((0, 0, 0, 700)),
        commit=walk.one(("auto", "auto", "per_batch", "revoked", "none", "before_processing")),
    )


# --- one action each ------------------------------------------------------------------------------------
Drawn = tuple[str | None, dict[str, Any]]


def _anyone(walk: Walk, **args: Any) -> Drawn:
    return walk.one(walk.names), args


def _start(walk: Walk) -> Drawn:
    name = walk.one(walk.names)
    if not walk.one((False, True)):
        return name, {}
    walk.patterned.discard(name)
    return name, {"topics": list(walk.subscription()), "commit": "per_batch"}


def _subscribe(walk: Walk) -> Drawn | None:
    name = walk.one(walk.names)
    return None if name in walk.patterned else (name, {"topics": list(walk.subscription())})


def _freeze(walk: Walk) -> Drawn | None:
    if walk.at_ms < walk.busy_until_ms:  # a crash that is still to come would end the freeze
        return None
    name = walk.one(walk.names)
    walk.frozen.add(name)
    return name, {}


def _thaw(walk: Walk) -> Drawn | None:
    if not walk.frozen or walk.at_ms < walk.busy_until_ms:
        return None
    name = walk.one(sorted(walk.frozen))
    walk.frozen.discard(name)
    return name, {}


def _crash(walk: Walk) -> Drawn:
    name = walk.one(walk.names)
    walk.frozen.discard(name)
    return name, {}


def _cut(walk: Walk) -> Drawn:
    name = walk.one(walk.names)
    walk.cut.add(name)
    return name, {}


def _heal(walk: Walk) -> Drawn | None:
    if not walk.cut:
        return None
    name = walk.one(sorted(walk.cut))
    walk.cut.discard(name)
    return name, {}


def _restart(walk: Walk) -> Drawn:
    name, crash = walk.one(walk.names), walk.one((False, True))
    if crash:
        walk.frozen.discard(name)
    return name, {"after_ms": walk.one(AWAY_MS), "crash": crash}


def _rolling(walk: Walk) -> Drawn:
    every, crash = walk.one((1_000, 6_000, 15_000)), walk.one((False, True))
    walk.busy_until_ms = walk.at_ms + every * (len(walk.names) + 6)
    if crash:
        walk.frozen.clear()
    return None, {"every_ms": every, "after_ms": walk.one(AWAY_MS), "crash": crash}


def _duplicate(walk: Walk) -> Drawn | None:
    if not walk.static:
        return None
    walk.made += 1
    return walk.one(walk.static), {"as": f"copy-{walk.made}x"}


def _reconfigure(walk: Walk) -> Drawn:
    return _anyone(walk, configs={"max.poll.interval.ms": 30_000}, after_ms=walk.one(AWAY_MS))


def _grow(walk: Walk) -> Drawn | None:
    topic = walk.one(TOPICS[:2])
    if topic not in walk.topics:
        return None
    walk.topics[topic] += walk.one((1, 3))
    return None, {"topic": topic, "partitions": walk.topics[topic]}


def _create(walk: Walk) -> Drawn | None:
    topic = walk.one(TOPICS)
    if (
        topic in walk.topics or topic in walk.deleted
    ):  # a deleted topic stays away: the engine knows topics by name
        return None
    walk.topics[topic] = walk.one((1, 3))
    return None, {"topic": topic, "partitions": walk.topics[topic], "rate_per_s": 5}


def _delete(walk: Walk) -> Drawn | None:
    if not walk.topics:
        return None
    topic = walk.one(sorted(walk.topics))
    del walk.topics[topic]
    walk.deleted.add(topic)
    return None, {"topic": topic}


def _broker(walk: Walk, up: bool) -> Drawn | None:
    if walk.broker_up is up:
        return None
    walk.broker_up = up
    return None, {}


def _node(walk: Walk, up: bool) -> Drawn | None:
    ready = sorted(node for node, is_up in walk.nodes.items() if is_up is not up)
    if not ready:
        return None
    node = walk.one(ready)
    walk.nodes[node] = up
    return None, {"node": node} if up else {"node": node, "crash": walk.one((False, True))}


def _failover(walk: Walk) -> Drawn | None:
    return (None, {"for_ms": walk.one((200, 4_000, 12_000))}) if walk.broker_up else None


DRAW: Mapping[str, Callable[[Walk], Drawn | None]] = MappingProxyType(
    {
        "start": _start,
        "close": lambda walk: _anyone(walk, timeout_ms=walk.one((0, 10_000, 30_000))),
        "crash": _crash,
        "freeze": _freeze,
        "thaw": _thaw,
        "stall": lambda walk: _anyone(walk, for_ms=walk.one((1, 800, 9_000, 20_000, 45_000))),
        "slow_down": lambda walk: _anyone(walk, processing_ms=walk.one((0, 2.5, 60, 200))),
        "slow_callback": lambda walk: _anyone(walk, callback_ms=walk.one((0, 50, 3_000, 8_000, 20_000))),
        "restart": _restart,
        "duplicate": _duplicate,
        "subscribe": _subscribe,
        "enforce_rebalance": _anyone,
        "reconfigure": _reconfigure,
        "remove": _anyone,
        "see_metadata": lambda walk: _anyone(
            walk,
            topics={
                topic: min(walk.one((0, 1, 9)), walk.topics.get(topic, 0)) for topic in walk.subscription()
            },
        ),
        "cut_network": _cut,
        "heal_network": _heal,
        "drop_next": lambda walk: _anyone(walk, api=walk.one(APIS)),
        "delay_next": lambda walk: _anyone(walk, api=walk.one(APIS), by_ms=walk.one((50, 2_000, 14_000))),
        "add_partitions": _grow,
        "create_topic": _create,
        "delete_topic": _delete,
        "broker_down": lambda walk: _broker(walk, up=False),
        "broker_up": lambda walk: _broker(walk, up=True),
        "node_down": lambda walk: _node(walk, up=False),
        "node_up": lambda walk: _node(walk, up=True),
        "coordinator_failover": _failover,
        "rolling_restart": _rolling,
        "scale_to": lambda walk: (
            None,
            {"members": walk.one((0, 1, 2, 3, 5)), "every_ms": walk.one((0, 900))},
        ),
    }
)
"""How each action is drawn; None when it cannot be done at that moment."""


@st.composite
def scenarios(draw: Any) -> Scenario:
    """A scenario that ``expand`` accepts, unhurt at its end or not."""
    mix = draw(st.sampled_from(MIXES))
    classic = not any(kind.startswith("consumer") for kind in mix)
    version = draw(
        st.sampled_from(("4.3.1", "4.3.1", "4.0.0", "3.9.1") if classic else ("4.3.1", "4.3.1", "4.0.0"))
    )
    topics = {"orders": draw(st.integers(1, 6))} | (
        {"bills": draw(st.integers(1, 4))} if draw(st.booleans()) else {}
    )
    walk = Walk(
        draw,
        [f"c{number}" for number in range(1, draw(st.integers(1, 4)) + 1)],
        [],
        set(),
        dict(topics),
        mix,
        version,
    )
    nodes = draw(st.sampled_from(({}, {}, {1: "rack-a", 2: "rack-b"}, {1: None, 2: None, 3: None})))
    walk.nodes = dict.fromkeys(list(nodes)[1:], True)  # the first one coordinates, and goes by broker_down
    members = tuple(member(walk, name) for name in walk.names)
    if "bills" not in topics and not walk.topics.get(
        "bills"
    ):  # a subscription must name a topic that exists at some time
        walk.topics["bills"] = 2
        actions = [Action(0, "create_topic", None, {"topic": "bills", "partitions": 2})]
    else:
        actions = []
    walk.at_ms = walk.one((0, 8_000, 12_000, 20_000))  # while the group begins, or when it is at rest
    for _ in range(draw(st.integers(1, 10))):
        walk.at_ms += walk.one(STEPS_MS)
        remedies = [
            name
            for name, needed in (
                ("thaw", walk.frozen),
                ("heal_network", walk.cut),
                ("broker_up", not walk.broker_up),
                ("node_up", not all(walk.nodes.values())),
            )
            if needed
        ]
        name = walk.one(remedies) if remedies and draw(st.booleans()) else walk.one(tuple(ACTIONS))
        drawn = DRAW[name](walk)
        if drawn is not None:
            actions.append(Action(walk.at_ms, name, drawn[0], drawn[1]))
    broker = dict(BROKER if version != "3.9.1" else {})
    broker["group.initial.rebalance.delay.ms"] = draw(st.sampled_from((3_000, 0)))
    if version != "3.9.1":
        broker["group.consumer.migration.policy"] = draw(
            st.sampled_from(("bidirectional", "bidirectional", "disabled", "upgrade"))
        )
    specs = tuple(TopicSpec(name, count) for name, count in topics.items())
    return Scenario(
        "drawn",
        specs,
        members,
        tuple(actions),
        end_ms=walk.at_ms + draw(st.sampled_from((5_000, 30_000, 60_000, 90_000))),
        kafka_version=version,
        seed=draw(st.integers(1, 1_000)),
        broker=broker,
        nodes=nodes,
    )


def made_quiet(scenario: Scenario) -> Scenario:
    """The scenario with everything mended after its last action, and fifteen quiet minutes behind."""
    planned = expand(scenario)
    at = max([planned.end_ms, *(action.at_ms for action in planned.actions)]) + 15_000
    recoveries = open_faults(planned).recovery_actions(at)
    for spec in planned.members:
        recoveries += [
            Action(at, "slow_down", spec.name, {"processing_ms": 0}),
            Action(at, "slow_callback", spec.name, {"callback_ms": 0}),
        ]
    broker = dict(planned.broker)
    if broker.get("group.consumer.migration.policy") == "upgrade":
        # Classic members that the last KIP-848 member leaves behind in a consumer group are told of nothing any more:
        # since 4.3 their heartbeats neither compute a target nor notice a bump before one exists.
        broker["group.consumer.migration.policy"] = "bidirectional"
    return replace(
        planned,
        actions=(*planned.actions, *recoveries),
        end_ms=at + QUIET_MS,
        data_plane=False,
        broker=broker,
    )
