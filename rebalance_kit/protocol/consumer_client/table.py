"""A KIP-848 consumer's table: which rule answers which event, and in which step of the application thread."""

from __future__ import annotations

from rebalance_kit.protocol.client import ClientTable, PollStep, after, answered, ignore, on, unanswered
from rebalance_kit.protocol.consumer_client.heartbeating import (
    callback_overtaken,
    close_called,
    coordinator_found,
    heartbeat_answered,
    heartbeat_due,
    heartbeat_unanswered,
    last_callback_returned,
    lost,
    poll_timeout,
    polled_idle,
    unless_overdue,
)
from rebalance_kit.protocol.consumer_client.member import ConsumerMember
from rebalance_kit.protocol.consumer_client.reconciling import (
    assigned,
    commit_answered,
    commit_done,
    commit_unanswered,
    invoke_assigned,
    invoke_revoked,
    metadata_seen,
    reconcile,
    rejoin_enforced,
    retry_commit,
    revoked,
    stop_waiting,
    subscribed,
)
from rebalance_kit.protocol.effects import (
    CallbackDone,
    CloseCalled,
    CommitDone,
    CoordinatorFound,
    MetadataSeen,
    Polled,
    PollTimeout,
    RejoinEnforced,
    Subscribed,
    Timer,
)
from rebalance_kit.protocol.messages import (
    Answer,
    ConsumerGroupHeartbeat,
    ConsumerGroupHeartbeatAnswer,
    OffsetCommit,
)

TABLE = ClientTable[ConsumerMember](
    "a consumer",
    # the application thread
    on(Polled, unless_overdue(polled_idle), PollStep.IDLE),
    on(Polled, unless_overdue(reconcile), PollStep.RECONCILE_WAITS),
    on(Polled, unless_overdue(invoke_revoked), PollStep.REVOKE_WAITS),
    on(Polled, unless_overdue(invoke_assigned), PollStep.ASSIGN_WAITS),
    on(Polled, unless_overdue(ignore)),
    on(CallbackDone, revoked, PollStep.REVOKING),
    on(CallbackDone, assigned, PollStep.ASSIGNING),
    on(CallbackDone, lost, PollStep.LOSING),
    on(CallbackDone, callback_overtaken, PollStep.IDLE),
    on(CallbackDone, last_callback_returned, PollStep.CLOSE_CALLBACK),
    on(Subscribed, subscribed),
    on(MetadataSeen, metadata_seen),
    on(RejoinEnforced, rejoin_enforced),
    on(CloseCalled, close_called),
    # commits
    on(CommitDone, commit_done),
    answered(OffsetCommit, Answer, commit_answered),
    unanswered(OffsetCommit, commit_unanswered),
    after(Timer.RETRY, retry_commit),
    after(Timer.COMMIT_LIMIT, stop_waiting, PollStep.COMMITTING_BEFORE_REVOKE),
    after(Timer.CLOSE_LIMIT, stop_waiting, PollStep.CLOSE_COMMITTING),
    # the background thread
    after(Timer.HEARTBEAT, heartbeat_due),
    answered(ConsumerGroupHeartbeat, ConsumerGroupHeartbeatAnswer, heartbeat_answered),
    unanswered(ConsumerGroupHeartbeat, heartbeat_unanswered),
    on(PollTimeout, poll_timeout),
    on(CoordinatorFound, coordinator_found),
)
step = TABLE.step
