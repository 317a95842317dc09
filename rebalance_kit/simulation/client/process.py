"""A member's process: its client machine, its application thread, its life and death.

The machine decides; the process carries out. Answers that only the application thread handles
(JoinGroup, SyncGroup, commits) wait until the application is inside poll(); heartbeat answers do not.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rebalance_kit.model.config import ClientConfig
from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.classic_client import table as classic_client
from rebalance_kit.protocol.classic_client.member import SESSION, ClassicMember, Stage
from rebalance_kit.protocol.client import names
from rebalance_kit.protocol.consumer_client import table as consumer_client
from rebalance_kit.protocol.consumer_client.member import ConsumerMember
from rebalance_kit.protocol.messages import (
    ConsumerGroupHeartbeat,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    OffsetCommit,
    Request,
    Response,
)
from rebalance_kit.simulation.client.effect_handlers import EFFECT_HANDLERS
from rebalance_kit.simulation.client.fetching import Fetching
from rebalance_kit.simulation.client.metadata import ClientMetadata
from rebalance_kit.simulation.scenario.scenario import MemberSpec, ReplayPins

if TYPE_CHECKING:
    from rebalance_kit.simulation.cluster.world import World

UNPINNED = ReplayPins()
BACKGROUND = (Heartbeat, ConsumerGroupHeartbeat, LeaveGroup)


class Process:
    """One named process over all its lives."""

    def __init__(self, world: World, spec: MemberSpec) -> None:
        self.world = world
        self.spec = spec
        self.name = spec.name
        self.life = 0
        self.alive = False
        self.frozen = False
        self.spoke = False
        self.synced_once = self.synced_before = self.committed_once = False
        self.protocol = "classic"
        self.stream: random.Random = world.streams["nobody"]
        self.machine: ClassicMember | ConsumerMember
        self.fetching: Fetching
        self.metadata: ClientMetadata
        self.stalled_until_ms = 0
        self.stalled_from_ms = 0
        self.callback_until_ms = 0
        self.callback_from_ms = 0
        self.callback_ms = spec.callback_ms
        self.processing_ms = spec.processing_ms
        self.heartbeat_sent_ms = self.first_poll_ms = 0
        self.warming_percent = 100
        self._step: Callable[[Any, Any], list[fx.Effect]]
        self._next: MemberSpec | None = None
        self._backlog: list[tuple[int, Callable[[], None]]] = []
        self.running: fx.Callback | None = None
        self.listener: Any | None = None
        self.callback_error: str | None = None
        self._poll_queued = False
        self._ids_given = 0
        self.requests_sent = self._last_arrival_ms = self._last_answer_ms = 0
        self.group_id = world.scenario.group

    # --- life ------------------------------------------------------------------------------
    def start(self, spec: MemberSpec) -> None:
        """A new process of this name lives from now on, or as soon as the one that still closes is gone."""
        if self.alive:
            self._next = spec
            return
        self._next = None
        world = self.world
        self.spec, self.life, self.alive, self.frozen = spec, self.life + 1, True, False
        self.spoke = self.synced_once = self.synced_before = self.committed_once = self._poll_queued = False
        self.stalled_until_ms = self.callback_until_ms = self._ids_given = 0
        self.heartbeat_sent_ms = world.agenda.now_ms
        self.running, self._backlog = None, []
        self.stream = world.streams[f"{self.name}/{self.life}"]
        self.config = ClientConfig.of(
            {"client.id": self.name, "group.id": world.scenario.group, **spec.configs},
            world.scenario.kafka_version,
            self.name,
            spec.client,
            world.own_assignors,
        )
        self.protocol = self.config.protocol
        self.group_id = self.config.group_id or world.scenario.group
        self.machine = world.make_machine(self, spec)
        self._step = classic_client.step if isinstance(self.machine, ClassicMember) else consumer_client.step
        self.fetching, self.metadata = Fetching(self, spec), ClientMetadata(self)
        self.listener, self.callback_error = world.plug_ins.make_listener(self.name), None
        world.row(
            self.name,
            "process_started",
            self.protocol,
            None,
            None,
            {
                "group": self.group_id,
                "client": spec.client,
                "configs": dict(spec.configs),
                "topics": list(spec.topics),
                "life": self.life,
                "pattern": spec.pattern,
                "server_pattern": spec.server_pattern,
            },
        )
        pin = self.pin()
        spreads = world.scenario.latencies
        spread = spreads.start_classic if self.protocol == "classic" else spreads.start_consumer
        first = world.agenda.now_ms + spread.draw(self.stream)
        if pin.first_request_ms is not None:
            sent = pin.first_request_ms - 2 if pin.first_sent_ms is None else pin.first_sent_ms
            first = max(min(sent, pin.first_request_ms - 1), world.agenda.now_ms)
        self.requests_sent = self._last_arrival_ms = self._last_answer_ms = 0
        self.fetching.beat_ms = pin.beat_ms or 0
        world.agenda.at(first, self._first_poll, self.life)

    def pin(self) -> ReplayPins:
        """The pinned facts of this life, all None when nothing is pinned."""
        lives = self.spec.lives
        return lives[self.life - 1] if self.life <= len(lives) else UNPINNED

    def behind_the_last(self, arrives_ms: int) -> int:
        """When a request gets there: a connection carries them in the order in which they are sent."""
        self._last_arrival_ms = max(arrives_ms, self._last_arrival_ms)
        return self._last_arrival_ms

    def answered_after_the_last(self, arrives_ms: int) -> int:
        """When an answer gets here: they come in the order of their requests."""
        self._last_answer_ms = max(arrives_ms, self._last_answer_ms + 1)
        return self._last_answer_ms

    def pinned_arrival_ms(self, request: Request) -> int | None:
        """When this request reaches the broker, if the life's pins say so."""
        self.requests_sent += 1
        pin = self.pin()
        if self.requests_sent == 1:
            return pin.first_request_ms
        second = self.requests_sent == 2 and isinstance(request, JoinGroup | ConsumerGroupHeartbeat)
        return pin.second_request_ms if second else None

    def pinned_answer_ms(self, request: Request) -> int | None:
        """When the answer to the request just counted reaches this process, if the life's pins say so."""
        if not isinstance(request, ConsumerGroupHeartbeat):
            return None
        pin = self.pin()
        if request.member_epoch == 0:
            return pin.first_answer_ms
        return pin.second_answer_ms if self.requests_sent == 2 else None

    def _first_poll(self, life: int) -> None:
        if life != self.life or not self.alive:
            return
        self.first_poll_ms = self.world.agenda.now_ms
        self.warming_percent = self.world.scenario.latencies.warming_percent.draw(self.stream)
        self.metadata.read()
        self.queue_poll(self.world.agenda.now_ms)

    def classic_id(self, prefix: str, draw: Callable[[random.Random], str]) -> str:
        """The member id a coordinator gives this process (pinned in a replay)."""
        self._ids_given += 1
        pin = self.pin()
        known = () if pin.member_id is None else (pin.member_id, *pin.later_ids)
        if self._ids_given <= len(known):
            return known[self._ids_given - 1]
        return draw(self.world.streams[f"id/{self.name}/{self.life}/{self._ids_given}/{prefix}"])

    def end(self, how: str, error: str | None = None) -> None:
        """The process is gone; nothing of it happens any more."""
        if not self.alive:
            return
        if how == "crash":
            self.fetching.die("crash")
        self.alive = False
        self.world.row(
            self.name,
            "process_ended",
            self.protocol,
            None,
            None,
            {"how": how, "error": error, "life": self.life},
        )
        if self._next is not None:
            self.world.agenda.at(self.world.agenda.now_ms + 1, self.start, self._next)

    def freeze(self) -> None:
        """The system stops the process: time passes, nothing runs."""
        if not self.alive or self.frozen:
            return
        self.fetching.suspend("frozen")
        self.frozen = True
        self.world.row(self.name, "process_frozen", self.protocol, None, None, {})

    def thaw(self) -> None:
        """The process goes on; what piled up is handled now, overdue session checks first."""
        if not self.alive or not self.frozen:
            return
        self.frozen = False
        self.world.row(self.name, "process_thawed", self.protocol, None, None, {})
        self.fetching.go_on("frozen")
        backlog, self._backlog = self._backlog, []
        for place, run in sorted(backlog, key=lambda held: held[0]):
            if self.frozen or not self.alive:
                self._backlog.append((place, run))
            else:
                run()
        self.fetching.catch_up()

    # --- the application thread --------------------------------------------------------------
    def ready_ms(self) -> int:
        """When the application is next inside poll() and nothing keeps it."""
        now = self.world.agenda.now_ms
        return max(
            now, self.stalled_until_ms, self.callback_until_ms, self.fetching.consumption.ready_ms(now)
        )

    def stall(self, for_ms: int) -> None:
        """The application does not call poll() for that long (it finishes a callback first)."""
        now = self.world.agenda.now_ms
        if not self.alive:
            return
        begins = max(now, self.callback_until_ms)
        if begins > now:
            self.world.agenda.at(begins, self._stall_later, (self.life, for_ms))
            return
        self.stalled_from_ms, self.stalled_until_ms = now, now + for_ms
        self.fetching.suspend("stall")
        self.world.row(
            self.name, "stall_begin", self.protocol, None, None, {"until_ms": self.stalled_until_ms}
        )
        self.watch_polls(now, for_ms)
        self.world.agenda.at(self.stalled_until_ms, self._stall_over, self.life)

    def _stall_later(self, argument: tuple[int, int]) -> None:
        if argument[0] == self.life:
            self.stall(argument[1])

    def _stall_over(self, life: int) -> None:
        if life != self.life or not self.alive or self.stalled_until_ms > self.world.agenda.now_ms:
            return
        if self.frozen:
            self._backlog.append((1, lambda: self._stall_over(life)))
            return
        self.world.row(self.name, "stall_end", self.protocol, None, None, {})
        self.fetching.go_on("stall")
        self.queue_poll(self.world.agenda.now_ms)

    def watch_polls(self, since_ms: int, for_ms: int) -> None:
        """The application is busy from then on: see whether that is longer than max.poll.interval.ms."""
        limit = self.config.max_poll_interval_ms
        if for_ms > limit:
            late = self.world.scenario.latencies.poll_overdue_noticed.draw(self.stream)
            self.world.agenda.at(since_ms + limit + late, self._poll_overdue, (self.life, since_ms))

    def _poll_overdue(self, argument: tuple[int, int]) -> None:
        life, since_ms = argument
        if life != self.life or not self.alive:
            return
        held = (
            since_ms in {self.stalled_from_ms, self.callback_from_ms}
            and max(self.stalled_until_ms, self.callback_until_ms) > self.world.agenda.now_ms
        )
        if held or self.fetching.polled_at_ms() <= since_ms:
            self.apply(fx.PollTimeout())

    def queue_poll(self, at_ms: int) -> None:
        """Be inside poll() at that moment, unless that is due already."""
        if self._poll_queued:
            return
        self._poll_queued = True
        self.world.agenda.at(at_ms, self._poll, self.life)

    def _poll(self, life: int) -> None:
        if life != self.life or not self.alive:
            return
        self._poll_queued = False
        if self.frozen:
            self._backlog.append((1, lambda: self._poll(life)))
            return
        ready = self.ready_ms()
        if ready > self.world.agenda.now_ms:
            self.queue_poll(ready)
            return
        machine = self.machine
        if (
            isinstance(machine, ClassicMember)
            and machine.pattern is not None
            and machine.rejoin_needed
            and self.world.broker.up
        ):
            self.metadata.tell()  # a pattern is matched anew before every JoinGroup
        self.apply(fx.Polled())

    # --- events ------------------------------------------------------------------------------
    def apply(self, event: Any) -> None:
        """Give an event to the client machine and carry out what it asks for."""
        if not self.alive:
            return
        if self.frozen:
            life = self.life
            first = isinstance(event, fx.TimerFired) and event.key == SESSION
            self._backlog.append(
                (0 if first else 1, lambda: self.apply(event) if life == self.life else None)
            )
            return
        handlers = EFFECT_HANDLERS
        for effect in self._step(self.machine, event):
            handlers[type(effect)](self, effect)

    def deliver(self, life: int, request: Request, response: Response) -> None:
        """An answer has reached the process; its application may have to be in poll() to see it."""
        if life != self.life or not self.alive:
            return
        if not isinstance(request, BACKGROUND) and not self.frozen:
            ready = self.ready_ms() if self.running is None else self.world.agenda.now_ms
            if ready > self.world.agenda.now_ms:
                self.world.agenda.at(ready, _deliver_again, (self, life, request, response))
                return
        if isinstance(request, OffsetCommit) and request.how == "revoked":
            self.callback_over(self.life)
        self.apply(fx.Answered(request, response))

    def disconnected(self, life: int, request: Request, cause: str) -> None:
        """A request of this process will get no answer."""
        if life == self.life and self.alive:
            if isinstance(request, OffsetCommit) and request.how == "revoked":
                self.callback_over(self.life)
            self.apply(fx.Disconnected(request, cause))

    def callback_over(self, life: int) -> None:
        """The callback has taken its time, and its commit is answered: the machine goes on."""
        if life != self.life or not self.alive or self.running is None:
            return
        if self.frozen:
            self._backlog.append((1, lambda: self.callback_over(life)))
            return
        now = self.world.agenda.now_ms
        if self.callback_until_ms > now:
            self.world.agenda.at(self.callback_until_ms, self.callback_over, life)
            return
        running, self.running = self.running, None
        shown = running.generation if running.generation >= 0 else None
        self.world.row(
            self.name,
            "callback_end",
            self.protocol,
            shown,
            running.member_id or None,
            {
                "callback": running.callback,
                "partitions": names(running.partitions),
                "error": self.callback_error,
            },
        )
        if (
            self.callback_until_ms > self.callback_from_ms
        ):  # not callback_ms: it may have been changed meanwhile
            self.fetching.go_on("callback")
        self.apply(fx.CallbackDone(self.callback_error))
        if self.machine.stuck:  # librdkafka pauses every partition until the right call is made
            self.fetching.suspend("callback")

    # --- what the application is told to do ----------------------------------------------------
    def tell(self, event: Any) -> None:
        """An order to the application: carried out when its thread is free."""
        self._told((self.life, event))

    def _told(self, argument: tuple[int, Any]) -> None:
        life, event = argument
        if life != self.life or not self.alive:
            return
        if self.frozen:
            self._backlog.append((1, lambda: self._told(argument)))
            return
        ready = self.ready_ms()
        if ready > self.world.agenda.now_ms or self.running is not None:
            self.world.agenda.at(max(ready, self.world.agenda.now_ms + 1), self._told, argument)
            return
        if isinstance(event, fx.Subscribed):
            self.fetching.keep_topics(event.topics)
        self.apply(event)

    def report_assignor(self, name: str, fault: str, seen: str) -> None:
        """Write down what an assignor of the learner's own did wrong."""
        detail = {"part": "assignor", "name": name, "fault": fault, "seen": seen}
        self.world.row(
            self.name, "own_code_fault", self.protocol, None, self.machine.member_id or None, detail
        )

    def identity(self) -> tuple[str, int]:
        """Member id and generation (or member epoch) that a commit carries."""
        return self.machine.member_id, self.machine.generation

    def may_commit(self) -> bool:
        """Whether the client would send a commit at all."""
        return self.machine.may_commit

    def idle(self) -> bool:
        """Nothing of a rebalance is under way on the application thread."""
        return (
            self.machine.stage is Stage.IDLE if isinstance(self.machine, ClassicMember) else self.machine.idle
        )


def _deliver_again(argument: tuple[Process, int, Request, Response]) -> None:
    argument[0].deliver(*argument[1:])
