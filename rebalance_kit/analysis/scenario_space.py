"""Which scenarios a search draws from: a group's size, its configurations, and actions that can be done when they come.

Every scenario follows from the space, a seed and a number alone. Times are short (sessions of 6 s, 20 actions in
10 s), so that much happens in little simulated time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.config import all_keys
from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.model.versions import PREFERRED
from rebalance_kit.simulation.scenario.actions import APIS
from rebalance_kit.simulation.scenario.scenario import (
    ACTIONS,
    CLASSIC_ONLY,
    PROTOCOLS,
    Action,
    MemberSpec,
    Scenario,
    TopicSpec,
)

KINDS = tuple(sorted(set(ACTIONS) - {"see_metadata", "node_down", "node_up"}))
"""Every action but the one that only a repetition of a recorded run has a use for, and those of clusters of several brokers."""
SESSION_MS, HEARTBEAT_MS = 6_000, 2_000
BROKER: Mapping[str, Any] = MappingProxyType(
    {
        "group.initial.rebalance.delay.ms": 500,
        "group.consumer.session.timeout.ms": SESSION_MS,
        "group.consumer.min.session.timeout.ms": SESSION_MS,
        "group.consumer.heartbeat.interval.ms": HEARTBEAT_MS,
        "group.consumer.min.heartbeat.interval.ms": HEARTBEAT_MS,
    }
)
SOON = 0.3
MIXED = "mixed"
"""In place of a protocol: every member draws one of its own."""


@dataclass(frozen=True, slots=True)
class Space:
    """What the drawn scenarios have in common.

    ``partitions`` are those of all topics together. With ``base`` its topics, members, configs and version are
    taken as they are, its own actions left out, and only actions are drawn; else members draw their protocol,
    static membership and subscription. ``configs`` are given to every member on top. ``data_plane`` counts
    records too, which takes about twice the time.
    """

    members: int = 6
    partitions: int = 12
    actions: int = 20
    within_ms: int = 10_000
    settle_ms: int = 8_000
    protocols: tuple[str, ...] = (*PROTOCOLS, MIXED)
    kinds: tuple[str, ...] = KINDS
    kafka_version: str = PREFERRED
    configs: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    base: Scenario | None = None
    data_plane: bool = False

    def __post_init__(self) -> None:
        unknown = sorted(set(self.kinds) - set(KINDS)) + sorted(set(self.protocols) - {*PROTOCOLS, MIXED})
        if unknown or not self.kinds or not self.protocols:
            raise ScenarioError(
                f"a search cannot draw {', '.join(unknown) or 'from nothing'}; expected actions of {', '.join(KINDS)}"
            )
        if min(self.members, self.partitions, self.within_ms) < 1 or min(self.actions, self.settle_ms) < 0:
            raise ScenarioError(
                f"a search needs members, partitions and time; got {self.members}, {self.partitions}, {self.within_ms} ms"
            )


def draw(space: Space, seed: int, number: int) -> Scenario:
    """Scenario ``number`` of that seed; the same one whenever it is asked for."""
    dice = random.Random(f"{seed}/{number}")
    made = (
        _group(space, dice, f"search-{seed}-{number}")
        if space.base is None
        else _base(space.base, seed, number)
    )
    walk = _Walk(dice, made)
    times = sorted(dice.randrange(500, space.within_ms) for _ in range(space.actions))
    actions: list[Action] = []
    for at_ms in times:
        action = _action(walk, space.kinds, at_ms)
        if action is not None:
            actions.append(action)
    end_ms = max(space.within_ms + space.settle_ms, *(spec.start_ms or 0 for spec in made.members))
    return replace(
        made, actions=tuple(actions), end_ms=end_ms, seed=dice.getrandbits(31), data_plane=space.data_plane
    )


def _base(base: Scenario, seed: int, number: int) -> Scenario:
    return replace(base, name=f"{base.name}-{seed}-{number}", title="", story="", actions=())


def _group(space: Space, dice: random.Random, name: str) -> Scenario:
    first = dice.randint(1, space.partitions)
    counts = (
        [space.partitions]
        if first == space.partitions or dice.random() < 0.6
        else [first, space.partitions - first]
    )
    topics = tuple(TopicSpec(topic, count) for topic, count in zip(("orders", "bills"), counts, strict=False))
    protocol = dice.choice(space.protocols)
    members = tuple(_member(space, dice, number, protocol, topics) for number in range(1, space.members + 1))
    known = all_keys()
    broker = {key: value for key, value in BROKER.items() if known[key].exists(space.kafka_version)}
    return Scenario(name, topics, members, kafka_version=space.kafka_version, broker=broker)


def _member(
    space: Space, dice: random.Random, number: int, protocol: str, topics: tuple[TopicSpec, ...]
) -> MemberSpec:
    own = dice.choice(list(PROTOCOLS)) if protocol == MIXED else protocol
    configs: dict[str, Any] = {
        "auto.offset.reset": "earliest",
        "session.timeout.ms": SESSION_MS,
        "heartbeat.interval.ms": HEARTBEAT_MS,
        "max.poll.interval.ms": dice.choice((4_000, 8_000, 60_000)),
        **PROTOCOLS[own],
    }
    if configs["group.protocol"] == "consumer":
        for key in CLASSIC_ONLY:
            configs.pop(key, None)
    if not all_keys()["group.protocol"].exists(space.kafka_version):
        del configs["group.protocol"]
    if dice.random() < 0.25:
        configs["group.instance.id"] = f"instance-{number}"
    names = tuple(topic.name for topic in topics)
    subscribed = names if dice.random() < 0.8 else (dice.choice(names),)
    start = dice.choice((0, 0, dice.randrange(3_000), None))
    configs.update(space.configs)
    return MemberSpec(
        f"consumer-{number}",
        subscribed,
        MappingProxyType(configs),
        start_ms=start,
        callback_ms=dice.choice((0, 0, 0, 300)),
        commit=dice.choice(("auto", "auto", "per_batch", "revoked", "none")),
    )


class _Walk:
    """What is so at the moment the drawing has reached."""

    def __init__(self, dice: random.Random, scenario: Scenario) -> None:
        self.dice = dice
        self.names = [spec.name for spec in scenario.members]
        self.static = [spec.name for spec in scenario.members if spec.configs.get("group.instance.id")]
        self.classic = {
            spec.name
            for spec in scenario.members
            if spec.configs.get("group.protocol", "classic") == "classic"
        }
        self.topics = {topic.name: topic.partitions for topic in scenario.topics}
        self.ever = list(self.topics)
        self.frozen: list[str] = []
        self.cut: list[str] = []
        self.broker_up = True
        self.made = 0


def _action(walk: _Walk, kinds: tuple[str, ...], at_ms: int) -> Action | None:
    """One action that can be done now; None when eight kinds in a row could not.

    What stands still or is cut off goes on again soon: a run in which nothing moves any more shows little.
    """
    ends = [("broker_up", not walk.broker_up), ("thaw", walk.frozen), ("heal_network", walk.cut)]
    soon = [kind for kind, wanted in ends if wanted and kind in kinds]
    for _ in range(8):
        kind = walk.dice.choice(soon) if soon and walk.dice.random() < SOON else walk.dice.choice(kinds)
        drawn = _DRAW[kind](walk)
        if drawn is not None:
            return Action(at_ms, kind, drawn[0], drawn[1])
    return None


Drawn = tuple[str | None, dict[str, Any]] | None


def _member_action(**ranges: tuple[int, int]) -> Callable[[_Walk], Drawn]:
    def drawn(walk: _Walk) -> Drawn:
        return walk.dice.choice(walk.names), {key: walk.dice.randint(*ends) for key, ends in ranges.items()}

    return drawn


def _crash(walk: _Walk) -> Drawn:
    name = walk.dice.choice(walk.names)
    if name in walk.frozen:
        walk.frozen.remove(name)
    return name, {}


def _freeze(walk: _Walk) -> Drawn:
    name = walk.dice.choice(walk.names)
    if name not in walk.frozen:
        walk.frozen.append(name)
    return name, {}


def _thaw(walk: _Walk) -> Drawn:
    return (walk.frozen.pop(walk.dice.randrange(len(walk.frozen))), {}) if walk.frozen else None


def _cut(walk: _Walk) -> Drawn:
    name = walk.dice.choice(walk.names)
    if name not in walk.cut:
        walk.cut.append(name)
    return name, {}


def _heal(walk: _Walk) -> Drawn:
    return (walk.cut.pop(walk.dice.randrange(len(walk.cut))), {}) if walk.cut else None


def _restart(walk: _Walk) -> Drawn:
    name = walk.dice.choice(walk.names)
    return (
        None
        if name in walk.frozen
        else (name, {"after_ms": walk.dice.randint(0, 8_000), "crash": walk.dice.random() < 0.3})
    )


def _reconfigure(walk: _Walk) -> Drawn:
    name = walk.dice.choice(walk.names)
    if name in walk.frozen:
        return None
    return name, {
        "after_ms": walk.dice.randint(0, 3_000),
        "configs": {"max.poll.interval.ms": walk.dice.choice((4_000, 8_000, 60_000))},
    }


def _duplicate(walk: _Walk) -> Drawn:
    if not walk.static:
        return None
    walk.made += 1
    return walk.dice.choice(walk.static), {
        "as": "twin-" + "abcdefghijklmnopqrstuvwxyz"[walk.made % 26] * (walk.made // 26 + 1)
    }


def _subscribe(walk: _Walk) -> Drawn:
    count = walk.dice.randint(1, len(walk.ever))
    return walk.dice.choice(walk.names), {"topics": tuple(sorted(walk.dice.sample(walk.ever, count)))}


def _api(walk: _Walk) -> dict[str, Any]:
    return {"api": walk.dice.choice(APIS)}


def _drop(walk: _Walk) -> Drawn:
    return walk.dice.choice(walk.names), _api(walk)


def _delay(walk: _Walk) -> Drawn:
    return walk.dice.choice(walk.names), {**_api(walk), "by_ms": walk.dice.randint(100, 8_000)}


def _add_partitions(walk: _Walk) -> Drawn:
    if not walk.topics:
        return None
    topic = walk.dice.choice(sorted(walk.topics))
    walk.topics[topic] += walk.dice.randint(1, 3)
    return None, {"topic": topic, "partitions": walk.topics[topic]}


def _create_topic(walk: _Walk) -> Drawn:
    topic = "clicks"
    if topic in walk.topics:
        return None
    walk.topics[topic] = walk.dice.randint(1, 4)
    if topic not in walk.ever:
        walk.ever.append(topic)
    return None, {"topic": topic, "partitions": walk.topics[topic]}


def _delete_topic(walk: _Walk) -> Drawn:
    if len(walk.topics) < 2:
        return None
    topic = walk.dice.choice(sorted(walk.topics))
    del walk.topics[topic]
    return None, {"topic": topic}


def _broker(*, up: bool) -> Callable[[_Walk], Drawn]:
    def drawn(walk: _Walk) -> Drawn:
        if walk.broker_up is up:
            return None
        walk.broker_up = up
        return None, {}

    return drawn


def _failover(walk: _Walk) -> Drawn:
    return (None, {"for_ms": walk.dice.randint(100, 3_000)}) if walk.broker_up else None


def _rolling(walk: _Walk) -> Drawn:
    if walk.frozen or walk.cut:
        return None
    return None, {"every_ms": walk.dice.randint(500, 3_000), "after_ms": walk.dice.randint(0, 2_000)}


def _scale(walk: _Walk) -> Drawn:
    return (None, {"members": walk.dice.randint(1, len(walk.names) + 1)}) if not walk.frozen else None


_DRAW: Mapping[str, Callable[[_Walk], Drawn]] = MappingProxyType(
    {
        "start": _member_action(),
        "close": _member_action(),
        "crash": _crash,
        "freeze": _freeze,
        "thaw": _thaw,
        "stall": _member_action(for_ms=(300, 9_000)),
        "slow_down": _member_action(processing_ms=(0, 60)),
        "slow_callback": _member_action(callback_ms=(0, 2_000)),
        "restart": _restart,
        "duplicate": _duplicate,
        "subscribe": _subscribe,
        "enforce_rebalance": _member_action(),
        "reconfigure": _reconfigure,
        "remove": _member_action(),
        "cut_network": _cut,
        "heal_network": _heal,
        "drop_next": _drop,
        "delay_next": _delay,
        "add_partitions": _add_partitions,
        "create_topic": _create_topic,
        "delete_topic": _delete_topic,
        "broker_down": _broker(up=False),
        "broker_up": _broker(up=True),
        "coordinator_failover": _failover,
        "rolling_restart": _rolling,
        "scale_to": _scale,
    }
)
