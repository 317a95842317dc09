"""Requests that are refused: invalid ones, members that are not whom they say, members that were fenced."""

from __future__ import annotations

from typing import NamedTuple

from rebalance_kit.protocol.consumer_group.group import LEFT_FOR_A_WHILE, ConsumerGroup, ConsumerGroupMember
from rebalance_kit.protocol.effects import Arrived, Effects, Reply
from rebalance_kit.protocol.messages import ConsumerGroupHeartbeat, ConsumerGroupHeartbeatAnswer


class Problem(NamedTuple):
    """Kafka's error and its message."""

    error: str
    message: str | None = None


def refuse_heartbeat(
    group: ConsumerGroup,
    arrived: Arrived[ConsumerGroupHeartbeat],
    problem: Problem,
    holder: str | None = None,
) -> Effects:
    """Answer a heartbeat with an error, and write the row that says so."""
    request = arrived.request
    detail: dict[str, object] = {} if holder is None else {"holder": holder}
    yield group.note(
        "member_refused",
        request.member_id or None,
        None,
        name=request.client,
        api="ConsumerGroupHeartbeat",
        error=problem.error,
        message=problem.message,
        instance_id=request.instance_id,
        **detail,
    )
    yield Reply(
        arrived.token, ConsumerGroupHeartbeatAnswer(problem.error, request.member_id, message=problem.message)
    )


def unreleased_instance_problem(
    holder: ConsumerGroupMember | None, request: ConsumerGroupHeartbeat
) -> Problem | None:
    """A static member that joins while another member holds its instance id: UNRELEASED_INSTANCE_ID."""
    if holder is None or holder.epoch == LEFT_FOR_A_WHILE:
        return None
    message = f"Static member {request.member_id} with instance id {request.instance_id} cannot join the group because the instance id is owned by {holder.member_id} member."
    return Problem("UNRELEASED_INSTANCE_ID", message)


def request_problem(group: ConsumerGroup, request: ConsumerGroupHeartbeat) -> Problem | None:
    """What is wrong with the request itself, whoever sent it."""
    invalid = _invalid(request)
    if invalid is not None:
        return Problem("INVALID_REQUEST", invalid)
    supported = group.settings.assignors
    if request.server_assignor is not None and request.server_assignor not in supported:
        message = f"ServerAssignor {request.server_assignor} is not supported. Supported assignors: {', '.join(supported)}."
        return Problem("UNSUPPORTED_ASSIGNOR", message)
    return None


def _invalid(request: ConsumerGroupHeartbeat) -> str | None:
    if not request.member_id:
        return "MemberId can't be empty."
    if request.instance_id == "":
        return "InstanceId can't be empty."
    if request.rack == "":
        return "RackId can't be empty."
    if request.member_epoch == 0:
        if request.rebalance_timeout_ms is None:
            return "RebalanceTimeoutMs must be provided in first request."
        if request.owned is None or request.owned:
            return "TopicPartitions must be empty when (re-)joining."
        if request.topics is None and request.regex is None:
            return "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining."
    if request.member_epoch == LEFT_FOR_A_WHILE and request.instance_id is None:
        return "InstanceId can't be null."
    return "MemberEpoch is invalid." if request.member_epoch < LEFT_FOR_A_WHILE else None


def identity_problem(group: ConsumerGroup, request: ConsumerGroupHeartbeat) -> Problem | None:
    """Error and message for a member that is not whom it says; a static one is known by its instance id."""
    instance, member_id = request.instance_id, request.member_id
    if instance is None:
        if member_id in group.members:
            return None
        return Problem(
            "UNKNOWN_MEMBER_ID", f"Member {member_id} is not a member of group {group.settings.group}."
        )
    holder = group.statics.get(instance)
    if holder is None:
        return Problem("UNKNOWN_MEMBER_ID", f"Instance id {instance} is unknown.")
    if holder != member_id:
        message = f"Static member {member_id} with instance id {instance} was fenced by member {holder}."
        return Problem("FENCED_INSTANCE_ID", message)
    return None if member_id in group.members else Problem("UNKNOWN_MEMBER_ID")


def epoch_problem(member: ConsumerGroupMember, request: ConsumerGroupHeartbeat) -> Problem | None:
    """A member with another epoch is fenced, unless it has only missed the answer that raised its epoch."""
    missed_an_answer = (  # a member that is away has epoch -2: whatever it still says is greater
        request.member_epoch == member.previous_epoch < member.epoch
        and request.owned is not None
        and all(tp in member.assigned for tp in request.owned)
    )
    if request.member_epoch == member.epoch or missed_an_answer:
        return None
    which = "greater" if request.member_epoch > member.epoch else "smaller"
    message = f"The consumer group member has a {which} member epoch ({request.member_epoch}) than the one known by the group coordinator ({member.epoch}). The member must abandon all its partitions and rejoin."
    return Problem("FENCED_MEMBER_EPOCH", message)
