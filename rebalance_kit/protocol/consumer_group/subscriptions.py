"""What members subscribe to: topic names, regular expressions that the broker resolves, and when the epoch rises for it.

Every bump stores the metadata of its moment, so that topics or partitions that change later bump again.
"""

from __future__ import annotations

import re

from rebalance_kit.protocol.consumer_group.group import ConsumerGroup, ConsumerGroupMember
from rebalance_kit.protocol.effects import Append, Appended, Effects
from rebalance_kit.protocol.triggers import Trigger

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
