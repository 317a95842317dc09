"""The inputs of a run: topics, members with their Kafka configs, timed actions, an end and a seed.

A scenario is a value. A click in the lab, a replay and a test all make a new one and simulate again.
Files are read by ``rebalance_kit.simulation.scenario.yaml_file``.

What becomes of the classic clients' timeouts when a scenario is switched to KIP-848.

A client with ``group.protocol=consumer`` refuses ``session.timeout.ms``, ``heartbeat.interval.ms`` and
``partition.assignment.strategy`` (``ConsumerConfig.CLASSIC_PROTOCOL_UNSUPPORTED_CONFIGS``; up to 3.9 it ignored
them). The broker's values hold, whatever the clients had.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.config import BrokerConfig
from rebalance_kit.model.errors import ScenarioError, require_kind
from rebalance_kit.model.html import html_table
from rebalance_kit.model.versions import has
from rebalance_kit.protocol.messages import ConsumerGroupHeartbeat, JoinGroup, Request
from rebalance_kit.simulation.kernel import MEASURED, Latencies

# Facts pinned for the repetition of a recorded run, asked by name: what no rule of Kafka decides.


FIRST_ACK_WITHIN_MS = 2_500
"""The longest from a join's answer to its acknowledgement: a later one follows a regular heartbeat."""
ACK_WITHIN_MS = 600
"""The longest from a later answer to its acknowledgement, without callbacks: a commit and three waits for poll()."""


NEWS_AFTER_SENT_MS = 5
BEAT_EARLY_MS = 50
"""An acknowledgement's line may be that much later than the heartbeat, from which the next one is counted."""
BEAT_LATE_MS = 400
"""The longest that a busy machine is believed to keep a periodic heartbeat (305 ms the most in 262 recorded)."""


@dataclass(frozen=True, slots=True)
class ReplayPins:
    """Facts pinned for one life of a member's process; None leaves the fact to the engine.

    Times are ms of the run: when its first request reaches the broker, when its second one does (a JoinGroup
    with the id it was given, or the acknowledgement of a KIP-848 client), when the first answer reaches the
    process, when the first request was sent (a moment before it arrived, unless the record says better).
    ``beat_ms`` is the phase of its poll(), ``later_ids`` the ids it was given when it joined again without one,
    ``acks_ms`` when a KIP-848 client sends its acknowledgements, ``second_answer_ms`` when the answer to the first
    one reaches it, ``news_ms`` when answers to its periodic heartbeats brought another assignment, so that those
    heartbeats were sent just before.
    """

    first_request_ms: int | None = None
    second_request_ms: int | None = None
    first_answer_ms: int | None = None
    member_id: str | None = None
    beat_ms: int | None = None
    first_sent_ms: int | None = None
    later_ids: tuple[str, ...] = ()
    acks_ms: tuple[int, ...] = ()
    second_answer_ms: int | None = None
    news_ms: tuple[int, ...] = ()

    def first_poll_ms(self, drawn_ms: int, now_ms: int) -> int:
        """When the process is first inside poll(), which sends its first request."""
        if self.first_request_ms is None:
            return drawn_ms
        sent_ms = self.first_request_ms - 2 if self.first_sent_ms is None else self.first_sent_ms
        return max(min(sent_ms, self.first_request_ms - 1), now_ms)

    def arrival_ms(self, number: int, request: Request) -> int | None:
        """When the life's ``number``-th request reaches the broker."""
        if number == 1:
            return self.first_request_ms
        second = number == 2 and isinstance(request, JoinGroup | ConsumerGroupHeartbeat)
        return self.second_request_ms if second else None

    def answer_ms(self, number: int, request: Request) -> int | None:
        """When the answer to the life's ``number``-th request reaches the process."""
        if isinstance(request, JoinGroup):
            return self.first_answer_ms if number == 1 else None
        if not isinstance(request, ConsumerGroupHeartbeat):
            return None
        if request.member_epoch == 0:
            return self.first_answer_ms
        return self.second_answer_ms if number == 2 else None

    def beats_at_ms(self, due_ms: int) -> int | None:
        """When a periodic heartbeat that is due was sent, where the record tells: just before its answer."""
        sent = (at - NEWS_AFTER_SENT_MS for at in self.news_ms)
        return next((at for at in sent if due_ms - BEAT_EARLY_MS <= at <= due_ms + BEAT_LATE_MS), None)

    def given_id(self, number: int) -> str | None:
        """The ``number``-th member id that a coordinator gives this life."""
        ids = () if self.member_id is None else (self.member_id, *self.later_ids)
        return ids[number - 1] if number <= len(ids) else None

    def delay_to_ack_ms(
        self, drawn_ms: int, now_ms: int, callback_ms: int, *, first: bool, last_step: bool
    ) -> int:
        """How long until poll(), so that the next acknowledgement leaves at its moment.

        It leaves when onPartitionsAssigned, which the last step's poll() calls, has returned. A step before the last
        takes no longer than half of what is left; an acknowledgement far ahead is another one's.
        """
        steps = 1 if last_step else 2
        within_ms = steps * callback_ms + (FIRST_ACK_WITHIN_MS if first else ACK_WITHIN_MS)
        left_ms = next((at - now_ms for at in self.acks_ms if now_ms < at <= now_ms + within_ms), None)
        if left_ms is None:
            return drawn_ms
        return max(left_ms - callback_ms if last_step else min(drawn_ms, left_ms // 2), 1)


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
        "freeze": "the process does nothing (a long GC pause, SIGSTOP)",
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


MOST_SHOWN = 12
"""Members and actions that a notebook shows of a scenario."""


def _and_more(things: Sequence[object]) -> str:
    return f", and {len(things) - MOST_SHOWN} more" if len(things) > MOST_SHOWN else ""


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


@dataclass(frozen=True, slots=True, repr=False)
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
    """Brokers with their racks, the coordinators' first; empty: a broker that hosts no coordinator and never stops leads every partition."""

    def __repr__(self) -> str:
        """The scenario in a line; ``rebalance-kit scenarios --show NAME`` prints one of the kit in full."""
        topics = ", ".join(f"{topic.name} ({topic.partitions})" for topic in self.topics)
        return (
            f"<Scenario {self.name}: {len(self.members)} members, {topics}, {len(self.actions)} action{'' if len(self.actions) == 1 else 's'}, "
            f"{self.end_ms / 1000:g} s, {self.protocol or 'protocol as its members say'}>"
        )

    def _repr_html_(self) -> str:
        """The scenario in little, as a notebook shows it."""
        told = [
            ("scenario", f"{self.name}: {self.title}" if self.title else self.name),
            ("story", self.story),
            ("topics", ", ".join(f"{topic.name}: {topic.partitions} partitions" for topic in self.topics)),
            (
                "members",
                f"{len(self.members)}: {', '.join(spec.name for spec in self.members[:MOST_SHOWN])}{_and_more(self.members)}",
            ),
            (
                "actions",
                "; ".join(
                    f"{action.at_ms / 1000:g} s {action.do} {action.member or ''}".rstrip()
                    for action in self.actions[:MOST_SHOWN]
                )
                + _and_more(self.actions),
            ),
            ("ends after", f"{self.end_ms / 1000:g} s"),
        ]
        return html_table((name, words) for name, words in told if words)

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


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A client key that a switch to KIP-848 leaves out: its values, and what the broker has instead."""

    key: str
    values: tuple[Any, ...]
    broker_key: str
    broker_value: Any
    refused: bool
    """True: the client is not built with it (since 4.0). False: it is ignored."""

    @property
    def words(self) -> str:
        """The key, what the client makes of it and what holds in its place, as a sentence."""
        listed = ", ".join(map(_shown, self.values))
        does = "refuses" if self.refused else "ignores"
        return (
            f"{self.key} ({listed}) is left out, because a client with group.protocol=consumer {does} it; "
            f"the broker's {self.broker_key} holds: {_shown(self.broker_value)}."
        )


def left_out(scenario: Scenario, protocol: str | None) -> tuple[LeftOut, ...]:
    """Keys in the clients' configs that ``with_protocol(scenario, protocol)`` leaves out; empty for a classic protocol."""
    if protocol is None or PROTOCOLS[protocol]["group.protocol"] != "consumer":
        return ()
    given = [spec.configs for spec in scenario.members]
    given += [action.args["configs"] for action in scenario.actions if "configs" in action.args]
    found = {
        key: list(dict.fromkeys(_hashable(configs[key]) for configs in given if key in configs))
        for key in CLASSIC_ONLY
    }
    broker = BrokerConfig.of(scenario.broker, scenario.kafka_version)
    holds = {
        "session.timeout.ms": broker.consumer_session_timeout_ms,
        "heartbeat.interval.ms": broker.consumer_heartbeat_interval_ms,
        "partition.assignment.strategy": broker.consumer_assignors,
    }
    refused = has("consumer-refuses-classic-configs", scenario.kafka_version)
    return tuple(
        LeftOut(key, tuple(values), _decides(key, broker), holds[key], refused)
        for key, values in found.items()
        if values
    )


def _decides(key: str, broker: BrokerConfig) -> str:
    """The key of the broker, or of the group where it has settings of its own, that holds in place of a client's."""
    if key == "partition.assignment.strategy":
        return "group.consumer.assignors"
    own = f"consumer.{key}"
    return own if own in broker.given else f"group.{own}"


def carry_timeouts(scenario: Scenario) -> Scenario:
    """The scenario on a broker that was given the clients' longest session timeout and heartbeat interval.

    That is what an operator would have to do for a fair comparison of the protocols: set ``group.consumer.session.timeout.ms``
    and ``group.consumer.heartbeat.interval.ms``, and move the broker's limits where these forbid the values. Keys
    that the broker has already stay. The same scenario where no client sets either.
    """
    broker = dict(scenario.broker)
    limits = BrokerConfig.of(scenario.broker, scenario.kafka_version).values
    for name in ("session.timeout.ms", "heartbeat.interval.ms"):
        values = [int(spec.configs[name]) for spec in scenario.members if name in spec.configs]
        key, least, most = (f"group.consumer.{limit}{name}" for limit in ("", "min.", "max."))
        if not values or key in broker:
            continue
        broker[key] = max(values)
        if broker[key] < limits[least]:
            broker[least] = broker[key]
        if broker[key] > limits[most]:
            broker[most] = broker[key]
    return replace(scenario, broker=broker) if broker != dict(scenario.broker) else scenario


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return f"{value} ms" if isinstance(value, int) else str(value)
