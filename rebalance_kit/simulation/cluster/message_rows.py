"""The fields of a message's trace row, per kind of request and response."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from rebalance_kit.protocol.messages import (
    Answer,
    ConsumerGroupHeartbeat,
    ConsumerGroupHeartbeatAnswer,
    Heartbeat,
    JoinAnswer,
    JoinGroup,
    LeaveGroup,
    OffsetCommit,
    Request,
    Response,
    SyncAnswer,
    SyncGroup,
)

NOTHING: Mapping[str, Any] = MappingProxyType({})
"""The entry of a message without fields."""


def generation_of(request: Request) -> int | None:
    """Generation or member epoch that a request carries."""
    if type(request) is ConsumerGroupHeartbeat:
        return request.member_epoch
    generation = getattr(request, "generation", -1)
    return generation if generation >= 0 else None


def request_fields(request: Request) -> Mapping[str, Any]:
    """What the row of a request tells beside its api and times."""
    kind = type(request)
    if kind is Heartbeat:
        return NOTHING
    if isinstance(request, JoinGroup):
        subscription = request.protocols[0][1]
        return {
            "protocols": [name for name, _ in request.protocols],
            "topics": list(subscription.topics),
            "owned": [str(tp) for tp in subscription.owned],
            "reason": None if request.reason is None else request.reason.text,
            "instance_id": request.instance_id,
        }
    if isinstance(request, SyncGroup):
        return {"assignor": request.protocol, "leads": request.assignment is not None}
    if isinstance(request, LeaveGroup):
        return {"reason": request.reason, "instance_id": request.instance_id}
    if isinstance(request, OffsetCommit):
        return {"how": request.how, "offsets": {str(tp): offset for tp, offset in request.offsets.items()}}
    if isinstance(request, ConsumerGroupHeartbeat):
        return {
            "epoch": request.member_epoch,
            "topics": None if request.topics is None else list(request.topics),
            "owned": None if request.owned is None else [str(tp) for tp in request.owned],
            "instance_id": request.instance_id,
        }
    return NOTHING


def answered_generation(response: Response) -> int | None:
    """Generation or member epoch that an answer brings."""
    if isinstance(response, JoinAnswer):
        return response.generation if response.generation >= 0 else None
    if isinstance(response, ConsumerGroupHeartbeatAnswer):
        return response.member_epoch
    return None


def answer_fields(response: Response) -> Mapping[str, Any]:
    """What the row of an answer tells beside its api, times and error."""
    if type(response) is Answer:
        return NOTHING
    if isinstance(response, JoinAnswer):
        return {"leader": response.leader, "assignor": response.protocol, "members": len(response.members)}
    if isinstance(response, SyncAnswer):
        return {"assignment": [str(tp) for tp in response.assignment]}
    if isinstance(response, ConsumerGroupHeartbeatAnswer):
        return {
            "epoch": response.member_epoch,
            "assignment": None if response.assignment is None else [str(tp) for tp in response.assignment],
        }
    return NOTHING
