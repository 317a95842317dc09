"""The broker: topics, offsets, and the coordinator that hosts the groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rebalance_kit.assignors import java_order
from rebalance_kit.model.config import BrokerConfig
from rebalance_kit.model.topology import TopicId, TopicPartition
from rebalance_kit.model.versions import has
from rebalance_kit.protocol.classic_group import table as classic_group
from rebalance_kit.protocol.classic_group.group import ClassicGroup, GroupSettings
from rebalance_kit.protocol.classic_group.join_phase import GROUP_TIMERS
from rebalance_kit.protocol.consumer_group import migration
from rebalance_kit.protocol.consumer_group import table as consumer_group
from rebalance_kit.protocol.consumer_group.committing import commit_error
from rebalance_kit.protocol.consumer_group.group import ConsumerGroup, ConsumerGroupSettings
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
from rebalance_kit.protocol.messages import (
    NONE,
    Answer,
    ConsumerGroupHeartbeat,
    ConsumerGroupHeartbeatAnswer,
    JoinGroup,
    LeaveGroup,
    OffsetCommit,
    Request,
    Response,
)
from rebalance_kit.simulation.client.data_plane import Log
from rebalance_kit.simulation.kernel.streams import draw_kafka_uuid, draw_uuid

if TYPE_CHECKING:
    from rebalance_kit.simulation.client.process import Process
    from rebalance_kit.simulation.cluster.world import World

Group = ClassicGroup | ConsumerGroup


class Broker:
    """One broker that leads every partition and coordinates every group."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.config = BrokerConfig.of(world.scenario.broker, world.scenario.kafka_version)
        self.up = True
        self.groups: dict[str, Group] = {}
        self.topics: dict[str, int] = {}
        self.topic_ids: dict[str, TopicId] = {}
        self._scanned = False
        self._appends = world.streams["broker/append"]
        for topic in world.scenario.topics:
            self.set_topic(topic.name, topic.partitions, topic.rate_per_s, topic.topic_id)

    # --- topics ----------------------------------------------------------------------------
    def set_topic(
        self, name: str, partitions: int, rate_per_s: float, topic_id: tuple[int, int] | None = None
    ) -> None:
        """Create a topic or grow it."""
        before = self.topics.get(name, 0)
        self.topics[name] = partitions
        if name not in self.topic_ids:
            self._forget_targets(name)
            drawn = self.world.streams[f"topic/{name}/{self.world.agenda.now_ms}"]
            half = 1 << 63
            self.topic_ids[name] = (
                TopicId(*topic_id)
                if topic_id
                else TopicId(drawn.getrandbits(64) - half, drawn.getrandbits(64) - half)
            )
        for number in range(before, partitions):
            self.world.plane.logs[TopicPartition(name, number)] = Log(self.world.agenda.now_ms, rate_per_s)
        if self.world.started:
            self.world.row(
                "broker",
                "topic_changed",
                None,
                None,
                None,
                {"partitions": partitions, "topic_id": list(self.topic_ids[name])},
                topic=name,
            )

    def _forget_targets(self, topic: str) -> None:
        """A topic made again has another id: no target of a consumer group knows it."""
        for group in self.groups.values():
            if isinstance(group, ConsumerGroup):
                group.target = {
                    who: tuple(tp for tp in given if tp.topic != topic) for who, given in group.target.items()
                }

    def delete_topic(self, name: str) -> None:
        """A topic and its committed offsets are gone."""
        for number in range(self.topics.pop(name, 0)):
            tp = TopicPartition(name, number)
            self.world.plane.logs.pop(tp, None)
            for group in list(self.groups):
                self.world.plane.ledger(group, tp).committed = None
        gone = self.topic_ids.pop(name, None)
        detail = {"partitions": 0, "topic_id": None if gone is None else list(gone)}
        self.world.row("broker", "topic_changed", None, None, None, detail, topic=name)

    # --- requests --------------------------------------------------------------------------
    def receive(self, event: Arrived[Request]) -> None:
        """Hand a request to its group, which may change its protocol for it."""
        request = event.request
        name = request.group
        group = self.groups.get(name)
        joins = isinstance(request, ConsumerGroupHeartbeat) and request.member_epoch == 0
        if group is None:
            self.groups[name] = self._fresh(name, consumer=isinstance(request, ConsumerGroupHeartbeat))
        elif isinstance(group, ClassicGroup) and isinstance(request, ConsumerGroupHeartbeat):
            if not joins:
                self._refuse(event, "GROUP_ID_NOT_FOUND", f"Group {name} is not a consumer group.")
                return
            if not self._upgrade(name, group, event):
                return
        elif isinstance(group, ConsumerGroup) and not group.members and isinstance(request, JoinGroup):
            self._downgrade_empty(name, group)
        self.step(name, event)

    def _upgrade(self, name: str, group: ClassicGroup, event: Arrived[Request]) -> bool:
        if not group.members:
            fresh = ConsumerGroup.fresh(self._consumer_settings(name))
            if group.generation:
                fresh.epoch = fresh.assignment_epoch = group.generation
            self._replace(name, fresh, "consumer")
            return True
        done = migration.upgrade(group, self._consumer_settings(name))
        if isinstance(done, migration.Refusal):
            self._carry_out(name, "classic", list(done.effects), None)
            self._refuse(event, done.error, done.message)
            return False
        self.groups[name], effects = done
        self._carry_out(name, "consumer", effects, None)
        return True

    def _downgrade_empty(self, name: str, group: ConsumerGroup) -> None:
        fresh = ClassicGroup(self._classic_settings(name))
        fresh.generation = group.epoch
        self._replace(name, fresh, "classic")

    def _replace(self, name: str, group: Group, to: str) -> None:
        """An empty group takes the other protocol, whatever the migration policy says."""
        for key in GROUP_TIMERS:
            self.world.agenda.cancel_timer((name, key))
        self.groups[name] = group
        self.world.row(
            "coordinator", "group_converted", to, None, None, {"group": name, "to": to, "members": 0}
        )

    def _refuse(self, event: Arrived[Request], error: str, message: str) -> None:
        request = event.request
        detail = {
            "group": request.group,
            "name": request.client,
            "api": type(request).__name__,
            "error": error,
            "message": message,
        }
        self.world.row("coordinator", "member_refused", "consumer", None, request.member_id or None, detail)
        self.world.network.reply(
            event.token,
            ConsumerGroupHeartbeatAnswer(error, request.member_id, message=message),
            request.group,
        )

    def _fresh(self, name: str, *, consumer: bool) -> Group:
        return (
            ConsumerGroup.fresh(self._consumer_settings(name))
            if consumer
            else ClassicGroup(self._classic_settings(name))
        )

    def _classic_settings(self, name: str) -> GroupSettings:
        kept = self.config
        version = self.world.scenario.kafka_version
        scala = not has("new-coordinator", version)
        return GroupSettings(
            name,
            kept.initial_rebalance_delay_ms,
            kept.min_session_timeout_ms,
            kept.max_session_timeout_ms,
            kept.max_size,
            self._new_id,
            java_order.scala_map_order if scala else java_order.hash_map_order,
            java_order.timeline_order,
            has("static-skip-assignment", version),
        )

    def _consumer_settings(self, name: str) -> ConsumerGroupSettings:
        world, kept = self.world, self.config
        return ConsumerGroupSettings(
            name,
            world.scenario.kafka_version,
            kept.consumer_session_timeout_ms,
            kept.consumer_heartbeat_interval_ms,
            kept.consumer_assignment_interval_ms,
            tuple(kept.consumer_assignors),
            kept.consumer_max_size,
            lambda: dict(self.topics),
            lambda: dict(self.topic_ids),
            lambda: world.agenda.now_ms,
            world.server_assign,
            lambda client: self.world.processes[client].classic_id("bare", draw_kafka_uuid),
            str(kept.migration_policy).lower(),
            (kept.min_session_timeout_ms, kept.max_session_timeout_ms),
            kept.regex_refresh_interval_ms,
        )

    def _new_id(self, client: str, prefix: str) -> str:
        return self.world.processes[client].classic_id(prefix, lambda stream: f"{prefix}-{draw_uuid(stream)}")

    def step(self, name: str, event: Any) -> None:
        """Let one event happen to a group and carry out what it asks for."""
        group = self.groups[name]
        if isinstance(group, ClassicGroup):
            self._carry_out(name, "classic", classic_group.step(group, event), event)
            return
        effects = consumer_group.step(group, event)
        self._carry_out(name, "consumer", effects, event)
        if any(isinstance(effect, Downgrade) for effect in effects):
            self.groups[name], effects = migration.downgrade(group, self._classic_settings(name))
            self._carry_out(name, "classic", effects, None)

    def _carry_out(self, name: str, protocol: str, effects: list[Effect], event: Any) -> None:
        world, agenda = self.world, self.world.agenda
        for effect in effects:
            if isinstance(effect, SetTimer):
                key = (name, effect.key)
                agenda.set_timer(key, agenda.now_ms + effect.after_ms, self._timer, key)
            elif isinstance(effect, Reply):
                world.network.reply(effect.token, self._answered(name, event, effect.response), name)
            elif isinstance(effect, Note):
                world.row(
                    "coordinator", effect.kind, protocol, effect.generation, effect.member_id, effect.detail
                )
            elif isinstance(effect, CancelTimer):
                agenda.cancel_timer((name, effect.key))
            elif isinstance(effect, Append):
                delay = self._append_ms(effect)
                agenda.at(agenda.now_ms + delay, self._appended, (name, effect.key))

    def _append_ms(self, effect: Append) -> int:
        latencies = self.world.scenario.latencies
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

    def _answered(self, name: str, event: Any, response: Response) -> Response:
        """A commit's offsets are stored before it is answered; offsets of a deleted topic are refused."""
        if not isinstance(event, Arrived) or not isinstance(event.request, OffsetCommit):
            return response
        error = response.error
        if error == NONE and any(tp.topic not in self.topics for tp in event.request.offsets):
            error = "UNKNOWN_TOPIC_OR_PARTITION"
        self.store_offsets(name, event.request, error)
        return Answer(error)

    def store_offsets(self, name: str, request: OffsetCommit, error: str) -> None:
        """Write the offsets of an accepted commit, and the row of any commit."""
        if error in {NONE, "UNKNOWN_TOPIC_OR_PARTITION"}:
            for tp, offset in request.offsets.items():
                if tp.topic in self.topics:
                    self.world.plane.ledger(name, tp).committed = offset
        self.world.row(
            request.client,
            "commit",
            self.world.processes[request.client].protocol,
            request.generation,
            request.member_id or None,
            {
                "group": name,
                "how": request.how,
                "error": error,
                "offsets": {str(tp): at for tp, at in request.offsets.items()},
            },
        )

    def commit_error(self, request: OffsetCommit) -> str:
        """What a commit would be answered at this moment."""
        group = self.groups.get(request.group)
        if group is None or not self.up:
            return "COORDINATOR_NOT_AVAILABLE"
        if isinstance(group, ClassicGroup):
            return classic_group.commit_error(group, request)
        return commit_error(group, request)

    def remove_member(self, process: Process) -> None:
        """An administrator removes a member; nobody waits for the answer."""
        name = process.group_id
        if self.up and name in self.groups and process.life:
            member_id, _ = process.identity()
            instance = process.config.instance_id
            request = LeaveGroup(
                "admin",
                "" if instance else member_id,
                instance,
                "member was removed by an admin",
                name,
                admin=True,
            )
            self.step(name, Arrived(request, 0))

    # --- being away ------------------------------------------------------------------------
    def stop(self) -> None:
        """The broker stops: parked requests break, timers rest, offsets and groups stay on disk."""
        if not self.up:
            return
        for name in sorted(self.groups):
            self.step(name, Unload())
        self.up = False
        self.world.row("broker", "coordinator_down", None, None, None, {})
        for corr in sorted(self.world.network.waiting):
            self.world.network.break_off(corr)

    def start(self) -> None:
        """The coordinator has loaded its groups again."""
        if self.up:
            return
        self.up = True
        members = {name: len(group.members) for name, group in sorted(self.groups.items())}
        self.world.row("broker", "coordinator_up", None, None, None, {"members": members})
        for name in sorted(self.groups):
            self.step(name, Load())
