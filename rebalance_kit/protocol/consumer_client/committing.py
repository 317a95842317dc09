"""Commits of a KIP-848 consumer: the steps that wait for one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rebalance_kit.model.kafka_errors import COORDINATOR_MOVED
from rebalance_kit.protocol.client.commits import AwaitedCommit
from rebalance_kit.protocol.client.poll_step import PollStep
from rebalance_kit.protocol.consumer_client.closing import CLOSE_COMMIT
from rebalance_kit.protocol.consumer_client.member import ConsumerMember
from rebalance_kit.protocol.consumer_client.reconciling import RECONCILE_COMMIT
from rebalance_kit.protocol.consumer_client.states import MemberState
from rebalance_kit.protocol.effects import CommitDone, Effects, TimerFired
from rebalance_kit.protocol.messages import Answer, OffsetCommit

AWAITED: Mapping[PollStep, AwaitedCommit[ConsumerMember]] = MappingProxyType(
    {PollStep.COMMITTING_BEFORE_REVOKE: RECONCILE_COMMIT, PollStep.CLOSE_COMMITTING: CLOSE_COMMIT}
)
"""The steps that wait for a commit."""


def commit_answered(member: ConsumerMember, request: OffsetCommit, answer: Answer) -> Effects:
    """A commit is answered, whoever asked for it."""
    if answer.error in COORDINATOR_MOVED:
        yield from member.lose_coordinator("coordinator unavailable")
    yield from _ended(member, request.how, answer.error)


def commit_unanswered(member: ConsumerMember, request: OffsetCommit, cause: str) -> Effects:
    """No answer will come."""
    yield from member.lose_coordinator(cause)
    yield from _ended(member, request.how, "DISCONNECTED")


def commit_done(member: ConsumerMember, event: CommitDone) -> Effects:
    """There was nothing to commit."""
    yield from _ended(member, event.how, event.error)


def _ended(member: ConsumerMember, how: str, error: str) -> Effects:
    awaited = AWAITED.get(member.poll_step)
    if awaited is not None:
        yield from awaited.ended(member, how, error)


def retry_commit(member: ConsumerMember, fired: TimerFired) -> Effects:
    """retry.backoff.ms has passed; a reconciliation that is over needs no commit."""
    awaited = AWAITED.get(member.poll_step)
    if awaited is RECONCILE_COMMIT and member.state is not MemberState.RECONCILING:
        member.enter(PollStep.IDLE)
    elif awaited is not None:
        yield from awaited.again(member)


def stop_waiting(member: ConsumerMember, fired: TimerFired) -> Effects:
    """The commit took too long: go on without it."""
    yield from AWAITED[member.poll_step].then(member)
