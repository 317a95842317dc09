"""States of a classic consumer (AbstractCoordinator.MemberState), and the steps of its application thread."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rebalance_kit.protocol.client.poll_step import PollStep
from rebalance_kit.protocol.states import DocumentedState


class MemberState(DocumentedState):
    """What the client knows of its membership; the heartbeat thread works in the last two states only."""

    UNJOINED = (
        "UNJOINED",
        "is not part of the group, or has to join it again; heartbeats rest",
        "JoinGroup is sent => PREPARING_REBALANCE",
    )
    PREPARING = (
        "PREPARING_REBALANCE",
        "has sent JoinGroup and waits for its answer, which counts as a sign of life; heartbeats rest",
        "the answer comes => COMPLETING_REBALANCE; it is an error, or none comes => UNJOINED",
    )
    COMPLETING = (
        "COMPLETING_REBALANCE",
        "has the answer to JoinGroup and waits for that to SyncGroup; heartbeats",
        "the assignment comes => STABLE; an error, none, or the poll timeout => UNJOINED",
    )
    STABLE = (
        "STABLE",
        "has joined, owns its assignment, heartbeats and may commit",
        "it joins again => PREPARING_REBALANCE; it left, was removed or fenced => UNJOINED",
    )


EDGES: Mapping[MemberState, frozenset[MemberState]] = MappingProxyType(
    {
        MemberState.UNJOINED: frozenset({MemberState.PREPARING, MemberState.COMPLETING, MemberState.STABLE}),
        MemberState.PREPARING: frozenset({MemberState.UNJOINED, MemberState.STABLE}),
        MemberState.COMPLETING: frozenset({MemberState.PREPARING}),
        MemberState.STABLE: frozenset({MemberState.COMPLETING}),
    }
)
"""Which state may come before which."""

_S = PollStep
POLL_EDGES: Mapping[PollStep, frozenset[PollStep]] = MappingProxyType(
    {
        _S.IDLE: frozenset(
            {
                _S.COMMITTING_BEFORE_JOIN,
                _S.REVOKING_BEFORE_JOIN,
                _S.JOINING,
                _S.SYNCING,
                _S.ASSIGNING,
                _S.LOSING,
            }
        ),
        _S.COMMITTING_BEFORE_JOIN: frozenset({_S.IDLE}),
        _S.REVOKING_BEFORE_JOIN: frozenset({_S.IDLE, _S.COMMITTING_BEFORE_JOIN, _S.JOINING, _S.SYNCING}),
        _S.JOINING: frozenset({_S.IDLE, _S.REVOKING_BEFORE_JOIN, _S.SYNCING}),
        _S.SYNCING: frozenset({_S.JOINING}),
        _S.REVOKING: frozenset({_S.SYNCING}),
        _S.LOSING: frozenset({_S.IDLE}),  # librdkafka alone: partitions of a deleted topic
        _S.ASSIGNING: frozenset({_S.IDLE, _S.SYNCING, _S.REVOKING}),
        # a librdkafka client whose callback made the wrong call is stuck in ASSIGNING, and can only close
        _S.CLOSE_COMMITTING: frozenset({_S.IDLE, _S.COMMITTING_BEFORE_JOIN, _S.ASSIGNING}),
        _S.CLOSE_CALLBACK: frozenset(
            {
                _S.IDLE,
                _S.COMMITTING_BEFORE_JOIN,
                _S.REVOKING_BEFORE_JOIN,
                _S.JOINING,
                _S.SYNCING,
                _S.REVOKING,
                _S.ASSIGNING,
                _S.LOSING,
                _S.CLOSE_COMMITTING,
            }
        ),
        _S.CLOSED: frozenset({_S.CLOSE_CALLBACK}),
    }
)
"""Which step of the application thread may come before which."""
