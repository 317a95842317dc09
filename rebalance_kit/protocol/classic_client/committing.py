"""Commits of a classic consumer: what an answer says about its membership, and the steps that wait for one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rebalance_kit.model.kafka_errors import COORDINATOR_MOVED, MESSAGES
from rebalance_kit.protocol.classic_client.closing import CLOSE_COMMIT, die
from rebalance_kit.protocol.classic_client.heartbeating import lose_membership
from rebalance_kit.protocol.classic_client.member import ClassicMember
from rebalance_kit.protocol.classic_client.revoking import JOIN_COMMIT
from rebalance_kit.protocol.classic_client.states import MemberState
from rebalance_kit.protocol.client.commits import AwaitedCommit
from rebalance_kit.protocol.client.poll_step import PollStep
from rebalance_kit.protocol.effects import CommitDone, Effects, NextPoll, TimerFired, WantPoll
from rebalance_kit.protocol.messages import Answer, OffsetCommit

AWAITED: Mapping[PollStep, AwaitedCommit[ClassicMember]] = MappingProxyType(
    {PollStep.COMMITTING_BEFORE_JOIN: JOIN_COMMIT, PollStep.CLOSE_COMMITTING: CLOSE_COMMIT}
)
"""The steps that wait for a commit."""


def commit_answered(member: ClassicMember, request: OffsetCommit, answer: Answer) -> Effects:
    """A commit is answered, whoever asked for it."""
    error = answer.error
    if error in {"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION"}:
        yield from lose_membership(member, request.generation, error, "OFFSET_COMMIT")
    elif error == "FENCED_INSTANCE_ID" and request.generation == member.generation and not member.closing:
        yield from die(member, error, MESSAGES[error])
        return
    elif error == "REBALANCE_IN_PROGRESS" and member.state is MemberState.STABLE:
        yield member.request_rejoin("offset commit failed since group is already rebalancing")
        yield WantPoll(NextPoll.GO_ON)
    elif error in COORDINATOR_MOVED:
        yield from member.lose_coordinator("coordinator unavailable")
    yield from _ended(member, request.how, error)


def commit_unanswered(member: ClassicMember, request: OffsetCommit, cause: str) -> Effects:
    """No answer will come."""
    yield from member.lose_coordinator(cause)
    yield from _ended(member, request.how, "DISCONNECTED")


def commit_done(member: ClassicMember, event: CommitDone) -> Effects:
    """There was nothing to commit."""
    yield from _ended(member, event.how, event.error)


def _ended(member: ClassicMember, how: str, error: str) -> Effects:
    awaited = AWAITED.get(member.poll_step)
    if awaited is not None:
        yield from awaited.ended(member, how, error)


def retry_commit(member: ClassicMember, fired: TimerFired) -> Effects:
    """retry.backoff.ms has passed; after a reset nobody may commit any more."""
    awaited = AWAITED.get(member.poll_step)
    if awaited is None:
        return
    if member.generation < 0:
        yield from awaited.ended(member, awaited.how, "UNKNOWN_MEMBER_ID")
    else:
        yield from awaited.again(member)


def stop_waiting(member: ClassicMember, fired: TimerFired) -> Effects:
    """The commit took too long: go on without it."""
    yield from AWAITED[member.poll_step].then(member)
