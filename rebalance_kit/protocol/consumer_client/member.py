"""A consumer under KIP-848 (Java's ConsumerMembershipManager; librdkafka where it differs): what it knows.

A background thread heartbeats; the answer brings the whole assignment when it changed. The
difference to what is owned is reconciled inside poll(): commit, revoked, assigned, then an immediate
heartbeat acknowledges. Member id and clock stay through fencing; a new process has a new id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from rebalance_kit.model.errors import ProtocolViolation
from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.protocol.client.member import Member
from rebalance_kit.protocol.client.poll_step import PollStep
from rebalance_kit.protocol.consumer_client.states import EDGES, POLL_EDGES, TAKING_PART, MemberState
from rebalance_kit.protocol.effects import Callback, CancelTimer, Effect, Effects, Own, Timer
from rebalance_kit.protocol.messages import Partitions

HEARTBEAT = (Timer.HEARTBEAT,)


@dataclass(slots=True)
class ConsumerMember(Member):
    """One KIP-848 consumer's knowledge of its group membership."""

    POLL_EDGES: ClassVar[Mapping[PollStep, frozenset[PollStep]]] = POLL_EDGES

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

    def move(self, to: MemberState) -> tuple[Effect, ...]:
        """Change the state along an allowed edge."""
        if to is self.state:
            return ()
        if self.state not in EDGES[to]:
            raise ProtocolViolation(f"{self.settings.name}: {self.state.value} may not become {to.value}")
        row = self.note("member_state", **{"from": self.state.value, "to": to.value})
        self.state = to
        return (row,)

    def callback(self, kind: str, partitions: Partitions) -> Callback:
        """Ask for a listener callback; what is lost was owned in the last epoch above 0."""
        epoch = self.metadata_generation if kind == "lost" else self.generation
        return self.call(kind, partitions, epoch, self.member_id)

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
