"""The answers to JoinGroup and SyncGroup: one generation is reached, or the member tries again, or it fails for good."""

from __future__ import annotations

from rebalance_kit.model.kafka_errors import COORDINATOR_MOVED, FATAL_JOIN, MESSAGES
from rebalance_kit.protocol.classic_client.closing import die
from rebalance_kit.protocol.classic_client.errors import EXCEPTIONS
from rebalance_kit.protocol.classic_client.leading import on_leader_elected
from rebalance_kit.protocol.classic_client.member import ClassicMember
from rebalance_kit.protocol.classic_client.requests import send_join, send_sync
from rebalance_kit.protocol.classic_client.revoking import on_join_complete, on_join_prepare
from rebalance_kit.protocol.classic_client.states import MemberState
from rebalance_kit.protocol.client.poll_step import PollStep
from rebalance_kit.protocol.effects import Effect, Effects, NextPoll, WantPoll
from rebalance_kit.protocol.messages import NONE, JoinAnswer, JoinGroup, SyncAnswer, SyncGroup


# --- JoinGroup --------------------------------------------------------------------------------
def join_answered(member: ClassicMember, request: JoinGroup, answer: JoinAnswer) -> Effects:
    """A generation, an id to join with, or an error."""
    error = answer.error
    if error == NONE:
        yield from _joined(member, answer)
    elif error == "MEMBER_ID_REQUIRED":
        member.member_id = answer.member_id
        yield member.request_rejoin(f"need to re-join with the given member-id: {answer.member_id}")
        yield from send_join(member)
    elif error == "UNKNOWN_MEMBER_ID":
        yield from _reset(member, error, "JOIN_GROUP")
        yield from on_join_prepare(member)
    elif error == "REBALANCE_IN_PROGRESS":
        yield _rebalance_failed(member, error)
        yield from send_join(member)
    elif error == "FENCED_INSTANCE_ID" or error in FATAL_JOIN:
        yield _rebalance_failed(member, error, answer.message)
        yield from die(member, error, answer.message or MESSAGES.get(error, error))
    else:
        yield from _interrupted(member, error)


def _joined(member: ClassicMember, answer: JoinAnswer) -> Effects:
    member.generation, member.member_id = answer.generation, answer.member_id
    member.protocol = answer.protocol
    yield from member.move(MemberState.COMPLETING)
    member.leader = answer.leader == answer.member_id
    yield member.note("joined", leader=member.leader, assignor=answer.protocol)
    if not member.librdkafka:  # librdkafka is silent until it has synced
        yield member.start_heartbeats()
    yield member.session_timer()
    member.elected = None
    if member.leader:
        yield from on_leader_elected(member, answer)
    else:
        member.assigned_metadata = None
        yield from send_sync(member, answer, None)


# --- SyncGroup --------------------------------------------------------------------------------
def sync_answered(member: ClassicMember, request: SyncGroup, answer: SyncAnswer) -> Effects:
    """The member's share, or an error."""
    error = answer.error
    if error == NONE:
        yield from _synced(member, answer)
    elif error == "REBALANCE_IN_PROGRESS":
        yield from member.move(MemberState.UNJOINED)
        yield _rebalance_failed(member, error)
        yield from on_join_prepare(member)
    elif error in {"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION"}:
        yield from _reset(member, error, "SYNC_GROUP")
        yield from on_join_prepare(member)
    elif error == "FENCED_INSTANCE_ID":
        yield _rebalance_failed(member, error)
        yield from die(member, error, MESSAGES[error])
    else:
        yield from _interrupted(member, error)


def _synced(member: ClassicMember, answer: SyncAnswer) -> Effects:
    member.rejoin_needed = False
    member.rejoin_reason = None
    yield from member.move(MemberState.STABLE)
    if member.librdkafka:
        yield member.start_heartbeats()
    if any(tp.topic not in member.topics for tp in answer.assignment):
        member.enter(PollStep.IDLE)
        member.prepare_needed = True
        yield member.request_rejoin("received assignment does not match the current subscription")
        yield WantPoll(NextPoll.GO_ON)
    else:
        yield from on_join_complete(member, answer.assignment)


# --- failures ---------------------------------------------------------------------------------
def join_unanswered(member: ClassicMember, request: JoinGroup | SyncGroup, cause: str) -> Effects:
    """No answer will come: the member looks for its coordinator and joins again."""
    yield from member.lose_coordinator(cause)
    member.enter(PollStep.IDLE)
    yield from member.move(MemberState.UNJOINED)
    yield _rebalance_failed(member, "DISCONNECTED")
    yield from member.stop_heartbeats()


def _reset(member: ClassicMember, error: str, api: str) -> Effects:
    """The coordinator does not know the member, or not in this generation; the id is kept in the second case."""
    why = f"encountered {error} from {api} response"
    yield from member.reset(why, keep_id=error == "ILLEGAL_GENERATION")
    yield member.request_rejoin(why)
    yield _rebalance_failed(member, error)


def _interrupted(member: ClassicMember, error: str) -> Effects:
    member.enter(PollStep.IDLE)
    yield from member.move(MemberState.UNJOINED)
    yield from member.lose_coordinator("coordinator unavailable" if error in COORDINATOR_MOVED else error)
    yield _rebalance_failed(member, error)


def _rebalance_failed(member: ClassicMember, error: str, message: str | None = None) -> Effect:
    """The reason that joinGroupIfNeeded gives the next JoinGroup, also when the error is thrown afterwards."""
    exception = EXCEPTIONS.get(error, error)
    printed = message or MESSAGES.get(error, error)
    return member.request_rejoin(
        f"rebalance failed due to '{printed}' ({exception})", f"rebalance failed due to {exception}"
    )
