"""OffsetCommit in a classic group (ClassicGroup.validateOffsetCommit)."""

from __future__ import annotations

from rebalance_kit.protocol.classic_group.group import ClassicGroup
from rebalance_kit.protocol.classic_group.identity import membership_error
from rebalance_kit.protocol.effects import Arrived, Effects, Reply
from rebalance_kit.protocol.messages import NONE, Answer, OffsetCommit


def commit_empty(group: ClassicGroup, arrived: Arrived[OffsetCommit]) -> Effects:
    """Empty: a simple consumer, which is in no group, may commit; nobody else is known."""
    simple = arrived.request.generation < 0
    yield Reply(arrived.token, Answer(NONE if simple else "UNKNOWN_MEMBER_ID"))


def commit_of_member(group: ClassicGroup, arrived: Arrived[OffsetCommit]) -> Effects:
    """Preparing and Stable: a member of the last finished generation may commit, and its session begins anew."""
    request = arrived.request
    error = membership_error(group, request.member_id, request.instance_id, request.generation)
    if error is None:
        yield group.members[request.member_id].session_timer()
    yield Reply(arrived.token, Answer(error or NONE))


def commit_completing(group: ClassicGroup, arrived: Arrived[OffsetCommit]) -> Effects:
    """Completing: nobody knows yet what it may commit."""
    request = arrived.request
    error = membership_error(group, request.member_id, request.instance_id, request.generation)
    yield Reply(arrived.token, Answer(error or "REBALANCE_IN_PROGRESS"))
