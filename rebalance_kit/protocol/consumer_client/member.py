"""A consumer under KIP-848 (Java's ConsumerMembershipManager; librdkafka where it differs): what it knows.

A background thread heartbeats; the answer brings the whole assignment when it changed. The
difference to what is owned is reconciled inside poll(): commit, revoked, assigned, then an immediate
heartbeat acknowledges. Member id and clock stay through fencing; a new process has a new id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.protocol.client import Member, PollStep
from rebalance_kit.protocol.effects import CancelTimer, DocumentedState, Effects, Own, Timer
from rebalance_kit.protocol.messages import Partitions

# States of a KIP-848 consumer (MemberState), and the steps of its application thread.


class MemberState(DocumentedState):
    """What the client knows of its membership."""

    UNSUBSCRIBED = ("UNSUBSCRIBED", "is in no group, or has left it", "poll() after subscribe() => JOINING")
    JOINING = (
        "JOINING",
        "sends heartbeats with epoch 0 until one is answered",
        "an assignment comes => RECONCILING; an error that cannot be helped => FATAL",
    )
    RECONCILING = (
        "RECONCILING",
        "brings what it owns to what it is assigned, inside poll(): commit, revoked, assigned; heartbeats go on",
        "the callbacks have returned => ACKNOWLEDGING; librdkafka joined and is assigned nothing => STABLE",
    )
    ACKNOWLEDGING = (
        "ACKNOWLEDGING",
        "tells the coordinator at once what it owns now",
        "the acknowledgement is sent => STABLE",
    )
    STABLE = (
        "STABLE",
        "owns what it was assigned, and heartbeats",
        "another assignment comes => RECONCILING",
    )
    FENCED = (
        "FENCED",
        "was removed (FENCED_MEMBER_EPOCH, UNKNOWN_MEMBER_ID): it gives everything up as lost at its next poll()",
        "onPartitionsLost has returned => JOINING, with the same member id",
    )
    PREPARE_LEAVING = (
        "PREPARE_LEAVING",
        "is about to leave: its last callback has returned, or it did not poll in time",
        "the heartbeat that leaves is due => LEAVING",
    )
    LEAVING = (
        "LEAVING",
        "sends a heartbeat with epoch -1, or -2 if it is static, and waits for no answer",
        "the heartbeat is sent => UNSUBSCRIBED; it left because of the poll timeout => STALE",
    )
    STALE = (
        "STALE",
        "left because the application did not call poll() for max.poll.interval.ms",
        "the application polls, and onPartitionsLost has returned => JOINING",
    )
    FATAL = ("FATAL", "met an error that it cannot recover from; poll() throws it", "none")


TAKING_PART = frozenset(
    {MemberState.JOINING, MemberState.STABLE, MemberState.RECONCILING, MemberState.ACKNOWLEDGING}
)
"""States in which a member heartbeats as one of its group."""
OUTSIDE = frozenset({MemberState.FATAL, MemberState.FENCED, MemberState.STALE, MemberState.UNSUBSCRIBED})
"""States in which a member has no group that it could leave."""

_M = MemberState
EDGES: Mapping[MemberState, frozenset[MemberState]] = MappingProxyType(
    {
        _M.JOINING: frozenset({_M.UNSUBSCRIBED, _M.FENCED, _M.STALE}),
        _M.RECONCILING: frozenset({_M.JOINING, _M.STABLE}),
        _M.ACKNOWLEDGING: frozenset({_M.RECONCILING}),
        _M.STABLE: frozenset({_M.RECONCILING, _M.ACKNOWLEDGING}),
        _M.FENCED: TAKING_PART,
        _M.PREPARE_LEAVING: TAKING_PART,
        _M.LEAVING: frozenset({_M.PREPARE_LEAVING}),
        _M.STALE: frozenset({_M.LEAVING}),
        _M.UNSUBSCRIBED: frozenset({_M.LEAVING}),
        _M.FATAL: TAKING_PART | {_M.FENCED},  # by the answer to an older heartbeat
    }
)
"""Which state may come before which.

Kafka's own list (MemberState.previousValidStates) has eleven pairs more, such as FATAL after LEAVING, which
nothing leads to here.
"""

_S = PollStep
_UNDER_WAY = (_S.RECONCILE_WAITS, _S.COMMITTING_BEFORE_REVOKE, _S.REVOKE_WAITS, _S.ASSIGN_WAITS)
POLL_EDGES: Mapping[PollStep, frozenset[PollStep]] = MappingProxyType(
    {
        _S.IDLE: frozenset({*_UNDER_WAY, _S.LOSING, _S.REVOKING, _S.ASSIGNING}),
        _S.RECONCILE_WAITS: frozenset({_S.IDLE, _S.REVOKING, _S.ASSIGNING}),
        _S.COMMITTING_BEFORE_REVOKE: frozenset({_S.RECONCILE_WAITS}),
        _S.REVOKE_WAITS: frozenset({_S.COMMITTING_BEFORE_REVOKE}),
        _S.REVOKING: frozenset({_S.REVOKE_WAITS}),
        _S.ASSIGN_WAITS: frozenset({_S.COMMITTING_BEFORE_REVOKE, _S.REVOKING}),
        _S.ASSIGNING: frozenset({_S.ASSIGN_WAITS}),
        _S.LOSING: frozenset({_S.IDLE}),
        # a librdkafka client whose callback made the wrong call is stuck in ASSIGNING, and can only close
        _S.CLOSE_COMMITTING: frozenset({_S.IDLE, *_UNDER_WAY, _S.ASSIGNING}),
        _S.CLOSE_CALLBACK: frozenset(
            {_S.IDLE, *_UNDER_WAY, _S.REVOKING, _S.ASSIGNING, _S.LOSING, _S.CLOSE_COMMITTING}
        ),
        _S.CLOSED: frozenset({_S.CLOSE_CALLBACK}),
    }
)
"""Which step of the application thread may come before which."""


HEARTBEAT = (Timer.HEARTBEAT,)


@dataclass(slots=True)
class ConsumerMember(Member):
    """One KIP-848 consumer's knowledge of its group membership."""

    POLL_EDGES: ClassVar[Mapping[PollStep, frozenset[PollStep]]] = POLL_EDGES
    EDGES: ClassVar[Mapping[MemberState, frozenset[MemberState]]] = EDGES

    generation: int = 0
    regex: str | None = None
    """A pattern that the broker resolves (SubscriptionPattern)."""
    state: MemberState = MemberState.UNSUBSCRIBED
    metadata_generation: int = 0
    """The last epoch above 0, which onPartitionsLost sees in groupMetadata()."""
    target: Partitions | None = None
    """An assignment that came and is not being reconciled yet."""
    reconciling: Partitions = ()
    """The assignment that the reconciliation under way leads to."""
    adding: Partitions = ()
    interval_ms: int = 0
    local_epoch: int = 0
    sent_local_epoch: int = -1
    in_flight: bool = False
    first_assignment: bool = True
    full_request: bool = True
    topics_changed: bool = False
    poll_expired: bool = False
    poll_over_ms: int = 0
    fenced_meanwhile: bool = False
    unfetchable: frozenset[TopicPartition] = frozenset()
    """Added in an onPartitionsAssigned that raised: owned, but not read (PartitionsAwaitingCallback)."""

    @property
    def may_commit(self) -> bool:
        """Commits carry the member epoch, so the member must have one."""
        return self.generation > 0 and self.coordinator_known

    @property
    def idle(self) -> bool:
        """No step of a reconciliation is under way."""
        return self.poll_step is PollStep.IDLE and not self.closing

    @property
    def takes_part(self) -> bool:
        """It heartbeats as a member of its group."""
        return self.state in TAKING_PART

    @property
    def polled_too_late(self) -> bool:
        """A librdkafka member leaves as soon as no rebalance is under way: max.poll.interval.ms passed between two polls."""
        return self.librdkafka and self.poll_expired and self.takes_part

    def group_metadata(self, kind: str) -> tuple[int, str]:
        """The member epoch; what is lost was owned in the last one above 0."""
        return (self.metadata_generation if kind == "lost" else self.generation), self.member_id

    def own(self, partitions: Partitions) -> Own:
        """Replace the local assignment."""
        self.unfetchable = self.unfetchable.intersection(partitions)
        return Member.own(self, partitions)

    def forget_epoch(self) -> None:
        """The member epoch is gone, and with it the assignment that was to be reconciled."""
        self.metadata_generation, self.generation = self.generation, 0
        self.target = None

    def lose_coordinator(self, cause: str) -> Effects:
        """The same, and the next heartbeat says everything again."""
        self.in_flight = False
        self.full_request = True
        if self.coordinator_known:
            yield CancelTimer(HEARTBEAT)
        yield from Member.lose_coordinator(self, cause)
