"""Heartbeats of a classic group: the only way in which a member hears of a rebalance that others began."""

from __future__ import annotations

from rebalance_kit.protocol.classic_group.group import ClassicGroup
from rebalance_kit.protocol.classic_group.identity import membership_error
from rebalance_kit.protocol.effects import Arrived, Effects, Reply
from rebalance_kit.protocol.messages import NONE, Answer, Heartbeat


def heartbeat_stable(group: ClassicGroup, arrived: Arrived[Heartbeat]) -> Effects:
    """Stable: the session begins anew."""
    yield from _heartbeat(group, arrived, NONE)


def heartbeat_preparing(group: ClassicGroup, arrived: Arrived[Heartbeat]) -> Effects:
    """Preparing: the member is told REBALANCE_IN_PROGRESS, so that it joins again."""
    yield from _heartbeat(group, arrived, "REBALANCE_IN_PROGRESS")


def heartbeat_completing(group: ClassicGroup, arrived: Arrived[Heartbeat]) -> Effects:
    """Completing: NONE, because the member has joined this generation already (ClassicGroupState's comment says otherwise)."""
    yield from _heartbeat(group, arrived, NONE)


def _heartbeat(group: ClassicGroup, arrived: Arrived[Heartbeat], answer: str) -> Effects:
    request = arrived.request
    error = membership_error(group, request.member_id, request.instance_id, request.generation)
    if error == "FENCED_INSTANCE_ID":
        yield group.note(
            "member_refused",
            request.member_id,
            name=request.client,
            api="Heartbeat",
            error=error,
            message=None,
            instance_id=request.instance_id,
            holder=group.statics.get(request.instance_id or ""),
        )
    if error is None:
        yield group.members[request.member_id].session_timer()
    yield Reply(arrived.token, Answer(error or answer))
