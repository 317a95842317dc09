"""What a classic consumer makes of the answers it gets: JoinGroup, SyncGroup, Heartbeat, OffsetCommit, or none."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.errors import AssignorError
from rebalance_kit.model.kafka_errors import FATAL_JOIN, MESSAGES
from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.classic_client.member import (
    HEARTBEAT,
    RETRY,
    RETRY_MS,
    SESSION,
    ClassicMember,
    Phase,
    Stage,
    unsubscribed,
)
from rebalance_kit.protocol.client import LOST_COORDINATOR, RETRIED_COMMITS, in_order, names, retry_ms
from rebalance_kit.protocol.messages import (
    NONE,
    Answer,
    Heartbeat,
    JoinAnswer,
    JoinGroup,
    LeaveGroup,
    OffsetCommit,
    Partitions,
    SyncAnswer,
    SyncGroup,
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


def answered(member: ClassicMember, event: Any) -> None:
    """Hand an answer to the rule of its request."""
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
    member.elected = None
    if not member.leader:
        member.assigned_metadata = None
        _send_sync(member, answer, None)
        return
    topics = {topic for one in answer.members for topic in one.subscription.topics}
    new = not topics <= set(member.topics)
    member.stage = Stage.SYNCING
    if not member.native and (new or not topics <= set(member.metadata)):
        member.elected = answer
        member.out.append(fx.FreshMetadata(new))
    else:
        lead(member, answer)


def lead(member: ClassicMember, answer: JoinAnswer) -> None:
    """Assign by the metadata at hand: fresh where a topic of the group is unknown or not the leader's own.

    ConsumerCoordinator.updateGroupSubscription asks for it and waits (ensureFreshMetadata).
    """
    kept = member.settings
    member.elected = plan = None
    topics = sorted({topic for one in answer.members for topic in one.subscription.topics})
    known = {topic: member.metadata.get(topic, 0) for topic in topics}
    member.assigned_metadata, member.assigned_racks = known, member.racks
    if not answer.skip_assignment:
        try:
            made = kept.assign(answer.protocol or "", known, answer.members, member.racks)
            plan = {who: tuple(given) for who, given in made.items()}
        except AssignorError as error:
            member.die(getattr(error, "java_exception", "AssignorError"), str(error))
            return
        member.note(
            "assignment_computed",
            assignor=answer.protocol,
            assignment={who: names(given) for who, given in plan.items()},
            senders={one.member_id: one.client for one in answer.members},
            lists=in_order(plan),
            printed=in_order(getattr(made, "printed", {})),
        )
    _send_sync(member, answer, plan)


def _send_sync(member: ClassicMember, answer: JoinAnswer, plan: dict[str, Partitions] | None) -> None:
    kept = member.settings
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
    after_commit(member, request.how, error)


def disconnected(member: ClassicMember, event: Any) -> None:
    """No answer will come: look for the coordinator, and go on from there."""
    if member.stage is Stage.CLOSED:
        return
    member.lose_coordinator(event.cause)
    if isinstance(event.request, JoinGroup | SyncGroup) and member.stage in {Stage.JOINING, Stage.SYNCING}:
        member.stage = Stage.IDLE
        member.move(Phase.UNJOINED)
        _rebalance_failed(member, "DISCONNECTED")
        member.stop_heartbeats()
    elif isinstance(event.request, OffsetCommit):
        after_commit(member, event.request.how, "DISCONNECTED")
    elif isinstance(event.request, LeaveGroup):
        return


def coordinator_found(member: ClassicMember, event: Any) -> None:
    """Heartbeats go on at once; whatever waits for poll() does too."""
    if member.coordinator_known or member.stage is Stage.CLOSED:
        return
    member.coordinator_known = True
    member.note("coordinator_found")
    if member.phase in {Phase.STABLE, Phase.COMPLETING}:
        member.out.append(fx.SetTimer(SESSION, member.settings.session_timeout_ms))
        member.out.append(fx.SetTimer(HEARTBEAT, 0))
    if member.stage is Stage.IDLE:
        member.out.append(fx.WantPoll("settled"))


def after_commit(member: ClassicMember, how: str, error: str) -> None:
    """Go on with what waited for a commit, or send the commit again."""
    waits = (how, member.stage) in {("join", Stage.COMMITTING), ("close", Stage.CLOSE_COMMIT)}
    if waits and error in RETRIED_COMMITS:
        # before a re-join an EAGER member waits inside poll() and sleeps retry.backoff.ms (ConsumerCoordinator.onJoinPrepare)
        steady = how == "join" and not member.settings.cooperative
        member.out.append(fx.SetTimer(RETRY, RETRY_MS if steady else retry_ms(member.retries)))
        member.retries += 1
    elif how == "join" and member.stage is Stage.COMMITTING:
        member.give_up()
    elif how == "close" and member.stage is Stage.CLOSE_COMMIT:
        member.last_callback()
