"""ConsumerGroupHeartbeat of a member that joins or goes on: its subscription, the target, its own next step.

Every heartbeat may raise the group epoch, compute the target, and lead its sender one step towards it.
"""

from __future__ import annotations

import re
from collections.abc import Generator

from rebalance_kit.protocol import effects, messages
from rebalance_kit.protocol.consumer_group.group import (
    LEFT_FOR_A_WHILE,
    ConsumerGroup,
    ConsumerGroupMember,
    MemberState,
    Problem,
    add_member,
    epoch_problem,
    identity_problem,
    refuse_heartbeat,
    remove_member,
    replace_member,
    request_problem,
    unreleased_instance_problem,
)

# How one member is led to its target, one heartbeat at a time (CurrentAssignmentBuilder).
#
# A member first gives up what it must; the answer to its acknowledgement raises its epoch. What it is
# to receive comes as soon as nobody else holds it, at one of its own later heartbeats.


def reconcile(
    group: ConsumerGroup, member: ConsumerGroupMember, owned: messages.Partitions | None
) -> Generator[effects.Effect, None, bool]:
    """Move the member as far as this heartbeat allows; returns whether what it is assigned has changed."""
    before = (member.assigned, member.pending_revocation, member.state, member.epoch)
    if member.state is MemberState.STABLE:
        if member.epoch != group.assignment_epoch or (
            any(tp.topic not in member.topics for tp in member.assigned)
            and group.settings.has("unsubscribed-at-once")
        ):
            next_assignment(group, member, owned)
    elif member.state is MemberState.UNREVOKED:
        if owned is not None and not any(tp in member.pending_revocation for tp in owned):
            next_assignment(group, member, owned)
        elif group.settings.has("unsubscribed-at-once"):
            _strip(group, member)
    else:
        next_assignment(group, member, owned)
    group.update_behind(member)
    if (member.assigned, member.pending_revocation, member.state, member.epoch) == before:
        return False
    yield group.note(
        "member_reconciled",
        member.member_id,
        member.epoch,
        name=member.client,
        state=member.state.value,
        epoch=member.epoch,
        assigned=[str(tp) for tp in sorted(member.assigned)],
        pending_revocation=[str(tp) for tp in sorted(member.pending_revocation)],
    )
    return member.assigned != before[0]


def _strip(group: ConsumerGroup, member: ConsumerGroupMember) -> None:
    """Topics that are not subscribed any more join what is still to be revoked (updateCurrentAssignment)."""
    gone = {tp: since for tp, since in member.assigned.items() if tp.topic not in member.topics}
    if gone:
        still_assigned = {tp: since for tp, since in member.assigned.items() if tp not in gone}
        group.hold(member, still_assigned, {**member.pending_revocation, **gone})
        _set_epoch(member, member.epoch)


def next_assignment(
    group: ConsumerGroup, member: ConsumerGroupMember, owned: messages.Partitions | None
) -> None:
    """Revoke first; then take what is free. What others still hold or have to revoke waits: UNRELEASED."""
    target = dict.fromkeys(group.target_of(member))
    still_assigned = {tp: since for tp, since in member.assigned.items() if tp in target}
    revoke = {tp: since for tp, since in member.assigned.items() if tp not in target}
    if revoke and (owned is None or any(tp in revoke for tp in owned)):
        acked = member.state is MemberState.UNREVOKED and group.settings.has("second-revocation-raises-epoch")
        _set_epoch(member, min(member.epoch + 1, group.assignment_epoch) if acked else member.epoch)
        member.state = MemberState.UNREVOKED
        group.hold(member, still_assigned, revoke)
        return
    new = [tp for tp in target if tp not in still_assigned]
    free = [tp for tp in new if group.is_free(tp, member.member_id)]
    _set_epoch(member, group.assignment_epoch)
    group.hold(member, {**still_assigned, **dict.fromkeys(free, member.epoch)}, {})
    member.state = MemberState.UNRELEASED if len(free) < len(new) else MemberState.STABLE


def _set_epoch(member: ConsumerGroupMember, epoch: int) -> None:
    """Every step remembers the epoch before it, also one that stays (ConsumerGroupMember.updateMemberEpoch)."""
    member.previous_epoch, member.epoch = member.epoch, epoch


# What members subscribe to: topic names, regular expressions that the broker resolves, and when the epoch rises for it.
#
# Every bump stores the metadata of its moment, so that topics or partitions that change later bump again.


SCAN_INTERVAL_MS = 10_000


def subscribe(
    group: ConsumerGroup,
    member: ConsumerGroupMember,
    names: tuple[str, ...],
    regex: str | None,
    *,
    joined: bool,
    new_vote: str | None = None,
    preferred: str | None = None,
) -> effects.Effects:
    """Take a subscription over and bump if the topics it means, or their metadata, have changed.

    A regex that is not resolved yet means no topics; its resolution will bump. A group leaves epoch 0 (where it starts up
    to 4.2) with its first member, whatever that subscribes to. ``preferred`` is the assignor that the group would
    have used before this request; another one bumps since 4.4.
    """
    changed = group.epoch == 0 or names != member.names
    changed = changed or (regex != member.regex and (regex is None or regex in group.regexes))
    member.names, member.regex = names, regex
    member.topics = group.topics_of(member)
    if changed:
        why = "a member joined" if joined else "a member subscribed to other topics"
        yield group.bump(
            why, messages.Trigger.JOIN if joined else messages.Trigger.SUBSCRIPTION, member.client
        )
    elif preferred not in {None, group.preferred_assignor(new_vote)} and group.settings.has(
        "remote-assignor-bumps"
    ):
        yield group.bump("the preferred server assignor changed", messages.Trigger.ASSIGNOR, member.client)
    else:
        yield from bump_for_metadata(group)


def bump_for_metadata(group: ConsumerGroup) -> effects.Effects:
    """Another epoch where topics or partitions have changed since the last one."""
    if _metadata_changed(group):
        yield group.bump("topics or partitions of the subscription changed", messages.Trigger.METADATA, None)


def _metadata_changed(group: ConsumerGroup) -> bool:
    topics = group.settings.topics()
    if group.seen_topics is not None and topics == group.seen_topics:
        return False
    group.seen_topics = dict(topics)
    return group.metadata_now() != group.metadata


def scan_if_due(group: ConsumerGroup) -> effects.Effects:
    """Resolve regular expressions in the background: at most every 10 s, and only when something calls for it."""
    wanted = {member.regex for member in group.members.values() if member.regex is not None}
    if group.scanning or not wanted:
        return
    now, topics = group.settings.now_ms(), frozenset(group.settings.topics())
    if group.scanned_ms is not None and now < group.scanned_ms + SCAN_INTERVAL_MS:
        return
    created = bool(topics - group.scanned_topics)
    old = group.scanned_ms is not None and now >= group.scanned_ms + group.settings.regex_refresh_ms
    if any(regex not in group.regexes for regex in wanted) or created or old:
        group.scanning = True
        group.scanned_ms = now
        group.scanned_topics = topics
        yield group.note("regex_scanned", regexes=sorted(wanted), topics=len(topics))
        yield effects.Append(("regex", *sorted(wanted)))


def regexes_resolved(group: ConsumerGroup, appended: effects.Appended) -> effects.Effects:
    """The result of a scan is written in a later turn, and bumps when it differs."""
    if appended.key[0] != "regex":
        return  # an assignment that was stored for the classic group which this one was
    group.scanning = False
    changed = False
    for regex in appended.key[1:]:
        compiled = re.compile(regex)
        matched = tuple(sorted(topic for topic in group.scanned_topics if compiled.fullmatch(topic)))
        changed = changed or group.regexes.get(regex) != matched
        group.regexes[regex] = matched
    for member in group.members.values():
        member.topics = group.topics_of(member)
    if changed:
        yield group.bump(
            "a regular expression was resolved to other topics", messages.Trigger.SUBSCRIPTION, None
        )
        yield from group.settle_state()


# The target assignment: who is to own what, computed by the broker.
#
# It is computed inside a heartbeat (or a classic JoinGroup) only, and since 4.3 at most once an assignment interval.


def compute_if_due(
    group: ConsumerGroup, new_vote: str | None = None, newcomer: str | None = None
) -> effects.Effects:
    """A new target, when the group epoch has run ahead and the last one is old enough (KIP-1263).

    ``newcomer`` is a member that this very request has brought: the coordinator's map does not hold it yet, so
    the assignor gets it after the others (``TargetAssignmentBuilder.addOrUpdateMember``).
    """
    if group.assignment_epoch >= group.epoch:
        return
    now, interval = group.settings.now_ms(), group.settings.assignment_interval_ms
    if interval and group.assigned_ms is not None and now < group.assigned_ms + interval:
        return
    assignor = group.preferred_assignor(new_vote)
    members = group.members.values()
    topics = group.settings.topics()
    known = {topic: topics[topic] for member in members for topic in member.topics if topic in topics}
    subscriptions = [
        (
            member.member_id,
            member.instance_id,
            tuple(topic for topic in member.topics if topic in known),
            group.target.get(member.member_id, ()),
        )
        for member in members
    ]
    group.target = dict(
        group.settings.assign(
            assignor, subscriptions, dict(sorted(known.items())), group.settings.topic_ids(), newcomer
        )
    )
    group.assignment_epoch = group.epoch
    group.assigned_ms = now
    for member in members:
        group.update_behind(member)
    named = group.labels()
    assignment = {
        named[member.member_id]: [str(tp) for tp in sorted(group.target.get(member.member_id, ()))]
        for member in members
    }
    yield group.note("target", assignor=assignor, assignment=assignment, ids=dict(named))


def heartbeat_to_join(
    group: ConsumerGroup, arrived: effects.Arrived[messages.ConsumerGroupHeartbeat]
) -> effects.Effects:
    """Epoch 0: a new member, a known one that joins again, or a static one that is back."""
    problem = request_problem(group, arrived.request)
    if problem is not None:
        yield from refuse_heartbeat(group, arrived, problem)
        return
    known = set(group.members)
    member = yield from _joiner(group, arrived)
    if member is not None:
        newcomer = None if member.member_id in known else member.member_id
        yield from _heartbeat(group, arrived, member, newcomer)


def heartbeat_of_member(
    group: ConsumerGroup, arrived: effects.Arrived[messages.ConsumerGroupHeartbeat]
) -> effects.Effects:
    """A member's epoch: it must be the member's own."""
    request = arrived.request
    problem = request_problem(group, request) or identity_problem(group, request)
    if problem is None:
        problem = epoch_problem(group.members[request.member_id], request)
    if problem is not None:
        yield from refuse_heartbeat(group, arrived, problem)
    else:
        yield from _heartbeat(group, arrived, group.members[request.member_id])


def _joiner(
    group: ConsumerGroup, arrived: effects.Arrived[messages.ConsumerGroupHeartbeat]
) -> Generator[effects.Effect, None, ConsumerGroupMember | None]:
    request = arrived.request
    instance, member_id = request.instance_id, request.member_id
    old = group.members.get(group.statics.get(instance, "")) if instance is not None else None
    problem = unreleased_instance_problem(old, request)
    if old is not None and problem is not None:
        yield from refuse_heartbeat(group, arrived, problem, holder=old.member_id)
        return None
    if old is not None:
        yield from replace_member(group, old, member_id, request.client)
        return group.members[member_id]
    if member_id in group.members:
        return group.members[member_id]
    if len(group.members) >= group.settings.max_size:
        message = f"The consumer group has reached its maximum capacity of {group.settings.max_size} members."
        yield from refuse_heartbeat(group, arrived, Problem("GROUP_MAX_SIZE_REACHED", message))
        return None
    member = ConsumerGroupMember(member_id, instance, request.client)
    add_member(group, member)
    yield group.note("member_added", member_id, name=request.client, instance_id=instance, reason="")
    return member


def _heartbeat(
    group: ConsumerGroup,
    arrived: effects.Arrived[messages.ConsumerGroupHeartbeat],
    member: ConsumerGroupMember,
    newcomer: str | None = None,
) -> effects.Effects:
    request, settings = arrived.request, group.settings
    new_vote = yield from _update(group, request, member)
    yield from compute_if_due(group, new_vote, newcomer)
    before = _progress(member)
    assigned_anew = yield from reconcile(group, member, request.owned)
    yield from group.settle_state()
    if _progress(member) != before:
        yield rebalance_timer(member)
    yield member.session_timer(settings.session_timeout_ms)
    full = (
        request.rebalance_timeout_ms is not None and request.topics is not None and request.owned is not None
    )
    tells = request.member_epoch == 0 or full or assigned_anew
    assignment = tuple(sorted(member.assigned)) if tells else None
    yield effects.Reply(
        arrived.token,
        messages.ConsumerGroupHeartbeatAnswer(
            messages.NONE, member.member_id, member.epoch, settings.heartbeat_interval_ms, assignment
        ),
    )


def _update(
    group: ConsumerGroup, request: messages.ConsumerGroupHeartbeat, member: ConsumerGroupMember
) -> Generator[effects.Effect, None, str | None]:
    """Subscription and settings of the member; at most one bump for all that changed.

    Returns the server assignor that this heartbeat asks for and nobody did before.
    """
    if request.rebalance_timeout_ms is not None:
        member.rebalance_timeout_ms = request.rebalance_timeout_ms
    wanted, new_vote = request.server_assignor, None
    if request.topics is None and request.regex is None and wanted is None and group.epoch:
        yield from bump_for_metadata(group)
        yield from scan_if_due(group)
        return None  # a heartbeat that only says that its member lives
    preferred = group.preferred_assignor()
    if wanted is not None:
        new_vote = None if _wanted_by_somebody(group, wanted) else wanted
        member.server_assignor = wanted
    names = member.names if request.topics is None else tuple(sorted(request.topics))
    regex = member.regex if request.regex is None else (request.regex or None)
    joined = request.member_epoch == 0 and member.epoch == 0
    yield from subscribe(group, member, names, regex, joined=joined, new_vote=new_vote, preferred=preferred)
    yield from scan_if_due(group)
    return new_vote


def _wanted_by_somebody(group: ConsumerGroup, assignor: str) -> bool:
    return any(member.server_assignor == assignor for member in group.members.values())


def rebalance_timer(member: ConsumerGroupMember) -> effects.Effect:
    """One deadline for a whole revocation: heartbeats that change nothing do not move it."""
    key = (effects.Timer.REBALANCE, member.member_id)
    if member.state is MemberState.UNREVOKED:
        return effects.SetTimer(key, member.rebalance_timeout_ms)
    return effects.CancelTimer(key)


def _progress(member: ConsumerGroupMember) -> tuple[object, ...]:
    """How far a member is; what it holds is replaced (``ConsumerGroup.hold``), never changed in place."""
    return (member.state, member.epoch, member.previous_epoch, member.assigned, member.pending_revocation)


# OffsetCommit in a consumer group (ConsumerGroup.validateOffsetCommit, KIP-1251 since 4.3).


def commit(group: ConsumerGroup, arrived: effects.Arrived[messages.OffsetCommit]) -> effects.Effects:
    """The epoch of a commit must be the member's own; since 4.3, that of the partition's assignment will do."""
    yield effects.Reply(arrived.token, messages.Answer(commit_error(group, arrived.request)))


def commit_error(group: ConsumerGroup, request: messages.OffsetCommit) -> str:
    """What OffsetCommit answers."""
    if request.generation < 0 and not group.members:
        return messages.NONE
    member = group.members.get(request.member_id)
    if member is None:
        return "UNKNOWN_MEMBER_ID"
    if request.generation == member.epoch:
        return messages.NONE
    if member.classic is not None:
        return "ILLEGAL_GENERATION"
    if request.generation > member.epoch or group.settings.has("commit-races-with-epoch"):
        return "STALE_MEMBER_EPOCH"
    assigned_since = {**member.assigned, **member.pending_revocation}
    accepted = all(
        tp in assigned_since and request.generation >= assigned_since[tp] for tp in request.offsets
    )
    return messages.NONE if accepted else "STALE_MEMBER_EPOCH"


# How members leave a consumer group: by heartbeat, by LeaveGroup, by silence, by not revoking in time.


def heartbeat_to_leave(
    group: ConsumerGroup, arrived: effects.Arrived[messages.ConsumerGroupHeartbeat]
) -> effects.Effects:
    """Epoch -1: the member is out, and its partitions are free."""
    request = arrived.request
    problem = request_problem(group, request) or identity_problem(group, request)
    if problem is not None:
        yield from refuse_heartbeat(group, arrived, problem)
        return
    member = group.members[request.member_id]
    yield from remove_member(group, member, "leave", "the member left", messages.Trigger.LEAVE)
    yield effects.Reply(
        arrived.token,
        messages.ConsumerGroupHeartbeatAnswer(messages.NONE, request.member_id, request.member_epoch),
    )


def heartbeat_to_leave_for_a_while(
    group: ConsumerGroup, arrived: effects.Arrived[messages.ConsumerGroupHeartbeat]
) -> effects.Effects:
    """Epoch -2: a static member means to come back, and keeps its partitions until its session ends."""
    request = arrived.request
    problem = request_problem(group, request) or identity_problem(group, request)
    if problem is not None:
        yield from refuse_heartbeat(group, arrived, problem)
        return
    member = group.members[request.member_id]
    member.previous_epoch, member.epoch = member.epoch, LEFT_FOR_A_WHILE
    group.hold(member, dict.fromkeys(member.assigned, 0), {})
    member.state = MemberState.STABLE
    yield effects.CancelTimer((effects.Timer.REBALANCE, member.member_id))
    group.update_behind(member)
    yield group.note("member_away", member.member_id, name=member.client, instance_id=member.instance_id)
    yield from group.settle_state()
    yield effects.Reply(
        arrived.token,
        messages.ConsumerGroupHeartbeatAnswer(messages.NONE, request.member_id, request.member_epoch),
    )


def leave_group(group: ConsumerGroup, arrived: effects.Arrived[messages.LeaveGroup]) -> effects.Effects:
    """LeaveGroup of a classic member, or of an administrator on anybody's behalf."""
    request = arrived.request
    member = group.members.get(request.member_id or group.statics.get(request.instance_id or "", ""))
    if member is None:
        yield effects.Reply(arrived.token, messages.Answer("UNKNOWN_MEMBER_ID"))
        return
    trigger = messages.Trigger.ADMIN if request.admin else messages.Trigger.LEAVE
    yield from remove_member(group, member, trigger.value, request.reason or "not provided", trigger)
    yield effects.Reply(arrived.token, messages.Answer(messages.NONE))


# --- timers -----------------------------------------------------------------------------------
def session_expired(group: ConsumerGroup, fired: effects.TimerFired) -> effects.Effects:
    """No heartbeat for a session: the member is out."""
    yield from _expired(group, fired, "session", "the member session expired", messages.Trigger.SESSION)


def rebalance_expired(group: ConsumerGroup, fired: effects.TimerFired) -> effects.Effects:
    """The member did not revoke in time: it is out, and others may have what it was to give up."""
    member = group.members.get(fired.key[1])
    if member is not None and member.state is MemberState.UNREVOKED:
        reason = f"it failed to transition from epoch {member.epoch} within {member.rebalance_timeout_ms}ms"
        yield from _expired(group, fired, "rebalance_timeout", reason, messages.Trigger.REBALANCE_TIMEOUT)


def join_expired(group: ConsumerGroup, fired: effects.TimerFired) -> effects.Effects:
    """A classic member was told to re-join and did not."""
    reason = "the classic member failed to join within the rebalance timeout"
    yield from _expired(group, fired, "join_timeout", reason, messages.Trigger.JOIN_TIMEOUT)


def sync_expired(group: ConsumerGroup, fired: effects.TimerFired) -> effects.Effects:
    """A classic member joined and did not send SyncGroup."""
    reason = "the member failed to sync within timeout"
    yield from _expired(group, fired, "sync_timeout", reason, messages.Trigger.SYNC_TIMEOUT)


def _expired(
    group: ConsumerGroup, fired: effects.TimerFired, how: str, reason: str, trigger: messages.Trigger
) -> effects.Effects:
    timer, member_id = fired.key[0], fired.key[1]
    member = group.members.get(member_id)
    if member is not None:
        yield group.note("timer_fired", member_id, timer=effects.Timer(timer).value, name=member.client)
        yield from remove_member(group, member, how, reason, trigger)


# The partition of __consumer_offsets moves, or its broker stops and starts: timers end and begin anew.


def unload(group: ConsumerGroup, event: effects.Unload) -> effects.Effects:
    """No timer of the group fires here any more; everything else is stored."""
    for member in group.members.values():
        yield effects.CancelTimer((effects.Timer.SESSION, member.member_id))
        yield effects.CancelTimer((effects.Timer.REBALANCE, member.member_id))


def load(group: ConsumerGroup, event: effects.Load) -> effects.Effects:
    """Every member gets a full session, and one that must revoke a full rebalance timeout."""
    for member in group.members.values():
        session_ms = (
            member.classic.session_timeout_ms if member.classic else group.settings.session_timeout_ms
        )
        yield member.session_timer(session_ms)
        yield rebalance_timer(member)
    yield group.note("group_loaded", members=len(group.members))
