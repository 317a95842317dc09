"""A classic consumer (Java's AbstractCoordinator and ConsumerCoordinator; librdkafka where it differs): what it knows.

Two threads: the application's, which acts only inside poll(), and the heartbeat thread. EAGER gives
everything up before JoinGroup; COOPERATIVE keeps it, compares afterwards, and re-joins once more
when it had to revoke. Which of the two holds is fixed by the configured assignors, not by the vote.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar

from rebalance_kit.protocol import effects
from rebalance_kit.protocol.client import Member, PollStep
from rebalance_kit.protocol.messages import JoinAnswer, Partitions, RejoinReason, Trigger

# States of a classic consumer (AbstractCoordinator.MemberState), and the steps of its application thread.


class MemberState(effects.DocumentedState):
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
        # librdkafka revokes before it commits
        _S.COMMITTING_BEFORE_JOIN: frozenset({_S.IDLE, _S.REVOKING_BEFORE_JOIN, _S.REVOKING}),
        _S.REVOKING_BEFORE_JOIN: frozenset({_S.IDLE, _S.COMMITTING_BEFORE_JOIN, _S.JOINING, _S.SYNCING}),
        _S.JOINING: frozenset({_S.IDLE, _S.REVOKING_BEFORE_JOIN, _S.SYNCING, _S.COMMITTING_BEFORE_JOIN}),
        _S.SYNCING: frozenset({_S.JOINING}),
        _S.REVOKING: frozenset({_S.SYNCING}),
        _S.LOSING: frozenset({_S.IDLE}),  # librdkafka alone: partitions of a deleted topic
        _S.ASSIGNING: frozenset({_S.IDLE, _S.SYNCING, _S.REVOKING, _S.COMMITTING_BEFORE_JOIN}),
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


HEARTBEAT = (effects.Timer.HEARTBEAT,)
SESSION = (effects.Timer.SESSION,)


@dataclass(slots=True)
class ClassicMember(Member):
    """One classic consumer's knowledge of its group membership."""

    POLL_EDGES: ClassVar[Mapping[PollStep, frozenset[PollStep]]] = POLL_EDGES
    EDGES: ClassVar[Mapping[MemberState, frozenset[MemberState]]] = EDGES

    state: MemberState = MemberState.UNJOINED
    protocol: str | None = None
    leader: bool = False
    rejoin_needed: bool = True
    rejoin_reason: RejoinReason | None = None
    prepare_needed: bool = True
    metadata_generation: int = -1
    """Generation that groupMetadata() says, which callbacks see."""
    metadata_member_id: str = ""
    joined_topics: tuple[str, ...] = ()
    assigned_metadata: Mapping[str, int] | None = None
    existing_topics: Mapping[str, int] | None = None
    """librdkafka's effective subscription: the subscribed topics that its metadata knew when it last compared."""
    racks: effects.Racks = field(default_factory=dict)
    existing_racks: effects.Racks = field(default_factory=dict)
    """librdkafka: the replicas' racks when it last compared (of a member with a rack)."""
    assigned_racks: effects.Racks = field(default_factory=dict)
    """The replicas that the last assignment was made for (of a leader with a rack)."""
    elected: JoinAnswer | None = None
    """The answer that made this client lead, while it waits for fresh metadata to assign by."""
    pending_assignment: Partitions = ()
    sticky_memory: tuple[Partitions, int | None] = ((), None)
    first_error: str | None = None
    """What a callback of the phase under way raised first; it leaves poll() at the phase's end."""
    completes_again: bool = False
    polls_watched: bool = False
    """librdkafka: its timer of max.poll.interval.ms runs from a served assign() until it fires (start_max_poll_interval_timer)."""
    max_poll_exceeded: bool = False
    """librdkafka: no heartbeats, and no JoinGroup before the application polls (RD_KAFKA_CGRP_F_MAX_POLL_EXCEEDED)."""

    # --- facts -------------------------------------------------------------------------------
    @property
    def traced_generation(self) -> int | None:
        """None where the client has none."""
        return self.generation if self.generation >= 0 else None

    @property
    def in_group(self) -> bool:
        """The heartbeat thread works: the client has joined a generation."""
        return self.state in {MemberState.STABLE, MemberState.COMPLETING}

    @property
    def existing(self) -> Mapping[str, int]:
        """The subscribed topics that the metadata knows, with their numbers of partitions."""
        return {topic: self.metadata[topic] for topic in sorted(self.topics) if self.metadata.get(topic)}

    @property
    def was_reset(self) -> bool:
        """Its generation or its id is gone: what it owned is lost."""
        return self.generation < 0 or not self.member_id

    @property
    def may_commit(self) -> bool:
        """Commits are only sent while the member is STABLE and the coordinator is known."""
        stable = self.state is MemberState.STABLE and self.coordinator_known
        return stable and self.poll_step is not PollStep.CLOSED

    # --- small changes that the rules share --------------------------------------------------
    def group_metadata(self, kind: str) -> tuple[int, str]:  # noqa: ARG002  asked of both clients alike
        """The generation that was synced last, and its member id."""
        return self.metadata_generation, self.metadata_member_id

    def request_rejoin(
        self, reason: str, sent: str | None = None, trigger: Trigger = Trigger.REJOIN
    ) -> effects.Note:
        """Remember that the group must be joined again, at the next poll(); ``sent`` is what JoinGroup says."""
        sent_reason = reason if sent is None else sent
        self.rejoin_needed = True
        self.rejoin_reason = RejoinReason(trigger, sent_reason)
        return self.note("rejoin_requested", reason=reason, sent=sent_reason)

    def start_heartbeats(self) -> effects.SetTimer:
        """Enable the heartbeat thread: its first heartbeat comes an interval from now."""
        return effects.SetTimer(HEARTBEAT, self.settings.heartbeat_interval_ms)

    def session_timer(self) -> effects.SetTimer:
        """The client's own session clock: no answer until then, and the coordinator is doubted."""
        return effects.SetTimer(SESSION, self.settings.session_timeout_ms)

    def stop_heartbeats(self) -> tuple[effects.Effect, ...]:
        """Disable the heartbeat thread."""
        return effects.CancelTimer(HEARTBEAT), effects.CancelTimer(SESSION)

    def reset(self, reason: str, *, keep_id: bool) -> effects.Effects:
        """Give up the generation, and the member id unless it is kept; the group is joined anew."""
        yield self.note("generation_reset", reason=reason, member_id_kept=keep_id)
        self.generation = -1
        if not keep_id:
            self.member_id = ""
        yield from self.move(MemberState.UNJOINED)
        yield from self.stop_heartbeats()
        self.prepare_needed = True
        self.rejoin_needed = True

    def throw(self) -> effects.Note | None:
        """The listener's first error leaves poll(), and the application catches it; None without one."""
        error, self.first_error = self.first_error, None
        return None if error is None else self.raised(error)


# Kafka's errors as the Java client throws them.


EXCEPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "UNKNOWN_MEMBER_ID": "UnknownMemberIdException",
        "ILLEGAL_GENERATION": "IllegalGenerationException",
        "REBALANCE_IN_PROGRESS": "RebalanceInProgressException",
        "MEMBER_ID_REQUIRED": "MemberIdRequiredException",
        "FENCED_INSTANCE_ID": "FencedInstanceIdException",
        "INCONSISTENT_GROUP_PROTOCOL": "InconsistentGroupProtocolException",
        "INVALID_SESSION_TIMEOUT": "InvalidSessionTimeoutException",
        "GROUP_MAX_SIZE_REACHED": "GroupMaxSizeReachedException",
        "NOT_COORDINATOR": "NotCoordinatorException",
        "COORDINATOR_NOT_AVAILABLE": "CoordinatorNotAvailableException",
        "DISCONNECTED": "DisconnectException",
    }
)
