"""A KIP-848 group as its coordinator keeps it (ConsumerGroup, ConsumerGroupMember).

Three epochs: the *group epoch* numbers the inputs, the *assignment epoch* says for which of them the
target was computed, each *member epoch* says which target the member has reached. Group state
follows from them: Empty, Assigning (target is behind), Reconciling (a member is behind), Stable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rebalance_kit.model.topology import TopicId, TopicPartition
from rebalance_kit.model.versions import has
from rebalance_kit.protocol.consumer_group.states import ConsumerGroupState, MemberState
from rebalance_kit.protocol.effects import Effects, Note, SetTimer, Timer
from rebalance_kit.protocol.labels import labels
from rebalance_kit.protocol.messages import Partitions, Subscription
from rebalance_kit.protocol.triggers import Trigger

AssignCall = Callable[
    [
        str,
        Sequence[tuple[str, str | None, tuple[str, ...], Partitions]],
        Mapping[str, int],
        Mapping[str, TopicId],
        str | None,
    ],
    Mapping[str, Partitions],
]
LEFT_FOR_A_WHILE = -2


@dataclass(frozen=True, kw_only=True, slots=True)
class ConsumerGroupSettings:
    """Broker configuration that a consumer group needs, and the driver's services."""

    group: str
    kafka_version: str
    session_timeout_ms: int
    heartbeat_interval_ms: int
    assignment_interval_ms: int
    assignors: tuple[str, ...]
    max_size: int
    topics: Callable[[], Mapping[str, int]]
    topic_ids: Callable[[], Mapping[str, TopicId]]
    now_ms: Callable[[], int]
    assign: AssignCall
    new_id: Callable[[str], str] = lambda _client: ""
    migration_policy: str = "bidirectional"
    classic_session_range: tuple[int, int] = (6_000, 1_800_000)
    regex_refresh_ms: int = 600_000
    """group.consumer.regex.refresh.interval.ms (internal)."""

    def has(self, change: str) -> bool:
        """Whether the broker's version does what that row of ``model.versions`` says."""
        return has(change, self.kafka_version)


@dataclass(frozen=True, slots=True)
class ClassicMemberMetadata:
    """What the coordinator keeps of a member that speaks the classic protocol."""

    session_timeout_ms: int
    protocols: tuple[tuple[str, Subscription], ...]


@dataclass(slots=True)
class ConsumerGroupMember:
    """One member as the coordinator knows it; assigned partitions map to their assignment epoch."""

    member_id: str
    instance_id: str | None
    client: str
    epoch: int = 0
    previous_epoch: int = 0
    state: MemberState = MemberState.STABLE
    topics: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    regex: str | None = None
    server_assignor: str | None = None
    rebalance_timeout_ms: int = 300_000
    assigned: dict[TopicPartition, int] = field(default_factory=dict)
    pending_revocation: dict[TopicPartition, int] = field(default_factory=dict)
    classic: ClassicMemberMetadata | None = None

    def session_timer(self, session_timeout_ms: int) -> SetTimer:
        """Its session begins anew."""
        return SetTimer((Timer.SESSION, self.member_id), session_timeout_ms)


@dataclass(slots=True)
class ConsumerGroup:
    """The coordinator's whole knowledge of one consumer group."""

    settings: ConsumerGroupSettings
    epoch: int = 0
    assignment_epoch: int = 0
    assigned_ms: int | None = None
    state: ConsumerGroupState = ConsumerGroupState.EMPTY
    members: dict[str, ConsumerGroupMember] = field(default_factory=dict)
    statics: dict[str, str] = field(default_factory=dict)
    target: dict[str, Partitions] = field(default_factory=dict)
    holders: dict[TopicPartition, str] = field(default_factory=dict)
    behind: set[str] = field(default_factory=set)
    metadata: Mapping[str, tuple[TopicId | None, int]] = field(default_factory=dict)
    seen_topics: Mapping[str, int] | None = None
    regexes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    scanning: bool = False
    join_timers: set[str] = field(default_factory=set)
    scanned_ms: int | None = None
    scanned_topics: frozenset[str] = frozenset()

    @classmethod
    def fresh(cls, settings: ConsumerGroupSettings) -> ConsumerGroup:
        """A new group: epoch 1 since 4.3, so that its first member gets 2; 0 before."""
        first = 1 if settings.has("first-epoch-two") else 0
        return cls(settings, first, first)

    # --- facts -------------------------------------------------------------------------------
    def name(self, member_id: str) -> str:
        """The process behind an id, for the trace."""
        member = self.members.get(member_id)
        return member.client if member else member_id

    def labels(self) -> Mapping[str, str]:
        """Names of the members for the trace, by id."""
        return labels([(member.member_id, member.client) for member in self.members.values()])

    def is_free(self, tp: TopicPartition, member_id: str) -> bool:
        """Nobody else has the partition assigned or still to be revoked."""
        holder = self.holders.get(tp)
        return holder is None or holder == member_id

    def target_of(self, member: ConsumerGroupMember) -> Partitions:
        """The member's target, sorted, without topics that it no longer subscribes."""
        target = sorted(self.target.get(member.member_id, ()))
        return tuple(tp for tp in target if tp.topic in member.topics)

    def topics_of(self, member: ConsumerGroupMember) -> tuple[str, ...]:
        """The topics a subscription means: its names, and what its regex was resolved to."""
        matched = self.regexes.get(member.regex, ()) if member.regex is not None else ()
        return tuple(sorted({*member.names, *matched}))

    def preferred_assignor(self, new_vote: str | None = None) -> str:
        """Most requested name among the members, else the first configured one.

        Of equally many, ``new_vote`` (a name that only the heartbeat at hand brought), else uniform: the order of the HashMap in
        ConsumerGroup.computePreferredServerAssignor, where both share a bucket.
        """
        votes: dict[str, int] = {}
        for member in self.members.values():
            if member.server_assignor is not None:
                votes[member.server_assignor] = votes.get(member.server_assignor, 0) + 1
        if not votes:
            return self.settings.assignors[0]
        most = max(votes.values())
        tied = [name for name, count in votes.items() if count == most]
        return max(tied, key=lambda name: (name == new_vote, name == "uniform"))

    def metadata_now(self) -> Mapping[str, tuple[TopicId | None, int]]:
        """What the metadata hash covers: id and partition count of every subscribed topic."""
        topics, ids = self.settings.topics(), self.settings.topic_ids()
        subscribed = sorted({topic for member in self.members.values() for topic in member.topics})
        return {topic: (ids.get(topic), topics[topic]) for topic in subscribed if topic in topics}

    # --- changes -----------------------------------------------------------------------------
    def note(
        self, kind: str, member_id: str | None = None, generation: int | None = None, **detail: object
    ) -> Note:
        """One trace row about this group."""
        epoch = self.epoch if generation is None else generation
        return Note(kind, epoch, member_id, {"group": self.settings.group, **detail})

    def bump(self, reason: str, trigger: Trigger, culprit: str | None) -> Note:
        """Raise the group epoch; the metadata of this moment is stored with it."""
        self.epoch += 1
        self.metadata = self.metadata_now()
        self.seen_topics = dict(self.settings.topics())
        return self.note(
            "epoch_bump",
            reason=reason,
            trigger=trigger.value,
            culprit=culprit,
            subscribed=bool(self.metadata),
        )

    def hold(
        self,
        member: ConsumerGroupMember,
        assigned: dict[TopicPartition, int],
        pending: dict[TopicPartition, int],
    ) -> None:
        """Give a member exactly these partitions and keep the index of holders right."""
        for tp in (*member.assigned, *member.pending_revocation):
            if self.holders.get(tp) == member.member_id:
                del self.holders[tp]
        member.assigned, member.pending_revocation = assigned, pending
        for tp in (*assigned, *pending):
            self.holders[tp] = member.member_id

    def state_by_epochs(self) -> ConsumerGroupState:
        """The state that follows from members and epochs."""
        if not self.members:
            return ConsumerGroupState.EMPTY
        if self.epoch > self.assignment_epoch:
            return ConsumerGroupState.ASSIGNING
        return ConsumerGroupState.RECONCILING if self.behind else ConsumerGroupState.STABLE

    def settle_state(self) -> Effects:
        """Let the group's state follow from the epochs."""
        before, self.state = self.state, self.state_by_epochs()
        if self.state is not before:
            edge = {
                "from": before.value,
                "to": self.state.value,
                "reason": "",
                "trigger": "",
                "culprit": None,
            }
            yield self.note("group_state", **edge)

    def update_behind(self, member: ConsumerGroupMember) -> None:
        """Whether this member has yet to reach the target."""
        if member.state is MemberState.STABLE and member.epoch == self.assignment_epoch:
            self.behind.discard(member.member_id)
        else:
            self.behind.add(member.member_id)
