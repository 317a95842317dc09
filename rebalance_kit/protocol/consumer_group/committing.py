"""OffsetCommit in a consumer group (ConsumerGroup.validateOffsetCommit, KIP-1251 since 4.3)."""

from __future__ import annotations

from rebalance_kit.protocol.consumer_group.group import ConsumerGroup
from rebalance_kit.protocol.effects import Arrived, Effects, Reply
from rebalance_kit.protocol.messages import NONE, Answer, OffsetCommit


def commit(group: ConsumerGroup, arrived: Arrived[OffsetCommit]) -> Effects:
    """The epoch of a commit must be the member's own; since 4.3, that of the partition's assignment will do."""
    yield Reply(arrived.token, Answer(commit_error(group, arrived.request)))


def commit_error(group: ConsumerGroup, request: OffsetCommit) -> str:
    """What OffsetCommit answers."""
    if request.generation < 0 and not group.members:
        return NONE
    member = group.members.get(request.member_id)
    if member is None:
        return "UNKNOWN_MEMBER_ID"
    if request.generation == member.epoch:
        return NONE
    if member.classic is not None:
        return "ILLEGAL_GENERATION"
    if request.generation > member.epoch or group.settings.has("commit-races-with-epoch"):
        return "STALE_MEMBER_EPOCH"
    assigned_since = {**member.assigned, **member.pending_revocation}
    accepted = all(
        tp in assigned_since and request.generation >= assigned_since[tp] for tp in request.offsets
    )
    return NONE if accepted else "STALE_MEMBER_EPOCH"
