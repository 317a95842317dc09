"""Everything of one run wired together: clock, chance, broker, network, processes, trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rebalance_kit.assignors.contract import Cluster, MemberSubscription
from rebalance_kit.assignors.java_order import hash_map_order, timeline_order
from rebalance_kit.assignors.registry import assign
from rebalance_kit.assignors.server.topics import target_order
from rebalance_kit.assignors.server.uniform import assign_server_uniform
from rebalance_kit.model.topology import TopicId, TopicPartition
from rebalance_kit.model.trace import Detail, TraceRow
from rebalance_kit.model.versions import has
from rebalance_kit.protocol.classic_client.member import ClassicMember
from rebalance_kit.protocol.client import ClientSettings
from rebalance_kit.protocol.consumer_client.member import ConsumerMember
from rebalance_kit.protocol.messages import Partitions
from rebalance_kit.simulation.client.data_plane import DataPlane
from rebalance_kit.simulation.client.process import Process
from rebalance_kit.simulation.cluster.broker import Broker
from rebalance_kit.simulation.cluster.network import Network
from rebalance_kit.simulation.cluster.replicas import Replicas
from rebalance_kit.simulation.kernel.agenda import Agenda
from rebalance_kit.simulation.kernel.streams import Streams, draw_kafka_uuid
from rebalance_kit.simulation.learner_code.leader_assignor import LeaderAssignor
from rebalance_kit.simulation.learner_code.plug_ins import NO_PLUG_INS, PlugIns, supports
from rebalance_kit.simulation.scenario.scenario import MemberSpec, Scenario

_new = tuple.__new__


class World:
    """One run in progress."""

    def __init__(self, scenario: Scenario, seed: int, plug_ins: PlugIns = NO_PLUG_INS) -> None:
        self.scenario = scenario
        self.plug_ins = plug_ins
        self.own_assignors = supports(plug_ins.assignors)
        self.agenda = Agenda()
        self.streams = Streams(seed)
        self.plane = DataPlane()
        self.rows: list[TraceRow] = []
        self.started = False
        self.replicas = Replicas(self)
        self.broker = Broker(self)
        self.network = Network(self)
        self.processes = {spec.name: Process(self, spec) for spec in scenario.members}
        self.started = True

    def row(
        self,
        actor: str,
        kind: str,
        protocol: str | None,
        generation: int | None,
        member_id: str | None,
        detail: Detail,
        *,
        topic: str | None = None,
        partition: int | None = None,
    ) -> None:
        """Append one row to the trace."""
        rows = self.rows
        at_ms, seq = self.agenda.now_ms, len(rows)
        # tuple.__new__ skips the named tuple's own constructor: a run writes a row for every message
        rows.append(
            _new(
                TraceRow, (at_ms, seq, actor, kind, protocol, generation, member_id, topic, partition, detail)
            )
        )

    def close(self) -> None:
        """The run is over: undo the circles of references, which only Python's collector would find."""
        for process in self.processes.values():
            if process.life:
                vars(process.fetching).clear()
            vars(process).clear()
        vars(self).clear()

    def make_machine(self, process: Process, spec: MemberSpec) -> ClassicMember | ConsumerMember:
        """The client machine that a process runs, from its configuration."""
        config = process.config
        settings = ClientSettings(
            process.name,
            process.group_id,
            tuple(config.assignors),
            config.mode == "COOPERATIVE",
            config.instance_id,
            config.rack if has("rack-aware-client-assignors", self.scenario.kafka_version) else None,
            config.session_timeout_ms,
            config.heartbeat_interval_ms,
            config.max_poll_interval_ms,
            (config.auto_commit and spec.commit == "auto") or spec.commit == "per_batch",
            config.remote_assignor,
            spec.client,
            spec.callback,
            new_id=lambda: (
                process.pin().member_id
                or draw_kafka_uuid(self.streams[f"id/{process.name}/{process.life}/consumer"])
            ),
            hash_order=hash_map_order,
            tells_reasons=has("reason-in-requests", self.scenario.kafka_version),
            commits_topic_ids=has("commit-by-topic-id", self.scenario.kafka_version),
            tolerates_offline=has("offline-rack-no-rebalance", self.scenario.kafka_version),
            assign=LeaderAssignor(
                spec.client,
                self.plug_ins.make_assignors(),
                process.report_assignor,
                cooperative=config.mode == "COOPERATIVE",
            ),
        )
        if config.protocol == "consumer":
            return ConsumerMember(settings, tuple(sorted(spec.topics)), spec.pattern, spec.server_pattern)
        return ClassicMember(settings, tuple(sorted(spec.topics)), spec.pattern)

    def server_assign(
        self,
        name: str,
        members: Sequence[tuple[str, str | None, tuple[str, ...], Partitions]],
        partitions: Mapping[str, int],
        ids: Mapping[str, TopicId],
    ) -> dict[str, tuple[TopicPartition, ...]]:
        """Run a server-side assignor: (member id, instance, topics, previous target) a member."""
        held = {one[0]: one for one in members}
        cluster = Cluster(partitions, ids)
        listed = []
        for who in timeline_order(held):
            _, instance, topics, owned = held[who]
            listed.append(MemberSubscription(who, topics, instance, target_order(owned, cluster)))
        if name == "uniform" and not has("uniform-passes-extra-on", self.scenario.kafka_version):
            return assign_server_uniform(cluster, listed, passes_extra_on=False)
        return assign(f"server.{name}", cluster, listed)
