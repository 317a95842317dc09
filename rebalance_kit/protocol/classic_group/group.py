"""A classic group as its coordinator keeps it (ClassicGroup, ClassicGroupMember).

The broker never computes an assignment: it collects JoinGroup requests, makes the elected client
leader do it, and hands its bytes out. ``members`` keeps the order of insertion; ``map_order`` turns
that into the order of Java's HashMap, which decides ties, leaders and what the leader sees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from rebalance_kit.model.errors import ProtocolViolation
from rebalance_kit.protocol.effects import Arrived, DocumentedState, Effects, Note, Reply, SetTimer, Timer
from rebalance_kit.protocol.messages import (
    NONE,
    Answer,
    JoinAnswer,
    JoinGroup,
    JoinMember,
    Partitions,
    Request,
    Response,
    Subscription,
    SyncAnswer,
    SyncGroup,
    Trigger,
    labels,
)

# The states of a classic group (ClassicGroupState): what the coordinator does in each, and which may follow which.


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


NEW_MEMBER_JOIN_TIMEOUT_MS = 300_000
"""ClassicGroup: a new member's parked JoinGroup is kept alive this long instead of its session."""


@dataclass(slots=True)
class ClassicGroupMember:
    """One member as the coordinator knows it; ``parked_*`` are tokens of unanswered requests."""

    member_id: str
    instance_id: str | None
    client: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: tuple[tuple[str, Subscription], ...]
    assignment: Partitions = ()
    parked_join: int | None = None
    parked_sync: int | None = None
    is_new: bool = True

    def vote(self, candidates: frozenset[str]) -> str:
        """The first of its own list that everyone supports (ClassicGroupMember.vote)."""
        return next(name for name, _ in self.protocols if name in candidates)

    def session_timer(self) -> SetTimer:
        """Its session begins anew."""
        return SetTimer((Timer.SESSION, self.member_id), self.session_timeout_ms)

    def metadata(self, protocol: str) -> Subscription:
        """Its subscription under the selected assignor."""
        return next(subscription for name, subscription in self.protocols if name == protocol)


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupSettings:
    """Broker configuration that a classic group needs, and the driver's services."""

    group: str
    initial_delay_ms: int
    min_session_ms: int
    max_session_ms: int
    max_size: int
    new_id: Callable[[str, str], str]
    """(client, prefix) to a fresh member id; a replay pins them here."""
    map_order: Callable[[Sequence[str]], list[str]]
    """Keys in the order of insertion to keys in the order of Java's HashMap."""
    consumer_order: Callable[[Sequence[str]], list[str]] = list
    """The same for the TimelineHashMap in which a consumer group keeps its members."""
    skips_assignment: bool = True
    """Whether a static leader that returns is told that it leads and must not assign (JoinGroup v9, KIP-814)."""


class Cause(NamedTuple):
    """Why a rebalance begins: Kafka's sentence, its one word, and the process whose doing it was."""

    reason: str
    trigger: Trigger
    culprit: str | None


class StoredMember(NamedTuple):
    """A member as the group's record keeps it."""

    member_id: str
    instance_id: str | None
    client: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: tuple[tuple[str, Subscription], ...]
    assignment: Partitions


@dataclass(frozen=True, slots=True)
class Stored:
    """The group's record in __consumer_offsets."""

    generation: int
    protocol: str | None
    leader: str | None
    members: tuple[StoredMember, ...]


@dataclass(slots=True)
class ClassicGroup:
    """The coordinator's whole knowledge of one classic group."""

    settings: GroupSettings
    state: ClassicGroupState = ClassicGroupState.EMPTY
    previous: ClassicGroupState = ClassicGroupState.EMPTY
    generation: int = 0
    protocol: str | None = None
    leader: str | None = None
    members: dict[str, ClassicGroupMember] = field(default_factory=dict)
    statics: dict[str, str] = field(default_factory=dict)
    pending: dict[str, str] = field(default_factory=dict)
    pending_sync: set[str] = field(default_factory=set)
    supported: Counter[str] = field(default_factory=Counter)
    joined: int = 0
    new_member_added: bool = False
    initial_remaining_ms: int = 0
    assignment: Mapping[str, Partitions] | None = None
    """The leader's assignment of this generation, while it is being stored."""
    stored: Stored | None = None

    # --- facts ---------------------------------------------------------------------------
    @property
    def in_initial_phase(self) -> bool:
        """The join phase under way is an Empty group's first."""
        return (
            self.state is ClassicGroupState.PREPARING_REBALANCE and self.previous is ClassicGroupState.EMPTY
        )

    def in_map_order(self) -> list[ClassicGroupMember]:
        """Members as Java's HashMap iterates them."""
        return [self.members[name] for name in self.settings.map_order(list(self.members))]

    def all_joined(self) -> bool:
        """Every known member waits in JoinGroup and no handed-out id is still awaited."""
        return self.joined == len(self.members) and not self.pending

    def rebalance_timeout_ms(self) -> int:
        """The greatest max.poll.interval.ms among the members."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def name(self, member_id: str) -> str:
        """The process behind an id, for the trace."""
        member = self.members.get(member_id)
        return member.client if member else self.pending.get(member_id, member_id)

    def labels(self) -> Mapping[str, str]:
        """Names of the members for the trace, by id."""
        return labels([(member.member_id, member.client) for member in self.members.values()])

    def supports(self, names: Sequence[str]) -> bool:
        """Some assignor of the list is supported by every current member (supportsProtocols)."""
        if not names:
            return False
        return not self.members or any(self.supported[name] == len(self.members) for name in names)

    # --- effects -------------------------------------------------------------------------
    def note(self, kind: str, member_id: str | None = None, **detail: object) -> Note:
        """One trace row about this group."""
        return Note(kind, self.generation, member_id, {"group": self.settings.group, **detail})

    def state_note(self, cause: Cause | None, trigger: str = "") -> Note:
        """The row of a change of state."""
        return self.note(
            "group_state",
            **{
                "from": self.previous.value,
                "to": self.state.value,
                "reason": cause.reason if cause else "",
                "trigger": cause.trigger.value if cause else trigger,
                "culprit": cause.culprit if cause else None,
            },
        )

    def enter(self, to: ClassicGroupState) -> None:
        """Change state along an allowed edge only."""
        if self.state not in PREDECESSORS[to]:
            raise ProtocolViolation(f"{self.settings.group}: {self.state.value} may not become {to.value}")
        self.previous, self.state = self.state, to

    def move(self, to: ClassicGroupState, cause: Cause | None = None) -> Note:
        """The same, with the row that says so."""
        self.enter(to)
        return self.state_note(cause)

    def answer_join(self, member: ClassicGroupMember, response: JoinAnswer) -> Effects:
        """Answer a parked JoinGroup, if there is one."""
        if member.parked_join is not None:
            self.joined -= 1
            yield Reply(member.parked_join, response)
            member.parked_join = None

    def answer_sync(self, member: ClassicGroupMember, response: SyncAnswer) -> Effects:
        """Answer a parked SyncGroup, if there is one."""
        if member.parked_sync is not None:
            yield Reply(member.parked_sync, response)
            member.parked_sync = None

    # --- changes -------------------------------------------------------------------------
    def add(self, member: ClassicGroupMember) -> None:
        """Take a member in; the first one leads (ClassicGroup.add)."""
        self.members[member.member_id] = member
        for name, _ in member.protocols:
            self.supported[name] += 1
        if member.instance_id is not None:
            self.statics[member.instance_id] = member.member_id
        if member.parked_join is not None:
            self.joined += 1
        if self.leader is None:
            self.leader = member.member_id

    def remove(self, member_id: str) -> ClassicGroupMember:
        """Drop a member; another one in map order leads if it was the leader."""
        member = self.members.pop(member_id)
        for name, _ in member.protocols:
            self.supported[name] -= 1
        if member.instance_id is not None and self.statics.get(member.instance_id) == member_id:
            del self.statics[member.instance_id]
        if member.parked_join is not None:
            self.joined -= 1
        self.pending_sync.discard(member_id)
        if self.leader == member_id:
            order = self.settings.map_order(list(self.members))
            self.leader = order[0] if order else None
        return member

    def park_join(self, member: ClassicGroupMember, token: int) -> None:
        """Keep a JoinGroup until the join phase completes."""
        if member.parked_join is None:
            self.joined += 1
        member.parked_join = token

    def set_protocols(
        self, member: ClassicGroupMember, protocols: tuple[tuple[str, Subscription], ...]
    ) -> None:
        """Replace a member's list and keep the count per assignor right."""
        for name, _ in member.protocols:
            self.supported[name] -= 1
        member.protocols = protocols
        for name, _ in protocols:
            self.supported[name] += 1

    def select_protocol(self) -> str:
        """Plurality vote among the names everyone supports; on a tie the lowest HashMap bucket wins."""
        everyone = len(self.members)
        candidates = frozenset(name for name, count in self.supported.items() if count == everyone)
        votes: dict[str, int] = {}
        for member in self.in_map_order():
            chosen = member.vote(candidates)
            votes[chosen] = votes.get(chosen, 0) + 1
        return max(self.settings.map_order(list(votes)), key=votes.__getitem__)

    def join_answer(self, member: ClassicGroupMember, *, skip_assignment: bool = False) -> JoinAnswer:
        """A successful answer for this member; the leader's carries everyone's metadata."""
        protocol = self.protocol or ""
        listed: tuple[JoinMember, ...] = ()
        if member.member_id == self.leader:
            listed = tuple(
                JoinMember(other.member_id, other.instance_id, other.metadata(protocol), other.client)
                for other in self.in_map_order()
            )
        return JoinAnswer(
            NONE, member.member_id, self.generation, protocol, self.leader or "", listed, skip_assignment
        )

    def store(self) -> None:
        """What a coordinator that loads this group later will find."""
        self.stored = Stored(
            self.generation,
            self.protocol,
            self.leader,
            tuple(
                StoredMember(
                    member.member_id,
                    member.instance_id,
                    member.client,
                    member.session_timeout_ms,
                    member.rebalance_timeout_ms,
                    member.protocols,
                    member.assignment,
                )
                for member in self.members.values()
            ),
        )


# Whether the sender of a request is whom it says, and how requests are refused.


def identity_error(group: ClassicGroup, member_id: str, instance_id: str | None) -> str | None:
    """UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, or None when the caller is who it says.

    A static member's restart took its instance id over: the old process is fenced at its next request.
    """
    if instance_id is not None:
        holder = group.statics.get(instance_id)
        if holder is None:
            return "UNKNOWN_MEMBER_ID"
        if holder != member_id:
            return "FENCED_INSTANCE_ID"
    return None if member_id in group.members else "UNKNOWN_MEMBER_ID"


def membership_error(
    group: ClassicGroup, member_id: str, instance_id: str | None, generation: int
) -> str | None:
    """The same, and ILLEGAL_GENERATION for a request of another generation."""
    error = identity_error(group, member_id, instance_id)
    if error is None and generation != group.generation:
        return "ILLEGAL_GENERATION"
    return error


def refuse(error: str) -> Callable[[ClassicGroup, Arrived[Request]], Effects]:
    """The rule of a state in which a request is always refused."""

    def refused(group: ClassicGroup, arrived: Arrived[Request]) -> Effects:
        yield Reply(arrived.token, refusal(arrived.request, error))

    return refused


def refusal(request: Request, error: str) -> Response:
    """The answer to this kind of request that carries an error."""
    if isinstance(request, JoinGroup):
        return JoinAnswer(error, request.member_id)
    return SyncAnswer(error) if isinstance(request, SyncGroup) else Answer(error)
