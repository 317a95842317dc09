"""A member's process over all its lives: it starts, freezes, ends, and starts again."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from rebalance_kit.model.config import ClientConfig
from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.protocol import effects as fx
from rebalance_kit.simulation.client.application import Pace
from rebalance_kit.simulation.client.client import Client
from rebalance_kit.simulation.client.effect_handlers import EFFECT_HANDLERS, hand_over
from rebalance_kit.simulation.client.incarnation import ClientMachine, Incarnation, make_machine
from rebalance_kit.simulation.cluster.broker import Cluster
from rebalance_kit.simulation.cluster.network import Faults
from rebalance_kit.simulation.kernel import RunHost, Spread, draw_kafka_uuid
from rebalance_kit.simulation.learner_code.own_assignors import LeaderAssignor
from rebalance_kit.simulation.learner_code.plug_ins import PlugIns, Supports
from rebalance_kit.simulation.scenario.scenario import MemberSpec, ReplayPins


class Process:
    """One named process; ``client`` is that of its present life, or of its last one."""

    __slots__ = (
        "_cluster",
        "_group_id",
        "_ids_given",
        "_next",
        "_own_assignors",
        "_plug_ins",
        "_run",
        "client",
        "faults",
        "name",
        "pace",
        "spec",
    )

    def __init__(
        self,
        run: RunHost,
        cluster: Cluster,
        plug_ins: PlugIns,
        own_assignors: Supports,
        group_id: str,
        spec: MemberSpec,
    ) -> None:
        """``group_id`` is the group of a process whose configuration names none."""
        self._run, self._cluster, self._group_id = run, cluster, group_id
        self._plug_ins, self._own_assignors = plug_ins, own_assignors
        self.name, self.spec = spec.name, spec
        self.pace = Pace(spec.processing_ms, spec.callback_ms)
        self.faults = Faults()
        self.client: Client | None = None
        self._next: MemberSpec | None = None
        self._ids_given = 0

    # --- what the cluster knows of it ------------------------------------------------------------
    @property
    def alive(self) -> bool:
        """Whether a life of it is under way."""
        return self.client is not None and self.client.host.alive

    @property
    def protocol(self) -> str:
        """The group protocol that it speaks."""
        return "classic" if self.client is None else self.client.host.protocol

    @property
    def group_id(self) -> str:
        """The group of its present life."""
        return self._group_id if self.client is None else self.client.host.group_id

    def given_id(self, prefix: str, draw: Callable[[random.Random], str]) -> str:
        """The member id that a coordinator gives this process (pinned in a replay)."""
        host, pins = self._present().host, self._present().pins
        self._ids_given += 1
        pinned = None if pins is None else pins.given_id(self._ids_given)
        return pinned or draw(host.id_stream(f"{self._ids_given}/{prefix}"))

    def membership(self) -> tuple[str, str | None] | None:
        """Member id and instance id of its present or last life; None before the first."""
        client = self.client
        return None if client is None else (client.machine.member_id, client.config.instance_id)

    def lose_leaders(self, gone: frozenset[TopicPartition]) -> None:
        """Fetches of these fail: their broker is gone."""
        if self.alive:
            self._present().fetching.lose_leaders(gone)

    def find_leaders(self) -> None:
        """A broker is back: fetch again what has a leader."""
        if self.alive:
            self._present().fetching.find_leaders()

    def _present(self) -> Client:
        if self.client is None:
            raise LookupError(f"{self.name} has not been started yet; expected a process that sends requests")
        return self.client

    # --- lives -------------------------------------------------------------------------------
    def start(self, spec: MemberSpec) -> None:
        """A new process of this name lives from now on, or as soon as the one that still closes is gone."""
        if self.alive:
            self._next = spec
            return
        run = self._run
        self._next, self.spec, self._ids_given = None, spec, 0
        before = self.client
        number = 1 if before is None else before.host.number + 1
        config = ClientConfig.of(
            {"client.id": self.name, "group.id": self._group_id, **spec.configs},
            self._cluster.kafka_version,
            self.name,
            spec.client,
            self._own_assignors,
        )
        host = Incarnation(run, self.name, number, config.protocol, config.group_id or self._group_id)
        pins = spec.lives[number - 1] if number <= len(spec.lives) else None
        self.client = Client(
            host,
            spec,
            config,
            self._machine(host, config, pins),
            self._cluster,
            self.faults,
            pins,
            self.pace,
            self._plug_ins.make_listener(self.name),
            EFFECT_HANDLERS,
            self.end,
        )
        hand_over(self.client)
        if before is not None:
            before.connection.successor = self.client.connection
        self._started_row(host)
        first_ms = run.now_ms + host.draw(self._wait(config.protocol))
        host.at(first_ms if pins is None else pins.first_poll_ms(first_ms, run.now_ms), self.client.start)

    def _wait(self, protocol: str) -> Spread:
        """How long a new consumer takes to its first request; each is one draw, so that no later one of the life shifts."""
        latencies = self._run.latencies
        if self.spec.client == "librdkafka":
            return latencies.start_librdkafka
        return latencies.start_classic if protocol == "classic" else latencies.start_consumer

    def _machine(self, host: Incarnation, config: ClientConfig, pins: ReplayPins | None) -> ClientMachine:
        def new_id() -> str:
            pinned = None if pins is None else pins.member_id
            return pinned or draw_kafka_uuid(host.id_stream("consumer"))

        leader_assignor = LeaderAssignor(
            self.spec.client,
            self._plug_ins.make_assignors(),
            self._report_assignor,
            cooperative=config.mode == "COOPERATIVE",
        )
        version = self._cluster.kafka_version
        return make_machine(self.spec, config, version, new_id, leader_assignor, host.group_id)

    def _started_row(self, host: Incarnation) -> None:
        spec = self.spec
        host.row(
            "process_started",
            {
                "group": host.group_id,
                "client": spec.client,
                "configs": dict(spec.configs),
                "topics": list(spec.topics),
                "life": host.number,
                "pattern": spec.pattern,
                "server_pattern": spec.server_pattern,
            },
        )

    def _report_assignor(self, name: str, fault: str, seen: str) -> None:
        """Write down what an assignor of the learner's own did wrong."""
        client = self._present()
        detail = {"part": "assignor", "name": name, "fault": fault, "seen": seen}
        client.host.row("own_code_fault", detail, None, client.machine.member_id or None)

    def end(self, how: str, error: str | None = None) -> None:
        """The process is gone; nothing of it happens any more."""
        if not self.alive:
            return
        client = self._present()
        if how == "crash":
            client.fetching.die("crash")
        client.host.alive = False
        client.host.row("process_ended", {"how": how, "error": error, "life": client.host.number})
        if self._next is not None:
            self._run.at(self._run.now_ms + 1, self.start, self._next)

    def freeze(self) -> None:
        """The system stops the process: time passes, nothing runs."""
        if self.alive and not self._present().host.frozen:
            client = self._present()
            client.fetching.suspend("frozen")
            client.host.frozen = True
            client.host.row("process_frozen", {})

    def thaw(self) -> None:
        """The process goes on; what piled up is handled now, overdue session checks first."""
        if self.alive and self._present().host.frozen:
            client = self._present()
            client.host.frozen = False
            client.host.row("process_thawed", {})
            client.fetching.go_on("frozen")
            client.host.catch_up()
            client.commits.catch_up()

    def close(self) -> None:
        """The run is over: let go of the client, whose parts refer back to it."""
        if self.client is not None:
            self.client.close()
            self.client = None

    # --- what is done to it --------------------------------------------------------------------
    def order(self, event: Any) -> None:
        """The application calls a method of its consumer, as soon as its thread is free."""
        if self.alive:
            self._present().application.order(event)

    def stall(self, for_ms: int) -> None:
        """The application does not call poll() for that long."""
        if self.alive:
            self._present().application.stall(for_ms)

    def subscribe(self, spec: MemberSpec) -> None:
        """The application subscribes the topics of ``spec``, which later lives keep."""
        self.spec = spec
        self.order(fx.Subscribed(spec.topics))

    def set_processing(self, processing_ms: float) -> None:
        """Processing takes this long per record from now on."""
        self.pace.processing_ms = processing_ms
        if self.alive:
            self._present().fetching.set_processing(processing_ms)

    def see_metadata(self, counts: dict[str, int]) -> None:
        """Its client's metadata says this."""
        if self.alive:
            self._present().apply(fx.MetadataSeen(counts))

    def lose_topic(self, topic: str) -> None:
        """A topic that is about to be deleted: its records stop."""
        if self.alive:
            fetching = self._present().fetching
            fetching.stop([tp for tp in fetching.consumption.fetching if tp.topic == topic], "deleted")

    def notice_deletion(self, topic: str) -> None:
        """A topic is deleted: whoever owns partitions of it hears so from its failing fetches."""
        if self.alive and any(tp.topic == topic for tp in self._present().machine.owned):
            host = self._present().host
            self._present().metadata.soon(host.draw(host.latencies.deleted_topic_noticed))

    def close_books(self) -> None:
        """The run ends: every poll until now has happened, and what a living process has in hand is not lost."""
        if self.alive:
            self._present().fetching.close_books()
