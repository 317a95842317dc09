"""Every edge that a client's tables declare is taken by some client, and none takes another one."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from rebalance_kit.model.errors import AssignorError
from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.classic_client import member as classic
from rebalance_kit.protocol.classic_client.member import ClassicMember
from rebalance_kit.protocol.client import PollStep
from rebalance_kit.protocol.consumer_client import member as consumer
from rebalance_kit.protocol.consumer_client.member import ConsumerMember
from rebalance_kit.protocol.messages import (
    Answer,
    ConsumerGroupHeartbeat,
    ConsumerGroupHeartbeatAnswer,
    Heartbeat,
    JoinAnswer,
    JoinGroup,
    JoinMember,
    OffsetCommit,
    SyncAnswer,
    SyncGroup,
)
from tests.support.protocol.client_steps import answer_join, heard, rebalanced
from tests.support.protocol.driver import Client, tps

Edges = set[tuple[Any, Any]]
ALL = ("t-0", "t-1", "t-2", "t-3", "u-0", "u-1")
GROUP_ERRORS = ("UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "NOT_COORDINATOR", "REBALANCE_IN_PROGRESS")
CONSUMER_ERRORS = ("FENCED_MEMBER_EPOCH", "UNKNOWN_MEMBER_ID", "NOT_COORDINATOR")


class WatchedClassicMember(ClassicMember):
    steps: Edges

    def enter(self, step: PollStep) -> None:
        before = self.poll_step
        ClassicMember.enter(self, step)
        if before is not step:
            self.steps.add((before, step))


class WatchedConsumerMember(ConsumerMember):
    steps: Edges

    def enter(self, step: PollStep) -> None:
        before = self.poll_step
        ConsumerMember.enter(self, step)
        if before is not step:
            self.steps.add((before, step))


class Wanderer(Client):
    """A client whose application, coordinator and network do as chance will have it."""

    classic_member = WatchedClassicMember
    consumer_member = WatchedConsumerMember

    def __init__(self, protocol: str, chance: random.Random, steps: Edges, states: Edges) -> None:
        self.chance, self.protocol, self.states = chance, protocol, states
        kind = {"steps": steps}
        self.classic_member = type("Watched", (WatchedClassicMember,), kind)
        self.consumer_member = type("Watched", (WatchedConsumerMember,), kind)
        self.callbacks = self.commits_under_way = 0
        self.luck = chance.choice([0.4, 0.7, 0.9, 1.0])
        super().__init__(
            protocol,
            topics=("t", "u"),
            client=chance.choice(["java", "java", "librdkafka"]),
            callback=chance.choice(["default", "default", "wrong"]),
            instance_id=chance.choice([None, None, "i"]),
            auto_commit=chance.random() < 0.7,
            max_poll_interval_ms=20_000,
            assign=self._assign,
        )
        self.hold_callbacks = self.hold_commits = self.hold_polls = True

    def _assign(self, *_: Any) -> dict[str, Any]:
        if self.chance.random() < 0.2:
            raise AssignorError("the assignor failed")
        return {}

    def _carry_out(self, effect: Any) -> None:
        super()._carry_out(effect)
        if isinstance(effect, fx.Callback):
            self.callbacks += 1
        elif isinstance(effect, fx.Commit):
            self.commits_under_way += 1
        elif isinstance(effect, fx.Note) and effect.kind == "member_state":
            self.states.add((effect.detail["from"], effect.detail["to"]))

    # --- what may happen ---------------------------------------------------------------------
    def wander(self, moves: int) -> None:
        choices: list[Callable[[], None]] = [
            self.be_polled,
            self.be_answered,
            self.return_callback,
            self.end_commit,
            self.be_cut_off,
            self.wait,
            self.disturb,
            self.find_coordinator,
            self.fail_in_callback,
        ]
        weights = [self.chance.random() ** 2 + 0.02 for _ in choices]
        for move in self.chance.choices(choices, weights, k=moves):
            if self.ended is None:
                move()

    def be_polled(self) -> None:
        if not self.callbacks:
            self.poll()

    def be_answered(self) -> None:
        if self.sent:
            request = self.sent.pop(0)
            answer = self._answer(request)
            if answer is not None and not (self.callbacks and isinstance(request, JoinGroup | SyncGroup)):
                self.answer(request, answer)

    def return_callback(self) -> None:
        if self.callbacks:
            self.callbacks -= 1
            self.event(fx.CallbackDone("it failed" if self.chance.random() > max(self.luck, 0.7) else None))

    def fail_in_callback(self) -> None:
        """The background thread goes on while the listener runs, and is told of an error."""
        if self.callbacks:
            self.pass_ms(5_000)
            requests, self.sent = self.sent, []
            for request in requests:
                if isinstance(request, Heartbeat):
                    self.answer(
                        request, Answer(self.chance.choice(["FENCED_INSTANCE_ID", "UNKNOWN_MEMBER_ID"]))
                    )
                elif isinstance(request, ConsumerGroupHeartbeat):
                    self.answer(request, self._heartbeat_answer(request, fine=False))

    def end_commit(self) -> None:
        if self.commits_under_way and not self.callbacks:
            self.commits_under_way -= 1
            how, machine = self.commits[-1], self.machine
            request = OffsetCommit("c", machine.member_id, None, machine.generation, {}, how, "g")
            error = self.chance.choice(
                ["NONE", "NONE", *GROUP_ERRORS, "FENCED_INSTANCE_ID", "STALE_MEMBER_EPOCH"]
            )
            self.event(
                self.chance.choice(
                    [
                        fx.CommitDone("NONE", how),
                        fx.Answered(request, Answer(error)),
                        fx.Disconnected(request, "node disconnected"),
                    ]
                )
            )

    def be_cut_off(self) -> None:
        if self.sent:
            self.event(fx.Disconnected(self.sent.pop(0), "node disconnected"))

    def find_coordinator(self) -> None:
        self.event(fx.CoordinatorFound())

    def wait(self) -> None:
        self.pass_ms(self.chance.choice([100, 3_000, 5_000, 20_000, 46_000]))

    def disturb(self) -> None:
        events: list[Any] = [
            fx.PollTimeout(),
            fx.RejoinEnforced(),
            fx.Subscribed(self.chance.choice([("t",), ("t", "u")])),
            fx.MetadataSeen({"t": self.chance.choice([4, 6]), "u": 2}),
        ]
        if not self.callbacks or self.protocol != "consumer":
            events += [fx.CloseCalled()] * (self.chance.random() < 0.3)
        self.event(self.chance.choice(events))

    # --- the coordinator ---------------------------------------------------------------------
    def _answer(self, request: Any) -> Any:
        fine = self.chance.random() < self.luck
        if isinstance(request, JoinGroup):
            return self._join_answer(request) if fine else JoinAnswer(self._join_error(), "m-9")
        if isinstance(request, SyncGroup):
            error = self.chance.choice([*GROUP_ERRORS, "FENCED_INSTANCE_ID"])
            return SyncAnswer("NONE", self._partitions()) if fine else SyncAnswer(error)
        if isinstance(request, ConsumerGroupHeartbeat):
            return self._heartbeat_answer(request, fine=fine)
        if isinstance(request, Heartbeat):
            error = self.chance.choice([*GROUP_ERRORS, "REBALANCE_IN_PROGRESS", "FENCED_INSTANCE_ID"])
            return Answer("NONE" if fine else error)
        return Answer("NONE")

    def _join_answer(self, request: JoinGroup) -> JoinAnswer:
        leads = self.chance.random() < 0.4
        topics = request.protocols[0][1]._replace(topics=self.chance.choice([("t",), ("t", "w")]))
        members = (JoinMember("m-1", None, topics, "c"),) if leads else ()
        generation = self.machine.generation + 1 if self.machine.generation >= 0 else 1
        protocol = request.protocols[0][0]
        return JoinAnswer("NONE", "m-1", generation, protocol, "m-1" if leads else "m-2", members)

    def _join_error(self) -> str:
        return self.chance.choice(
            [
                "MEMBER_ID_REQUIRED",
                "UNKNOWN_MEMBER_ID",
                "REBALANCE_IN_PROGRESS",
                "NOT_COORDINATOR",
                "FENCED_INSTANCE_ID",
            ]
        )

    def _heartbeat_answer(
        self, request: ConsumerGroupHeartbeat, *, fine: bool
    ) -> ConsumerGroupHeartbeatAnswer:
        if not fine:
            error = self.chance.choice([*CONSUMER_ERRORS, "UNRELEASED_INSTANCE_ID"])
            return ConsumerGroupHeartbeatAnswer(error, request.member_id)
        joins = request.member_epoch == 0
        assignment = self._partitions() if joins or self.chance.random() < 0.4 else None
        epoch = request.member_epoch + 1 if joins or self.chance.random() < 0.4 else request.member_epoch
        return ConsumerGroupHeartbeatAnswer("NONE", request.member_id, epoch, 5_000, assignment)

    def _partitions(self) -> Any:
        return tps(*self.chance.sample(ALL, self.chance.choice([0, 2, 4])))


# --- what chance hardly meets -----------------------------------------------------------------
class Patient(Client):
    """A client with the same memory, for scripts."""

    def __init__(self, protocol: str, steps: Edges, **settings: Any) -> None:
        self.classic_member = type("Watched", (WatchedClassicMember,), {"steps": steps})
        self.consumer_member = type("Watched", (WatchedConsumerMember,), {"steps": steps})
        super().__init__(protocol, **settings)


def close_while_stuck(steps: Edges) -> None:
    """A librdkafka callback has made the wrong call in assigned: nothing goes on but close()."""
    client = Patient("cooperative", steps, client="librdkafka", callback="wrong")
    client.poll()
    client.answer(answer_join(client), SyncAnswer("NONE", tps("t-0")))
    assert client.machine.stuck
    client.event(fx.CloseCalled())


def die_while_revoking(steps: Edges) -> None:
    """The heartbeat thread learns that the member was fenced while it runs revoked after SyncGroup."""
    client = Patient("cooperative", steps, instance_id="i")
    client.poll()
    client.answer(answer_join(client), SyncAnswer("NONE", tps("t-0", "t-1")))
    client.hold_callbacks = True
    rebalanced(client, "t-0", 2)
    client.pass_ms(3_000)
    client.answer(client.take(Heartbeat), Answer("FENCED_INSTANCE_ID"))
    client.hold_callbacks = False
    client.event(fx.CallbackDone())
    assert isinstance(client.ended, fx.Die)


def die_while_losing_a_deleted_topic(steps: Edges, *, fenced: bool) -> None:
    """librdkafka loses partitions of a deleted topic; its heartbeat may learn meanwhile that it was fenced."""
    client = Patient("cooperative", steps, topics=("t", "u"), client="librdkafka", instance_id="i")
    client.poll()
    client.answer(answer_join(client), SyncAnswer("NONE", tps("t-0", "u-0")))
    client.hold_callbacks = True
    client.event(fx.MetadataSeen({"t": 6}))
    client.pass_ms(3_000)
    client.answer(client.take(Heartbeat), Answer("FENCED_INSTANCE_ID" if fenced else "NONE"))
    client.hold_callbacks = False
    client.event(fx.CallbackDone())
    assert isinstance(client.ended, fx.Die) is fenced


def commit_after_revoking(steps: Edges) -> None:
    """librdkafka commits what SyncGroup took away when its callback has returned, and then is assigned the rest."""
    client = Patient("cooperative", steps, client="librdkafka", auto_commit=True)
    client.poll()
    client.answer(answer_join(client), SyncAnswer("NONE", tps("t-0", "t-1")))
    rebalanced(client, "t-0", 2)
    assert client.commits == ["join"]


def close_between_polls(steps: Edges, *, step: PollStep, auto_commit: bool) -> None:
    """close() is called while a callback of the reconciliation waits for poll()."""
    client = Patient("consumer", steps, auto_commit=auto_commit)
    client.poll()
    heard(client, 2, "t-0 t-1")
    heard(client, 2, None)
    client.hold_polls = True
    client.pass_ms(5_000)
    heard(client, 3, "t-0" if step is PollStep.REVOKE_WAITS else "t-0 t-1 t-2")
    client.poll()
    assert client.machine.poll_step is step
    client.event(fx.CloseCalled())


def die_while_losing(steps: Edges) -> None:
    """Two heartbeats are on their way: the answer to the first fences, that to the second is fatal."""
    client = Patient("consumer", steps)
    client.poll()
    heard(client, 2, "t-0")
    heard(client, 2, None)
    client.pass_ms(5_000)
    first = client.take(ConsumerGroupHeartbeat)
    client.event(fx.Disconnected(OffsetCommit("c", "id-1", None, 2, {}, "auto", "g"), "node disconnected"))
    client.event(fx.CoordinatorFound())
    second = client.take(ConsumerGroupHeartbeat)
    client.hold_callbacks = True
    client.answer(first, ConsumerGroupHeartbeatAnswer("FENCED_MEMBER_EPOCH", "id-1"))
    client.answer(second, ConsumerGroupHeartbeatAnswer("GROUP_AUTHORIZATION_FAILED", "id-1"))
    client.event(fx.CallbackDone())
    assert isinstance(client.ended, fx.Die)


def wander(protocols: tuple[str, ...], seeds: range) -> tuple[Edges, Edges]:
    steps: Edges = set()
    states: Edges = set()
    for seed in seeds:
        chance = random.Random(seed)
        Wanderer(chance.choice(protocols), chance, steps, states).wander(120)
    return steps, states


def declared(edges: Any) -> Edges:
    return {(before, after) for after, befores in edges.items() for before in befores}


def named(edges: Edges) -> Edges:
    return {(before.value, after.value) for before, after in edges}


@pytest.fixture(scope="module")
def classic_taken() -> tuple[Edges, Edges]:
    steps, states = wander(("eager", "cooperative"), range(3_000))
    close_while_stuck(steps)
    die_while_revoking(steps)
    commit_after_revoking(steps)
    for fenced in (False, True):
        die_while_losing_a_deleted_topic(steps, fenced=fenced)
    return steps, states


@pytest.fixture(scope="module")
def consumer_taken() -> tuple[Edges, Edges]:
    steps, states = wander(("consumer",), range(3_000))
    for step, auto_commit in product((PollStep.REVOKE_WAITS, PollStep.ASSIGN_WAITS), (False, True)):
        close_between_polls(steps, step=step, auto_commit=auto_commit)
    die_while_losing(steps)
    return steps, states


def test_the_application_thread_of_a_classic_client_takes_every_step_of_its_table_and_no_other(classic_taken):
    assert classic_taken[0] == declared(classic.POLL_EDGES)


def test_a_classic_client_takes_every_edge_between_its_states_and_no_other(classic_taken):
    assert classic_taken[1] == named(declared(classic.EDGES))


def test_the_application_thread_of_a_consumer_takes_every_step_of_its_table_and_no_other(consumer_taken):
    assert consumer_taken[0] == declared(consumer.POLL_EDGES)


def test_a_consumer_takes_every_edge_between_its_states_and_no_other(consumer_taken):
    assert consumer_taken[1] == named(declared(consumer.EDGES))
