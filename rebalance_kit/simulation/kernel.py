"""Time, chance, and how long things take: the event queue, a run's services, and the spreads of its latencies.

The event queue, ordered by ``(at_ms, seq)``, with keyed timers that may be re-armed.

Setting a live timer again replaces it. Re-arming to a later moment, which every heartbeat does, only
writes the new deadline down: the queued entry notices when it comes up that it is too early.

The figures are medians and quartiles measured on recorded runs of single-node Kafka 3.9.1, 4.0.0
and 4.3.1 clusters with Java clients (about 75 runs); a spread is sampled by straight lines between
its quantiles, so one uniform draw gives one latency.
"""

from __future__ import annotations

import base64
import heapq
import random
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from rebalance_kit.model.trace import Detail, TraceRow

Key = tuple[Any, ...]
_DEADLINE, _RUN, _ARGUMENT, _QUEUED = range(4)
"""Places in a timer: deadline (None when it is not armed), what to call, with what, when it is queued."""


class Agenda:
    """The clock of a run. Times are whole milliseconds."""

    __slots__ = ("_heap", "_seq", "_timers", "now_ms")

    def __init__(self) -> None:
        self.now_ms = 0
        self._seq = 0
        self._heap: list[tuple[int, int, Callable[..., None] | None, Any]] = []
        self._timers: dict[Key, list[Any]] = {}

    def at(self, at_ms: int, run: Callable[..., None], argument: Any) -> None:
        """Call ``run(argument)`` at that moment, or now if it has passed."""
        self._seq = seq = self._seq + 1
        now_ms = self.now_ms
        heapq.heappush(self._heap, (at_ms if at_ms > now_ms else now_ms, seq, run, argument))  # noqa: FURB136 - the busiest line

    def set_timer(self, key: Key, at_ms: int, run: Callable[..., None], argument: Any) -> None:
        """Arm the timer ``key``; one that is live is replaced."""
        timer = self._timers.get(key)
        if timer is None:
            timer = self._timers[key] = [at_ms, run, argument, None]
        else:
            timer[_DEADLINE], timer[_RUN], timer[_ARGUMENT] = at_ms, run, argument
            if timer[_QUEUED] is not None and timer[_QUEUED] <= at_ms:
                return
        self._queue(timer, at_ms)

    def cancel_timer(self, key: Key) -> None:
        """Forget the timer, if it is live."""
        timer = self._timers.get(key)
        if timer is not None:
            timer[_DEADLINE] = None

    def clear(self) -> None:
        """Forget all that was to happen."""
        self._heap.clear()
        self._timers.clear()

    def _queue(self, timer: list[Any], at_ms: int) -> None:
        timer[_QUEUED] = at_ms = max(at_ms, self.now_ms)
        self._seq += 1
        heapq.heappush(self._heap, (at_ms, self._seq, None, timer))

    def run(self, end_ms: int) -> None:
        """Let everything happen up to and including ``end_ms``."""
        heap, pop = self._heap, heapq.heappop
        while heap and heap[0][0] <= end_ms:
            at_ms, _, run, argument = pop(heap)
            self.now_ms = at_ms
            if run is not None:
                run(argument)
                continue
            timer = argument
            if timer[_QUEUED] != at_ms:
                continue  # it was queued again for an earlier moment, and has fired or moved on since
            timer[_QUEUED] = None
            deadline = timer[_DEADLINE]
            if deadline is None:
                continue
            if deadline > at_ms:
                self._queue(timer, deadline)
                continue
            timer[_DEADLINE] = None
            timer[_RUN](timer[_ARGUMENT])
        self.now_ms = end_ms


# An agenda that remembers how long some of its timers waited: what would other lengths have changed?


class WatchedAgenda(Agenda):
    """An agenda that watches timers of some kinds; a timer's key is ``(whose, (kind, ...))``."""

    __slots__ = ("_armed", "_kinds", "_waits")

    def __init__(self, kinds: Collection[str]) -> None:
        super().__init__()
        self._kinds = frozenset(kinds)
        self._armed: dict[Key, tuple[int, int]] = {}
        self._waits: list[tuple[int, int, int]] = []
        """Each wait that is over: when it began, when it was to end, when it ended."""

    def set_timer(self, key: Key, at_ms: int, run: Callable[..., None], argument: Any) -> None:
        """Arm the timer ``key``; one that is live is replaced."""
        if key[1][0] in self._kinds:
            self._end_wait(key)
            self._armed[key] = (self.now_ms, at_ms)
        super().set_timer(key, at_ms, run, argument)

    def cancel_timer(self, key: Key) -> None:
        """Forget the timer, if it is live."""
        self._end_wait(key)
        super().cancel_timer(key)

    def clear(self) -> None:
        """Forget all that was to happen, and how it was waited for."""
        super().clear()
        self._armed.clear()
        self._waits.clear()

    def _end_wait(self, key: Key) -> None:
        armed = self._armed.pop(key, None)
        if armed is not None:
            begun_ms, deadline_ms = armed
            self._waits.append((begun_ms, deadline_ms, min(self.now_ms, deadline_ms)))

    def parting_ms(self, lengths: Mapping[int, int]) -> int | None:
        """The first moment by now at which a watched timer would fire otherwise, or would not, were it armed for another length.

        ``lengths`` gives the other length by the present one; timers of lengths that are not in it stay as they are.
        None where nothing would differ until now.
        """
        under_way = [(begun, until, min(self.now_ms, until)) for begun, until in self._armed.values()]
        partings = (
            (min(deadline_ms, begun_ms + lengths[deadline_ms - begun_ms]), ended_ms)
            for begun_ms, deadline_ms, ended_ms in [*self._waits, *under_way]
            if deadline_ms - begun_ms in lengths
        )
        return min((parts_ms for parts_ms, ended_ms in partings if parts_ms <= ended_ms), default=None)


@dataclass(frozen=True, slots=True)
class Spread:
    """A latency in milliseconds by its least value, quartiles and greatest value."""

    least: float
    quarter: float
    median: float
    three_quarters: float
    most: float

    def draw(self, stream: random.Random) -> int:
        """One latency, whole milliseconds."""
        at = stream.random() * 4
        if at < 1:
            return round(self.least + (self.quarter - self.least) * at)
        if at < 2:
            return round(self.quarter + (self.median - self.quarter) * (at - 1))
        if at < 3:
            return round(self.median + (self.three_quarters - self.median) * (at - 2))
        return round(self.three_quarters + (self.most - self.three_quarters) * (at - 3))


@dataclass(frozen=True, slots=True)
class Uniform:
    """A latency of ``least`` to ``most`` whole milliseconds, each as likely as the next."""

    least: int
    most: int

    def draw(self, stream: random.Random) -> int:
        """One latency, whole milliseconds."""
        return stream.randint(self.least, self.most)


@dataclass(frozen=True, slots=True)
class Chance:
    """How often one of two things happens, in percent."""

    percent: int

    def draw(self, stream: random.Random) -> bool:
        """Whether it happens this time."""
        return stream.random() < self.percent / 100


def jitter(chance: float) -> float:
    """Factor of a backoff, 0.8 to 1.2 (CommonClientConfigs.RETRY_BACKOFF_JITTER), from a number of 0 to 1."""
    return 0.8 + 0.4 * chance


@dataclass(frozen=True, slots=True)
class Latencies:
    """Everything in a run that takes time without a setting of the scenario deciding it.

    A part that needs a latency names its attribute, so an unknown name is a type error.
    """

    one_way: Spread = Spread(1, 1, 2, 3, 6)
    """A request or an answer on a warm connection (half of a heartbeat's round trip)."""
    first_request: Spread = Spread(3, 16, 30, 54, 90)
    """Round trip of the first JoinGroup of a fresh process (n = 238)."""
    first_sync: Spread = Spread(20, 33, 47, 71, 110)
    """First SyncGroup of a process, whole round trip (n = 162)."""
    first_sync_there_percent: int = 20
    """Share of the first SyncGroup's round trip that the request takes: most is spent on the answer, which lost the
    race against a re-joining member in 2 of the 8 recorded generations in which a newcomer met a revocation."""
    first_ack: Spread = Spread(4, 15, 30, 60, 120)
    """Round trip of a KIP-848 process's first acknowledgement (n = 2 in 4.0.0, 61 ms the slower)."""
    first_commit: Spread = Spread(7, 25, 45, 75, 140)
    """Round trip of a process's first OffsetCommit (n = 2 in 4.0.0: 67 ms and less)."""
    second_answer_own_percent: int = 0
    """Of a repeated record: whether the answer to a process's second request, which is known to have come late, travels as
    long as that did (0), or as on a warm connection (100): 3 of 6 records in which that decides a race are the one, 3 the other."""
    log_append: Spread = Spread(2, 4, 8, 15, 30)
    """Leader's SyncGroup to the stored assignment: an append to __consumer_offsets (n = 219)."""
    start_classic: Spread = Spread(260, 596, 794, 1120, 2200)
    """Consumer built to first JoinGroup, classic (n = 163)."""
    start_consumer: Spread = Spread(100, 238, 449, 686, 1121)
    """Consumer built to first ConsumerGroupHeartbeat at the broker, 4.3.1 (n = 57)."""
    start_librdkafka: Spread = Spread(36, 63, 87, 125, 284)
    """The same of a librdkafka consumer under either protocol: no class is loaded (n = 248)."""
    heartbeat_late: Spread = Spread(1, 3, 8, 15, 40)
    """Lateness of a heartbeat against its interval (n = 145; the thread sleeps in steps)."""
    background_late: Spread = Spread(2, 3, 3, 4, 8)
    """Lateness of a KIP-848 heartbeat against its interval (cadence 3003-3004 of 3000 ms)."""
    librdkafka_late: Spread = Spread(0, 0, 1, 1, 2)
    """Lateness of a librdkafka heartbeat (cadence 3000-3001 of 3000 ms)."""
    rejoin: Spread = Spread(1, 4, 8, 13, 25)
    """Heartbeat answer to JoinGroup in poll(), without commit and callbacks (n = 147)."""
    wake_ms: int = 1
    """A step of the client machine to the poll() that takes it up, where nothing else decides: the next millisecond."""
    soon_after_answer: Chance = Chance(25)
    """How often a KIP-848 client takes an answer that comes just behind the last records up before the next ones come
    (9 of 33 recorded "Reconciling assignment")."""
    just_behind_ms: int = 20
    """How long after the last records an answer still counts as just behind them."""
    soon_after_commit: Chance = Chance(15)
    """The same from "Reconciling assignment" over the commit to the next callback (20 of 140 recorded)."""
    soon_after_revoked: Chance = Chance(50)
    """The same from onPartitionsRevoked to onPartitionsAssigned([]) (53 of 97 recorded, in 4.0.0 as in 4.3.1)."""
    warming_ms: int = 1_000
    warming_percent: Spread = Spread(100, 100, 130, 200, 350)
    """A process's first second is slow in all its steps at once (class loading, a busy machine); a factor a life."""
    poll_wait: Spread = Spread(5, 20, 52, 84, 100)
    """KIP-848 answer -> "Reconciling assignment", later than joining (n = 109): the rest of a poll()."""
    reconcile_joining: Spread = Spread(1, 3, 7, 21, 45)
    """KIP-848 answer to a join -> "Reconciling assignment" (n = 58)."""
    reconcile_first: Spread = Spread(2, 14, 24, 42, 90)
    """KIP-848 "Reconciling assignment" -> acknowledgement of a member that joins (n = 61)."""
    reconcile_assign: Spread = Spread(2, 4, 8, 12, 27)
    """The same of a member that owned nothing, later than joining (n = 41); who owns something commits first."""
    first_record_classic: Spread = Spread(20, 50, 79, 120, 200)
    """Assigned callback to the first record, eager (n = 195)."""
    first_record_cooperative: Spread = Spread(60, 110, 166, 230, 320)
    """Assigned callback to the first record, cooperative (n = 47)."""
    first_record_consumer: Spread = Spread(120, 220, 314, 420, 560)
    """Assigned callback to the first record, KIP-848 (n = 51)."""
    later_record_classic: Spread = first_record_classic
    """The same of a process that has been assigned partitions before, eager; ``calibrate`` tells them apart."""
    later_record_cooperative: Spread = first_record_cooperative
    """The same, cooperative."""
    later_record_consumer: Spread = first_record_consumer
    """The same, KIP-848."""
    commit: Spread = Spread(2, 4, 7, 12, 25)
    """OffsetCommit round trip, with its append."""
    poll_step_ms: int = 100
    """poll() returns at least this often: the application's own poll(100 ms) and the producer's beat."""
    metadata_round: Spread = Spread(20, 35, 50, 65, 90)
    """A metadata refresh (each round about 50 ms late)."""
    metadata_backoff_ms: int = 100
    """retry.backoff.ms of a client that asks again for a topic that it does not know (KIP-580)."""
    metadata_backoff_max_ms: int = 1_000
    """retry.backoff.max.ms of the same."""
    deleted_topic_noticed: Uniform = Uniform(20, 200)
    """A topic's deletion to the metadata refresh of a client that fetched from it: its fetch fails at once (20 to
    200 ms recorded)."""
    coordinator_retry_ms: int = 100
    """retry.backoff.ms of a client that looks for its coordinator."""
    reconnect_backoff_max_ms: int = 1_000
    """reconnect.backoff.max.ms: the greatest wait before the coordinator is looked up once more."""
    heartbeat_before_commit: Chance = Chance(20)
    """How often the heartbeat thread of a client that found its coordinator again wakes before poll() commits (1 of 5
    recorded)."""
    lost_request_ms: int = 30_000
    """request.timeout.ms: how long a client waits for an answer that never comes."""
    poll_overdue_noticed: Uniform = Uniform(5, 100)
    """max.poll.interval.ms passed to the leave: the heartbeat thread waits retry.backoff.ms, 100 ms, between looks
    (AbstractCoordinator.HeartbeatThread; 14 to 80 ms after the last call of poll() in six recorded stalls)."""
    poll_timeout_seen_first: Chance = Chance(15)
    """How often a KIP-848 client's background thread looks at the poll timeout as the application polls again, before that
    poll() sets it anew (1 of 6 recorded stalls that ended before the next heartbeat)."""
    librdkafka_overdue_noticed: Uniform = Uniform(5, 500)
    """The same in librdkafka, whose timer looks every 500 ms (rd_kafka_cgrp_max_poll_interval_check_tmr_cb; 55 to
    474 ms in seven recorded stalls)."""
    commit_retry_ms: int = 100
    """retry.backoff.ms: how long a periodic commit that could not be sent waits (ConsumerCoordinator)."""
    first_poll_after_thaw_ms: int = 30
    """SIGCONT to the first records (assumed; the first 120 ms of a thawed process hold whole buffered fetches)."""
    first_regex_scan_ms: int = 250
    """A broker's first resolution of a SubscriptionPattern, which loads classes (recorded in 4.3.1)."""
    regex_scan_ms: int = 1
    """A later one, over a few topics."""
    lost_join_extra_ms: int = 5_000
    """What a JoinGroup waits beyond its rebalance timeout (AbstractCoordinator.JOIN_GROUP_TIMEOUT_LAPSE)."""
    fenced_broker_ms: int = 9_000
    """broker.session.timeout.ms: how long the controller waits before it fences a broker that died (KRaft's default)."""


MEASURED = Latencies()


# Chance: random streams by name, so that a new draw in one never shifts another.


class Streams:
    """Named random streams, all made from one seed."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._streams: dict[str, random.Random] = {}

    def __getitem__(self, name: str) -> random.Random:
        stream = self._streams.get(name)
        if stream is None:
            stream = self._streams[name] = random.Random(f"{self._seed}/{name}")
        return stream


def draw_uuid(stream: random.Random) -> str:
    """A version 4 UUID in its usual spelling, as in classic member ids."""
    bits = stream.getrandbits(128) & ~(0xF << 76) | (0x4 << 76)
    bits = bits & ~(0x3 << 62) | (0x2 << 62)
    text = f"{bits:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def draw_kafka_uuid(stream: random.Random) -> str:
    """A Kafka Uuid: 22 characters of URL-safe base64 that do not begin with a dash."""
    while True:
        text = base64.urlsafe_b64encode(stream.getrandbits(128).to_bytes(16, "big")).decode().rstrip("=")
        if not text.startswith("-"):
            return text


new_tuple = tuple.__new__
"""Skips a named tuple's own constructor: a run makes several for every message."""
Drawn_co = TypeVar("Drawn_co", covariant=True)
Value = TypeVar("Value")


class Latency(Protocol[Drawn_co]):
    """What can be drawn: a ``Spread``, a ``Uniform``, a ``Chance``."""

    def draw(self, stream: random.Random) -> Drawn_co:
        """One value."""


class Host(Protocol):
    """The run as one life of a process sees it: what it asks for late never happens once that life is over."""

    name: str
    protocol: str
    group_id: str
    frozen: bool
    latencies: Latencies

    @property
    def now_ms(self) -> int:
        """The time of the run."""

    def at(self, at_ms: int, run: Callable[..., None], *arguments: Any) -> None:
        """Call ``run`` at that moment."""

    def set_timer(self, key: Key, at_ms: int, run: Callable[..., None], *arguments: Any) -> None:
        """Call ``run`` at that moment; a live timer of the same key is replaced."""

    def cancel_timer(self, key: Key) -> None:
        """Forget the timer of that key, if there is one."""

    def draw(self, latency: Latency[Value]) -> Value:
        """One value of the latency, from this life's own stream."""

    def chance(self) -> float:
        """A number from 0 to 1, from this life's own stream."""

    def own_stream(self, purpose: str) -> random.Random:
        """Another stream of this life, so that what draws from it shifts nobody else's luck."""

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


class RunHost:
    """A whole run's clock, chance, latencies and trace; ``tells_messages``: each request, answer and commit has its row."""

    __slots__ = (
        "agenda",
        "at",
        "cancel_timer",
        "latencies",
        "rows",
        "set_timer",
        "streams",
        "tells_messages",
    )

    def __init__(
        self, seed: int, latencies: Latencies, agenda: Agenda | None = None, *, tells_messages: bool = True
    ) -> None:
        self.agenda, self.tells_messages = agenda or Agenda(), tells_messages
        self.at, self.set_timer = self.agenda.at, self.agenda.set_timer
        self.cancel_timer = self.agenda.cancel_timer
        self.latencies = latencies
        self.streams = Streams(seed)
        self.rows: list[TraceRow] = []

    @property
    def now_ms(self) -> int:
        """The time of the run."""
        return self.agenda.now_ms

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
        rows.append(
            new_tuple(
                TraceRow, (at_ms, seq, actor, kind, protocol, generation, member_id, topic, partition, detail)
            )
        )
