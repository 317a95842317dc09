"""The inputs of a run: topics, members with their Kafka configs, timed actions, an end and a seed.

A scenario is a value. A click in the lab, a replay and a test all make a new one and simulate again.
Files are read by ``rebalance_kit.simulation.scenario.yaml_file``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.errors import ScenarioError, require_kind
from rebalance_kit.model.versions import has
from rebalance_kit.simulation.kernel.latencies import MEASURED, Latencies
from rebalance_kit.simulation.scenario.replay_pins import ReplayPins

Configs = Mapping[str, Any]
NOTHING: Mapping[str, Any] = MappingProxyType({})
NO_NODES: Mapping[int, str | None] = MappingProxyType({})
ASSIGNOR_CLASS = "org.apache.kafka.clients.consumer."
PROTOCOLS: Mapping[str, Configs] = MappingProxyType(
    {
        # Java's default list runs EAGER and the vote picks range (KIP-429, ConsumerConfig).
        "eager": {"group.protocol": "classic"},
        "cooperative": {
            "group.protocol": "classic",
            "partition.assignment.strategy": f"{ASSIGNOR_CLASS}CooperativeStickyAssignor",
        },
        "sticky": {
            "group.protocol": "classic",
            "partition.assignment.strategy": f"{ASSIGNOR_CLASS}StickyAssignor",
        },
        "roundrobin": {
            "group.protocol": "classic",
            "partition.assignment.strategy": f"{ASSIGNOR_CLASS}RoundRobinAssignor",
        },
        "consumer": {"group.protocol": "consumer"},
        "consumer-range": {"group.protocol": "consumer", "group.remote.assignor": "range"},
    }
)
THREE_PROTOCOLS = ("eager", "cooperative", "consumer")
PROTOCOL_KEYS = frozenset({"group.protocol", "group.remote.assignor", "partition.assignment.strategy"})
"""Configuration keys that choose a member's protocol or its assignor."""
CLASSIC_ONLY = ("partition.assignment.strategy", "session.timeout.ms", "heartbeat.interval.ms")

ACTIONS: Mapping[str, str] = MappingProxyType(
    {
        "start": "start the member's process (again); topics, configs, client, callback may be given anew",
        "close": "consumer.close(): commit (for timeout_ms at most), callback, leave",
        "crash": "the process dies at once (kill -9)",
        "freeze": "the process stands still (long GC pause, SIGSTOP)",
        "thaw": "the frozen process goes on",
        "stall": "the application does not call poll() for for_ms",
        "slow_down": "processing takes processing_ms a record from now on",
        "slow_callback": "each rebalance callback takes callback_ms from now on",
        "restart": "close (or crash: true) and start again after after_ms",
        "duplicate": "start another process `as` with this member's group.instance.id",
        "subscribe": "call subscribe() with topics",
        "enforce_rebalance": "call enforceRebalance()",
        "reconfigure": "change configs and bounce: close, start after after_ms",
        "remove": "an administrator removes the member (by group.instance.id where it has one)",
        "see_metadata": "the member's client is told topics (name: partitions), as by a broker that still starts",
        "cut_network": "messages between the member and the coordinator are lost until heal_network",
        "heal_network": "the member reaches the coordinator again",
        "drop_next": "the member's next message of kind api is lost",
        "delay_next": "the member's next message of kind api takes by_ms longer",
        "add_partitions": "the topic grows to partitions",
        "create_topic": "a topic appears: topic, partitions",
        "delete_topic": "a topic is deleted",
        "broker_down": "the broker that hosts the coordinator stops",
        "broker_up": "it is back",
        "node_down": "broker `node`, which coordinates no group, stops (crash: true: without handing its partitions over)",
        "node_up": "broker `node` is back",
        "coordinator_failover": "another broker takes the coordinator over, for_ms without one",
        "rolling_restart": "restart every member in turn, every_ms apart, each away for after_ms",
        "scale_to": "start or close members until `members` run",
    }
)


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """A topic: ``rate_per_s`` records a second go into each of its partitions."""

    name: str
    partitions: int
    rate_per_s: float = 10.0
    topic_id: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class MemberSpec:
    """One application instance with one consumer.

    ``pattern`` is a java.util.regex.Pattern that the client matches itself, ``server_pattern`` a
    SubscriptionPattern that the broker resolves (KIP-848). ``start_ms`` None: it exists but is started by an action. ``processing_ms`` is the time its
    application needs for one record, ``callback_ms`` the time each rebalance callback takes.
    ``commit`` is a commit policy: auto, per_batch, revoked, none, before_processing.
    """

    name: str
    topics: tuple[str, ...] = ()
    configs: Configs = field(default_factory=lambda: NOTHING)
    pattern: str | None = None
    server_pattern: str | None = None
    start_ms: int | None = 0
    client: str = "java"
    callback: str = "default"
    processing_ms: float = 0.0
    callback_ms: int = 0
    commit: str = "auto"
    lives: tuple[ReplayPins, ...] = ()
    start_within_ms: int = 0
    """The start is drawn from this long before ``start_ms`` to this long after it (``moments.drawn``)."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something done at ``at_ms``: ``do`` is a key of ``ACTIONS``, ``member`` whom it concerns."""

    at_ms: int
    do: str
    member: str | None = None
    args: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    within_ms: int = 0
    """The moment is drawn from this long before ``at_ms`` to this long after it (``moments.drawn``)."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """Everything that decides a run, but for the seed's draws."""

    name: str
    topics: tuple[TopicSpec, ...]
    members: tuple[MemberSpec, ...]
    actions: tuple[Action, ...] = ()
    end_ms: int = 60_000
    seed: int = 1
    title: str = ""
    story: str = ""
    kafka_version: str = "4.3.1"
    group: str = "orders-app"
    broker: Configs = field(default_factory=lambda: NOTHING)
    protocol: str | None = None
    latencies: Latencies = MEASURED
    data_plane: bool = True
    moments: str = ""
    """Which moments matter to the second, and which are drawn: a sentence for the reader."""
    nodes: Mapping[int, str | None] = field(default_factory=lambda: NO_NODES)
    """Brokers with their racks, the coordinators' first; empty: one broker leads every partition."""

    def member(self, name: str) -> MemberSpec:
        """The member of that name; raises ``ScenarioError`` naming those that exist."""
        for spec in self.members:
            if spec.name == name:
                return spec
        known = ", ".join(spec.name for spec in self.members)
        raise ScenarioError(f"{self.name}: no member is named {name!r}; expected one of {known}")

    def chooses_protocol(self) -> bool:
        """Whether it says itself, in one place or another, which protocol or assignor its members use."""
        configs = [spec.configs for spec in self.members]
        configs += [action.args.get("configs", {}) for action in self.actions]
        return self.protocol is not None or any(not PROTOCOL_KEYS.isdisjoint(given) for given in configs)

    def with_action(self, action: Action) -> Scenario:
        """The same scenario with one more action, kept in order of time."""
        actions = sorted((*self.actions, action), key=lambda planned: planned.at_ms)
        return replace(self, actions=tuple(actions), end_ms=max(self.end_ms, action.at_ms))


def with_protocol(scenario: Scenario, name: str) -> Scenario:
    """The scenario with every member switched to a protocol of ``PROTOCOLS``; the broker stays as it is.

    Keys that a KIP-848 client refuses are left out of the members' configs, as whoever migrates has to
    leave them out (``timeouts.left_out`` names them). Then the broker's timeouts hold.
    """
    require_kind(name, str, "the protocol", f"one of {', '.join(PROTOCOLS)}")
    if name not in PROTOCOLS:
        raise ScenarioError(f"protocol {name!r} is unknown; expected one of {', '.join(PROTOCOLS)}")
    clients = {spec.name: spec.client for spec in scenario.members}
    members = tuple(
        replace(spec, configs=_switched(spec.configs, name, spec.client, scenario.kafka_version))
        for spec in scenario.members
    )
    actions = tuple(
        replace(
            action,
            args={
                **action.args,
                "configs": _switched(
                    action.args["configs"],
                    name,
                    str(action.args.get("client", clients.get(action.member or "", "java"))),
                    scenario.kafka_version,
                ),
            },
        )
        if "configs" in action.args and action.do in {"start", "duplicate"}
        else action
        for action in scenario.actions
    )
    return replace(scenario, members=members, actions=actions, protocol=name)


def _switched(configs: Configs, name: str, client: str, version: str) -> dict[str, Any]:
    configs_left = {key: value for key, value in configs.items() if key not in PROTOCOL_KEYS}
    if PROTOCOLS[name]["group.protocol"] == "consumer":
        for key in CLASSIC_ONLY:
            configs_left.pop(key, None)
    wanted = dict(PROTOCOLS[name])
    if wanted["group.protocol"] == "classic" and not has("consumer-protocol", version):
        del wanted["group.protocol"]  # there was only one
    if client == "librdkafka" and "partition.assignment.strategy" in wanted:
        wanted["partition.assignment.strategy"] = {"cooperative": "cooperative-sticky"}.get(name, name)
    return {**configs_left, **wanted}
