"""The heartbeat thread: how a member hears of a rebalance, and how its membership ends without it.

REBALANCE_IN_PROGRESS makes it join again at its next poll(). UNKNOWN_MEMBER_ID and ILLEGAL_GENERATION take
the generation away. Too long without poll() makes it leave.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rebalance_kit.model.errors import COORDINATOR_MOVED, MESSAGES
from rebalance_kit.protocol import effects
from rebalance_kit.protocol.classic_client.joining import JOIN_COMMIT, revoke_before_join
from rebalance_kit.protocol.classic_client.member import HEARTBEAT, ClassicMember, MemberState
from rebalance_kit.protocol.classic_client.requests import CLOSE_COMMIT, die, heartbeat, leave_request
from rebalance_kit.protocol.client import AwaitedCommit, PollStep
from rebalance_kit.protocol.messages import NONE, Answer, Heartbeat, OffsetCommit, Request

WAITING = frozenset({PollStep.JOINING, PollStep.SYNCING, PollStep.COMMITTING_BEFORE_JOIN})
"""Steps in which poll() waits for an answer that a reset makes worthless."""


def heartbeat_due(member: ClassicMember, fired: effects.TimerFired) -> effects.Effects:
    """heartbeat.interval.ms has passed since the last one."""
    if member.in_group and member.coordinator_known:
        yield heartbeat(member)
        yield member.start_heartbeats()


def heartbeat_answered(member: ClassicMember, request: Heartbeat, answer: Answer) -> effects.Effects:
    """The member is alive, is to join again, or is none any more."""
    error = answer.error
    if error in {NONE, "REBALANCE_IN_PROGRESS"}:
        if member.in_group:
            yield member.session_timer()
        if error != NONE and member.state is MemberState.STABLE and not member.closing:
            yield member.request_rejoin("group is already rebalancing")
            yield effects.WantPoll(effects.NextPoll.REJOIN)
    elif error in {"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION"}:
        yield from lose_membership(member, request.generation, error, "HEARTBEAT")
    elif error == "FENCED_INSTANCE_ID":
        if request.generation == member.generation:
            why = "encountered FENCED_INSTANCE_ID from HEARTBEAT response"
            yield member.note("generation_reset", reason=why, member_id_kept=False)
            yield member.request_rejoin(why)
            yield from die(member, error, MESSAGES[error])
    elif error in COORDINATOR_MOVED:
        yield from member.lose_coordinator("coordinator unavailable")


def lose_membership(member: ClassicMember, sent_generation: int, error: str, api: str) -> effects.Effects:
    """The coordinator does not know the member, or not in this generation: it joins anew."""
    if sent_generation != member.generation or not member.in_group:
        return  # the member has moved on since it sent this
    why = f"encountered {error} from {api} response"
    if member.poll_step is PollStep.SYNCING:
        member.enter(PollStep.IDLE)
    yield from member.reset(why, keep_id=error == "ILLEGAL_GENERATION")
    yield member.request_rejoin(why)
    if not member.closing:
        yield effects.WantPoll(effects.NextPoll.GO_ON)


def poll_timeout(member: ClassicMember, event: effects.PollTimeout) -> effects.Effects:
    """max.poll.interval.ms without poll(): a dynamic member leaves at once; lost waits for the next poll()."""
    if not member.in_group:
        return  # the heartbeat thread, which would notice, rests (MemberState.hasNotJoinedGroup)
    yield member.note("poll_timeout", limit_ms=member.settings.max_poll_interval_ms, over_ms=event.over_ms)
    if member.settings.instance_id is None and member.coordinator_known:
        yield leave_request(member, "consumer poll timeout has expired.")
    if member.poll_step in WAITING:
        member.enter(PollStep.IDLE)
    yield from member.reset("consumer pro-actively leaving the group", keep_id=False)
    yield member.request_rejoin("consumer pro-actively leaving the group")
    yield effects.WantPoll(effects.NextPoll.GO_ON)


def session_passed(member: ClassicMember, fired: effects.TimerFired) -> effects.Effects:
    """No answer for a session. Java only looks for its coordinator; librdkafka gives its partitions up as lost."""
    if not member.in_group:
        return
    yield from member.lose_coordinator("session timed out without receiving a heartbeat response")
    if member.librdkafka and not member.closing:
        if member.poll_step is PollStep.SYNCING:
            member.enter(PollStep.IDLE)
        yield from member.reset("session timed out", keep_id=False)
        yield member.request_rejoin("session timed out")
        if member.poll_step is PollStep.IDLE and member.owned:
            yield from revoke_before_join(member)


def coordinator_lost(member: ClassicMember, request: Request, cause: str) -> effects.Effects:
    """A request gets no answer: the member looks for its coordinator."""
    yield from member.lose_coordinator(cause)


def coordinator_found(member: ClassicMember, event: effects.CoordinatorFound) -> effects.Effects:
    """Heartbeats go on at once; whatever waits for poll() does too."""
    if member.coordinator_known:
        return
    member.coordinator_known = True
    yield member.note("coordinator_found")
    if member.in_group:
        yield member.session_timer()
        yield effects.SetTimer(HEARTBEAT, 0)
    if member.poll_step is PollStep.IDLE:
        yield effects.WantPoll(effects.NextPoll.GO_ON)


# Commits of a classic consumer: what an answer says about its membership, and the steps that wait for one.


AWAITED: Mapping[PollStep, AwaitedCommit[ClassicMember]] = MappingProxyType(
    {PollStep.COMMITTING_BEFORE_JOIN: JOIN_COMMIT, PollStep.CLOSE_COMMITTING: CLOSE_COMMIT}
)
"""The steps that wait for a commit."""


def commit_answered(member: ClassicMember, request: OffsetCommit, answer: Answer) -> effects.Effects:
    """A commit is answered, whoever asked for it."""
    error = answer.error
    if error in {"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION"}:
        yield from lose_membership(member, request.generation, error, "OFFSET_COMMIT")
    elif error == "FENCED_INSTANCE_ID" and request.generation == member.generation and not member.closing:
        yield from die(member, error, MESSAGES[error])
        return
    elif error == "REBALANCE_IN_PROGRESS" and member.state is MemberState.STABLE:
        yield member.request_rejoin("offset commit failed since group is already rebalancing")
        yield effects.WantPoll(effects.NextPoll.GO_ON)
    elif error in COORDINATOR_MOVED:
        yield from member.lose_coordinator("coordinator unavailable")
    yield from _ended(member, request.how, error)


def commit_unanswered(member: ClassicMember, request: OffsetCommit, cause: str) -> effects.Effects:
    """No answer will come."""
    yield from member.lose_coordinator(cause)
    yield from _ended(member, request.how, "DISCONNECTED")


def commit_done(member: ClassicMember, event: effects.CommitDone) -> effects.Effects:
    """There was nothing to commit."""
    yield from _ended(member, event.how, event.error)


def _ended(member: ClassicMember, how: str, error: str) -> effects.Effects:
    awaited = AWAITED.get(member.poll_step)
    if awaited is not None:
        yield from awaited.ended(member, how, error)


def retry_commit(member: ClassicMember, fired: effects.TimerFired) -> effects.Effects:
    """retry.backoff.ms has passed; after a reset nobody may commit any more."""
    awaited = AWAITED.get(member.poll_step)
    if awaited is None:
        return
    if member.generation < 0:
        yield from awaited.ended(member, awaited.how, "UNKNOWN_MEMBER_ID")
    else:
        yield from awaited.again(member)


def stop_waiting(member: ClassicMember, fired: effects.TimerFired) -> effects.Effects:
    """The commit took too long: go on without it."""
    yield from AWAITED[member.poll_step].then(member)
