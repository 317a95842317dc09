"""Events of a KIP-848 consumer: the table that says which rule answers which, and ``step``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.errors import ProtocolViolation
from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.client import (
    LOST_COORDINATOR,
    RETRIED_COMMITS,
    calls_wrong_family,
    matching,
    minus,
    retry_ms,
)
from rebalance_kit.protocol.consumer_client.member import (
    CLOSE_LIMIT,
    COMMIT_LIMIT,
    HEARTBEAT,
    RETRY,
    RETRY_MS,
    TAKING_PART,
    ConsumerMember,
    MemberPhase,
    Work,
)
from rebalance_kit.protocol.messages import (
    NONE,
    ConsumerGroupHeartbeat,
    ConsumerGroupHeartbeatAnswer,
    OffsetCommit,
)

FENCING = frozenset({"FENCED_MEMBER_EPOCH", "UNKNOWN_MEMBER_ID"})
GONE = "UNKNOWN_TOPIC_OR_PARTITION"


# --- the application thread ---------------------------------------------------------------------
def _polled(member: ConsumerMember, event: Any) -> None:
    if member.closing or member.closed:
        return
    if member.native and member.poll_expired:
        _lose_before_leaving(member)
    elif member.phase is MemberPhase.UNSUBSCRIBED:
        member.join()
    elif member.phase in {MemberPhase.FENCED, MemberPhase.STALE}:
        if member.work is Work.NONE:
            member.lose_all()
    elif member.work is Work.WAIT:
        member.reconcile()
    elif member.work is Work.REVOKE_WAIT:
        member.work = Work.REVOKING
        member.callback("revoked", minus(member.owned, member.taking))
    elif member.work is Work.ASSIGN_WAIT:
        added = minus(member.taking, member.owned)
        member.work, member.adding = Work.ASSIGNING, added
        member.own((*(tp for tp in member.owned if tp in frozenset(member.taking)), *added))
        if member.first_assignment and member.native:
            member.out.append(fx.RestartAutoCommit())
        member.callback("assigned", added)


def _lose_before_leaving(member: ConsumerMember) -> None:
    """Librdkafka revokes first and leaves then, so it needs the application to poll again."""
    member.note("poll_timeout", limit_ms=member.settings.max_poll_interval_ms)
    member.poll_expired = False
    member.shown_epoch = member.generation
    member.target = None
    member.move(MemberPhase.PREPARE_LEAVING)
    member.say_goodbye()
    member.move(MemberPhase.STALE)
    member.out.append(fx.CancelTimer(HEARTBEAT))
    member.work = Work.NONE
    member.lose_all()


def _callback_done(member: ConsumerMember, event: Any) -> None:
    work = member.work
    if work in {Work.REVOKING, Work.ASSIGNING} and calls_wrong_family(member.settings, incremental=True):
        member.note("wrong_call", call="assign" if work is Work.ASSIGNING else "unassign")
        member.stuck = True  # "Reconciliation in progress, postponing next one", at every heartbeat
        return
    if event.error is not None:
        member.raised(event.error)
        if member.work is Work.WAIT:
            return
    if work is Work.CLOSE_CALLBACK:
        member.leave()
        return
    if member.death is not None:  # it came while the application was in this callback
        kept = (
            () if work is Work.LOSING else tuple(tp for tp in member.owned if tp in frozenset(member.taking))
        )
        member.own(kept)
        member.last_callback()
        return
    if work is Work.LOSING:
        member.own(())
        member.work = Work.NONE
        if member.closing:
            member.last_callback()
        else:
            member.join()
        return
    if work is Work.REVOKING:
        member.own(tuple(tp for tp in member.owned if tp in frozenset(member.taking)))
    if member.fenced_meanwhile or member.phase is MemberPhase.STALE:
        member.fenced_meanwhile = False
        member.work = Work.NONE
        member.out.append(fx.WantPoll("settled"))
    elif work is Work.REVOKING:
        member.work = Work.ASSIGN_WAIT
        member.out.append(fx.WantPoll("settled" if member.native else "either"))
    elif work is Work.ASSIGNING:
        member.acknowledge()


def _commit_done(member: ConsumerMember, event: Any) -> None:
    _after_commit(member, event.how, event.error)


def _after_commit(member: ConsumerMember, how: str, error: str) -> None:
    waits = (how, member.work) in {("close", Work.CLOSE_COMMIT), ("reconcile", Work.COMMIT)}
    if waits and _retried(member, how, error):
        member.out.append(fx.SetTimer(RETRY, retry_ms(member.retries)))
        member.retries += 1
    elif how == "close" and member.work is Work.CLOSE_COMMIT:
        member.last_callback()
    elif how == "reconcile" and member.work is Work.COMMIT and member.phase is MemberPhase.RECONCILING:
        member.after_commit()


def _retried(member: ConsumerMember, how: str, error: str) -> bool:
    """Whether a commit that somebody waits for is sent again (CommitRequestManager).

    close() takes no stale epoch back (commitSyncWithRetries). Before a reconciliation a deleted topic fails the
    commit, and the reconciliation goes on (autoCommitSyncBeforeRebalanceWithRetries); not so for a pattern that the
    broker resolves: that client asks for metadata by topic id, commits by it, and is told UNKNOWN_TOPIC_ID.
    """
    if how == "close":
        return error in RETRIED_COMMITS
    if error == GONE:
        return member.regex is not None and member.settings.commits_topic_ids
    return error in RETRIED_COMMITS or error == "STALE_MEMBER_EPOCH"


def _close_called(member: ConsumerMember, event: Any) -> None:
    if not member.closing and not member.closed:
        member.close_timeout_ms = event.timeout_ms
        member.begin_close()


def _poll_timeout(member: ConsumerMember, event: Any) -> None:
    if member.phase in TAKING_PART and not member.closing:
        member.poll_expired = True
        if member.native:  # heartbeats stop until the application polls again
            member.out.append(fx.CancelTimer(HEARTBEAT))
            member.out.append(fx.WantPoll("settled"))


def _subscribed(member: ConsumerMember, event: Any) -> None:
    member.topics = event.topics
    member.topics_changed = True


def _metadata_seen(member: ConsumerMember, event: Any) -> None:
    member.metadata = event.partitions
    if member.pattern is not None:
        topics = matching(member.pattern, event.partitions)
        member.topics_changed = member.topics_changed or topics != member.topics
        member.topics = topics


def _rejoin_enforced(member: ConsumerMember, event: Any) -> None:
    """The KIP-848 client only logs that the operation is not supported."""


# --- answers --------------------------------------------------------------------------------------
def _answered(member: ConsumerMember, event: Any) -> None:
    if member.closed:
        return
    if isinstance(event.request, OffsetCommit):
        if event.response.error in LOST_COORDINATOR:
            member.lose_coordinator("coordinator unavailable")
        _after_commit(member, event.request.how, event.response.error)
        return
    member.in_flight = False
    request: ConsumerGroupHeartbeat = event.request
    if request.member_epoch < 0:
        if member.phase is MemberPhase.JOINING and member.coordinator_known:
            member.send_heartbeat()
        return
    answer: ConsumerGroupHeartbeatAnswer = event.response
    if answer.error == NONE:
        _heard(member, request, answer)
    elif answer.error in FENCING:
        if (
            member.phase not in {MemberPhase.FENCED, MemberPhase.STALE, MemberPhase.LEAVING}
            and request.member_epoch == member.generation
        ):
            member.fence()
    elif answer.error in LOST_COORDINATOR:
        member.lose_coordinator("coordinator unavailable")
    elif member.phase is not MemberPhase.STALE:
        member.die(answer.error, answer.message or answer.error)


def _heard(
    member: ConsumerMember, request: ConsumerGroupHeartbeat, answer: ConsumerGroupHeartbeatAnswer
) -> None:
    if member.phase in {MemberPhase.FENCED, MemberPhase.STALE, MemberPhase.LEAVING, MemberPhase.FATAL}:
        return  # (a member inside its last callback heartbeats on, and its answer is heard)
    first = not member.interval_ms or request.member_epoch == 0
    member.interval_ms = answer.heartbeat_interval_ms
    member.generation = answer.member_epoch
    if first:
        member.out.append(fx.SetTimer(HEARTBEAT, member.interval_ms))
    if answer.assignment is not None:
        member.target = answer.assignment
    if member.phase is MemberPhase.ACKNOWLEDGING:
        member.send_heartbeat()
    else:
        member.take_target()


def _disconnected(member: ConsumerMember, event: Any) -> None:
    if member.closed:
        return
    member.lose_coordinator(event.cause)
    if isinstance(event.request, OffsetCommit):
        _after_commit(member, event.request.how, "DISCONNECTED")


def _coordinator_found(member: ConsumerMember, event: Any) -> None:
    if member.coordinator_known or member.closed:
        return
    member.coordinator_known = True
    member.note("coordinator_found")
    if member.phase in TAKING_PART:
        member.send_heartbeat()


# --- the background thread ------------------------------------------------------------------------
def _timer_fired(member: ConsumerMember, event: Any) -> None:
    if member.closed:
        return
    if event.key == RETRY:
        _commit_again(member)
    elif event.key == COMMIT_LIMIT:
        if member.work is Work.COMMIT and member.phase is MemberPhase.RECONCILING:
            member.after_commit()
    elif event.key == CLOSE_LIMIT:
        if member.work is Work.CLOSE_COMMIT:
            member.last_callback()
    else:
        _beat(member)


def _commit_again(member: ConsumerMember) -> None:
    if member.work is Work.COMMIT and member.phase is not MemberPhase.RECONCILING:
        member.work = Work.NONE
        return
    how = {Work.COMMIT: "reconcile", Work.CLOSE_COMMIT: "close"}.get(member.work)
    if how is None:
        return
    if member.coordinator_known:
        member.out.append(fx.Commit(how))
    else:
        member.out.append(fx.SetTimer(RETRY, RETRY_MS))


def _beat(member: ConsumerMember) -> None:
    if member.phase not in TAKING_PART and member.phase is not MemberPhase.PREPARE_LEAVING:
        return
    if member.poll_expired and member.phase is not MemberPhase.PREPARE_LEAVING:
        member.poll_overdue()
    elif member.coordinator_known and not member.in_flight:
        member.send_heartbeat()
    else:
        member.out.append(fx.SetTimer(HEARTBEAT, RETRY_MS))


RULES: Mapping[type, Callable[[ConsumerMember, Any], None]] = MappingProxyType(
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


def step(member: ConsumerMember, event: Any) -> list[fx.Effect]:
    """Apply one event to a KIP-848 consumer and return the effects it asks for, in order."""
    rule = RULES.get(type(event))
    if rule is None:
        raise ProtocolViolation(f"a consumer is never sent {type(event).__name__}")
    member.out = []
    rule(member, event)
    return member.out
