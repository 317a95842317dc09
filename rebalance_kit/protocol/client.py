"""What both kinds of client machine share: their settings, the note, the callback bookkeeping."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.protocol.effects import Racks
from rebalance_kit.protocol.messages import JoinMember, Partitions

USER_ERROR = "User rebalance callback throws an error"
"""Message of the KafkaException that leaves poll() (ConsumerCoordinator, ConsumerRebalanceListenerInvoker)."""
LOST_COORDINATOR = frozenset({"NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE"})
RETRIED_COMMITS = LOST_COORDINATOR | {
    "COORDINATOR_LOAD_IN_PROGRESS",
    "DISCONNECTED",
    "UNKNOWN_TOPIC_OR_PARTITION",
}
"""Answers after which a client that waits for its commit sends it again (RetriableException)."""
Assigned = Mapping[str, Sequence[TopicPartition]]


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """A consumer's configuration, as far as its group membership needs it."""

    name: str
    group: str
    assignors: tuple[str, ...] = ("range", "cooperative-sticky")
    cooperative: bool = False
    instance_id: str | None = None
    rack: str | None = None
    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 3_000
    max_poll_interval_ms: int = 300_000
    auto_commit: bool = True
    remote_assignor: str | None = None
    client: str = "java"
    callback: str = "default"
    """What a librdkafka application's rebalance callback calls: default and right follow the active
    protocol, wrong always calls assign() and unassign()."""
    new_id: Callable[[], str] = lambda: ""
    """A fresh KIP-848 member id: those clients make their own."""
    assign: Callable[[str, Mapping[str, int], Sequence[JoinMember], Racks], Assigned] = (
        lambda _name, _cluster, _members, _racks: {}
    )
    """Runs a client assignor for a leader: name, partition counts, members in the answer's order, replicas."""
    commits_topic_ids: bool = True
    """Whether OffsetCommit names topics by id where the metadata has it (KIP-848 clients since 4.2)."""
    hash_order: Callable[[Sequence[str]], list[str]] = sorted
    """Names in the order in which a Java client prints a set of them."""
    tells_reasons: bool = True
    """Whether JoinGroup and LeaveGroup carry a reason (KIP-800)."""
    tolerates_offline: bool = False
    """Whether a replica that goes offline leaves a leader's racks as they are (KAFKA-20778)."""


def calls_wrong_family(settings: ClientSettings, *, incremental: bool) -> bool:
    """A librdkafka callback that calls assign() where incremental_assign() is asked for (error _STATE)."""
    return settings.client == "librdkafka" and settings.callback == "wrong" and incremental


def retry_ms(attempt: int) -> int:
    """retry.backoff.ms 100, doubling to retry.backoff.max.ms 1000."""
    return int(min(100 * 2 ** min(attempt, 4), 1_000))


def matching(pattern: str, topics: Mapping[str, int]) -> tuple[str, ...]:
    """Existing topics whose whole name matches, sorted."""
    compiled = re.compile(pattern)
    return tuple(sorted(topic for topic in topics if compiled.fullmatch(topic)))


def minus(left: Partitions, right: Partitions) -> Partitions:
    """Partitions of ``left`` that are not in ``right``, in the order of ``left``."""
    gone = frozenset(right)
    return tuple(tp for tp in left if tp not in gone)


def in_order(plan: Mapping[str, Partitions]) -> dict[str, list[str]]:
    """An assignment the way Kafka prints it, members and partitions in the order they have."""
    return {who: [str(tp) for tp in given] for who, given in plan.items()}


def names(partitions: Partitions) -> list[str]:
    """The way Kafka prints partitions, sorted by topic and number."""
    return list(_names(partitions))


@lru_cache(maxsize=4_096)
def _names(partitions: Partitions) -> tuple[str, ...]:
    return tuple([str(tp) for tp in sorted(partitions)])
