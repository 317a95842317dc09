"""How long things take between machines: named spreads, each with where its figures come from.

The figures are medians and quartiles measured on recorded runs of single-node Kafka 3.9.1, 4.0.0
and 4.3.1 clusters with Java clients (about 75 runs); a spread is sampled by straight lines between
its quantiles, so one uniform draw gives one latency.
"""

from __future__ import annotations

import random
from dataclasses import dataclass


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
        left = int(at)
        if left == 0:
            low, high = self.least, self.quarter
        elif left == 1:
            low, high = self.quarter, self.median
        elif left == 2:
            low, high = self.median, self.three_quarters
        else:
            low, high = self.three_quarters, self.most
        return round(low + (high - low) * (at - left))


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
    log_append: Spread = Spread(2, 4, 8, 15, 30)
    """Leader's SyncGroup to the stored assignment: an append to __consumer_offsets (n = 219)."""
    start_classic: Spread = Spread(260, 596, 794, 1120, 2200)
    """Consumer built to first JoinGroup, classic (n = 163)."""
    start_consumer: Spread = Spread(100, 238, 449, 686, 1121)
    """Consumer built to first ConsumerGroupHeartbeat at the broker, 4.3.1 (n = 57)."""
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
