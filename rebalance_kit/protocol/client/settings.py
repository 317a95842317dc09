"""A consumer's configuration, as far as its group membership needs it, and the driver's services."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.protocol.effects import Racks
from rebalance_kit.protocol.messages import JoinMember

Assigned = Mapping[str, Sequence[TopicPartition]]


@dataclass(frozen=True, kw_only=True, slots=True)
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

    @property
    def librdkafka(self) -> bool:
        """A librdkafka client instead of the Java one."""
        return self.client == "librdkafka"

    def calls_wrong_family(self, *, incremental: bool) -> bool:
        """Its librdkafka callback calls assign() where incremental_assign() is asked for (error _STATE)."""
        return self.librdkafka and self.callback == "wrong" and incremental
