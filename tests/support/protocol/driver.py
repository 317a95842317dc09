"""A tiny clock that drives one real machine: what it asks for is done, what it says is remembered.

Nothing here decides anything. ``ClassicGroupDriver`` and ``ConsumerGroupDriver`` hold a group as its coordinator keeps it,
``Client`` holds one consumer. Time only passes in ``pass_ms``; timers fire in order of their moment.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from rebalance_kit.assignors.java_order import hash_map_order
from rebalance_kit.model.topology import TopicId, TopicPartition, parse_partition
from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.classic_client import table as classic_client
from rebalance_kit.protocol.classic_client.member import ClassicMember
from rebalance_kit.protocol.classic_group import table as classic_group
from rebalance_kit.protocol.classic_group.group import ClassicGroup, GroupSettings
from rebalance_kit.protocol.client import ClientSettings
from rebalance_kit.protocol.consumer_client import table as consumer_client
from rebalance_kit.protocol.consumer_client.member import ConsumerMember
from rebalance_kit.protocol.consumer_group import table as consumer_group
from rebalance_kit.protocol.consumer_group.group import ConsumerGroup, ConsumerGroupSettings
from rebalance_kit.protocol.messages import (
    ConsumerGroupHeartbeat,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    OffsetCommit,
    Partitions,
    RejoinReason,
    Subscription,
    SyncGroup,
    Trigger,
)


def tps(*names: str) -> Partitions:
    """Partitions by the names Kafka prints: ``tps("t-0", "t-1")``."""
    return tuple(parse_partition(name) for name in names)


T = TypeVar("T")


def run(rule: Generator[fx.Effect, None, T]) -> tuple[list[fx.Effect], T]:
    """Let a rule run to its end; its effects, and what it returns."""
    effects = []
    while True:
        try:
            effects.append(next(rule))
        except StopIteration as stop:
            return effects, stop.value


class Timers:
    """A clock and the timers armed on it."""

    def __init__(self) -> None:
        self.now_ms = 0
        self._order = 0
        self.armed: dict[fx.Key, tuple[int, int]] = {}

    def set(self, key: fx.Key, after_ms: int) -> None:
        self._order += 1
        self.armed[key] = (self.now_ms + after_ms, self._order)

    def left_ms(self, *key: str) -> int | None:
        """How long until that timer fires; None when it is not armed."""
        held = self.armed.get(key)
        return None if held is None else held[0] - self.now_ms

    def run(self, for_ms: int, fire: Callable[[fx.Key], None]) -> None:
        end_ms = self.now_ms + for_ms
        while self.armed:
            key = min(self.armed, key=self.armed.__getitem__)
            at_ms = self.armed[key][0]
            if at_ms > end_ms:
                break
            del self.armed[key]
            self.now_ms = at_ms
            fire(key)
        self.now_ms = end_ms


@dataclass
class Asked:
    """One request and, once it has come, its answer."""

    request: Any
    answers: list[Any] = field(default_factory=list)

    @property
    def waits(self) -> bool:
        """The request is parked: nothing has come back yet."""
        return not self.answers

    @property
    def answer(self) -> Any:
        """The one answer; asking before it came is a failure of the test."""
        assert len(self.answers) == 1, f"{self.request}: {len(self.answers)} answers"
        return self.answers[0]

    @property
    def error(self) -> str:
        return self.answer.error


class Coordinator:
    """What both kinds of group have in common: requests in, answers and notes out."""

    group: Any

    def __init__(self) -> None:
        self.clock = Timers()
        self.asked: list[Asked] = []
        self.notes: list[fx.Note] = []
        self.appends: list[fx.Key] = []
        self.append_at_once = True
        self.downgrades = False

    def _step(self, event: Any) -> list[fx.Effect]:
        raise NotImplementedError

    def event(self, event: Any) -> None:
        """Apply one event and carry out what the group asks for."""
        for effect in self._step(event):
            if isinstance(effect, fx.SetTimer):
                self.clock.set(effect.key, effect.after_ms)
            elif isinstance(effect, fx.CancelTimer):
                self.clock.armed.pop(effect.key, None)
            elif isinstance(effect, fx.Reply):
                self.asked[effect.token].answers.append(effect.response)
            elif isinstance(effect, fx.Note):
                self.notes.append(effect)
            elif isinstance(effect, fx.Append):
                self.appends.append(effect.key)
            elif isinstance(effect, fx.Downgrade):
                self.downgrades = True
        if self.append_at_once:
            self.stored()

    def stored(self) -> None:
        """What was asked to be appended to __consumer_offsets is stored now."""
        while self.appends:
            self.event(fx.Appended(self.appends.pop(0)))

    def ask(self, request: Any) -> Asked:
        """Send one request."""
        asked = Asked(request)
        self.asked.append(asked)
        self.event(fx.Arrived(request, len(self.asked) - 1))
        return asked

    def pass_ms(self, for_ms: int) -> None:
        """Let time pass; timers fire on the way."""
        self.clock.run(for_ms, lambda key: self.event(fx.TimerFired(key)))

    def noted(self, kind: str) -> list[Mapping[str, Any]]:
        """Details of every note of that kind so far."""
        return [note.detail for note in self.notes if note.kind == kind]


class ClassicGroupDriver(Coordinator):
    """A classic group; member ids are ``<client or instance>-<count>``."""

    def __init__(self, *, delay: int = 3_000, max_size: int = 2**31 - 1) -> None:
        super().__init__()
        self.ids = 0
        self.group = ClassicGroup(
            GroupSettings(
                group="g",
                initial_delay_ms=delay,
                min_session_ms=6_000,
                max_session_ms=1_800_000,
                max_size=max_size,
                new_id=self._new_id,
                map_order=hash_map_order,
            )
        )

    def _new_id(self, client: str, prefix: str) -> str:
        self.ids += 1
        return f"{prefix}-{self.ids}"

    def _step(self, event: Any) -> list[fx.Effect]:
        return classic_group.step(self.group, event)

    @property
    def state(self) -> str:
        return self.group.state.value

    def join(
        self,
        client: str,
        member_id: str = "",
        *,
        instance: str | None = None,
        protocols: Sequence[str] = ("range",),
        topics: Sequence[str] = ("t",),
        owned: Partitions = (),
        session: int = 10_000,
        rebalance: int = 60_000,
        reason: str | None = None,
        trigger: Trigger = Trigger.REJOIN,
    ) -> Asked:
        """Send JoinGroup."""
        held = Subscription(tuple(topics), owned)
        return self.ask(
            JoinGroup(
                client,
                member_id,
                instance,
                session,
                rebalance,
                tuple((name, held) for name in protocols),
                None if reason is None else RejoinReason(trigger, reason),
                "g",
            )
        )

    def enter(self, client: str, **given: Any) -> tuple[str, Asked]:
        """A dynamic member's two JoinGroups: the one for its id, the one that adds it."""
        first = self.join(client, **given)
        assert first.error == "MEMBER_ID_REQUIRED"
        member_id = first.answer.member_id
        return member_id, self.join(client, member_id, **given)

    def sync(
        self,
        member_id: str,
        plan: Mapping[str, Partitions] | None = None,
        *,
        instance: str | None = None,
        generation: int | None = None,
        protocol: str | None = None,
    ) -> Asked:
        """Send SyncGroup; the leader's carries a plan."""
        at = self.group.generation if generation is None else generation
        return self.ask(SyncGroup(member_id, member_id, instance, at, protocol, plan, "g"))

    def beat(self, member_id: str, *, instance: str | None = None, generation: int | None = None) -> str:
        """Send a heartbeat and return the error of its answer."""
        at = self.group.generation if generation is None else generation
        return self.ask(Heartbeat(member_id, member_id, instance, at, "g")).error

    def leave(self, member_id: str, *, instance: str | None = None, reason: str | None = None) -> str:
        """Send LeaveGroup and return the error of its answer."""
        return self.ask(LeaveGroup(member_id, member_id, instance, reason, "g")).error

    def commit(self, member_id: str, *, instance: str | None = None, generation: int | None = None) -> str:
        """Send OffsetCommit and return the error of its answer."""
        at = self.group.generation if generation is None else generation
        return self.ask(
            OffsetCommit(member_id, member_id, instance, at, {TopicPartition("t", 0): 1}, group="g")
        ).error

    def stable(self, *clients: str, **given: Any) -> list[str]:
        """Bring a new group to Stable with these dynamic members; their ids, the leader's first."""
        entered = [self.enter(client, **given) for client in clients]
        self._end_initial_phase(len(clients))
        return self._settle([member_id for member_id, _ in entered])

    def stable_static(self, *instances: str, **given: Any) -> list[str]:
        """Bring a new group to Stable with these static members; their ids, the leader's first."""
        asked = [self.join(instance, instance=instance, **given) for instance in instances]
        self._end_initial_phase(len(instances))
        return self._settle([one.answer.member_id for one in asked])

    def _end_initial_phase(self, members: int) -> None:
        delay = self.group.settings.initial_delay_ms
        self.pass_ms(delay if members == 1 else 2 * delay)

    def _settle(self, ids: list[str]) -> list[str]:
        leader = self.group.leader
        order = [leader, *(one for one in ids if one != leader)]
        plan = {one: tps(f"t-{number}") for number, one in enumerate(order)}
        for one in order:
            instance = self.group.members[one].instance_id
            self.sync(one, plan if one == leader else None, instance=instance)
        assert self.state == "Stable"
        return order


class ConsumerGroupDriver(Coordinator):
    """A KIP-848 group with a target that the test dictates: ``plan`` maps member ids to partitions."""

    def __init__(
        self,
        *,
        version: str = "4.3.1",
        interval: int = 0,
        session: int = 45_000,
        max_size: int = 2**31 - 1,
        **topics: int,
    ) -> None:
        super().__init__()
        self.topics = dict(topics) or {"t": 6}
        self.plan: dict[str, Partitions] = {}
        self.assignor_calls: list[str] = []
        self.newcomers: list[str | None] = []
        settings = ConsumerGroupSettings(
            group="g",
            kafka_version=version,
            session_timeout_ms=session,
            heartbeat_interval_ms=5_000,
            assignment_interval_ms=interval,
            assignors=("uniform", "range"),
            max_size=max_size,
            topics=lambda: self.topics,
            topic_ids=lambda: {name: TopicId(0, number) for number, name in enumerate(sorted(self.topics))},
            now_ms=lambda: self.clock.now_ms,
            assign=self._assign,
            new_id=lambda client: f"{client}-{len(self.asked)}",
        )
        self.group = ConsumerGroup.fresh(settings)

    def _assign(
        self, name: str, members: Sequence[Any], _counts: Any, _ids: Any, newcomer: str | None
    ) -> Mapping[str, Partitions]:
        self.assignor_calls.append(name)
        self.newcomers.append(newcomer)
        return {one[0]: self.plan.get(one[0], ()) for one in members}

    def _step(self, event: Any) -> list[fx.Effect]:
        return consumer_group.step(self.group, event)

    @property
    def state(self) -> str:
        return self.group.state.value

    def member(self, member_id: str) -> Any:
        return self.group.members[member_id]

    def join(
        self,
        member_id: str,
        *,
        topics: Sequence[str] | None = ("t",),
        rebalance: int | None = 60_000,
        owned: Partitions | None = (),
        **given: Any,
    ) -> Asked:
        """Send the heartbeat of a member that (re-)joins."""
        held = None if topics is None else tuple(topics)
        return self.ask(
            ConsumerGroupHeartbeat(
                member_id,
                member_id,
                0,
                rebalance_timeout_ms=rebalance,
                topics=held,
                owned=owned,
                group="g",
                **given,
            )
        )

    def beat(
        self,
        member_id: str,
        epoch: int | None = None,
        *,
        owned: Partitions | None = None,
        topics: Sequence[str] | None = None,
        **given: Any,
    ) -> Asked:
        """Send a regular heartbeat at the member's own epoch, or at ``epoch``."""
        at = self.member(member_id).epoch if epoch is None else epoch
        held = None if topics is None else tuple(topics)
        return self.ask(
            ConsumerGroupHeartbeat(member_id, member_id, at, topics=held, owned=owned, group="g", **given)
        )

    def commit(self, member_id: str, epoch: int, *partitions: str) -> str:
        """Send OffsetCommit and return the error of its answer."""
        offsets = dict.fromkeys(tps(*partitions or ("t-0",)), 1)
        return self.ask(OffsetCommit(member_id, member_id, None, epoch, offsets, group="g")).error


class Client:
    """One consumer. Callbacks return and commits succeed at once unless the test holds them back."""

    classic_member: type[ClassicMember] = ClassicMember
    consumer_member: type[ConsumerMember] = ConsumerMember

    def __init__(self, protocol: str = "eager", *, topics: Sequence[str] = ("t",), **settings: Any) -> None:
        self.clock = Timers()
        self.sent: list[Any] = []
        self.called: list[tuple[str, list[str], int]] = []
        self.notes: list[fx.Note] = []
        self.fetching: set[TopicPartition] = set()
        self.ended: Any = None
        self.wants_poll = False
        self.commits: list[str] = []
        self._next: list[Any] = []
        self.commit_error = "NONE"
        self.hold_callbacks = self.hold_commits = self.hold_polls = False
        settings.setdefault("new_id", lambda: "id-1")
        settings.setdefault("cooperative", protocol == "cooperative")
        made = ClientSettings(name="c", group="g", **settings)
        self.machine: Any
        if protocol == "consumer":
            self.machine, self._step = self.consumer_member(made, tuple(topics)), consumer_client.step
        else:
            self.machine, self._step = self.classic_member(made, tuple(topics)), classic_client.step
        self.event(fx.MetadataSeen(dict.fromkeys(topics, 6)))

    def event(self, event: Any) -> None:
        """Apply one event and carry out what the client asks for."""
        for effect in self._step(self.machine, event):
            self._carry_out(effect)
        while self._next:
            self.event(self._next.pop(0))
        while self.wants_poll and not self.hold_polls and self.ended is None:
            self.poll()

    def _carry_out(self, effect: Any) -> None:
        if isinstance(effect, fx.SetTimer):
            self.clock.set(effect.key, effect.after_ms)
        elif isinstance(effect, fx.CancelTimer):
            self.clock.armed.pop(effect.key, None)
        elif isinstance(effect, fx.Send):
            self.sent.append(effect.request)
        elif isinstance(effect, fx.Note):
            self.notes.append(effect)
        elif isinstance(effect, fx.Callback):
            self.called.append(
                (effect.callback, [str(tp) for tp in sorted(effect.partitions)], effect.generation)
            )
            if not self.hold_callbacks:
                self._next.append(fx.CallbackDone())
        elif isinstance(effect, fx.Commit):
            self.commits.append(effect.how)
            if not self.hold_commits:
                self._next.append(fx.CommitDone(self.commit_error, effect.how))
        elif isinstance(effect, fx.StartFetching):
            self.fetching |= set(effect.partitions)
        elif isinstance(effect, fx.StopFetching):
            self.fetching -= set(effect.partitions)
        elif isinstance(effect, fx.WantPoll):
            self.wants_poll = True
        elif isinstance(effect, fx.Die | fx.Closed):
            self.ended = effect

    def poll(self) -> None:
        """The application is inside poll()."""
        self.wants_poll = False
        self.event(fx.Polled())

    def pass_ms(self, for_ms: int) -> None:
        """Let time pass; the client's timers fire on the way."""
        self.clock.run(for_ms, lambda key: self.event(fx.TimerFired(key)))

    def take(self, kind: type) -> Any:
        """The oldest request not yet looked at; it must be of that kind."""
        assert self.sent, f"nothing was sent, expected {kind.__name__}"
        request = self.sent.pop(0)
        assert isinstance(request, kind), request
        return request

    def answer(self, request: Any, response: Any) -> None:
        """Give the answer to a request."""
        self.event(fx.Answered(request, response))

    def noted(self, kind: str) -> list[Mapping[str, Any]]:
        """Details of every note of that kind so far."""
        return [note.detail for note in self.notes if note.kind == kind]
