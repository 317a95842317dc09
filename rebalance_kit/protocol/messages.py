"""Requests and answers of both group protocols, with the fields that decide something.

``client`` is the name of the process that sent a request; Kafka knows the connection instead.
Errors are Kafka's names; ``NONE`` is success.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from rebalance_kit.model.topology import TopicPartition

# What starts a rebalance of a classic group, or raises the epoch of a consumer group.


class Trigger(StrEnum):
    """The cause of a rebalance, in one word of the trace."""

    JOIN = "join"
    """A new member joined."""
    REJOIN = "rejoin"
    """A known member joined again and gave no reason that has a word of its own."""
    METADATA = "metadata"
    """Topics or partitions changed."""
    SUBSCRIPTION = "subscription"
    """A member subscribes to other topics."""
    REVOCATION = "revocation"
    """A COOPERATIVE member revoked partitions and re-joins: the follow-up rebalance."""
    STATIC = "static"
    """A static member came back, and its old assignment cannot be kept."""
    LEAVE = "leave"
    """A member left."""
    ADMIN = "admin"
    """An administrator removed a member."""
    SESSION = "session"
    """A member's session timed out."""
    SYNC_TIMEOUT = "sync_timeout"
    """A member joined but never sent SyncGroup."""
    JOIN_TIMEOUT = "join_timeout"
    """A classic member of a consumer group did not re-join in time."""
    REBALANCE_TIMEOUT = "rebalance_timeout"
    """A member of a consumer group did not revoke in time."""
    ASSIGNOR = "assignor"
    """The members now prefer another server-side assignor."""
    DOWNGRADE = "downgrade"
    """The last KIP-848 member left, and the group became classic."""
    LOAD = "load"
    """The coordinator read the group back from __consumer_offsets."""


# How members are named in the trace: by their process, unless two of them belong to the same one.
#
# A process that died and came back is in the group twice until its old session ends. The newest keeps the
# name, an older one is called its previous life.


PREVIOUS = " (previous life)"


def labels(clients: Sequence[tuple[str, str]]) -> Mapping[str, str]:
    """Label by member id, from (member id, process) in the order in which the members were added.

    >>> labels([("a-1", "a"), ("b-1", "b"), ("a-2", "a")])
    {'a-2': 'a', 'b-1': 'b', 'a-1': 'a (previous life)'}
    """
    label_by_id: dict[str, str] = {}
    taken: set[str] = set()
    for member_id, client in reversed(clients):
        label = client
        while label in taken:
            label += PREVIOUS
        taken.add(label)
        label_by_id[member_id] = label
    return label_by_id


def process_of(label: str) -> str:
    """The process that a label stands for."""
    return label.replace(PREVIOUS, "")


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
