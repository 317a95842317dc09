"""A KIP-848 consumer's table, which rule answers which event and in which step of the application thread; and its reconciliation.

From what it owns to what it is assigned, one step per poll(): commit, revoked, assigned, acknowledge.
"""

from __future__ import annotations

from rebalance_kit.model.errors import COORDINATOR_MOVED
from rebalance_kit.protocol import client, effects, messages
from rebalance_kit.protocol.client import ClientTable, PollStep, after, answered, ignore, on, unanswered
from rebalance_kit.protocol.consumer_client import heartbeating
from rebalance_kit.protocol.consumer_client.member import ConsumerMember, MemberState
from rebalance_kit.protocol.messages import Answer, OffsetCommit


# --- commit -----------------------------------------------------------------------------------
def reconcile(member: ConsumerMember, event: effects.Polled) -> effects.Effects:
    """Mark what goes as unfetchable, and commit; the callbacks come at later polls."""
    target = member.target if member.target is not None else member.owned
    member.target = None
    member.reconciling = tuple(tp for tp in target if member.regex is not None or tp.topic in member.topics)
    revoked = client.minus(member.owned, member.reconciling)
    yield member.note(
        "reconciling",
        assigned=client.names(member.reconciling),
        owned=client.names(member.owned),
        added=client.names(client.minus(member.reconciling, member.owned)),
        revoked=client.names(revoked),
        local_epoch=member.local_epoch,
    )
    if revoked:
        yield effects.StopFetching(revoked, "revoke")
    member.enter(client.PollStep.COMMITTING_BEFORE_REVOKE)
    if member.settings.auto_commit and member.owned and member.may_commit:
        yield from RECONCILE_COMMIT.begin(member, member.settings.max_poll_interval_ms)
    else:
        yield from _want_callbacks(member)


def _committed(member: ConsumerMember) -> effects.Effects:
    if member.state is MemberState.RECONCILING:
        yield from _want_callbacks(member)


def _want_callbacks(member: ConsumerMember) -> effects.Effects:
    """The commit is done (or was not needed): the callbacks run at the next poll()."""
    if client.minus(member.owned, member.reconciling):
        member.enter(client.PollStep.REVOKE_WAITS)
        yield effects.WantPoll(effects.NextPoll.CALL_AFTER_COMMIT)
        return
    member.enter(client.PollStep.ASSIGN_WAITS)
    if member.first_assignment:
        yield effects.WantPoll(effects.NextPoll.ASSIGN_FIRST)
    else:
        yield effects.WantPoll(
            effects.NextPoll.CALL_AFTER_COMMIT if member.owned else effects.NextPoll.ASSIGN_TO_NONE
        )


def _retries_commit(member: ConsumerMember, error: str) -> bool:
    """Whether the commit before a revocation is sent again (CommitRequestManager).

    A deleted topic fails the commit, and the reconciliation goes on (autoCommitSyncBeforeRebalanceWithRetries);
    not so for a pattern that the broker resolves: that client asks for metadata by topic id, commits by it, and is
    told UNKNOWN_TOPIC_ID.
    """
    if error == "UNKNOWN_TOPIC_OR_PARTITION":
        return member.regex is not None and member.settings.commits_topic_ids
    return error in client.RETRIED_COMMITS or error == "STALE_MEMBER_EPOCH"


RECONCILE_COMMIT: client.AwaitedCommit[ConsumerMember] = client.AwaitedCommit(
    "reconcile", client.COMMIT_LIMIT, _retries_commit, client.backoff_ms, _committed
)


# --- callbacks --------------------------------------------------------------------------------
def invoke_revoked(member: ConsumerMember, event: effects.Polled) -> effects.Effects:
    """Run onPartitionsRevoked for what is not assigned any more."""
    member.enter(client.PollStep.REVOKING)
    yield member.callback("revoked", client.minus(member.owned, member.reconciling))


def invoke_assigned(member: ConsumerMember, event: effects.Polled) -> effects.Effects:
    """Apply the assignment and run onPartitionsAssigned for what is new, even if nothing is."""
    member.adding = client.minus(member.reconciling, member.owned)
    member.enter(client.PollStep.ASSIGNING)
    yield member.own((*client.both(member.owned, member.reconciling), *member.adding))
    if member.first_assignment and member.librdkafka:
        yield effects.RestartAutoCommit()
    yield member.callback("assigned", member.adding)


def revoked(member: ConsumerMember, event: effects.CallbackDone) -> effects.Effects:
    """The revoked callback has returned: what it named is given up."""
    if event.error is not None:
        yield member.raised(event.error)
        if member.state is MemberState.RECONCILING:
            yield from _try_again(member)
            return
    yield member.own(client.both(member.owned, member.reconciling))
    if member.death is not None:  # it came while the application was in this callback
        yield from heartbeating.last_callback(member)
    elif _is_outside(member):
        yield from heartbeating.go_on_outside(member)
    else:
        member.enter(client.PollStep.ASSIGN_WAITS)
        yield effects.WantPoll(effects.NextPoll.ASSIGN_AFTER_REVOKE)


def assigned(member: ConsumerMember, event: effects.CallbackDone) -> effects.Effects:
    """The assigned callback has returned: records may reach the application, and the coordinator is told."""
    if member.settings.calls_wrong_family(incremental=True):
        member.stuck = True  # "Reconciliation in progress, postponing next one", at every heartbeat
        yield member.note("wrong_call", call="assign")
        return
    if event.error is not None:
        yield member.raised(event.error)
        if member.state is MemberState.RECONCILING:
            member.unfetchable = member.unfetchable.union(member.adding)
            yield from _try_again(member)
            return
    if member.death is not None:
        yield member.own(client.both(member.owned, member.reconciling))
        yield from heartbeating.last_callback(member)
    elif _is_outside(member):
        yield from heartbeating.go_on_outside(member)
    elif member.polled_too_late:
        yield from heartbeating.lose_when_overdue(member)
    else:
        yield from _acknowledge(member)


def _is_outside(member: ConsumerMember) -> bool:
    return member.fenced_meanwhile or member.state is MemberState.STALE


def _try_again(member: ConsumerMember) -> effects.Effects:
    """A callback raised, and nothing is acknowledged: each further poll() tries again, until it goes through.

    Or until the broker removes the member (AbstractMembershipManager.revokeAndAssign, maybeReconcile).
    """
    if member.target is None:
        member.target = member.reconciling
    member.enter(client.PollStep.RECONCILE_WAITS)
    yield effects.WantPoll(effects.NextPoll.RECONCILE_AGAIN)


# --- acknowledgement --------------------------------------------------------------------------
def _acknowledge(member: ConsumerMember) -> effects.Effects:
    """Both callbacks have returned: the periodic commit is due an interval from now, and the coordinator is told at once."""
    member.first_assignment = False
    if not member.librdkafka:
        yield effects.RestartAutoCommit()  # ConsumerMembershipManager.signalReconciliationCompleting
    member.enter(client.PollStep.IDLE)
    member.local_epoch += 1
    yield effects.StartFetching(tuple(tp for tp in member.owned if tp not in member.unfetchable))
    yield from member.move(MemberState.ACKNOWLEDGING)
    if member.coordinator_known and not member.in_flight:
        yield from heartbeating.send_heartbeat(member)


COMMITS = client.AwaitedCommits(
    {
        client.PollStep.COMMITTING_BEFORE_REVOKE: RECONCILE_COMMIT,
        client.PollStep.CLOSE_COMMITTING: heartbeating.CLOSE_COMMIT,
    }
)


def commit_answered(member: ConsumerMember, request: OffsetCommit, answer: Answer) -> effects.Effects:
    """A commit is answered, whoever asked for it."""
    if answer.error in COORDINATOR_MOVED:
        yield from member.lose_coordinator("coordinator unavailable")
    yield from COMMITS.ended(member, request.how, answer.error)


def retry_commit(member: ConsumerMember, fired: effects.TimerFired) -> effects.Effects:
    """retry.backoff.ms has passed; a reconciliation that is over needs no commit."""
    awaited = COMMITS.of(member)
    if awaited is RECONCILE_COMMIT and member.state is not MemberState.RECONCILING:
        member.enter(client.PollStep.IDLE)
    elif awaited is not None:
        yield from awaited.again(member)


# Topics and their metadata: what changes travels with the next heartbeat.


def subscribed(member: ConsumerMember, event: effects.Subscribed) -> effects.Effects:
    """subscribe() was called."""
    member.topics = event.topics
    member.topics_changed = True
    return iter(())


def metadata_seen(member: ConsumerMember, event: effects.MetadataSeen) -> effects.Effects:
    """The metadata is read again: a pattern may match other topics."""
    member.metadata = event.partitions
    if member.pattern is not None:
        topics = client.matching(member.pattern, event.partitions)
        member.topics_changed = member.topics_changed or topics != member.topics
        member.topics = topics
    return iter(())


def rejoin_enforced(member: ConsumerMember, event: effects.RejoinEnforced) -> effects.Effects:
    """The KIP-848 client only logs that enforceRebalance() is not supported."""
    return iter(())


TABLE = ClientTable[ConsumerMember](
    "a consumer",
    # the application thread
    on(effects.Polled, heartbeating.unless_closing(heartbeating.polled_idle), PollStep.IDLE),
    on(effects.Polled, heartbeating.unless_closing(reconcile), PollStep.RECONCILE_WAITS),
    on(effects.Polled, heartbeating.unless_closing(invoke_revoked), PollStep.REVOKE_WAITS),
    on(effects.Polled, heartbeating.unless_closing(invoke_assigned), PollStep.ASSIGN_WAITS),
    on(effects.Polled, heartbeating.unless_closing(ignore)),
    on(effects.CallbackDone, revoked, PollStep.REVOKING),
    on(effects.CallbackDone, assigned, PollStep.ASSIGNING),
    on(effects.CallbackDone, heartbeating.lost, PollStep.LOSING),
    on(effects.CallbackDone, heartbeating.callback_overtaken, PollStep.IDLE),
    on(effects.CallbackDone, heartbeating.last_callback_returned, PollStep.CLOSE_CALLBACK),
    on(effects.Subscribed, subscribed),
    on(effects.MetadataSeen, metadata_seen),
    on(effects.RejoinEnforced, rejoin_enforced),
    on(effects.CloseCalled, heartbeating.close_called),
    # commits
    on(effects.CommitDone, COMMITS.done),
    answered(messages.OffsetCommit, messages.Answer, commit_answered),
    unanswered(messages.OffsetCommit, COMMITS.unanswered),
    after(effects.Timer.RETRY, retry_commit),
    after(effects.Timer.COMMIT_LIMIT, COMMITS.stop_waiting, PollStep.COMMITTING_BEFORE_REVOKE),
    after(effects.Timer.CLOSE_LIMIT, COMMITS.stop_waiting, PollStep.CLOSE_COMMITTING),
    # the background thread
    after(effects.Timer.HEARTBEAT, heartbeating.heartbeat_due),
    answered(
        messages.ConsumerGroupHeartbeat,
        messages.ConsumerGroupHeartbeatAnswer,
        heartbeating.heartbeat_answered,
    ),
    unanswered(messages.ConsumerGroupHeartbeat, heartbeating.heartbeat_unanswered),
    on(effects.PollTimeout, heartbeating.poll_timeout),
    on(effects.PolledAgain, heartbeating.polled_again),
    on(effects.CoordinatorFound, heartbeating.coordinator_found),
)
step = TABLE.step
