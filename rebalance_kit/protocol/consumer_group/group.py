"""A KIP-848 group as its coordinator keeps it (ConsumerGroup, ConsumerGroupMember).

Three epochs: the *group epoch* numbers the inputs, the *assignment epoch* says for which of them the
target was computed, each *member epoch* says which target the member has reached. Group state
follows from them: Empty, Assigning (target is behind), Reconciling (a member is behind), Stable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rebalance_kit.model.topology import TopicId, TopicPartition
from rebalance_kit.model.versions import has, mended
from rebalance_kit.protocol import effects
from rebalance_kit.protocol.messages import (
    ConsumerGroupHeartbeat,
    ConsumerGroupHeartbeatAnswer,
    Partitions,
    Subscription,
    Trigger,
    labels,
)

# States of a KIP-848 group and of its members, as the coordinator sees them (ConsumerGroupState, MemberState).


class ConsumerGroupState(effects.DocumentedState):
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


class MemberState(effects.DocumentedState):
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

    def session_timer(self, session_timeout_ms: int) -> effects.SetTimer:
        """Its session begins anew."""
        return effects.SetTimer((effects.Timer.SESSION, self.member_id), session_timeout_ms)


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
    ) -> effects.Note:
        """One trace row about this group."""
        epoch = self.epoch if generation is None else generation
        return effects.Note(kind, epoch, member_id, {"group": self.settings.group, **detail})

    def bump(self, reason: str, trigger: Trigger, culprit: str | None) -> effects.Note:
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

    def settle_state(self) -> effects.Effects:
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


# Members of a consumer group that come, are replaced, and go.


MEMBER_TIMERS = (effects.Timer.SESSION, effects.Timer.REBALANCE, effects.Timer.JOIN, effects.Timer.SYNC)


def add_member(group: ConsumerGroup, member: ConsumerGroupMember) -> None:
    """Take a new member in, at epoch 0 and with nothing assigned."""
    group.members[member.member_id] = member
    if member.instance_id is not None:
        group.statics[member.instance_id] = member.member_id


def replace_member(
    group: ConsumerGroup, old: ConsumerGroupMember, member_id: str, client: str
) -> effects.Effects:
    """A static member is back: the new id takes over subscription, partitions and target."""
    member = ConsumerGroupMember(
        member_id,
        old.instance_id,
        client,
        topics=old.topics,
        names=old.names,
        regex=old.regex,
        server_assignor=old.server_assignor,
        rebalance_timeout_ms=old.rebalance_timeout_ms,
        state=MemberState.STABLE,
    )
    assigned = old.assigned
    group.hold(old, {}, {})
    del group.members[old.member_id]
    group.behind.discard(old.member_id)
    add_member(group, member)
    group.hold(member, assigned, {})
    group.target[member_id] = group.target.pop(old.member_id, ())
    for timer in MEMBER_TIMERS:
        yield effects.CancelTimer((timer, old.member_id))
    group.join_timers.discard(old.member_id)
    yield group.note(
        "member_replaced",
        member_id,
        name=client,
        instance_id=old.instance_id,
        old_member_id=old.member_id,
        old_name=old.client,
        rebalance=False,
    )


def remove_member(
    group: ConsumerGroup, member: ConsumerGroupMember, how: str, reason: str, trigger: Trigger
) -> effects.Effects:
    """Take a member out, free its partitions, and bump the group epoch, or ask for the group's downgrade."""
    group.hold(member, {}, {})
    del group.members[member.member_id]
    group.target.pop(member.member_id, None)
    group.behind.discard(member.member_id)
    if member.instance_id is not None and group.statics.get(member.instance_id) == member.member_id:
        del group.statics[member.instance_id]
    for timer in MEMBER_TIMERS:
        yield effects.CancelTimer((timer, member.member_id))
    group.join_timers.discard(member.member_id)
    yield group.note(
        "member_removed",
        member.member_id,
        name=member.client,
        how=how,
        reason=reason,
        instance_id=member.instance_id,
    )
    if _leaves_classic_alone(group, member):
        yield effects.Downgrade()
        return
    yield group.bump(reason, trigger, member.client)
    if not group.members and mended("empty-group-makes-wait", group.settings.kafka_version):
        group.assignment_epoch, group.assigned_ms = group.epoch, None
    yield from group.settle_state()


def _leaves_classic_alone(group: ConsumerGroup, gone: ConsumerGroupMember) -> bool:
    """The last consumer-protocol member went and classic ones remain: the group is downgraded instead."""
    if gone.classic is not None or group.settings.migration_policy not in {"bidirectional", "downgrade"}:
        return False
    return bool(group.members) and all(member.classic is not None for member in group.members.values())


# Requests that are refused: invalid ones, members that are not whom they say, members that were fenced.


class Problem(NamedTuple):
    """Kafka's error and its message."""

    error: str
    message: str | None = None


def refuse_heartbeat(
    group: ConsumerGroup,
    arrived: effects.Arrived[ConsumerGroupHeartbeat],
    problem: Problem,
    holder: str | None = None,
) -> effects.Effects:
    """Answer a heartbeat with an error, and write the row that says so."""
    request = arrived.request
    detail: dict[str, object] = {} if holder is None else {"holder": holder}
    yield group.note(
        "member_refused",
        request.member_id or None,
        None,
        name=request.client,
        api="ConsumerGroupHeartbeat",
        error=problem.error,
        message=problem.message,
        instance_id=request.instance_id,
        **detail,
    )
    yield effects.Reply(
        arrived.token, ConsumerGroupHeartbeatAnswer(problem.error, request.member_id, message=problem.message)
    )


def unreleased_instance_problem(
    holder: ConsumerGroupMember | None, request: ConsumerGroupHeartbeat
) -> Problem | None:
    """A static member that joins while another member holds its instance id: UNRELEASED_INSTANCE_ID."""
    if holder is None or holder.epoch == LEFT_FOR_A_WHILE:
        return None
    message = f"Static member {request.member_id} with instance id {request.instance_id} cannot join the group because the instance id is owned by {holder.member_id} member."
    return Problem("UNRELEASED_INSTANCE_ID", message)


def request_problem(group: ConsumerGroup, request: ConsumerGroupHeartbeat) -> Problem | None:
    """What is wrong with the request itself, whoever sent it."""
    invalid = _invalid(request)
    if invalid is not None:
        return Problem("INVALID_REQUEST", invalid)
    supported = group.settings.assignors
    if request.server_assignor is not None and request.server_assignor not in supported:
        message = f"ServerAssignor {request.server_assignor} is not supported. Supported assignors: {', '.join(supported)}."
        return Problem("UNSUPPORTED_ASSIGNOR", message)
    return None


def _invalid(request: ConsumerGroupHeartbeat) -> str | None:
    if not request.member_id:
        return "MemberId can't be empty."
    if request.instance_id == "":
        return "InstanceId can't be empty."
    if request.rack == "":
        return "RackId can't be empty."
    if request.member_epoch == 0:
        if request.rebalance_timeout_ms is None:
            return "RebalanceTimeoutMs must be provided in first request."
        if request.owned is None or request.owned:
            return "TopicPartitions must be empty when (re-)joining."
        if request.topics is None and request.regex is None:
            return "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining."
    if request.member_epoch == LEFT_FOR_A_WHILE and request.instance_id is None:
        return "InstanceId can't be null."
    return "MemberEpoch is invalid." if request.member_epoch < LEFT_FOR_A_WHILE else None


def identity_problem(group: ConsumerGroup, request: ConsumerGroupHeartbeat) -> Problem | None:
    """Error and message for a member that is not whom it says; a static one is known by its instance id."""
    instance, member_id = request.instance_id, request.member_id
    if instance is None:
        if member_id in group.members:
            return None
        return Problem(
            "UNKNOWN_MEMBER_ID", f"Member {member_id} is not a member of group {group.settings.group}."
        )
    holder = group.statics.get(instance)
    if holder is None:
        return Problem("UNKNOWN_MEMBER_ID", f"Instance id {instance} is unknown.")
    if holder != member_id:
        message = f"Static member {member_id} with instance id {instance} was fenced by member {holder}."
        return Problem("FENCED_INSTANCE_ID", message)
    return None if member_id in group.members else Problem("UNKNOWN_MEMBER_ID")


def epoch_problem(member: ConsumerGroupMember, request: ConsumerGroupHeartbeat) -> Problem | None:
    """A member with another epoch is fenced, unless it has only missed the answer that raised its epoch."""
    missed_an_answer = (  # a member that is away has epoch -2: whatever it still says is greater
        request.member_epoch == member.previous_epoch < member.epoch
        and request.owned is not None
        and all(tp in member.assigned for tp in request.owned)
    )
    if request.member_epoch == member.epoch or missed_an_answer:
        return None
    which = "greater" if request.member_epoch > member.epoch else "smaller"
    message = f"The consumer group member has a {which} member epoch ({request.member_epoch}) than the one known by the group coordinator ({member.epoch}). The member must abandon all its partitions and rejoin."
    return Problem("FENCED_MEMBER_EPOCH", message)
