"""States of a KIP-848 group and of its members, as the coordinator sees them (ConsumerGroupState, MemberState)."""

from __future__ import annotations

from rebalance_kit.protocol.states import DocumentedState


class ConsumerGroupState(DocumentedState):
    """State of a consumer group. It follows from the epochs (ConsumerGroup.maybeUpdateGroupState)."""

    EMPTY = (
        "Empty",
        "has no members, and keeps its epoch and the committed offsets",
        "a member joins and the target is computed at once => Stable; the target is due later => Assigning",
    )
    ASSIGNING = (
        "Assigning",
        "the group epoch is ahead of the assignment epoch: the next heartbeat that may compute a target does",
        "the target is computed and somebody has yet to reach it => Reconciling; everybody has => Stable; "
        "the last member is gone => Empty",
    )
    RECONCILING = (
        "Reconciling",
        "members are led to the target one by one, each at its own heartbeats",
        "the last one has reached it => Stable; the group epoch rises and the target is due later => Assigning; "
        "the last member is gone => Empty",
    )
    STABLE = (
        "Stable",
        "every member has reached the target of the group epoch",
        "the group epoch rises => Assigning; a target is computed at once => Reconciling; "
        "the last member is gone => Empty",
    )


class MemberState(DocumentedState):
    """The coordinator's view of one member's reconciliation."""

    STABLE = (
        "STABLE",
        "the member owns its target of the assignment epoch",
        "the target takes partitions away => UNREVOKED_PARTITIONS; it adds some that others hold "
        "=> UNRELEASED_PARTITIONS",
    )
    UNREVOKED = (
        "UNREVOKED_PARTITIONS",
        "the member must revoke partitions before it may reach the next epoch; its rebalance timer runs",
        "it no longer owns them => STABLE; it waits for partitions of others => UNRELEASED_PARTITIONS",
    )
    UNRELEASED = (
        "UNRELEASED_PARTITIONS",
        "the member has reached the epoch and waits for partitions that their former owners have not released",
        "the last of them is free at one of its heartbeats => STABLE; another target takes partitions away "
        "=> UNREVOKED_PARTITIONS",
    )
