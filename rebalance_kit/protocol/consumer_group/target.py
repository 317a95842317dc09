"""The target assignment: who is to own what, computed by the broker.

It is computed inside a heartbeat (or a classic JoinGroup) only, and since 4.3 at most once an assignment interval.
"""

from __future__ import annotations

from rebalance_kit.protocol.consumer_group.group import ConsumerGroup
from rebalance_kit.protocol.effects import Effects


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
