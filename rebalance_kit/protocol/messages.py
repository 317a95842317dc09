"""Requests and answers of both group protocols, with the fields that decide something.

``client`` is the name of the process that sent a request; Kafka knows the connection instead.
Errors are Kafka's names; ``NONE`` is success.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.protocol.triggers import Trigger

Partitions = tuple[TopicPartition, ...]
NONE = "NONE"


class Subscription(NamedTuple):
    """What a classic member tells the assignor (ConsumerProtocolSubscription v3).

    ``owned``/``generation`` are ownedPartitions and generationId; ``user_owned`` and
    ``user_generation`` stand for the sticky assignor's user data.
    """

    topics: tuple[str, ...]
    owned: Partitions = ()
    generation: int | None = None
    rack: str | None = None
    user_owned: Partitions = ()
    user_generation: int | None = None


class RejoinReason(NamedTuple):
    """Why a client sends JoinGroup again (KIP-800): what it means, and the sentence that travels."""

    trigger: Trigger
    text: str


class JoinGroup(NamedTuple):
    """A classic member asks to be part of the next generation."""

    client: str
    member_id: str
    instance_id: str | None
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: tuple[tuple[str, Subscription], ...]
    reason: RejoinReason | None = None
    group: str = ""


class JoinMember(NamedTuple):
    """One entry of the member list that only the leader receives."""

    member_id: str
    instance_id: str | None
    subscription: Subscription
    client: str


class JoinAnswer(NamedTuple):
    """Answer to JoinGroup; ``members`` is filled for the leader alone."""

    error: str
    member_id: str = ""
    generation: int = -1
    protocol: str | None = None
    leader: str = ""
    members: tuple[JoinMember, ...] = ()
    skip_assignment: bool = False
    message: str | None = None


class SyncGroup(NamedTuple):
    """A classic member asks for its share; the leader's request carries everyone's."""

    client: str
    member_id: str
    instance_id: str | None
    generation: int
    protocol: str | None = None
    assignment: Mapping[str, Partitions] | None = None
    group: str = ""


class SyncAnswer(NamedTuple):
    """Answer to SyncGroup."""

    error: str
    assignment: Partitions = ()


class Heartbeat(NamedTuple):
    """A classic member's liveness signal."""

    client: str
    member_id: str
    instance_id: str | None
    generation: int
    group: str = ""


class LeaveGroup(NamedTuple):
    """A classic member, or an administrator on its behalf, takes it out of the group."""

    client: str
    member_id: str
    instance_id: str | None = None
    reason: str | None = None
    group: str = ""
    admin: bool = False


class OffsetCommit(NamedTuple):
    """Positions to store; ``generation`` is the member epoch under KIP-848, -1 for simple consumers."""

    client: str
    member_id: str
    instance_id: str | None
    generation: int
    offsets: Mapping[TopicPartition, int]
    how: str = "auto"
    group: str = ""


class Answer(NamedTuple):
    """Answer to Heartbeat, LeaveGroup and OffsetCommit."""

    error: str
    message: str | None = None


class ConsumerGroupHeartbeat(NamedTuple):
    """KIP-848's only group request. None means unchanged since the last one.

    ``member_epoch`` 0 joins, -1 leaves, -2 leaves for a while (static members).
    """

    client: str
    member_id: str
    member_epoch: int
    instance_id: str | None = None
    rack: str | None = None
    rebalance_timeout_ms: int | None = None
    topics: tuple[str, ...] | None = None
    regex: str | None = None
    server_assignor: str | None = None
    owned: Partitions | None = None
    group: str = ""


class ConsumerGroupHeartbeatAnswer(NamedTuple):
    """Answer to ConsumerGroupHeartbeat; ``assignment`` None means unchanged."""

    error: str
    member_id: str = ""
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: Partitions | None = None
    message: str | None = None


Request = JoinGroup | SyncGroup | Heartbeat | LeaveGroup | OffsetCommit | ConsumerGroupHeartbeat
Response = JoinAnswer | SyncAnswer | Answer | ConsumerGroupHeartbeatAnswer
