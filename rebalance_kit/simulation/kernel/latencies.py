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
class Latencies:
    """Everything in a run that takes time without a Kafka setting deciding it."""

    one_way: Spread = Spread(1, 1, 2, 3, 6)
    """A request or an answer on a warm connection (half of a heartbeat's round trip)."""
    first_request: Spread = Spread(3, 16, 30, 54, 90)
    """Round trip of the first JoinGroup of a fresh process (n = 238)."""
    first_sync: Spread = Spread(20, 33, 47, 71, 110)
    """First SyncGroup of a process, whole round trip (n = 162)."""
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
    native_late: Spread = Spread(0, 0, 1, 1, 2)
    """Lateness of a librdkafka heartbeat (cadence 3000-3001 of 3000 ms)."""
    rejoin: Spread = Spread(1, 4, 8, 13, 25)
    """Heartbeat answer to JoinGroup in poll(), without commit and callbacks (n = 147)."""
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
    coordinator_retry_ms: int = 100
    """retry.backoff.ms of a client that looks for its coordinator."""


MEASURED = Latencies()
