"""How one member is led to its target, one heartbeat at a time (CurrentAssignmentBuilder).

A member first gives up what it must; the answer to its acknowledgement raises its epoch. What it is
to receive comes as soon as nobody else holds it, at one of its own later heartbeats.
"""

from __future__ import annotations

import re
from collections.abc import Generator

from rebalance_kit.protocol.consumer_group.group import ConsumerGroup, ConsumerGroupMember, MemberState
from rebalance_kit.protocol.effects import Append, Appended, Effect, Effects
from rebalance_kit.protocol.messages import Partitions, Trigger


def reconcile(
    group: ConsumerGroup, member: ConsumerGroupMember, owned: Partitions | None
) -> Generator[Effect, None, bool]:
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


def next_assignment(group: ConsumerGroup, member: ConsumerGroupMember, owned: Partitions | None) -> None:
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
) -> Effects:
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
        yield group.bump(why, Trigger.JOIN if joined else Trigger.SUBSCRIPTION, member.client)
    elif preferred not in {None, group.preferred_assignor(new_vote)} and group.settings.has(
        "remote-assignor-bumps"
    ):
        yield group.bump("the preferred server assignor changed", Trigger.ASSIGNOR, member.client)
    elif _metadata_changed(group):
        yield group.bump("topics or partitions of the subscription changed", Trigger.METADATA, None)


def _metadata_changed(group: ConsumerGroup) -> bool:
    topics = group.settings.topics()
    if group.seen_topics is not None and topics == group.seen_topics:
        return False
    group.seen_topics = dict(topics)
    return group.metadata_now() != group.metadata


def scan_if_due(group: ConsumerGroup) -> Effects:
    """Resolve regular expressions in the background: at most every 10 s, and only when something calls for it."""
    if group.scanning:
        return
    wanted = sorted({member.regex for member in group.members.values() if member.regex is not None})
    if not wanted:
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
        yield group.note("regex_scanned", regexes=wanted, topics=len(topics))
        yield Append(("regex", *wanted))


def regexes_resolved(group: ConsumerGroup, appended: Appended) -> Effects:
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
        yield group.bump("a regular expression was resolved to other topics", Trigger.SUBSCRIPTION, None)
        yield from group.settle_state()


# The target assignment: who is to own what, computed by the broker.
#
# It is computed inside a heartbeat (or a classic JoinGroup) only, and since 4.3 at most once an assignment interval.


def compute_if_due(group: ConsumerGroup, new_vote: str | None = None, newcomer: str | None = None) -> Effects:
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
