"""What raises a group's epoch, and what follows: subscriptions, patterns, members that come and go, targets.

Every bump stores the metadata of its moment. A target is computed inside a heartbeat (or a classic
JoinGroup) only, and since 4.3 at most once an assignment interval.
"""

from __future__ import annotations

import re
from typing import Any

from rebalance_kit.protocol.consumer_group.state import ConsumerGroup, ConsumerGroupMember, MemberState
from rebalance_kit.protocol.effects import Append, CancelTimer

SCAN_INTERVAL_MS = 10_000
SCAN_REFRESH_MS = 600_000
"""group.consumer.regex.refresh.interval.ms (internal)."""


def subscribe(
    group: ConsumerGroup,
    member: ConsumerGroupMember,
    names: tuple[str, ...],
    regex: str | None,
    why: str,
    trigger: str,
    preferred: str | None = None,
) -> None:
    """Take a subscription over and bump if the topics it means, or their metadata, have changed.

    A regex that is not resolved yet means no topics; its resolution will bump. ``preferred`` is the
    assignor that the group would have used before this request; another one bumps since 4.4.
    """
    changed = names != member.names or (regex != member.regex and (regex is None or regex in group.regexes))
    member.names, member.regex = names, regex
    member.topics = group.topics_of(member)
    if changed:
        group.bump(why, trigger, member.client)
    elif preferred not in {None, group.preferred_assignor()} and group.settings.has("remote-assignor-bumps"):
        group.bump("the preferred server assignor changed", "assignor", member.client)
    elif _metadata_changed(group):
        group.bump("topics or partitions of the subscription changed", "metadata", None)


def scan_if_due(group: ConsumerGroup) -> None:
    """Resolve regular expressions in the background: at most every 10 s, and only when something calls for it."""
    wanted = sorted({one.regex for one in group.members.values() if one.regex is not None})
    if not wanted or group.scanning:
        return
    now, topics = group.settings.now_ms(), frozenset(group.settings.topics())
    if group.scanned_ms is not None and now < group.scanned_ms + SCAN_INTERVAL_MS:
        return
    created = bool(topics - group.scanned_topics)
    old = group.scanned_ms is not None and now >= group.scanned_ms + SCAN_REFRESH_MS
    if any(regex not in group.regexes for regex in wanted) or created or old:
        group.scanning = True
        group.scanned_ms = now
        group.scanned_topics = topics
        group.note("regex_scanned", regexes=wanted, topics=len(topics))
        group.out.append(Append(("regex", *wanted)))


def scanned(group: ConsumerGroup, event: Any) -> None:
    """The result of a scan is written in a later turn, and bumps when it differs."""
    if event.key[0] != "regex":
        return
    group.scanning = False
    changed = False
    for regex in event.key[1:]:
        compiled = re.compile(regex)
        found = tuple(sorted(topic for topic in group.scanned_topics if compiled.fullmatch(topic)))
        changed = changed or group.regexes.get(regex) != found
        group.regexes[regex] = found
    for member in group.members.values():
        member.topics = group.topics_of(member)
    if changed:
        group.bump("a regular expression was resolved to other topics", "subscription", None)
        group.settle_state()


def _metadata_changed(group: ConsumerGroup) -> bool:
    topics = group.settings.topics()
    if group.seen_topics is not None and topics == group.seen_topics:
        return False
    group.seen_topics = dict(topics)
    return group.metadata_now() != group.metadata


def compute_if_due(group: ConsumerGroup) -> None:
    """A new target, when the group epoch has run ahead and the last one is old enough (KIP-1263)."""
    if group.assignment_epoch >= group.epoch:
        return
    now, interval = group.settings.now_ms(), group.settings.assignment_interval_ms
    if interval and group.assigned_ms is not None and now < group.assigned_ms + interval:
        return
    assignor = group.preferred_assignor()
    listed = [
        (one.member_id, one.instance_id, one.topics, group.target.get(one.member_id, ()))
        for one in group.members.values()
    ]
    topics = group.settings.topics()
    known = {
        topic: topics[topic] for one in group.members.values() for topic in one.topics if topic in topics
    }
    existing = [
        (who, instance, tuple(t for t in subscribed if t in known), owned)
        for who, instance, subscribed, owned in listed
    ]
    group.target = dict(
        group.settings.assign(assignor, existing, dict(sorted(known.items())), group.settings.topic_ids())
    )
    group.assignment_epoch = group.epoch
    group.assigned_ms = now
    for member in group.members.values():
        group.look(member)
    named = group.labels()
    assignment = {
        named[one.member_id]: [str(tp) for tp in sorted(group.target.get(one.member_id, ()))]
        for one in group.members.values()
    }
    group.note("target", assignor=assignor, assignment=assignment, ids=dict(named))


def replace_member(
    group: ConsumerGroup, member_id: str, client: str, old: ConsumerGroupMember
) -> ConsumerGroupMember:
    """A static member is back: the new id takes over subscription, partitions and target."""
    member = ConsumerGroupMember(
        member_id,
        old.instance_id,
        client,
        0,
        0,
        old.state,
        old.topics,
        old.names,
        old.regex,
        old.server_assignor,
        old.rebalance_timeout_ms,
    )
    assigned = old.assigned
    group.hold(old, {}, {})
    del group.members[old.member_id]
    group.behind.discard(old.member_id)
    group.members[member.member_id] = member
    group.hold(member, assigned, {})
    member.state = MemberState.STABLE
    group.target[member.member_id] = group.target.pop(old.member_id, ())
    if member.instance_id is not None:
        group.statics[member.instance_id] = member.member_id
    group.out.append(CancelTimer(("session", old.member_id)))
    group.note(
        "member_replaced",
        member.member_id,
        name=client,
        instance_id=old.instance_id,
        old_member_id=old.member_id,
        old_name=old.client,
        rebalance=False,
    )
    return member


def remove_member(
    group: ConsumerGroup, member: ConsumerGroupMember, how: str, reason: str, trigger: str
) -> None:
    """Take a member out, free its partitions, and bump the group epoch."""
    group.hold(member, {}, {})
    del group.members[member.member_id]
    group.target.pop(member.member_id, None)
    group.behind.discard(member.member_id)
    if member.instance_id is not None and group.statics.get(member.instance_id) == member.member_id:
        del group.statics[member.instance_id]
    for timer in ("session", "rebalance", "join", "sync"):
        group.out.append(CancelTimer((timer, member.member_id)))
    group.join_timers.discard(member.member_id)
    group.note(
        "member_removed",
        member.member_id,
        name=member.client,
        how=how,
        reason=reason,
        instance_id=member.instance_id,
    )
    if _leaves_classic_alone(group, member):
        group.downgrades = True
        return
    group.bump(reason, trigger, member.client)
    if not group.members and group.settings.has("empty-group-target"):
        group.assignment_epoch, group.assigned_ms = group.epoch, None
    group.settle_state()


def _leaves_classic_alone(group: ConsumerGroup, gone: ConsumerGroupMember) -> bool:
    """The last consumer-protocol member went and classic ones remain: the group is downgraded instead."""
    if gone.classic is not None or group.settings.migration_policy not in {"bidirectional", "downgrade"}:
        return False
    return bool(group.members) and all(one.classic is not None for one in group.members.values())
