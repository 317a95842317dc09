"""One life of a process: the token that its timers carry, its way to the run, and its client machine as a driver knows it."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

from rebalance_kit.assignors.java_order import hash_map_order
from rebalance_kit.model.config import ClientConfig
from rebalance_kit.model.trace import Detail, TraceRow
from rebalance_kit.model.versions import has
from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.classic_client import table as classic_client
from rebalance_kit.protocol.classic_client.member import ClassicMember
from rebalance_kit.protocol.client import Assigned, ClientSettings, PollStep
from rebalance_kit.protocol.consumer_client import table as consumer_client
from rebalance_kit.protocol.consumer_client.member import ConsumerMember
from rebalance_kit.protocol.messages import Partitions
from rebalance_kit.simulation.cluster.broker import Cluster
from rebalance_kit.simulation.kernel import Host, Key, Latency, RunHost, Value, jitter, new_tuple
from rebalance_kit.simulation.scenario.scenario import MemberSpec

Call = tuple[Callable[..., None], tuple[Any, ...]]


class Incarnation:
    """A ``Host`` for one life: what is due after the process has ended does not happen.

    A frozen process is alive, but nothing runs in it: who is called then postpones itself until it is thawed.
    """

    __slots__ = (
        "_agenda",
        "_postponed",
        "_rows",
        "_stream",
        "_streams",
        "alive",
        "frozen",
        "group_id",
        "latencies",
        "name",
        "number",
        "protocol",
    )

    def __init__(self, run: RunHost, name: str, number: int, protocol: str, group_id: str) -> None:
        self._agenda, self._rows, self._streams, self.latencies = (
            run.agenda,
            run.rows,
            run.streams,
            run.latencies,
        )
        self._stream = run.streams[f"{name}/{number}"]
        self._postponed: list[tuple[bool, Call]] = []
        self.name, self.number, self.protocol, self.group_id = name, number, protocol, group_id
        self.alive, self.frozen = True, False

    @property
    def now_ms(self) -> int:
        """The time of the run."""
        return self._agenda.now_ms

    def at(self, at_ms: int, run: Callable[..., None], *arguments: Any) -> None:
        """Call ``run`` at that moment, if this life lasts until then."""
        self._agenda.at(at_ms, self._fire, (run, arguments))

    def set_timer(self, key: Key, at_ms: int, run: Callable[..., None], *arguments: Any) -> None:
        """The same as a timer: one that is live under this key, of whichever life, is replaced."""
        self._agenda.set_timer((self.name, key), at_ms, self._fire, (run, arguments))

    def cancel_timer(self, key: Key) -> None:
        """Forget the timer of that key, if there is one."""
        self._agenda.cancel_timer((self.name, key))

    def _fire(self, call: Call) -> None:
        if self.alive:
            call[0](*call[1])

    def postpone(self, run: Callable[..., None], *arguments: Any, first: bool = False) -> None:
        """Call ``run`` as soon as the process is thawed, before everything that is not ``first``."""
        self._postponed.append((not first, (run, arguments)))

    def catch_up(self) -> None:
        """The process is thawed: do what was postponed."""
        postponed, self._postponed = self._postponed, []
        for _, call in sorted(postponed, key=lambda entry: entry[0]):
            self._fire(call)

    def forget(self) -> None:
        """Forget what was postponed."""
        self._postponed.clear()

    def draw(self, latency: Latency[Value]) -> Value:
        """One value of the latency, from this life's own stream."""
        return latency.draw(self._stream)

    def chance(self) -> float:
        """A number from 0 to 1, from this life's own stream."""
        return self._stream.random()

    def own_stream(self, purpose: str) -> random.Random:
        """Another stream of this life, so that what draws from it shifts nobody else's luck."""
        return self._streams[f"{purpose}/{self.name}/{self.number}"]

    def id_stream(self, what: str) -> random.Random:
        """The stream of one id that this life is given, or makes itself."""
        return self._streams[f"id/{self.name}/{self.number}/{what}"]

    def row(
        self,
        kind: str,
        detail: Detail,
        generation: int | None = None,
        member_id: str | None = None,
        *,
        topic: str | None = None,
        partition: int | None = None,
    ) -> None:
        """Append a row of this process to the trace."""
        rows = self._rows
        rows.append(
            new_tuple(
                TraceRow,
                (
                    self._agenda.now_ms,
                    len(rows),
                    self.name,
                    kind,
                    self.protocol,
                    generation,
                    member_id,
                    topic,
                    partition,
                    detail,
                ),
            )
        )


class ClientMachine:
    """A sans-IO machine of either protocol: ``step`` takes an event and gives effects."""

    __slots__ = ("_member", "step")

    def __init__(self, member: ClassicMember | ConsumerMember) -> None:
        self._member = member
        self.step: Callable[[fx.ClientEvent], list[fx.Effect]] = (
            partial(classic_client.step, member)
            if isinstance(member, ClassicMember)
            else partial(consumer_client.step, member)
        )

    @property
    def member_id(self) -> str:
        """The member id, empty before there is one."""
        return self._member.member_id

    @property
    def generation(self) -> int:
        """Generation, or member epoch; -1 without one."""
        return self._member.generation

    @property
    def shown_as(self) -> tuple[int | None, str | None]:
        """Generation and member id as a row of the trace has them: None where there is none."""
        member = self._member
        return member.generation if member.generation >= 0 else None, member.member_id or None

    @property
    def owned(self) -> Partitions:
        """The client's assignment."""
        return self._member.owned

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics that it subscribes by name."""
        return self._member.topics

    @property
    def may_commit(self) -> bool:
        """Whether the client would send a commit at all."""
        return self._member.may_commit

    @property
    def librdkafka(self) -> bool:
        """A librdkafka client instead of the Java one."""
        return self._member.librdkafka

    @property
    def serves_itself(self) -> bool:
        """A classic librdkafka client, whose main thread joins and syncs while the application is busy: only callbacks wait for it.

        After max.poll.interval.ms it joins no group before the application polls.
        """
        member = self._member
        return isinstance(member, ClassicMember) and member.librdkafka and not member.max_poll_exceeded

    @property
    def idle(self) -> bool:
        """Nothing of a rebalance is under way on the application thread."""
        return self._member.idle

    @property
    def assigns_next(self) -> bool:
        """A KIP-848 client whose next poll() calls onPartitionsAssigned, after which it acknowledges."""
        return self._member.poll_step is PollStep.ASSIGN_WAITS

    @property
    def withholds_records(self) -> bool:
        """A librdkafka callback made the wrong call: no record comes until the right one is made."""
        return self._member.stuck

    @property
    def poll_overdue(self) -> bool:
        """A Java KIP-848 client whose poll timeout has passed, which its background thread has not seen yet."""
        member = self._member
        return isinstance(member, ConsumerMember) and member.poll_expired and not member.librdkafka

    @property
    def matches_pattern_anew(self) -> bool:
        """Whether the next poll() matches the subscribed pattern against fresh metadata, as before each JoinGroup."""
        member = self._member
        return isinstance(member, ClassicMember) and member.pattern is not None and member.rejoin_needed


def make_machine(
    spec: MemberSpec,
    config: ClientConfig,
    kafka_version: str,
    new_id: Callable[[], str],
    assign: Callable[..., Assigned],
    group_id: str,
) -> ClientMachine:
    """The machine that a process runs, from its configuration; ``new_id`` makes a KIP-848 client's own id."""
    settings = ClientSettings(
        name=spec.name,
        group=group_id,
        assignors=tuple(config.assignors),
        cooperative=config.mode == "COOPERATIVE",
        instance_id=config.instance_id,
        rack=config.rack if has("rack-aware-client-assignors", kafka_version) else None,
        session_timeout_ms=config.session_timeout_ms,
        heartbeat_interval_ms=config.heartbeat_interval_ms,
        max_poll_interval_ms=config.max_poll_interval_ms,
        auto_commit=(config.auto_commit and spec.commit == "auto") or spec.commit == "per_batch",
        remote_assignor=config.remote_assignor,
        client=spec.client,
        callback=spec.callback,
        new_id=new_id,
        hash_order=hash_map_order,
        tells_reasons=has("reason-in-requests", kafka_version),
        commits_topic_ids=has("commit-by-topic-id", kafka_version),
        tolerates_offline=has("offline-rack-no-rebalance", kafka_version),
        assign=assign,
    )
    topics = tuple(sorted(spec.topics))
    if config.protocol == "consumer":
        if spec.client == "librdkafka" and spec.pattern is not None:  # SubscribedTopicRegex, in parentheses
            sent = f"(^{spec.pattern.removeprefix('^')})"
            return ClientMachine(ConsumerMember(settings, topics, None, regex=sent))
        return ClientMachine(ConsumerMember(settings, topics, spec.pattern, regex=spec.server_pattern))
    return ClientMachine(ClassicMember(settings, topics, spec.pattern))


# A client's topic metadata: refreshed with age, after a failing fetch, and while a topic is unknown.


METADATA = ("metadata",)


class ClientMetadata:
    """One life's metadata (org.apache.kafka.clients.Metadata), with the timer of its next refresh."""

    __slots__ = ("_apply", "_cluster", "_host", "_machine", "_max_age_ms", "_named", "_stream", "_unknown")

    def __init__(
        self,
        host: Host,
        machine: ClientMachine,
        cluster: Cluster,
        max_age_ms: int,
        apply: Callable[[Any], None],
        *,
        named: bool,
    ) -> None:
        """``named``: topics are subscribed by name; ``apply`` hands an event to the machine."""
        self._host, self._machine, self._cluster, self._apply = host, machine, cluster, apply
        self._max_age_ms, self._named = max_age_ms, named
        self._stream = host.own_stream("metadata")
        self._unknown = 0

    def tell(self) -> None:
        """Give the client machine what the broker knows now."""
        cluster = self._cluster
        self._apply(fx.MetadataSeen(dict(cluster.topics.counts), cluster.replicas.seen()))

    def tell_before_join(self) -> None:
        """A pattern is matched anew before every JoinGroup."""
        if self._machine.matches_pattern_anew and self._cluster.broker.up:
            self.tell()

    def read(self) -> None:
        """A refresh: tell, and ask again when the answer is old, or soon while a subscribed topic is unknown."""
        if self._cluster.broker.up:
            self.tell()
            self._again_in(self._wait_ms())
        else:
            self._again_in(self._host.latencies.metadata_backoff_max_ms)

    def soon(self, after_ms: int) -> None:
        """A failing fetch makes the client refresh its metadata."""
        self._host.set_timer(METADATA, self._host.now_ms + after_ms, self.read)

    def refresh(self, *, new: bool) -> None:
        """Somebody waits for the next answer: ask at once for new topics, else as soon as the backoff is over."""
        if new or not self._unknown:
            self.soon(2 * self._host.latencies.one_way.draw(self._stream))

    def _again_in(self, wait_ms: int) -> None:
        self.soon(wait_ms + self._host.latencies.metadata_round.draw(self._stream))

    def _wait_ms(self) -> int:
        """metadata.max.age.ms, or retry.backoff.ms, doubled up to its maximum, while a topic is unknown (KIP-580)."""
        counts = self._cluster.topics.counts
        if not self._named or all(topic in counts for topic in self._machine.topics):
            self._unknown = 0
            return self._max_age_ms
        doubled = self._unknown if has("metadata-backoff", self._cluster.kafka_version) else 0
        self._unknown += 1
        latencies = self._host.latencies
        wait_ms = min(latencies.metadata_backoff_ms * 2 ** min(doubled, 4), latencies.metadata_backoff_max_ms)
        return int(wait_ms * jitter(self._stream.random()))
