"""Messages between processes and the broker: latency, loss, and who waits for an answer."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rebalance_kit.protocol.effects import Arrived
from rebalance_kit.protocol.messages import (
    Answer,
    ConsumerGroupHeartbeat,
    ConsumerGroupHeartbeatAnswer,
    Heartbeat,
    JoinAnswer,
    JoinGroup,
    LeaveGroup,
    OffsetCommit,
    Request,
    Response,
    SyncAnswer,
    SyncGroup,
)

if TYPE_CHECKING:
    from rebalance_kit.simulation.client.process import Process
    from rebalance_kit.simulation.cluster.world import World

NOTHING: Mapping[str, Any] = {}
"""What a message without fields adds to its row."""


@dataclass(slots=True)
class Waiting:
    """A request on its way or parked at the coordinator."""

    process: Process
    life: int
    request: Request
    there_ms: int
    back_ms: int
    answer_ms: int | None = None
    """When its answer reaches the process, where a life's pins say so."""


@dataclass(slots=True)
class Faults:
    """What is wrong with one process's connection."""

    cut: bool = False
    drop: list[str] = field(default_factory=list)
    delay: dict[str, int] = field(default_factory=dict)
    held: list[tuple[int, Response | None]] = field(default_factory=list)
    """What TCP goes on sending while the network is cut: requests (None) and answers, by correlation."""

    def takes(self, api: str) -> bool:
        """Whether this message is lost for good; a single drop is used up."""
        if api in self.drop:
            self.drop.remove(api)
            return True
        return False


class Network:
    """One connection a process to the broker that hosts the coordinator."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._corr = 0
        self.waiting: dict[int, Waiting] = {}
        self._busy: dict[tuple[str, int], int] = {}
        self._queued: dict[tuple[str, int], list[int]] = {}
        self.faults: dict[str, Faults] = {}

    def _latency(self, process: Process, request: Request, stream: random.Random) -> int:
        spreads, kind = self._world.scenario.latencies, type(request)
        if kind is OffsetCommit:
            first, process.committed_once = not process.committed_once, True
            return max((spreads.first_commit if first else spreads.commit).draw(stream) // 2, 1)
        if kind is JoinGroup and not process.spoke:
            process.spoke = True
            return max(spreads.first_request.draw(stream) // 2, 1)
        if kind is SyncGroup and not process.synced_once:
            process.synced_once = True
            return max(round(spreads.first_sync.draw(stream) * spreads.first_sync_there_percent / 100), 1)
        if kind is ConsumerGroupHeartbeat and process.requests_sent == 1:
            return max(spreads.first_ack.draw(stream) // 2, 1)
        return spreads.one_way.draw(stream)

    def _way_back(self, process: Process, request: Request, there_ms: int) -> int:
        if isinstance(request, SyncGroup) and not process.synced_before:
            process.synced_before = True
            there = self._world.scenario.latencies.first_sync_there_percent
            return round(there_ms / there * (100 - there))
        return there_ms

    def send(self, process: Process, request: Request) -> None:
        """Put a request on its way; a lost one ends in the client's request timeout."""
        world = self._world
        self._corr += 1
        corr = self._corr
        api = type(request).__name__
        faults = self.faults.get(process.name)
        delay = drawn = self._latency(process, request, process.stream)
        pinned = process.pinned_arrival_ms(request)
        if pinned is not None:
            delay = max(pinned - world.agenda.now_ms, 1)
        delay = process.behind_the_last(world.agenda.now_ms + delay) - world.agenda.now_ms
        acknowledges = isinstance(request, ConsumerGroupHeartbeat) and process.requests_sent == 2
        answer = process.pinned_answer_ms(request)
        back = drawn if acknowledges else self._way_back(process, request, delay)
        if faults is not None:
            delay += faults.delay.pop(api, 0)  # the way there alone
        cut = faults is not None and faults.cut
        lost = cut or (faults is not None and faults.takes(api))
        arrives = None if lost else world.agenda.now_ms + delay
        self.waiting[corr] = Waiting(process, process.life, request, delay, back, answer)
        world.row(
            process.name,
            "request",
            process.protocol,
            _generation(request),
            request.member_id or None,
            {"api": api, "corr": corr, "arrives_ms": arrives, **_fields(request)},
        )
        if cut and faults is not None:
            faults.held.append((corr, None))
        if lost:
            wait = world.scenario.latencies.lost_request_ms
            if isinstance(request, JoinGroup):
                wait = max(wait, request.rebalance_timeout_ms + 5_000)
            world.agenda.at(world.agenda.now_ms + wait, self._timed_out, corr)
        else:
            world.agenda.at(world.agenda.now_ms + delay, self._arrive, corr)

    def heal(self, name: str) -> None:
        """The network carries again: TCP sends what it still holds, unless its request has timed out."""
        faults = self.faults.get(name)
        if faults is None or not faults.cut:
            return
        agenda = self._world.agenda
        faults.cut = False
        held, faults.held = faults.held, []
        for corr, response in held:
            waiting = self.waiting.get(corr)
            if waiting is None:
                continue
            if response is None:
                agenda.at(agenda.now_ms + waiting.there_ms, self._arrive, corr)
            else:
                del self.waiting[corr]
                agenda.at(
                    agenda.now_ms + waiting.back_ms,
                    _deliver,
                    (waiting.process, waiting.life, waiting.request, response),
                )

    def _timed_out(self, corr: int) -> None:
        waiting = self.waiting.pop(corr, None)
        if waiting is not None:
            waiting.process.disconnected(waiting.life, waiting.request, "request timed out")

    def _arrive(self, corr: int) -> None:
        waiting = self.waiting.get(corr)
        if waiting is None:
            return
        if not self._world.broker.up:
            self.break_off(corr)
            return
        connection = (waiting.process.name, waiting.life)
        if connection in self._busy:  # a broker takes one request of a connection at a time
            self._queued.setdefault(connection, []).append(corr)
            return
        self._busy[connection] = corr
        self._world.broker.receive(Arrived(waiting.request, corr))

    def _answered(self, waiting: Waiting) -> None:
        """The connection is free again: what came behind a parked request is taken now."""
        connection = (waiting.process.name, waiting.life)
        self._busy.pop(connection, None)
        queued = self._queued.get(connection)
        if queued:
            self._world.agenda.at(self._world.agenda.now_ms, self._arrive, queued.pop(0))

    def break_off(self, corr: int) -> None:
        """The connection of a waiting request breaks: its client hears of it in a moment."""
        waiting = self.waiting.pop(corr, None)
        if waiting is not None:
            self._busy.pop((waiting.process.name, waiting.life), None)
            self._queued.pop((waiting.process.name, waiting.life), None)
            waiting.process.disconnected(waiting.life, waiting.request, "coordinator unavailable")

    def reply(self, corr: int, response: Response, group: str) -> None:
        """Put an answer on its way back."""
        world = self._world
        waiting = self.waiting.pop(corr, None)
        if waiting is None:
            return
        self._answered(waiting)
        process = waiting.process
        api = type(waiting.request).__name__
        faults = self.faults.get(process.name)
        lost = faults is not None and faults.cut
        delay = reply_latency_ms(world, waiting)
        if waiting.answer_ms is not None and waiting.answer_ms > world.agenda.now_ms:
            delay = waiting.answer_ms - world.agenda.now_ms
        if waiting.life == process.life:
            delay = process.answered_after_the_last(world.agenda.now_ms + delay) - world.agenda.now_ms
        arrives = None if lost else world.agenda.now_ms + delay
        world.row(
            "coordinator",
            "response",
            process.protocol,
            _answered_generation(response),
            getattr(response, "member_id", None) or waiting.request.member_id or None,
            {
                "api": api,
                "corr": corr,
                "to": process.name,
                "error": response.error,
                "arrives_ms": arrives,
                "group": group,
                **_answer_fields(response),
            },
        )
        if lost and faults is not None:
            faults.held.append((corr, response))
            self.waiting[corr] = waiting
            world.agenda.at(
                world.agenda.now_ms + world.scenario.latencies.lost_request_ms, self._timed_out, corr
            )
        else:
            world.agenda.at(
                world.agenda.now_ms + delay, _deliver, (process, waiting.life, waiting.request, response)
            )


def reply_latency_ms(world: World, waiting: Waiting) -> int:
    """The way back takes what the way there took, so that a slow first request is slow both ways."""
    slow = waiting.back_ms > world.scenario.latencies.one_way.most
    if isinstance(waiting.request, Heartbeat | ConsumerGroupHeartbeat) and not slow:
        return world.scenario.latencies.one_way.draw(waiting.process.stream)
    return waiting.back_ms


def _deliver(argument: tuple[Process, int, Request, Response]) -> None:
    process, life, request, response = argument
    process.deliver(life, request, response)


def _generation(request: Request) -> int | None:
    if type(request) is ConsumerGroupHeartbeat:
        return request.member_epoch
    generation = getattr(request, "generation", -1)
    return generation if generation >= 0 else None


def _fields(request: Request) -> Mapping[str, Any]:
    kind = type(request)
    if kind is Heartbeat:
        return NOTHING
    if isinstance(request, JoinGroup):
        held = request.protocols[0][1]
        return {
            "protocols": [name for name, _ in request.protocols],
            "topics": list(held.topics),
            "owned": [str(tp) for tp in held.owned],
            "reason": None if request.reason is None else request.reason.text,
            "instance_id": request.instance_id,
        }
    if isinstance(request, SyncGroup):
        return {"assignor": request.protocol, "leads": request.assignment is not None}
    if isinstance(request, LeaveGroup):
        return {"reason": request.reason, "instance_id": request.instance_id}
    if isinstance(request, OffsetCommit):
        return {"how": request.how, "offsets": {str(tp): offset for tp, offset in request.offsets.items()}}
    if isinstance(request, ConsumerGroupHeartbeat):
        return {
            "epoch": request.member_epoch,
            "topics": None if request.topics is None else list(request.topics),
            "owned": None if request.owned is None else [str(tp) for tp in request.owned],
            "instance_id": request.instance_id,
        }
    return NOTHING


def _answered_generation(response: Response) -> int | None:
    if isinstance(response, JoinAnswer):
        return response.generation if response.generation >= 0 else None
    if isinstance(response, ConsumerGroupHeartbeatAnswer):
        return response.member_epoch
    return None


def _answer_fields(response: Response) -> Mapping[str, Any]:
    if type(response) is Answer:
        return NOTHING
    if isinstance(response, JoinAnswer):
        return {"leader": response.leader, "assignor": response.protocol, "members": len(response.members)}
    if isinstance(response, SyncAnswer):
        return {"assignment": [str(tp) for tp in response.assignment]}
    if isinstance(response, ConsumerGroupHeartbeatAnswer):
        return {
            "epoch": response.member_epoch,
            "assignment": None if response.assignment is None else [str(tp) for tp in response.assignment],
        }
    return NOTHING
