"""What starts a rebalance of a classic group, or raises the epoch of a consumer group."""

from __future__ import annotations

from enum import StrEnum


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
