"""The states of a classic group (ClassicGroupState): what the coordinator does in each, and which may follow which."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rebalance_kit.protocol.states import DocumentedState


class ClassicGroupState(DocumentedState):
    """States of a classic group, under the names Kafka prints.

    ``action`` and ``transition`` follow the comments of Kafka's own enum. Where that comment and Kafka's
    code differ (heartbeats while Completing), the code is followed.
    """

    EMPTY = (
        "Empty",
        "has no members and keeps committed offsets; admits new members; answers SyncGroup, Heartbeat and "
        "LeaveGroup with UNKNOWN_MEMBER_ID; accepts commits of simple consumers",
        "a new member joins => PreparingRebalance; the partition of __consumer_offsets moves away => Dead",
    )
    PREPARING_REBALANCE = (
        "PreparingRebalance",
        "parks JoinGroup until all expected members have joined; answers Heartbeat and SyncGroup with "
        "REBALANCE_IN_PROGRESS; removes whoever leaves; accepts commits of the previous generation",
        "members have joined by the timeout => CompletingRebalance; all members have left => Empty; "
        "the partition of __consumer_offsets moves away => Dead",
    )
    COMPLETING_REBALANCE = (
        "CompletingRebalance",
        "waits for the leader's assignment; parks SyncGroup of followers; answers commits with "
        "REBALANCE_IN_PROGRESS, and Heartbeat with NONE",
        "the leader's SyncGroup is stored => Stable; a member joins, re-joins with other metadata, leaves or "
        "fails => PreparingRebalance; the partition of __consumer_offsets moves away => Dead",
    )
    STABLE = (
        "Stable",
        "answers Heartbeat with NONE, SyncGroup with the current assignment, JoinGroup of unchanged followers "
        "with the current generation; accepts commits of this generation",
        "a member fails or leaves, the leader re-joins, a follower re-joins with other metadata "
        "=> PreparingRebalance; the partition of __consumer_offsets moves away => Dead",
    )
    DEAD = (
        "Dead",
        "is no longer coordinated here; answers every request with COORDINATOR_NOT_AVAILABLE",
        "final in Kafka; whichever coordinator loads the group next begins with what was stored => Empty or Stable",
    )


PREDECESSORS: Mapping[ClassicGroupState, frozenset[ClassicGroupState]] = MappingProxyType(
    {
        ClassicGroupState.EMPTY: frozenset({ClassicGroupState.PREPARING_REBALANCE}),
        ClassicGroupState.PREPARING_REBALANCE: frozenset(
            {ClassicGroupState.STABLE, ClassicGroupState.COMPLETING_REBALANCE, ClassicGroupState.EMPTY}
        ),
        ClassicGroupState.COMPLETING_REBALANCE: frozenset({ClassicGroupState.PREPARING_REBALANCE}),
        ClassicGroupState.STABLE: frozenset({ClassicGroupState.COMPLETING_REBALANCE}),
        ClassicGroupState.DEAD: frozenset(ClassicGroupState) - {ClassicGroupState.DEAD},
    }
)
"""Which state may come before which (validPreviousStates). Loading takes no step: it makes the group anew."""
