"""Commits that a client waits for: before it re-joins or revokes, and in close()."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from rebalance_kit.model.kafka_errors import COORDINATOR_MOVED
from rebalance_kit.protocol.client.member import Member
from rebalance_kit.protocol.client.poll_step import PollStep
from rebalance_kit.protocol.effects import Commit, Effects, Key, SetTimer, StopFetching, Timer

RETRY = (Timer.RETRY,)
RETRY_MS = 100
COMMIT_LIMIT = (Timer.COMMIT_LIMIT,)
CLOSE_LIMIT = (Timer.CLOSE_LIMIT,)
RETRIED_COMMITS = COORDINATOR_MOVED | {
    "COORDINATOR_LOAD_IN_PROGRESS",
    "DISCONNECTED",
    "UNKNOWN_TOPIC_OR_PARTITION",
}
"""Answers after which a client that waits for its commit sends it again (RetriableException)."""
M = TypeVar("M", bound=Member)


def retry_ms(attempt: int) -> int:
    """retry.backoff.ms 100, doubling to retry.backoff.max.ms 1000."""
    return int(min(100 * 2 ** min(attempt, 4), 1_000))


def backoff_ms(member: Member) -> int:
    """The wait before the commit at hand is sent again."""
    return retry_ms(member.commit_retries)


@dataclass(frozen=True, slots=True)
class AwaitedCommit(Generic[M]):
    """A commit that the application thread waits for, and what follows."""

    how: str
    limit: Key
    retries: Callable[[M, str], bool]
    """Whether this error makes the client send the commit again."""
    wait_ms: Callable[[M], int]
    then: Callable[[M], Effects]

    def begin(self, member: M, limit_ms: int) -> Effects:
        """Commit, and wait at most so long; the caller has entered the step."""
        member.commit_retries = 0
        yield SetTimer(self.limit, limit_ms)
        if self.how == "close":
            yield StopFetching(member.owned, "close")  # close() polls no more
        yield Commit(self.how)

    def ended(self, member: M, how: str, error: str) -> Effects:
        """The commit is answered, or will not be: send it again, or go on."""
        if how != self.how:
            return
        if self.retries(member, error):
            yield SetTimer(RETRY, self.wait_ms(member))
            member.commit_retries += 1
        else:
            yield from self.then(member)

    def again(self, member: M) -> Effects:
        """retry.backoff.ms has passed."""
        if member.coordinator_known:
            yield Commit(self.how)
        else:
            yield SetTimer(RETRY, RETRY_MS)


def retriable(member: Member, error: str) -> bool:
    """A RetriableException; of a topic that is gone librdkafka gives up after two more tries, here at once."""
    if member.librdkafka and error == "UNKNOWN_TOPIC_OR_PARTITION":
        return False
    return error in RETRIED_COMMITS


def commit_and_close(member: M, commit: AwaitedCommit[M]) -> Effects:
    """close(), first step: commit where that is configured, then what follows a commit."""
    member.closing = True
    if member.settings.auto_commit and member.owned and member.may_commit:
        member.enter(PollStep.CLOSE_COMMITTING)
        yield from commit.begin(member, member.close_timeout_ms)
    else:
        yield from commit.then(member)
