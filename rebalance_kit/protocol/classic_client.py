"""Events of a classic consumer: the table that says which rule answers which, and ``step``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.errors import AssignorError, ProtocolViolation
from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.classic_member import (
    CLOSE_LIMIT,
    COMMIT_LIMIT,
    HEARTBEAT,
    POLL_TIMEOUT_REASON,
    RETRY,
    RETRY_MS,
    SESSION,
    ClassicMember,
    Phase,
    Stage,
    unsubscribed,
)  # fmt: skip
from rebalance_kit.protocol.client import (
    LOST_COORDINATOR,
    RETRIED_COMMITS,
    calls_wrong_family,
    matching,
    names,
    retry_ms,
)
from rebalance_kit.protocol.messages import (
    NONE,
    Answer,
    Heartbeat,
    JoinAnswer,
    JoinGroup,
    LeaveGroup,
    OffsetCommit,
    SyncAnswer,
    SyncGroup,
)  # fmt: skip

MESSAGES: Mapping[str, str] = MappingProxyType(
    {
        "UNKNOWN_MEMBER_ID": "The coordinator is not aware of this member.",
        "ILLEGAL_GENERATION": "Specified group generation id is not valid.",
        "REBALANCE_IN_PROGRESS": "The group is rebalancing, so a rejoin is needed.",
        "FENCED_INSTANCE_ID": "The broker rejected this static consumer since another consumer with the same group.instance.id has registered with a different member.id.",
        "GROUP_MAX_SIZE_REACHED": "The consumer group has reached its max size.",
        "NOT_COORDINATOR": "This is not the correct coordinator.",
        "COORDINATOR_NOT_AVAILABLE": "The coordinator is not available.",
        "DISCONNECTED": "null",
    }
)
EXCEPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "UNKNOWN_MEMBER_ID": "UnknownMemberIdException",
        "ILLEGAL_GENERATION": "IllegalGenerationException",
        "REBALANCE_IN_PROGRESS": "RebalanceInProgressException",
        "MEMBER_ID_REQUIRED": "MemberIdRequiredException",
        "FENCED_INSTANCE_ID": "FencedInstanceIdException",
        "INCONSISTENT_GROUP_PROTOCOL": "InconsistentGroupProtocolException",
        "INVALID_SESSION_TIMEOUT": "InvalidSessionTimeoutException",
        "GROUP_MAX_SIZE_REACHED": "GroupMaxSizeReachedException",
        "NOT_COORDINATOR": "NotCoordinatorException",
        "COORDINATOR_NOT_AVAILABLE": "CoordinatorNotAvailableException",
        "DISCONNECTED": "DisconnectException",
    }
)
FATAL_JOIN = frozenset(
    {
        "INCONSISTENT_GROUP_PROTOCOL",
        "INVALID_SESSION_TIMEOUT",
        "INVALID_GROUP_ID",
        "GROUP_AUTHORIZATION_FAILED",
        "GROUP_MAX_SIZE_REACHED",
    }
)


# --- the application thread -------------------------------------------------------------------
def _polled(member: ClassicMember, event: Any) -> None:
    if member.stage is not Stage.IDLE or member.closing:
        return
    if member.completes_again and member.phase is Phase.STABLE:
        member.completes_again = False
        member.pending_assignment = member.owned
        member.assign()
        return
    _look_at_metadata(member)
    if member.rejoin_needed and member.coordinator_known:
        member.begin_join()


def _look_at_metadata(member: ClassicMember) -> None:
    if member.phase is not Phase.STABLE or member.rejoin_needed:
        return
    if member.leader and member.assigned_metadata is not None:
        seen = {topic: member.metadata.get(topic, 0) for topic in member.assigned_metadata}
        if seen != dict(member.assigned_metadata):
            member.request_rejoin(
                f"cached metadata has changed from (version1: {_printed(member.assigned_metadata)}) at the beginning of the rebalance "
                f"to (version2: {_printed(seen)})",
                "cached metadata has changed",
            )  # fmt: skip
            return
    if tuple(sorted(member.joined_topics)) != tuple(sorted(member.topics)):
        old, new = (f"[{', '.join(sorted(one))}]" for one in (member.joined_topics, member.topics))
        member.request_rejoin(
            f"subscription has changed from {old} at the beginning of the rebalance to {new}",
            "subscription has changed",
        )


def _printed(counts: Mapping[str, int]) -> str:
    return (
        "{"
        + ", ".join(f"{topic}=[{', '.join(['NO_RACKS'] * count)}]" for topic, count in sorted(counts.items()))
        + "}"
    )


def _callback_done(member: ClassicMember, event: Any) -> None:
    stage = member.stage
    if stage in {Stage.REVOKING, Stage.ASSIGNING} and calls_wrong_family(
        member.settings, incremental=member.settings.cooperative
    ):
        member.note("wrong_call", call="assign" if stage is Stage.ASSIGNING else "unassign")
        member.stuck = True  # nothing is changed on the error: heartbeats go on, nothing is read
        return
    member.raised = member.raised or event.error
    if stage is Stage.GIVING_UP:
        member.gave_up()
    elif stage is Stage.REVOKING:
        gone = [tp for tp in member.owned if tp not in frozenset(member.pending_assignment)]
        member.owned = tuple(tp for tp in member.owned if tp not in frozenset(gone))
        member.request_rejoin(
            f"need to revoke partitions [{', '.join(names(tuple(gone)))}] as indicated by the current assignment and re-join",
            "need to revoke partitions and re-join",
        )
        if member.death is not None:
            member.last_callback()
        else:
            member.assign()
    elif stage is Stage.ASSIGNING and member.death is not None:
        member.last_callback()
    elif stage is Stage.ASSIGNING:
        member.stage = Stage.IDLE
        member.out.append(fx.StartFetching(member.owned))
        # the next poll() completes the same join again, for its future was not taken (joinGroupIfNeeded)
        member.completes_again = member.throw()
        if member.closing:
            member.begin_close()
        else:
            member.out.append(fx.WantPoll("settled"))
    elif stage is Stage.CLOSE_CALLBACK:
        # onLeavePrepare throws ahead of maybeLeaveGroup: the group only hears of it by the session timeout
        member.leave(silently=member.throw())


def _close_called(member: ClassicMember, event: Any) -> None:
    if member.stage is Stage.CLOSED or member.closing:
        return
    if member.stage in {Stage.REVOKING, Stage.ASSIGNING, Stage.GIVING_UP} and not member.stuck:
        member.closing = True
        member.close_timeout_ms = event.timeout_ms
        return
    member.close_timeout_ms = event.timeout_ms
    member.begin_close()


def _commit_done(member: ClassicMember, event: Any) -> None:
    _after_commit(member, event.how, event.error)


def _after_commit(member: ClassicMember, how: str, error: str) -> None:
    waits = (how, member.stage) in {("join", Stage.COMMITTING), ("close", Stage.CLOSE_COMMIT)}
    if waits and error in RETRIED_COMMITS:
        member.out.append(fx.SetTimer(RETRY, retry_ms(member.retries)))
        member.retries += 1
    elif how == "join" and member.stage is Stage.COMMITTING:
        member.give_up()
    elif how == "close" and member.stage is Stage.CLOSE_COMMIT:
        member.last_callback()


def _poll_timeout(member: ClassicMember, event: Any) -> None:
    if member.phase in {Phase.UNJOINED, Phase.PREPARING} or member.stage is Stage.CLOSED:
        return  # the heartbeat thread, which would notice, rests (MemberState.hasNotJoinedGroup)
    member.note("poll_timeout", limit_ms=member.settings.max_poll_interval_ms)
    if member.settings.instance_id is None and member.coordinator_known:
        member.send_leave(POLL_TIMEOUT_REASON)
    if member.stage in {Stage.JOINING, Stage.SYNCING, Stage.COMMITTING}:
        member.stage = Stage.IDLE
    member.reset("consumer pro-actively leaving the group", keep_id=False)
    member.request_rejoin("consumer pro-actively leaving the group")
    member.out.append(fx.WantPoll("settled"))


def _subscribed(member: ClassicMember, event: Any) -> None:
    member.topics = event.topics
    member.out.append(fx.WantPoll("settled"))


def _metadata_seen(member: ClassicMember, event: Any) -> None:
    if event.partitions != member.metadata:
        if member.metadata:
            member.note("metadata_changed", topics=dict(event.partitions))
        member.metadata = event.partitions
        if member.pattern is not None:
            member.topics = matching(member.pattern, event.partitions)
        member.out.append(fx.WantPoll("settled"))


def _rejoin_enforced(member: ClassicMember, event: Any) -> None:
    if member.stage in {Stage.JOINING, Stage.SYNCING}:
        return  # rejoinNeeded is cleared by the SyncGroup that is under way
    member.request_rejoin(event.reason)
    member.out.append(fx.WantPoll("settled"))


# --- answers ----------------------------------------------------------------------------------
def _answered(member: ClassicMember, event: Any) -> None:
    if member.stage is Stage.CLOSED:
        return
    request, response = event.request, event.response
    if isinstance(request, JoinGroup):
        if member.stage is Stage.JOINING:
            _join_answered(member, response)
    elif isinstance(request, SyncGroup):
        if member.stage is Stage.SYNCING:
            _sync_answered(member, response)
    elif isinstance(request, Heartbeat):
        _heartbeat_answered(member, request, response)
    elif isinstance(request, OffsetCommit):
        _commit_answered(member, request, response)


def _join_answered(member: ClassicMember, answer: JoinAnswer) -> None:
    error = answer.error
    if error == NONE:
        _joined(member, answer)
    elif error == "MEMBER_ID_REQUIRED":
        member.member_id = answer.member_id
        member.request_rejoin(f"need to re-join with the given member-id: {answer.member_id}")
        member.send_join()
    elif error == "UNKNOWN_MEMBER_ID":
        why = "encountered UNKNOWN_MEMBER_ID from JOIN_GROUP response"
        member.reset(why, keep_id=False)
        member.request_rejoin(why)
        _rebalance_failed(member, error)
        member.begin_join()
    elif error == "REBALANCE_IN_PROGRESS":
        _rebalance_failed(member, error)
        member.send_join()
    elif error == "FENCED_INSTANCE_ID" or error in FATAL_JOIN:
        _rebalance_failed(member, error, answer.message)
        member.die(error, answer.message or MESSAGES.get(error, error))
    else:
        _join_interrupted(member, error)


def _rebalance_failed(member: ClassicMember, error: str, message: str | None = None) -> None:
    """The reason that joinGroupIfNeeded gives the next JoinGroup, also when the error is thrown afterwards."""
    exception = EXCEPTIONS.get(error, error)
    told = message or MESSAGES.get(error, error)
    member.request_rejoin(
        f"rebalance failed due to '{told}' ({exception})", f"rebalance failed due to {exception}"
    )


def _join_interrupted(member: ClassicMember, cause: str) -> None:
    member.stage = Stage.IDLE
    member.move(Phase.UNJOINED)
    member.lose_coordinator("coordinator unavailable" if cause in LOST_COORDINATOR else cause)
    _rebalance_failed(member, cause)


def _joined(member: ClassicMember, answer: JoinAnswer) -> None:
    kept = member.settings
    member.generation, member.member_id, member.protocol = (
        answer.generation,
        answer.member_id,
        answer.protocol,
    )
    member.move(Phase.COMPLETING)
    member.leader = answer.leader == answer.member_id
    member.note("joined", leader=member.leader, assignor=answer.protocol)
    if not member.native:  # librdkafka is silent until it has synced
        member.out.append(fx.SetTimer(HEARTBEAT, kept.heartbeat_interval_ms))
    member.out.append(fx.SetTimer(SESSION, kept.session_timeout_ms))
    plan = None
    if member.leader:
        topics = sorted({topic for one in answer.members for topic in one.subscription.topics})
        known = {topic: member.metadata.get(topic, 0) for topic in topics}
        member.assigned_metadata = known
        if not answer.skip_assignment:
            try:
                plan = {
                    who: tuple(given)
                    for who, given in kept.assign(answer.protocol or "", known, answer.members).items()
                }
            except AssignorError as error:
                member.die(getattr(error, "java_exception", "AssignorError"), str(error))
                return
            member.note("assignment_computed", assignor=answer.protocol, assignment={who: names(given) for who, given in plan.items()},
                        senders={one.member_id: one.sender for one in answer.members})  # fmt: skip
    else:
        member.assigned_metadata = None
    member.stage = Stage.SYNCING
    member.out.append(
        fx.Send(
            SyncGroup(
                kept.name,
                member.member_id,
                kept.instance_id,
                member.generation,
                answer.protocol,
                plan,
                kept.group,
            )
        )
    )


def _sync_answered(member: ClassicMember, answer: SyncAnswer) -> None:
    error = answer.error
    if error == NONE:
        member.rejoin_needed = False
        member.rejoin_reason = None
        stray = unsubscribed(member, answer.assignment)
        member.move(Phase.STABLE)
        if member.native:
            member.out.append(fx.SetTimer(HEARTBEAT, member.settings.heartbeat_interval_ms))
        if stray:
            member.stage = Stage.IDLE
            member.prepare_needed = True
            member.request_rejoin("received assignment does not match the current subscription")
            member.out.append(fx.WantPoll("settled"))
            return
        member.take_over(answer.assignment)
        return
    if error == "REBALANCE_IN_PROGRESS":
        member.move(Phase.UNJOINED)
        _rebalance_failed(member, error)
        member.begin_join()
    elif error in {"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION"}:
        why = f"encountered {error} from SYNC_GROUP response"
        member.reset(why, keep_id=error == "ILLEGAL_GENERATION")
        member.request_rejoin(why)
        _rebalance_failed(member, error)
        member.begin_join()
    elif error == "FENCED_INSTANCE_ID":
        _rebalance_failed(member, error)
        member.die(error, MESSAGES[error])
    else:
        _join_interrupted(member, error)


def _heartbeat_answered(member: ClassicMember, request: Heartbeat, answer: Answer) -> None:
    error = answer.error
    if error in (NONE, "REBALANCE_IN_PROGRESS"):
        if member.phase in {Phase.COMPLETING, Phase.STABLE}:
            member.out.append(fx.SetTimer(SESSION, member.settings.session_timeout_ms))
        if error != NONE and member.phase is Phase.STABLE and not member.closing:
            member.request_rejoin("group is already rebalancing")
            member.out.append(fx.WantPoll("rejoin"))
    elif error in {"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION"}:
        _lost_membership(member, request.generation, error, "HEARTBEAT")
    elif error == "FENCED_INSTANCE_ID":
        if request.generation == member.generation:
            member.note(
                "generation_reset",
                reason="encountered FENCED_INSTANCE_ID from HEARTBEAT response",
                member_id_kept=False,
            )
            member.request_rejoin("encountered FENCED_INSTANCE_ID from HEARTBEAT response")
            member.die(error, MESSAGES[error])
    elif error in LOST_COORDINATOR:
        member.lose_coordinator("coordinator unavailable")


def _lost_membership(member: ClassicMember, sent_generation: int, error: str, api: str) -> None:
    if sent_generation != member.generation or member.phase not in {Phase.STABLE, Phase.COMPLETING}:
        return  # the member has moved on since it sent this
    why = f"encountered {error} from {api} response"
    if member.stage is Stage.SYNCING:
        member.stage = Stage.IDLE
    member.reset(why, keep_id=error == "ILLEGAL_GENERATION")
    member.request_rejoin(why)
    if not member.closing:
        member.out.append(fx.WantPoll("settled"))


def _commit_answered(member: ClassicMember, request: OffsetCommit, answer: Answer) -> None:
    error = answer.error
    if error in {"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION"}:
        _lost_membership(member, request.generation, error, "OFFSET_COMMIT")
    elif error == "FENCED_INSTANCE_ID" and request.generation == member.generation and not member.closing:
        member.die(error, MESSAGES[error])
        return
    elif error == "REBALANCE_IN_PROGRESS" and member.phase is Phase.STABLE:
        member.request_rejoin("offset commit failed since group is already rebalancing")
        member.out.append(fx.WantPoll("settled"))
    elif error in LOST_COORDINATOR:
        member.lose_coordinator("coordinator unavailable")
    _after_commit(member, request.how, error)


def _disconnected(member: ClassicMember, event: Any) -> None:
    if member.stage is Stage.CLOSED:
        return
    member.lose_coordinator(event.cause)
    if isinstance(event.request, JoinGroup | SyncGroup) and member.stage in {Stage.JOINING, Stage.SYNCING}:
        member.stage = Stage.IDLE
        member.move(Phase.UNJOINED)
        _rebalance_failed(member, "DISCONNECTED")
        member.stop_heartbeats()
    elif isinstance(event.request, OffsetCommit):
        _after_commit(member, event.request.how, "DISCONNECTED")
    elif isinstance(event.request, LeaveGroup):
        return


def _coordinator_found(member: ClassicMember, event: Any) -> None:
    if member.coordinator_known or member.stage is Stage.CLOSED:
        return
    member.coordinator_known = True
    member.note("coordinator_found")
    if member.phase in {Phase.STABLE, Phase.COMPLETING}:
        member.out.append(fx.SetTimer(SESSION, member.settings.session_timeout_ms))
        member.out.append(fx.SetTimer(HEARTBEAT, 0))
    if member.stage is Stage.IDLE:
        member.out.append(fx.WantPoll("settled"))


# --- the heartbeat thread ---------------------------------------------------------------------
def _timer_fired(member: ClassicMember, event: Any) -> None:
    if member.stage is Stage.CLOSED:
        return
    if event.key == HEARTBEAT:
        _beat(member)
    elif event.key == SESSION:
        if member.phase in {Phase.STABLE, Phase.COMPLETING}:
            _session_passed(member)
    elif event.key == RETRY:
        _commit_again(member)
    elif event.key == COMMIT_LIMIT and member.stage is Stage.COMMITTING:
        member.give_up()
    elif event.key == CLOSE_LIMIT and member.stage is Stage.CLOSE_COMMIT:
        member.last_callback()


def _session_passed(member: ClassicMember) -> None:
    """Java only looks for its coordinator and keeps its partitions; librdkafka gives them up as lost."""
    member.lose_coordinator("session timed out without receiving a heartbeat response")
    if member.native and not member.closing:
        if member.stage is Stage.SYNCING:
            member.stage = Stage.IDLE
        member.reset("session timed out", keep_id=False)
        member.request_rejoin("session timed out")
        if member.stage is Stage.IDLE and member.owned:
            member.give_up()


def _commit_again(member: ClassicMember) -> None:
    how = {Stage.COMMITTING: "join", Stage.CLOSE_COMMIT: "close"}.get(member.stage)
    if how is None:
        return
    if member.generation < 0:
        _after_commit(member, how, "UNKNOWN_MEMBER_ID")
    elif member.coordinator_known:
        member.out.append(fx.Commit(how))
    else:
        member.out.append(fx.SetTimer(RETRY, RETRY_MS))


def _beat(member: ClassicMember) -> None:
    if member.phase not in {Phase.STABLE, Phase.COMPLETING}:
        return
    kept = member.settings
    if not member.coordinator_known:
        return
    member.out.append(
        fx.Send(Heartbeat(kept.name, member.member_id, kept.instance_id, member.generation, kept.group))
    )
    member.out.append(fx.SetTimer(HEARTBEAT, kept.heartbeat_interval_ms))


RULES: Mapping[type, Callable[[ClassicMember, Any], None]] = MappingProxyType(
    {
        fx.Polled: _polled,
        fx.Answered: _answered,
        fx.Disconnected: _disconnected,
        fx.TimerFired: _timer_fired,
        fx.CallbackDone: _callback_done,
        fx.CommitDone: _commit_done,
        fx.CoordinatorFound: _coordinator_found,
        fx.PollTimeout: _poll_timeout,
        fx.Subscribed: _subscribed,
        fx.MetadataSeen: _metadata_seen,
        fx.RejoinEnforced: _rejoin_enforced,
        fx.CloseCalled: _close_called,
    }
)


def step(member: ClassicMember, event: Any) -> list[fx.Effect]:
    """Apply one event to a classic consumer and return the effects it asks for, in order."""
    rule = RULES.get(type(event))
    if rule is None:
        raise ProtocolViolation(f"a classic consumer is never sent {type(event).__name__}")
    member.out = []
    rule(member, event)
    return member.out
