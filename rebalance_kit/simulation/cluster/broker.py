"""The broker that coordinates: it hosts the groups, stores their offsets, and changes topics."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from rebalance_kit.assignors import contract, java_order
from rebalance_kit.assignors.java_order import timeline_order
from rebalance_kit.assignors.registry import assign
from rebalance_kit.assignors.server import assign_sticky_range, target_order, uniform_targets
from rebalance_kit.model.config import BrokerConfig
from rebalance_kit.model.topology import TopicId, TopicPartition
from rebalance_kit.model.versions import has
from rebalance_kit.protocol import messages
from rebalance_kit.protocol.classic_group import table as classic_group
from rebalance_kit.protocol.classic_group.group import ClassicGroup, GroupSettings
from rebalance_kit.protocol.consumer_group import migration
from rebalance_kit.protocol.consumer_group import table as consumer_group
from rebalance_kit.protocol.consumer_group.group import ConsumerGroup, ConsumerGroupSettings
from rebalance_kit.protocol.consumer_group.heartbeating import commit_error
from rebalance_kit.protocol.effects import (
    Append,
    Appended,
    Arrived,
    CancelTimer,
    Downgrade,
    Effect,
    Load,
    Note,
    Reply,
    SetTimer,
    TimerFired,
    Unload,
)
from rebalance_kit.simulation.cluster.network import Network
from rebalance_kit.simulation.cluster.topics import DataPlane, Fetcher, Offsets, Replicas, Topics
from rebalance_kit.simulation.kernel import RunHost, draw_kafka_uuid, draw_uuid
from rebalance_kit.simulation.scenario.scenario import Scenario

# Server-side assignors as a coordinator calls them, in the order of its own map of members.


ServerMember = tuple[str, str | None, tuple[str, ...], messages.Partitions]
"""Member id, instance id, topics, previous target."""
ServerAssign = Callable[
    [str, Sequence[ServerMember], Mapping[str, int], Mapping[str, TopicId], str | None],
    dict[str, tuple[TopicPartition, ...]],
]


def server_assignor(kafka_version: str) -> ServerAssign:
    """The function that a coordinator of this version assigns with: assignor's name, members, topics, their ids, newcomer.

    The newcomer is a member that the request under way has brought. The assignor's map gets it last.
    One function serves one group: the coordinator's map of members stays as wide as it has ever been.
    """
    widest = 0
    forgets = has("server-range-not-sticky", kafka_version)
    passes_extra_on = has("uniform-passes-extra-on", kafka_version)

    def server_assign(
        name: str,
        members: Sequence[ServerMember],
        partitions: Mapping[str, int],
        ids: Mapping[str, TopicId],
        newcomer: str | None,
    ) -> dict[str, tuple[TopicPartition, ...]]:
        nonlocal widest
        by_id = {member[0]: member for member in members}
        cluster = contract.Cluster(partitions, ids)
        subscriptions = []
        known = [member_id for member_id in by_id if member_id != newcomer]
        order = timeline_order(known, max(widest, len(known)))
        widest = max(widest, len(by_id))
        for member_id in order if newcomer is None else [*order, newcomer]:
            _, instance_id, topics, target = by_id[member_id]
            subscriptions.append(
                contract.MemberSubscription(member_id, topics, instance_id, target_order(target, cluster))
            )
        if name == "uniform":
            return uniform_targets(cluster, subscriptions, passes_extra_on=passes_extra_on)
        if name == "range" and not forgets:
            return assign_sticky_range(cluster, subscriptions)
        return assign(f"server.{name}", cluster, subscriptions)

    return server_assign


# Inputs of the machines of groups: the broker's configuration, ids to hand out, topics, assignors.


class Sender(Protocol):
    """A process that sends requests, as its broker knows it."""

    @property
    def protocol(self) -> str:
        """The group protocol that it speaks."""

    def given_id(self, prefix: str, draw: Callable[[random.Random], str]) -> str:
        """A member id for it, drawn unless a replay pins it."""


class GroupsSettings:
    """Makes the settings of each group from the broker's."""

    __slots__ = ("_config", "_host", "_senders", "_topics", "_version")

    def __init__(
        self,
        host: RunHost,
        config: BrokerConfig,
        kafka_version: str,
        topics: Topics,
        senders: Mapping[str, Sender],
    ) -> None:
        self._host, self._config, self._version = host, config, kafka_version
        self._topics, self._senders = topics, senders

    def classic(self, group: str) -> GroupSettings:
        """Settings of a classic group."""
        config, scala = self._config, not has("new-coordinator", self._version)
        return GroupSettings(
            group=group,
            initial_delay_ms=config.initial_rebalance_delay_ms,
            min_session_ms=config.min_session_timeout_ms,
            max_session_ms=config.max_session_timeout_ms,
            max_size=config.max_size,
            new_id=self._classic_id,
            map_order=java_order.scala_map_order if scala else java_order.hash_map_order,
            consumer_order=lambda ids: timeline_order(
                ids, len(ids) + 1
            ),  # with the last consumer, which goes
            skips_assignment=has("static-skip-assignment", self._version),
        )

    def consumer(self, group: str) -> ConsumerGroupSettings:
        """Settings of a KIP-848 group."""
        config, topics, host = self._config, self._topics, self._host
        return ConsumerGroupSettings(
            group=group,
            kafka_version=self._version,
            session_timeout_ms=config.consumer_session_timeout_ms,
            heartbeat_interval_ms=config.consumer_heartbeat_interval_ms,
            assignment_interval_ms=config.consumer_assignment_interval_ms,
            assignors=tuple(config.consumer_assignors),
            max_size=config.consumer_max_size,
            topics=lambda: dict(topics.counts),
            topic_ids=lambda: dict(topics.ids),
            now_ms=lambda: host.now_ms,
            assign=server_assignor(self._version),
            new_id=self._bare_id,
            migration_policy=str(config.migration_policy).lower(),
            classic_session_range=(config.min_session_timeout_ms, config.max_session_timeout_ms),
            regex_refresh_ms=config.regex_refresh_interval_ms,
        )

    def _classic_id(self, sender: str, prefix: str) -> str:
        return self._senders[sender].given_id(prefix, lambda stream: f"{prefix}-{draw_uuid(stream)}")

    def _bare_id(self, sender: str) -> str:
        return self._senders[sender].given_id("bare", draw_kafka_uuid)


Group = ClassicGroup | ConsumerGroup


UNKNOWN_TOPIC = "UNKNOWN_TOPIC_OR_PARTITION"


class Broker:
    """The coordinator of every group."""

    def __init__(
        self,
        host: RunHost,
        config: BrokerConfig,
        kafka_version: str,
        topics: Topics,
        plane: DataPlane,
        network: Network,
        senders: Mapping[str, Sender],
    ) -> None:
        self._host, self._plane, self._network, self._senders = host, plane, network, senders
        self.topics = topics
        self.config = config
        self.up = True
        self.groups: dict[str, Group] = {}
        self._settings = GroupsSettings(host, config, kafka_version, topics, senders)
        self._scanned = False
        self._appends = host.streams["broker/append"]

    # --- topics ----------------------------------------------------------------------------
    def set_topic(self, name: str, partitions: int, rate_per_s: float) -> None:
        """Create a topic or grow it."""
        if name not in self.topics.ids:
            self._forget_targets(name)
        self.topics.put(name, partitions, rate_per_s)
        self._topic_row(name)

    def _forget_targets(self, topic: str) -> None:
        """A topic made again has another id: no target of a consumer group knows it."""
        for group in self.groups.values():
            if isinstance(group, ConsumerGroup):
                group.target = {
                    member_id: tuple(tp for tp in share if tp.topic != topic)
                    for member_id, share in group.target.items()
                }

    def delete_topic(self, name: str) -> None:
        """A topic and its committed offsets are gone."""
        for tp in self.topics.delete(name):
            for group in self.groups:
                self._plane.ledger(group, tp).committed = None
        self._topic_row(name)
        self.topics.ids.pop(name, None)

    def _topic_row(self, name: str) -> None:
        topic_id = self.topics.ids.get(name)
        detail = {
            "partitions": self.topics.counts.get(name, 0),
            "topic_id": None if topic_id is None else list(topic_id),
        }
        self._host.row("broker", "topic_changed", None, None, None, detail, topic=name)

    # --- requests --------------------------------------------------------------------------
    def receive(self, event: Arrived[messages.Request]) -> None:
        """Hand a request to its group, which may change its protocol for it."""
        request = event.request
        name = request.group
        if type(request) is messages.OffsetCommit and self._commits_nothing_known(request):
            self.store_offsets(name, request, UNKNOWN_TOPIC)
            self._network.reply(event.token, messages.Answer(UNKNOWN_TOPIC), name)
            return
        group = self.groups.get(name)
        if group is None:
            self.groups[name] = (
                ConsumerGroup.fresh(self._settings.consumer(name))
                if isinstance(request, messages.ConsumerGroupHeartbeat)
                else ClassicGroup(self._settings.classic(name))
            )
        elif isinstance(group, ClassicGroup) and isinstance(request, messages.ConsumerGroupHeartbeat):
            if request.member_epoch != 0:
                self._refuse(event, "GROUP_ID_NOT_FOUND", f"Group {name} is not a consumer group.")
                return
            if not self._upgrade(name, group, event):
                return
        elif (
            isinstance(group, ConsumerGroup) and not group.members and isinstance(request, messages.JoinGroup)
        ):
            self._downgrade_empty(name, group)
        self.step(name, event)

    def _commits_nothing_known(self, request: messages.OffsetCommit) -> bool:
        """Whether no topic of the commit exists: then the broker answers it by itself, and no session is renewed.

        ``KafkaApis.handleOffsetCommitRequest`` hands the coordinator what it has left after it has taken out unknown topics, if anything.
        """
        counts = self.topics.counts
        return bool(request.offsets) and all(tp.topic not in counts for tp in request.offsets)

    def _upgrade(self, name: str, group: ClassicGroup, event: Arrived[messages.Request]) -> bool:
        if not group.members:
            fresh = ConsumerGroup.fresh(self._settings.consumer(name))
            if group.generation:
                fresh.epoch = fresh.assignment_epoch = group.generation
            self._replace(name, fresh, "consumer")
            return True
        done = migration.upgrade(group, self._settings.consumer(name))
        if isinstance(done, migration.Refusal):
            self._carry_out(name, "classic", list(done.effects), None)
            self._refuse(event, done.error, done.message)
            return False
        self.groups[name], effects = done
        self._carry_out(name, "consumer", effects, None)
        return True

    def _downgrade_empty(self, name: str, group: ConsumerGroup) -> None:
        fresh = ClassicGroup(self._settings.classic(name))
        fresh.generation = group.epoch
        self._replace(name, fresh, "classic")

    def _replace(self, name: str, group: Group, to: str) -> None:
        """An empty group takes the other protocol, whatever the migration policy says."""
        self.step(name, Unload())  # no timer of the old group may fire in the new one
        self.groups[name] = group
        self._host.row(
            "coordinator", "group_converted", to, None, None, {"group": name, "to": to, "members": 0}
        )

    def _refuse(self, event: Arrived[messages.Request], error: str, message: str) -> None:
        request = event.request
        detail = {
            "group": request.group,
            "name": request.client,
            "api": type(request).__name__,
            "error": error,
            "message": message,
        }
        self._host.row("coordinator", "member_refused", "consumer", None, request.member_id or None, detail)
        self._network.reply(
            event.token,
            messages.ConsumerGroupHeartbeatAnswer(error, request.member_id, message=message),
            request.group,
        )

    def step(self, name: str, event: Any) -> None:
        """Let one event happen to a group and carry out what it asks for."""
        group = self.groups[name]
        if isinstance(group, ClassicGroup):
            self._carry_out(name, "classic", classic_group.step(group, event), event)
            return
        effects = consumer_group.step(group, event)
        self._carry_out(name, "consumer", effects, event)
        if effects and Downgrade in map(type, effects):
            self.groups[name], effects = migration.downgrade(group, self._settings.classic(name))
            self._carry_out(name, "classic", effects, None)

    def _carry_out(self, name: str, protocol: str, effects: list[Effect], event: Any) -> None:
        host = self._host
        for effect in effects:
            if isinstance(effect, SetTimer):
                key = (name, effect.key)
                host.set_timer(key, host.now_ms + effect.after_ms, self._timer, key)
            elif isinstance(effect, Reply):
                response = effect.response
                if isinstance(event, Arrived) and isinstance(event.request, messages.OffsetCommit):
                    response = self._committed(name, event.request, response.error)
                self._network.reply(effect.token, response, name)
            elif isinstance(effect, Note):
                host.row(
                    "coordinator", effect.kind, protocol, effect.generation, effect.member_id, effect.detail
                )
            elif isinstance(effect, CancelTimer):
                host.cancel_timer((name, effect.key))
            elif isinstance(effect, Append):
                delay = self._append_ms(effect)
                host.at(host.now_ms + delay, self._appended, (name, effect.key))

    def _append_ms(self, effect: Append) -> int:
        latencies = self._host.latencies
        if effect.key[0] == "regex":  # a scan runs in the background
            first, self._scanned = not self._scanned, True
            return latencies.first_regex_scan_ms if first else latencies.regex_scan_ms
        return latencies.log_append.draw(self._appends)

    def _timer(self, argument: tuple[str, tuple[str, ...]]) -> None:
        if self.up:
            self.step(argument[0], TimerFired(argument[1]))

    def _appended(self, argument: tuple[str, tuple[str, ...]]) -> None:
        if self.up:
            self.step(argument[0], Appended(argument[1]))

    def _committed(self, name: str, request: messages.OffsetCommit, error: str) -> messages.Answer:
        """A commit's offsets are stored before it is answered; offsets of a deleted topic are refused."""
        if error == messages.NONE and not {tp.topic for tp in request.offsets} <= self.topics.counts.keys():
            error = UNKNOWN_TOPIC
        self.store_offsets(name, request, error)
        return messages.Answer(error)

    def store_offsets(self, name: str, request: messages.OffsetCommit, error: str) -> None:
        """Write the offsets of an accepted commit, and the row of any commit."""
        if error in {messages.NONE, UNKNOWN_TOPIC}:
            counts, ledgers = self.topics.counts, self._plane.ledgers_of(name)
            for tp, offset in request.offsets.items():
                if tp.topic in counts:
                    ledger = ledgers.get(tp) or self._plane.ledger(name, tp)
                    ledger.committed = offset
        if not self._host.tells_messages:
            return
        self._host.row(
            request.client,
            "commit",
            self._senders[request.client].protocol,
            request.generation,
            request.member_id or None,
            {
                "group": name,
                "how": request.how,
                "error": error,
                "offsets": {str(tp): at for tp, at in request.offsets.items()},
            },
        )

    def commit_error(self, request: messages.OffsetCommit) -> str:
        """What a commit would be answered at this moment."""
        group = self.groups.get(request.group)
        if group is None or not self.up:
            return "COORDINATOR_NOT_AVAILABLE"
        if isinstance(group, ClassicGroup):
            return classic_group.commit_error(group, request)
        return commit_error(group, request)

    def remove_member(self, group: str, member_id: str, instance_id: str | None) -> None:
        """An administrator removes a member; nobody waits for the answer."""
        if self.up and group in self.groups:
            request = messages.LeaveGroup(
                "admin",
                "" if instance_id else member_id,
                instance_id,
                "member was removed by an admin",
                group,
                admin=True,
            )
            self.step(group, Arrived(request, 0))

    # --- being away ------------------------------------------------------------------------
    def stop(self) -> None:
        """The broker stops: parked requests break, timers rest, offsets and groups stay on disk."""
        if not self.up:
            return
        for name in sorted(self.groups):
            self.step(name, Unload())
        self.up = False
        self._host.row("broker", "coordinator_down", None, None, None, {})
        for corr in sorted(self._network.waiting):
            self._network.break_off(corr)

    def start(self) -> None:
        """The coordinator has loaded its groups again."""
        if self.up:
            return
        self.up = True
        members = {name: len(group.members) for name, group in sorted(self.groups.items())}
        self._host.row("broker", "coordinator_up", None, None, None, {"members": members})
        for name in sorted(self.groups):
            self.step(name, Load())


# All that clients talk to: topics and their logs, replicas, the coordinating broker, and the network between.


class ClusterClient(Sender, Fetcher, Protocol):
    """A process as the cluster knows it."""


class Cluster:
    """The cluster of one run."""

    __slots__ = (
        "_host",
        "broker",
        "counts_records",
        "kafka_version",
        "network",
        "plane",
        "replicas",
        "topics",
    )

    def __init__(self, host: RunHost, scenario: Scenario, processes: Mapping[str, ClusterClient]) -> None:
        self._host = host
        self.kafka_version, self.counts_records = scenario.kafka_version, scenario.data_plane
        self.plane = DataPlane()
        self.topics = Topics(host, self.plane)
        self.network = Network(host)
        config = BrokerConfig.of(scenario.broker, scenario.kafka_version)
        self.broker = Broker(
            host, config, scenario.kafka_version, self.topics, self.plane, self.network, processes
        )
        self.network.coordinator = self.broker
        self.replicas = Replicas(host, scenario.nodes, self.plane, self.topics, processes)
        for topic in scenario.topics:
            self.topics.put(topic.name, topic.partitions, topic.rate_per_s, topic.topic_id)

    def log_end(self, tp: TopicPartition) -> int:
        """Log end offset at this moment."""
        return self.plane.end(tp, self._host.now_ms)

    def committed(self, group: str, tp: TopicPartition) -> int | None:
        """The group's committed offset, None where there is none."""
        return self.plane.ledger(group, tp).committed

    def store(self, group: str, offsets: Offsets) -> None:
        """Commit these offsets without a message."""
        for tp, offset in offsets.items():
            self.plane.ledger(group, tp).committed = offset

    def close(self) -> None:
        """The run is over: break the network's reference to the broker, which refers to it."""
        del self.network.coordinator
