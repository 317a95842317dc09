"""A classic group as its coordinator keeps it (ClassicGroup, ClassicGroupMember).

The broker never computes an assignment: it collects JoinGroup requests, makes the elected client
leader do it, and hands its bytes out. ``members`` keeps the order of insertion; ``map_order`` turns
that into the order of Java's HashMap, which decides ties, leaders and what the leader sees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType

from rebalance_kit.model.errors import ProtocolViolation
from rebalance_kit.protocol.effects import Effect, Note, Reply
from rebalance_kit.protocol.labels import labels
from rebalance_kit.protocol.messages import NONE, JoinAnswer, JoinMember, Partitions, Response, Subscription

NEW_MEMBER_JOIN_TIMEOUT_MS = 300_000
"""ClassicGroup: a new member's parked JoinGroup is kept alive this long instead of its session."""


class State(Enum):
    """States of a classic group, under the names Kafka prints."""

    __hash__ = object.__hash__  # by identity: these are looked up all the time

    EMPTY = "Empty"
    PREPARING = "PreparingRebalance"
    COMPLETING = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


PREDECESSORS: Mapping[State, frozenset[State]] = MappingProxyType(
    {
        State.EMPTY: frozenset({State.PREPARING}),
        State.PREPARING: frozenset({State.STABLE, State.COMPLETING, State.EMPTY}),
        State.COMPLETING: frozenset({State.PREPARING}),
        State.STABLE: frozenset({State.COMPLETING}),
        State.DEAD: frozenset(State),
    }
)


@dataclass(slots=True)
class GroupMember:
    """One member as the coordinator knows it; ``parked_*`` are tokens of unanswered requests."""

    member_id: str
    instance_id: str | None
    sender: str
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

    def metadata(self, protocol: str) -> Subscription:
        """Its subscription under the selected assignor."""
        return next(held for name, held in self.protocols if name == protocol)


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """Broker configuration that a classic group needs, and the driver's services."""

    group: str
    initial_delay_ms: int
    min_session_ms: int
    max_session_ms: int
    max_size: int
    new_id: Callable[[str, str], str]
    """(sender, prefix) to a fresh member id; a replay pins them here."""
    map_order: Callable[[Sequence[str]], list[str]]
    """Keys in the order of insertion to keys in the order of Java's HashMap."""
    consumer_order: Callable[[Sequence[str]], list[str]] = list
    """The same for the TimelineHashMap in which a consumer group keeps its members."""
    skips_assignment: bool = True
    """Whether a static leader that returns is told that it leads and must not assign (JoinGroup v9, KIP-814)."""


@dataclass(slots=True)
class ClassicGroup:
    """The coordinator's whole knowledge of one classic group."""

    settings: GroupSettings
    state: State = State.EMPTY
    previous: State = State.EMPTY
    generation: int = 0
    protocol: str | None = None
    leader: str | None = None
    members: dict[str, GroupMember] = field(default_factory=dict)
    statics: dict[str, str] = field(default_factory=dict)
    pending: dict[str, str] = field(default_factory=dict)
    pending_sync: set[str] = field(default_factory=set)
    supported: Counter[str] = field(default_factory=Counter)
    joined: int = 0
    new_member_added: bool = False
    initial_remaining_ms: int = 0
    plan: Mapping[str, Partitions] | None = None
    stored: Stored | None = None
    out: list[Effect] = field(default_factory=list)

    # --- facts ---------------------------------------------------------------------------
    def in_map_order(self) -> list[GroupMember]:
        """Members as Java's HashMap iterates them."""
        return [self.members[name] for name in self.settings.map_order(list(self.members))]

    def all_joined(self) -> bool:
        """Every known member waits in JoinGroup and no handed-out id is still awaited."""
        return self.joined == len(self.members) and not self.pending

    def rebalance_timeout_ms(self) -> int:
        """The greatest max.poll.interval.ms among the members."""
        return max((one.rebalance_timeout_ms for one in self.members.values()), default=0)

    def name(self, member_id: str) -> str:
        """The process behind an id, for the trace."""
        member = self.members.get(member_id)
        return member.sender if member else self.pending.get(member_id, member_id)

    def labels(self) -> Mapping[str, str]:
        """Names of the members for the trace, by id."""
        return labels([(one.member_id, one.sender) for one in self.members.values()])

    def supports(self, names: Sequence[str]) -> bool:
        """Some assignor of the list is supported by every current member (supportsProtocols)."""
        if not names:
            return False
        return not self.members or any(self.supported[name] == len(self.members) for name in names)

    # --- changes -------------------------------------------------------------------------
    def note(self, kind: str, member_id: str | None = None, **detail: object) -> None:
        """One trace row about this group."""
        self.out.append(Note(kind, self.generation, member_id, {"group": self.settings.group, **detail}))

    def reply(self, token: int | None, response: Response) -> None:
        """Answer a request, if it is still waiting."""
        if token is not None:
            self.out.append(Reply(token, response))

    def move(self, to: State, reason: str = "", trigger: str = "", culprit: str | None = None) -> None:
        """Change state along an allowed edge only."""
        if self.state not in PREDECESSORS[to]:
            raise ProtocolViolation(f"{self.settings.group}: {self.state.value} may not become {to.value}")
        self.previous, self.state = self.state, to
        self.note(
            "group_state",
            **{
                "from": self.previous.value,
                "to": to.value,
                "reason": reason,
                "trigger": trigger,
                "culprit": culprit,
            },
        )

    def add(self, member: GroupMember) -> None:
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

    def remove(self, member_id: str) -> GroupMember:
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

    def park_join(self, member: GroupMember, token: int) -> None:
        """Keep a JoinGroup until the join phase completes."""
        if member.parked_join is None:
            self.joined += 1
        member.parked_join = token

    def answer_join(self, member: GroupMember, response: JoinAnswer) -> None:
        """Answer a parked JoinGroup, if there is one."""
        if member.parked_join is not None:
            self.joined -= 1
            self.reply(member.parked_join, response)
            member.parked_join = None

    def set_protocols(self, member: GroupMember, protocols: tuple[tuple[str, Subscription], ...]) -> None:
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

    def join_answer(self, member: GroupMember, *, skip_assignment: bool = False) -> JoinAnswer:
        """A successful answer for this member; the leader's carries everyone's metadata."""
        protocol = self.protocol or ""
        listed: tuple[JoinMember, ...] = ()
        if member.member_id == self.leader:
            listed = tuple(
                JoinMember(one.member_id, one.instance_id, one.metadata(protocol), one.sender)
                for one in self.in_map_order()
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
                (
                    one.member_id,
                    one.instance_id,
                    one.sender,
                    one.session_timeout_ms,
                    one.rebalance_timeout_ms,
                    one.protocols,
                    one.assignment,
                )
                for one in self.members.values()
            ),
        )


@dataclass(frozen=True, slots=True)
class Stored:
    """The group's record in __consumer_offsets."""

    generation: int
    protocol: str | None
    leader: str | None
    members: tuple[
        tuple[str, str | None, str, int, int, tuple[tuple[str, Subscription], ...], Partitions], ...
    ]
