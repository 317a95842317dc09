"""Whether the sender of a request is whom it says, and how requests are refused."""

from __future__ import annotations

from collections.abc import Callable

from rebalance_kit.protocol.classic_group.group import ClassicGroup
from rebalance_kit.protocol.effects import Arrived, Effects, Reply
from rebalance_kit.protocol.messages import (
    Answer,
    JoinAnswer,
    JoinGroup,
    Request,
    Response,
    SyncAnswer,
    SyncGroup,
)


def identity_error(group: ClassicGroup, member_id: str, instance_id: str | None) -> str | None:
    """UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, or None when the caller is who it says.

    A static member's restart took its instance id over: the old process is fenced at its next request.
    """
    if instance_id is not None:
        holder = group.statics.get(instance_id)
        if holder is None:
            return "UNKNOWN_MEMBER_ID"
        if holder != member_id:
            return "FENCED_INSTANCE_ID"
    return None if member_id in group.members else "UNKNOWN_MEMBER_ID"


def membership_error(
    group: ClassicGroup, member_id: str, instance_id: str | None, generation: int
) -> str | None:
    """The same, and ILLEGAL_GENERATION for a request of another generation."""
    error = identity_error(group, member_id, instance_id)
    if error is None and generation != group.generation:
        return "ILLEGAL_GENERATION"
    return error


def refuse(error: str) -> Callable[[ClassicGroup, Arrived[Request]], Effects]:
    """The rule of a state in which a request is always refused."""

    def refused(group: ClassicGroup, arrived: Arrived[Request]) -> Effects:
        yield Reply(arrived.token, refusal(arrived.request, error))

    return refused


def refusal(request: Request, error: str) -> Response:
    """The answer to this kind of request that carries an error."""
    if isinstance(request, JoinGroup):
        return JoinAnswer(error, request.member_id)
    return SyncAnswer(error) if isinstance(request, SyncGroup) else Answer(error)
